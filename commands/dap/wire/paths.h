/*
 * Paths of source files: as the debug info has them, and as the client's machine has them. A source
 * map is a list of beginnings to replace.
 */
#ifndef COMMANDS_DAP_WIRE_PATHS_H
#define COMMANDS_DAP_WIRE_PATHS_H

#include "commands/dap/wire/node.h"
#include "debugger/base/vec.h"

struct path_rule {
	const char *from; /* as in the debug info */
	const char *to;   /* as the client has it */
};

/* All zeros at first; free with paths_free(). */
struct paths {
	VEC(struct path_rule) rules;
	struct arena arena;
};

/*
 * Adds the rules of a source map: an object {"/build": "/home/me/app"}, or a list of pairs.
 * ERR_USAGE for another form. NULL: none.
 */
struct error *paths_set(struct paths *p, const struct node *map) MUST_CHECK;
/*
 * The client's path for one of the debug info, in arena a; dir: the directory of its unit (NULL:
 * unknown). NULL: no rule is for it.
 */
const char *paths_to_client(const struct paths *p, struct arena *a, const char *file,
                            const char *dir);
/* The path in the debug info for one of the client. */
const char *paths_from_client(const struct paths *p, struct arena *a, const char *file);
void paths_free(struct paths *p);

#endif

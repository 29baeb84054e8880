/* Values as the protocol has them: a text, a type, and a number under which they are opened. */
#ifndef COMMANDS_DAP_VALUES_H
#define COMMANDS_DAP_VALUES_H

#include "commands/dap/context.h"

enum { VALUES_DEFAULT = 1000 /* parts that are listed where the client names no number */ };

struct dap_source;

struct shown_value {
	const char *name; /* NULL: of the result of "evaluate" */
	const char *text;
	const char *type;       /* NULL: unknown */
	bool in_memory;         /* value is valid */
	struct value value;     /* the value whose parts can be opened */
	const char *expression; /* the expression that leads to it from the frame; NULL: none */
	const struct dap_source *place; /* the place that the value names; NULL: none */
	const struct dap_source
		*declared; /* the place where the source declares it; NULL: unknown */
};

/*
 * Makes all memory of a halted program readable, not only the parts that the snapshot has copied.
 */
void values_make_readable(struct dap *d);
/*
 * A type with the doubt about a value behind it; NULL: there is none. In the value it would be
 * copied along.
 */
const char *values_type(struct request *r, const char *type, const char *doubt);
/*
 * Writes a Variable; with key NULL an element of an array. With a name of NULL the members of the
 * answer to "evaluate" are put into the open object.
 */
void values_put(struct dap *d, struct request *r, const char *key, const struct shown_value *v);
/* Writes parts of a value. filter: "named", "indexed" or NULL; count 0: all, up to VALUES_DEFAULT.
 */
struct error *values_put_parts(struct dap *d, struct request *r, const struct id_variables *v,
                               const char *filter, uint64_t first, uint64_t count) MUST_CHECK;
/*
 * The part of that name, as values_put_parts() lists them. *text: an expression that leads to it
 * from the frame, else its name. ERR_STATE: there is none that can be named.
 */
struct error *values_find_part(struct dap *d, struct arena *a, const struct id_variables *v,
                               const char *name, struct value *ret, const char **text) MUST_CHECK;
/* The text of a value as it is now, in the arena. */
const char *values_text(struct dap *d, struct arena *a, struct value v);

#endif

/* Lines of source files, as the client has them. */
#ifndef COMMANDS_DAP_SOURCE_H
#define COMMANDS_DAP_SOURCE_H

#include "commands/dap/context.h"

struct stack_row;

struct dap_source {
	const char *path; /* of the client; NULL: unknown */
	unsigned line;    /* from 1; 0: unknown */
	bool library;     /* the file is not the program's own code */
};

/* The place of a row, in arena a. Of a label that is about a future: where it awaits. */
void source_of_row(struct dap *d, struct arena *a, const struct stack_row *row,
                   struct dap_source *ret);
/* The place in a file of the debug info, with the directory of its unit; either may be NULL. */
void source_of_file(struct dap *d, struct arena *a, const char *file, const char *dir,
                    unsigned line, struct dap_source *ret);
/* The line of the code at an address; nothing where the debug info tells none. */
void source_of_address(struct dap *d, struct arena *a, uint64_t addr, struct dap_source *ret);
/* Writes a Source. */
void source_put(struct dap *d, struct json_writer *w, const char *key, const struct dap_source *at);
/* A line number as the client counts; and back. */
int64_t source_line(const struct dap *d, unsigned line);
unsigned source_line_of_client(const struct dap *d, int64_t line);

#endif

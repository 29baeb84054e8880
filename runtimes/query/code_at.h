/* The code at an address as a user knows it: its function and its source line. */
#ifndef RUNTIMES_QUERY_CODE_AT_H
#define RUNTIMES_QUERY_CODE_AT_H

#include <stdint.h>

#include "debugger/base/arena.h"

struct debuginfo;
struct future;

struct code_at {
	const char *function; /* whole name of the innermost function, clean; NULL: unknown */
	const char *aliases;  /* functions that share its code, as same_code_others() */
	/* The innermost source line, as in DWARF; file NULL: unknown. They live as long as di. */
	const char *file, *comp_dir;
	unsigned line;
};

/*
 * running: the innermost coroutine that the thread at the address polls, as a snapshot has it; it
 * distinguishes coroutines that share their code. NULL: unknown. Texts are in arena a.
 */
void code_at_find(struct debuginfo *di, uint64_t addr, const struct future *running,
                  struct arena *a, struct code_at *ret);
/* Only the source line, which costs less: the rest of *ret is NULL. */
void code_at_line(struct debuginfo *di, uint64_t addr, struct code_at *ret);
/*
 * The directory of the unit that has that file among the source lines at the pc of a frame, or just
 * before, as a caller's pc is the return address; NULL: unknown.
 */
const char *code_at_directory(struct debuginfo *di, uint64_t pc, const char *file);

#endif

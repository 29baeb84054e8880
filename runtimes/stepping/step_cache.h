/* Cache of the debug info that steps have read of a program. */
#ifndef RUNTIMES_STEPPING_STEP_CACHE_H
#define RUNTIMES_STEPPING_STEP_CACHE_H

#include "debugger/base/arena.h"
#include "debugger/base/map.h"
#include "dwarf/lookup/function_lines.h"

struct step_cache {
	struct map lines;    /* DIE of a function and its module -> struct function_lines */
	struct map drops;    /* hash of the name of a poll function -> struct step_addresses */
	struct map closures; /* type -> struct step_addresses */
	bool panic_known;
	uint64_t panic; /* address at which a panic begins to unwind: run-time; 0: there is none */
	struct arena arena;
};

struct step_addresses {
	uint64_t *data; /* run-time */
	size_t n;
};

const struct function_lines *step_cache_lines(struct step_cache *c, const struct function *f);
/* The function of std that begins to unwind, std::panicking::rust_panic(); 0: none. */
uint64_t step_cache_panic(struct step_cache *c, struct debuginfo *di);
/*
 * The functions that drop what a function polls, of that type. There may be others among them: a
 * legacy symbol of a coroutine has no generics.
 */
const struct step_addresses *step_cache_drops(struct step_cache *c, const struct function *poll,
                                              const struct type *type);
/* The first lines of a closure, by the type of what it has captured: of all its instances. */
const struct step_addresses *step_cache_closure(struct step_cache *c, struct debuginfo *di,
                                                const struct type *type);
struct step_cache *step_cache_new(void);
/* NULL is allowed. */
void step_cache_close(struct step_cache *c);

#endif

/*
 * Coroutines that share one poll function. LLVM (mergefunc) and linkers (--icf=all) merge functions
 * of equal code; the debug info then names one of the coroutines for all.
 */
#ifndef RUNTIMES_QUERY_MERGED_CODE_H
#define RUNTIMES_QUERY_MERGED_CODE_H

#include "dwarf/lookup/lookup.h"
#include "runtimes/common/inspector.h"

/*
 * May the poll functions of both types be merged? The data of both must have equal size; coroutines
 * must also be declared in one place, unless panics cannot unwind.
 */
bool merged_code_may_share(const struct type *t, const struct type *other);

/* The poller of a coroutine, as far as it is known. */
struct merged_code_poller {
	const struct type
		*type;    /* a coroutine, or the future of a task or block_on; NULL: unknown */
	bool is_runtime;  /* a runtime polls it: the type is what is polled, or contains it */
	const char *file; /* where it stands, as file_short of struct future; NULL: unknown */
	unsigned line;
};

struct merged_code_polled {
	const struct type *type; /* NULL: unknown */
	const char *aliases;     /* the other possible types, as in struct future; NULL: none */
};

/*
 * Finds the coroutine that is polled in the code of l, by the types that its poller awaits there.
 * Where the poller hides the type (a trait object) or is unknown, all coroutines of the crate that
 * may have the code are named. Reads types and symbols: do not call during a stop. Texts last as
 * long as the inspector.
 */
void merged_code_polled(struct inspector *in, const struct location *l,
                        const struct merged_code_poller *poller, struct merged_code_polled *ret);

/*
 * The path of the async function whose code the body of another one seems to have: that has a type
 * but no code, while a coroutine that may share it (merged_code_may_share()) has some. path: of the
 * other one, whole. NULL: it has code, it is no async function, or several may be meant.
 */
const char *merged_code_owner(struct dwarf_module *dm, const char *path, struct arena *a);
/* Is that the path of an async function, whole? A function of its name only makes the future. */
bool merged_code_is_async(struct dwarf_module *dm, const char *path);

#endif

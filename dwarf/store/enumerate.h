/*
 * Finds the functions and vtables that a layout file needs, in one pass over all units of a module.
 */
#ifndef DWARF_STORE_ENUMERATE_H
#define DWARF_STORE_ENUMERATE_H

#include "dwarf/lookup/lookup.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/types/type.h"

struct enumerate_ops {
	/*
	 * Selects functions besides those of coroutines: candidates are those of crates for which
	 * of_crate() is true, and those of any crate for whose own name anywhere() is true; of
	 * them, those for whose whole path tells() is true.
	 */
	bool (*of_crate)(const char *crate, void *arg);
	bool (*anywhere)(const char *own_name);
	bool (*tells)(const char *path, void *arg);
	/* Called once for each selected function, also for one that is only inlined. */
	void (*function)(const struct function *f, void *arg);
	/*
	 * Is this vtable needed? concrete: the implementing type; name: "<T as Trait>::{vtable}".
	 */
	bool (*vtable)(const struct type *concrete, const char *name, void *arg);
	/*
	 * Could a function of that name be an executor's? Called for all in units that have a
	 * Context, also for those that are only inlined.
	 */
	bool (*may_execute)(const char *name, void *arg);
	/*
	 * Is it one? Called for those that create a Context. The first for which this is true
	 * becomes enumerated_executor().
	 */
	bool (*executes)(const struct function *f, void *arg);
	/* Called after each unit: done of all units are processed. */
	void (*progress)(size_t done, size_t all, void *arg);
};

/* Calls function and vtable for all that exist, and records their addresses. Stops early at ^C. */
struct error *enumerate_code(struct dwarf_module *dm, const struct enumerate_ops *ops, void *arg)
	MUST_CHECK;

/*
 * *name: the name of a function that creates a Context, as executors do, and that ops.executes
 * accepted; NULL if the module has none. False: unknown, because no layout file contains it.
 */
bool enumerated_executor(struct dwarf_module *dm, const char **name);

/*
 * Notes that the code at that link-time address is also that of functions of other types. Whether
 * a file has that note.
 */
void enumerated_note_shared(struct dwarf_module *dm, uint64_t link);
bool enumerated_is_shared(struct dwarf_module *dm, uint64_t link);

/*
 * Notes that tells() has selected every function of the runtime's probe points. Whether a file has
 * that note: one of an older version has not.
 */
void enumerated_note_probes(struct dwarf_module *dm);
bool enumerated_has_probes(struct dwarf_module *dm);

/*
 * Notes a number about an argument of the function that begins at that link-time address; where a
 * file has it, *ret.
 */
void enumerated_note_argument(struct dwarf_module *dm, uint64_t link, uint64_t number);
bool enumerated_argument(struct dwarf_module *dm, uint64_t link, uint64_t *ret);

#endif

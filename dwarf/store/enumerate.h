/* What a layout file must have of a module's code: found by going through all of its units once. */
#ifndef DWARF_STORE_ENUMERATE_H
#define DWARF_STORE_ENUMERATE_H

#include "dwarf/lookup/lookup.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/types/type.h"

struct enumerate_ops {
	/*
	 * Which functions are of use beside those of coroutines: of this crate, or with a name of
	 * their own that begins so, those whose whole path "tells".
	 */
	const char *crate, *anywhere;
	bool (*tells)(const char *path, void *arg);
	/* One of these, once; also one only inlined. */
	void (*function)(const struct function *f, void *arg);
	/* A vtable of concrete for a trait, by its name "<T as Trait>::{vtable}": is it of use? */
	bool (*vtable)(const struct type *concrete, const char *name, void *arg);
	/*
	 * Asked of a function that may create a Context, also one only inlined: if it does, is it
	 * an executor's? The first that is both is enumerated_executor().
	 */
	bool (*is_executor)(const char *name, void *arg);
	/* After each unit: done of all. */
	void (*progress)(size_t done, size_t all, void *arg);
};

/*
 * Calls function and vtable for all there are, and has the records know where they begin. Stops
 * early at ^C.
 */
struct error *enumerate_code(struct dwarf_module *dm, const struct enumerate_ops *ops, void *arg)
	MUST_CHECK;

/*
 * *name: of a function that creates a Context, as executors do, and that ops.is_executor took for
 * one; NULL the module has none. False: not known, as no layout file says so.
 */
bool enumerated_executor(struct dwarf_module *dm, const char **name);

#endif

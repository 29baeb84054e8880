/*
 * From an address or a name to the one unit that is needed, and the DIE in it. Nothing here
 * passes over all debug info unless a name is found nowhere nearer (part of each contract).
 * All addresses are run-time addresses.
 */
#ifndef DWARF_LOOKUP_LOOKUP_H
#define DWARF_LOOKUP_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf/module/debuginfo.h"

struct str;
struct type;

/* A function as DWARF has it: concrete, or the abstract one of an inlined call. */
struct function {
	struct dwarf_module *dm;
	uint64_t die;        /* its DIE: concrete where there is one */
	const char *name;    /* qualified with generics: "tokio::runtime::task::raw::poll<T, S>" */
	const char *linkage; /* NULL none */
	uint64_t low, high;  /* run-time range; 0 when abstract */
};

/*
 * The function whose code covers addr, found by .debug_aranges (or unit ranges where that is
 * missing). NULL when no debug info covers it.
 */
const struct function *lookup_function(struct debuginfo *di, uint64_t addr);
/* The function of a subprogram DIE (names come from its origin where it has none). */
const struct function *lookup_function_die(struct dwarf_module *dm, uint64_t die);
/* Template type parameter of a function ("T" of poll<T, S>), NULL when DWARF has none. */
const struct type *function_param(const struct function *f, const char *name);
/* Type of a function's own variable or formal parameter of that name, NULL when none. */
const struct type *function_variable(const struct function *f, const char *name);
/* Type of the first formal parameter, NULL when none. */
const struct type *function_first_argument(const struct function *f);
/*
 * Has it a variable or parameter core::task::Context, or a reference to one? Nobody can poll a
 * future without one: it is a poll function, or it polls the futures that have no other poller.
 */
bool function_has_context(const struct function *f);

/*
 * The complete type of that qualified name: in the unit of near first (a DIE offset, 0 none),
 * then in units of the crate the name starts with, then in the others. NULL when no unit has it.
 * Hits and misses are remembered.
 */
const struct type *lookup_type(struct dwarf_module *dm, const char *name, uint64_t near);

/* A thread-local variable below a namespace, confirmed by the symbol table. */
struct thread_local
{
	struct dwarf_module *dm;
	const struct type *type;
	uint64_t offset; /* in the module's TLS block */
	const char *linkage;
};
/*
 * All live thread-locals whose qualified name starts with path ("tokio::runtime::context::
 * CONTEXT"), looked for in the units of the path's crate. DWARF also describes arms of
 * thread_local! that the linker dropped; those have no STT_TLS symbol and are left out. In a
 * stripped module a candidate counts when it is the only one, or the only one whose offset is
 * not 0. *doubt says why none is sure, NULL otherwise.
 */
struct error *lookup_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                   struct thread_local **ret, size_t *nret, const char **doubt)
	MUST_CHECK;

/*
 * The static of that qualified name ("tokio::signal::registry::globals::GLOBALS"), in the units of
 * the name's crate: its type and run-time address. False when none has an address, or two have
 * different ones.
 */
bool lookup_static(struct dwarf_module *dm, const char *name, const struct type **type,
                   uint64_t *addr);

/* A static, or a thread-local, of the program's source; vtables are none. */
struct global {
	const char *name;        /* qualified: "app::config::LIMIT" */
	const struct type *type; /* NULL unknown */
	uint64_t addr;           /* run-time; 0 of a thread-local */
	bool thread_local;
};
/*
 * Those whose name without its path is name ("LIMIT"), by their qualified names; *total may be
 * more than the *nret that are told. The first time this goes through all units, with a progress
 * line, and learns all statics there are; then it is known. ERR_INTERRUPTED at ^C.
 */
struct error *lookup_globals(struct dwarf_module *dm, const char *name, struct arena *a,
                             struct global **ret, size_t *nret, size_t *total) MUST_CHECK;
/* Can that be asked at little cost: all are known, or the debug info is small? */
bool lookup_globals_near(struct dwarf_module *dm);

/*
 * The concrete type behind a trait object's vtable at addr (run-time). Exact when DWARF has
 * the vtable's own DIE; otherwise from the function in slot, whose first argument is
 * Pin<&mut T>: *exact is then false when that function may serve several types.
 */
const struct type *lookup_vtable(struct debuginfo *di, uint64_t addr, unsigned slot, bool *exact);

/* One function of an inlining chain at a pc. */
struct location {
	const struct function *function; /* NULL: only a symbol covers it */
	const char *name;    /* of the function, or of the demangled symbol; NULL unknown */
	bool mangled;        /* name is a demangled symbol: legacy ones have no generics */
	const char *linkage; /* mangled; NULL unknown */
	const char *file;    /* full path as in DWARF, NULL unknown */
	const char *comp_dir;
	unsigned line;
	bool inlined;
};
/* Innermost first; the last one is the physical function. At least one entry. */
struct location *lookup_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                  size_t *nret);
/* The same without lines, which cost a line table: for recognising functions. */
struct location *lookup_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                     size_t *nret);

/* The same, but of the C runtime's libraries (debuginfo_is_system()) one entry without a name. */
struct location *lookup_rust_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                          size_t *nret);

/*
 * Says that what is asked next of poll functions concerns what this future polls or holds. In
 * optimised code they are inlined into its own, and then described beside it.
 */
void lookup_context(const struct type *future);

/*
 * Linkage name of the poll function of a coroutine type ("{async_fn_env#0}" has "{async_fn#0}"
 * beside it): it spells what `{impl#N}` hides. NULL when its unit does not say.
 */
const char *lookup_poll_linkage(const struct type *coroutine);
/*
 * Where the source awaits, from the variables named `__awaitee` of the poll function: the line of
 * the user's own code even for an await that a macro wrote, whose variant has the line inside
 * the macro. The nth (from 0) of those whose type has that name; false when there is none.
 */
bool lookup_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                         const char **file, unsigned *line);
/* A variable that a coroutine has saved across an await, or captured. */
struct saved_variable {
	const struct type *coroutine;
	unsigned state;          /* number of the variant that has it */
	const char *name, *type; /* names */
	uint64_t offset;         /* from the coroutine's beginning */
};
/*
 * Where the source declares it: the variable of its poll function that has its name and type and is
 * in scope where that state awaits. Of several (one hides the other) the one of which unoptimised
 * code says that it lies there. False where none is, or that does not tell them apart, and where
 * it cannot be told which await it is. Of the first states alone the answer is remembered.
 */
enum { DECLARED_STATES = 256 };
bool lookup_declaration(const struct saved_variable *v, const char **file, unsigned *line);
/*
 * The same of the DIE of a variable or parameter, with its unit's directory (NULL unknown); false
 * when it does not say, or die is 0.
 */
bool lookup_variable_place(struct dwarf_module *dm, uint64_t die, const char **file,
                           const char **comp_dir, unsigned *line);
/*
 * Does a function poll(Pin<&mut T>, ...) exist: is it a future? Looks through the units of the
 * crate that the type's unit belongs to; of a large crate (megabytes) through its own unit, those
 * that were scanned before, and those where the symbol table has such a function.
 */
bool lookup_has_poll(const struct type *t);

/*
 * Calls visit for each type or function that is an instance of the generic path ("tokio::runtime
 * ::task::raw::poll" has "...::poll<A, B>"), in the units of the crate that the unit of the DIE
 * near belongs to. has_code: a function with an address in the file. A name may come again.
 */
typedef void instance_fn(const char *name, bool has_code, void *arg);
void lookup_each_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                          instance_fn *visit, void *arg);
/*
 * Is one of them an instance for that type, by its first generic argument? They are visited once
 * for each crate and path, and hashes of their arguments kept.
 */
bool lookup_has_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                         const char *argument);

#endif

/*
 * Queries of debug info: from an address or a name to the one unit that describes it, and to the
 * DIE in that unit. No query walks all debug info, unless the contract below says so or a name is
 * in none of the nearer units. All addresses are run-time addresses.
 */
#ifndef DWARF_LOOKUP_LOOKUP_H
#define DWARF_LOOKUP_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf/module/debuginfo.h"

struct str;
struct type;

/* A function as DWARF describes it: a concrete one, or the abstract function of an inlined call. */
struct function {
	struct dwarf_module *dm;
	uint64_t die;        /* its DIE; the concrete one if there is one */
	const char *name;    /* qualified with generics: "tokio::runtime::task::raw::poll<T, S>" */
	const char *linkage; /* NULL: none */
	uint64_t low, high;  /* run-time range; 0 when abstract */
};

/*
 * The function whose code covers addr. The unit is found by .debug_aranges, or by the ranges of the
 * units where that section is missing. NULL when no debug info covers addr.
 */
const struct function *lookup_function(struct debuginfo *di, uint64_t addr);
/* The function of a subprogram DIE. A name that the DIE lacks is read from its abstract origin. */
const struct function *lookup_function_die(struct dwarf_module *dm, uint64_t die);
/* A template type parameter of a function ("T" of poll<T, S>); NULL when DWARF has none. */
const struct type *function_param(const struct function *f, const char *name);
/* The type of the function's own variable or formal parameter of that name; NULL when none. */
const struct type *function_variable(const struct function *f, const char *name);
/* The type of the first formal parameter; NULL when none. */
const struct type *function_first_argument(const struct function *f);
/*
 * Does the function have a variable or parameter of type core::task::Context, or a reference to
 * one? A future cannot be polled without a Context. Such a function is a poll function, or it is an
 * executor that polls futures which have no other poller.
 */
bool function_has_context(const struct function *f);

/*
 * The complete type with that qualified name. The search order is: the unit of near (a DIE offset,
 * 0: none), the units of the crate that the name starts with, all other units. NULL when no unit
 * has the type. Hits and misses are cached.
 */
const struct type *lookup_type(struct dwarf_module *dm, const char *name, uint64_t near);

/*
 * Calls visit with every complete struct, enum and union of the module, by qualified name and DIE,
 * also with coroutines and closures, but not with vtables. A type that several units describe is
 * visited several times. Reads all units, with a progress line. Stops at an error of visit, which
 * is returned. ERR_INTERRUPTED at ^C. name is valid during the call.
 */
typedef struct error *type_fn(struct dwarf_module *dm, const char *name, uint64_t die, void *arg);
struct error *lookup_each_type(struct dwarf_module *dm, type_fn *visit, void *arg) MUST_CHECK;

/* A thread-local variable of the program, confirmed by the symbol table. */
struct thread_local
{
	struct dwarf_module *dm;
	const struct type *type;
	uint64_t offset; /* in the module's TLS block */
	const char *linkage;
};
/*
 * All live thread-locals whose qualified name starts with path ("tokio::runtime::context::
 * CONTEXT"). Searches the units of the path's crate. DWARF also describes thread-locals of
 * thread_local! that the linker dropped; those have no STT_TLS symbol and are left out. In a
 * stripped module a candidate is accepted when it is the only one, or the only one whose offset is
 * not 0. *doubt is the reason why no candidate is certain, otherwise NULL.
 */
struct error *lookup_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                   struct thread_local **ret, size_t *nret, const char **doubt)
	MUST_CHECK;

/*
 * Finds the static with that qualified name ("tokio::signal::registry::globals::GLOBALS") in the
 * units of the name's crate, and returns its type and run-time address. False when no such static
 * has an address, or when two have different addresses.
 */
bool lookup_static(struct dwarf_module *dm, const char *name, const struct type **type,
                   uint64_t *addr);

/*
 * The number that a static begins with, of which only the symbol is known, as of those of std: its
 * demangled name, and its size in bytes (at most 8). The file of the program holds it. False if
 * there is no such symbol.
 */
bool lookup_initial_number(struct dwarf_module *dm, const char *name, size_t size, uint64_t *ret);

/* A static or thread-local of the program's source. Vtables are not included. */
struct global {
	const char *name;        /* qualified: "app::config::LIMIT" */
	const struct type *type; /* NULL: unknown */
	uint64_t addr;           /* run-time address; 0 for a thread-local */
	bool thread_local;
};
/*
 * The globals whose last path component is name ("LIMIT"), sorted by their qualified names. *total
 * may exceed *nret, the number that is returned. The first call reads all units, with a progress
 * line, and caches every static of the program; later calls use the cache. ERR_INTERRUPTED at ^C.
 */
struct error *lookup_globals(struct dwarf_module *dm, const char *name, struct arena *a,
                             struct global **ret, size_t *nret, size_t *total) MUST_CHECK;
/* Is lookup_globals() cheap now, because all statics are cached or the debug info is small? */
bool lookup_globals_near(struct dwarf_module *dm);

/*
 * The concrete type behind a trait object whose vtable is at addr (run-time). The result is exact
 * when DWARF has a DIE for the vtable. Otherwise it is derived from the function in slot, whose
 * first argument is Pin<&mut T>; *exact is false when that function may serve several types.
 */
const struct type *lookup_vtable(struct debuginfo *di, uint64_t addr, unsigned slot, bool *exact);

/* A function of an inlining chain at a pc. */
struct location {
	const struct function *function; /* NULL: only a symbol covers the address */
	const char *name;    /* of the function, or the demangled symbol; NULL: unknown */
	bool mangled;        /* name is a demangled symbol: legacy ones have no generics */
	const char *linkage; /* mangled; NULL: unknown */
	const char *file;    /* full path as in DWARF; NULL: unknown */
	const char *comp_dir;
	unsigned line;
	bool inlined;
	uint64_t
		site; /* DIE of the inlined call (DW_TAG_inlined_subroutine); 0: none, or unknown */
};
/* The name of the innermost entry where there are more calls than are looked at. */
#define LOCATION_CUT "..."
/* Whether an entry stands for calls that are not known: its place is that of the innermost one. */
bool locations_are_cut(const struct location *l);
/*
 * The inlining chain at addr, innermost function first; the last entry is the physical function.
 * Returns at least one entry. No more than DIE_MAX_NESTING scopes inside each other are looked at:
 * where there are more, locations_are_cut() of the first entry.
 */
struct location *lookup_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                  size_t *nret);
/*
 * Like lookup_locations(), but without lines, which need a line table. For recognising functions.
 */
struct location *lookup_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                     size_t *nret);

/*
 * Like lookup_functions_at(), but an address in the C runtime's libraries (debuginfo_is_system())
 * gives a single entry without a name.
 */
struct location *lookup_rust_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                          size_t *nret);

/*
 * Announces that the next queries for poll functions concern futures that this future polls or
 * contains. In optimised code their poll functions are inlined into this future's poll function,
 * and are described in the same unit.
 */
void lookup_context(const struct type *future);

/*
 * The linkage name of a coroutine type's poll function (the type "{async_fn_env#0}" has the
 * function "{async_fn#0}" next to it). The linkage name contains the type that `{impl#N}` hides.
 * NULL when the type's unit does not tell the poll function.
 */
const char *lookup_poll_linkage(const struct type *coroutine);
/*
 * The source line of an await, read from the variables named `__awaitee` of the poll function. This
 * is a line of the user's own code even if a macro wrote the await; the coroutine's variant then
 * has a line inside the macro. The query is for the nth (from 0) of the variables whose type has
 * that name; false when there is none.
 */
bool lookup_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                         const char **file, unsigned *line);
/* A variable that a coroutine saved across an await, or captured. */
struct saved_variable {
	const struct type *coroutine;
	unsigned state;          /* number of the variant that contains the variable */
	const char *name, *type; /* names */
	uint64_t offset;         /* from the start of the coroutine */
};
/*
 * The place where the source declares the variable. The declaration is the variable of the poll
 * function that has the same name and type and is in scope at the await of that state. Where
 * several match (one shadows the other), the location expressions of unoptimised code decide. False
 * when no variable matches, when the candidates cannot be distinguished, or when it is unknown
 * which await belongs to the state. Results are cached for the first DECLARED_STATES states only.
 */
enum { DECLARED_STATES = 256 };
bool lookup_declaration(const struct saved_variable *v, const char **file, unsigned *line);
/*
 * The place where the source declares the variable or parameter of a DIE, with its unit's directory
 * (NULL: unknown). False when the DIE has no line, or die is 0.
 */
bool lookup_variable_place(struct dwarf_module *dm, uint64_t die, const char **file,
                           const char **comp_dir, unsigned *line);
/*
 * Bits: how a type is polled. POLLED_AS_FUTURE: a function poll(Pin<&mut T>, ...) exists;
 * POLLED_AS_STREAM: a function poll_next(Pin<&mut T>, ...) exists (futures-core 0.3,
 * src/stream.rs).
 */
enum polled_as { POLLED_AS_FUTURE = 1, POLLED_AS_STREAM = 2 };
/*
 * How the type is polled, 0: not at all. Searches all units of the crate that the type's unit
 * belongs to. In a large crate (megabytes of debug info) it searches first the type's own unit, the
 * units that are scanned already, and the units where the symbol table has such a function, then
 * all units of the module that mention `Pin<&mut T>`. The search ends at the first result: of a
 * type that is polled in both ways, one bit may be missing.
 */
unsigned lookup_polled_as(const struct type *t);

/* A key of the crate that the DIE belongs to; 0: not known, or it is of a layout file. */
uint64_t lookup_crate(struct dwarf_module *dm, uint64_t die);

/*
 * Calls visit for each type or function that is an instance of the generic path ("tokio::runtime
 * ::task::raw::poll" has "...::poll<A, B>"). Searches the units of the crate that the unit of the
 * DIE near belongs to. has_code: the instance is a function with an address in the file. A name may
 * be visited more than once. Three paths of records.h stand for something else: OWN_DROP,
 * COROUTINE_TYPES and UNMERGED_CODE.
 */
typedef void instance_fn(const char *name, bool has_code, void *arg);
void lookup_each_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                          instance_fn *visit, void *arg);
/*
 * Searches the instances of n paths in one pass over the crate's units, for which
 * lookup_each_instance() would need a pass for each: a pass over a crate of 200 MB takes 0.1 s.
 */
void lookup_find_instances(struct dwarf_module *dm, uint64_t near, const char *const *paths,
                           size_t n);
/*
 * Does the path have an instance whose first generic argument is that type? The instances are
 * visited once for each crate and path; hashes of their first arguments are cached.
 */
bool lookup_has_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                         const char *argument);

#endif

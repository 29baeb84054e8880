/*
 * The queries of lookup.h answered by debug info alone. lookup_cached.c calls these functions when
 * no record has the result. Each opens the units that it needs. Call debuginfo_need() first.
 */
#ifndef DWARF_LOOKUP_LOOKUP_DWARF_H
#define DWARF_LOOKUP_LOOKUP_DWARF_H

#include "dwarf/lookup/lookup.h"

const struct function *lookup_dwarf_function(struct debuginfo *di, uint64_t addr);
const struct function *lookup_dwarf_function_die(struct dwarf_module *dm, uint64_t die);
/* The linkage name in a function's DIE, or in its abstract origin. The unit need not be scanned. */
const char *function_read_linkage(struct dwarf_module *dm, uint64_t function);
const struct type *function_read_param(const struct function *f, const char *name);
const struct type *function_read_variable(const struct function *f, const char *name);
const struct type *function_read_first_argument(const struct function *f);
/* Parts of a function that have a type: "T" of poll<T>, a parameter, or a variable in any block. */
enum function_part { FUNCTION_GENERIC, FUNCTION_PARAMETER, FUNCTION_VARIABLE };
/* Calls visit with each type that a function's DIE names so, until it returns true. */
typedef bool function_type_fn(enum function_part part, const struct type *t, void *arg);
void function_read_types(const struct function *f, function_type_fn *visit, void *arg);
/* The type of the function's result; NULL: nothing, or not known. */
const struct type *function_read_result(const struct function *f);
bool function_read_has_context(const struct function *f);
/*
 * Does the function create a Context, instead of receiving it from its caller? Executors do; a poll
 * function receives one, also in an Option or a tuple, and a closure may capture it.
 */
bool function_read_creates_context(const struct function *f);
const struct type *lookup_dwarf_type(struct dwarf_module *dm, const char *name, uint64_t near);
struct error *lookup_dwarf_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                         struct thread_local **ret, size_t *nret,
                                         const char **doubt) MUST_CHECK;
bool lookup_dwarf_static(struct dwarf_module *dm, const char *name, const struct type **type,
                         uint64_t *addr);
const struct type *lookup_dwarf_vtable(struct debuginfo *di, uint64_t addr, unsigned slot,
                                       bool *exact);
/* The concrete type of a `{vtable}` variable, by its DIE; NULL when DWARF does not tell it. */
const struct type *lookup_dwarf_vtable_variable(struct dwarf_module *dm, uint64_t variable);
struct location *lookup_dwarf_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                        size_t *nret);
struct location *lookup_dwarf_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                           size_t *nret);
/*
 * In a file that has its own symbol table, an address that no function covers is not looked up with
 * libdwfl.
 */
struct location *lookup_dwarf_rust_functions_at(struct debuginfo *di, uint64_t addr,
                                                struct arena *a, size_t *nret);
/* The DIE of a coroutine's poll function, or of another instance of a generic one; 0: none. */
uint64_t lookup_dwarf_poll(const struct type *coroutine);
/*
 * The DIEs of its poll function, of its other instances and of their copies, as far as they are
 * known already; at most max.
 */
size_t lookup_dwarf_polls(const struct type *coroutine, uint64_t *ret, size_t max);
const char *lookup_dwarf_poll_linkage(const struct type *coroutine);
bool lookup_dwarf_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                               const char **file, unsigned *line);
/* An awaitee of a coroutine: the nth of those with that type. */
struct awaitee {
	const char *type;
	unsigned nth;
};
/*
 * Like lookup_dwarf_awaitee_line(), but reads the DIE of a poll function and its abstract origins.
 */
bool function_read_awaitee_place(struct dwarf_module *dm, uint64_t poll,
                                 const struct awaitee *awaitee, const char **file, unsigned *line);
bool lookup_dwarf_declaration(const struct saved_variable *v, const char **file, unsigned *line);
bool lookup_dwarf_variable_place(struct dwarf_module *dm, uint64_t variable, const char **file,
                                 const char **comp_dir, unsigned *line);
unsigned lookup_dwarf_polled_as(const struct type *t);

struct instance_query {
	const char *path;
	instance_fn *visit;
	void *arg;
};
/* lookup_each_instance() for n paths, in one pass over the units. */
void lookup_dwarf_each_instance(struct dwarf_module *dm, uint64_t near,
                                const struct instance_query *queries, size_t n);
/*
 * The common prefix, up to "/@/", of the names of all units of the crate that the DIE's unit comes
 * from; NULL when the unit's name has no such prefix. lookup_dwarf_polled_as() and
 * lookup_dwarf_each_instance() search the units with that prefix.
 */
const char *lookup_dwarf_home(struct dwarf_module *dm, uint64_t die);
/* Frees the cache of lookup_has_instance(); the next call fills it again. */
void lookup_cached_instances_forget(struct dwarf_module *dm);
/*
 * Records the poll function of a coroutine by its name. If dm->polls.dies_known is set, all poll
 * functions are recorded and lookup_dwarf_poll() searches nothing else.
 */
void lookup_dwarf_note_poll(struct dwarf_module *dm, const char *name, uint64_t die);

#endif

/*
 * The questions of lookup.h as debug info alone answers them, for lookup_cached.c, which asks here
 * only what no record tells. Each opens units as it needs them; all need debuginfo_need() before.
 */
#ifndef DWARF_LOOKUP_LOOKUP_DWARF_H
#define DWARF_LOOKUP_LOOKUP_DWARF_H

#include "dwarf/lookup/lookup.h"

const struct function *lookup_dwarf_function(struct debuginfo *di, uint64_t addr);
const struct function *lookup_dwarf_function_die(struct dwarf_module *dm, uint64_t die);
/* The linkage name in a function's DIE, or in what it is a copy of: its unit need not be scanned.
 */
const char *function_read_linkage(struct dwarf_module *dm, uint64_t function);
const struct type *function_read_param(const struct function *f, const char *name);
const struct type *function_read_variable(const struct function *f, const char *name);
const struct type *function_read_first_argument(const struct function *f);
bool function_read_has_context(const struct function *f);
/* Has it a Context that no caller gave it? Executors have; what is polled is given one. */
bool function_read_creates_context(const struct function *f);
const struct type *lookup_dwarf_type(struct dwarf_module *dm, const char *name, uint64_t near);
struct error *lookup_dwarf_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                         struct thread_local **ret, size_t *nret,
                                         const char **doubt) MUST_CHECK;
bool lookup_dwarf_static(struct dwarf_module *dm, const char *name, const struct type **type,
                         uint64_t *addr);
const struct type *lookup_dwarf_vtable(struct debuginfo *di, uint64_t addr, unsigned slot,
                                       bool *exact);
/* The concrete type of a `{vtable}` variable, by its DIE; NULL when DWARF does not say. */
const struct type *lookup_dwarf_vtable_variable(struct dwarf_module *dm, uint64_t variable);
struct location *lookup_dwarf_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                        size_t *nret);
struct location *lookup_dwarf_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                           size_t *nret);
/* In a file with a symbol table of its own without asking libdwfl for what no function covers. */
struct location *lookup_dwarf_rust_functions_at(struct debuginfo *di, uint64_t addr,
                                                struct arena *a, size_t *nret);
/* The DIE of a coroutine's poll function, of another instance of a generic one at worst; 0 none. */
uint64_t lookup_dwarf_poll(const struct type *coroutine);
/* It and those of other instances, and copies, that are known by now, not more than max. */
size_t lookup_dwarf_polls(const struct type *coroutine, uint64_t *ret, size_t max);
const char *lookup_dwarf_poll_linkage(const struct type *coroutine);
bool lookup_dwarf_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                               const char **file, unsigned *line);
/* What a coroutine awaits: the nth of those of a type. */
struct awaitee {
	const char *type;
	unsigned nth;
	/* So many does it await whose types' own names, without paths, are that of this one; they
	 * are of one type. 0: types are compared by their whole names. */
	unsigned of_own_name;
};
/* The same in the DIE of a poll function, and in those that it is a copy of. */
bool function_read_awaitee_place(struct dwarf_module *dm, uint64_t poll,
                                 const struct awaitee *awaitee, const char **file, unsigned *line);
bool lookup_dwarf_declaration(const struct saved_variable *v, const char **file, unsigned *line);
bool lookup_dwarf_variable_place(struct dwarf_module *dm, uint64_t variable, const char **file,
                                 const char **comp_dir, unsigned *line);
bool lookup_dwarf_has_poll(const struct type *t);
void lookup_dwarf_each_instance(struct dwarf_module *dm, uint64_t near, const char *path,
                                instance_fn *visit, void *arg);
/*
 * What the names of all units begin with that come from the crate of the DIE's unit, up to "/@/";
 * NULL when the unit's name does not say. lookup_dwarf_has_poll() and lookup_dwarf_each_instance()
 * look there.
 */
const char *lookup_dwarf_home(struct dwarf_module *dm, uint64_t die);
/* Frees what lookup_has_instance() keeps; it may be learnt anew. */
void lookup_cached_instances_forget(struct dwarf_module *dm);
/*
 * Takes note of the poll function of a coroutine, by its name. dm->poll_dies_known: all were noted,
 * and lookup_dwarf_poll() asks nothing else.
 */
void lookup_dwarf_note_poll(struct dwarf_module *dm, const char *name, uint64_t die);

#endif

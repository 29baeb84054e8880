/*
 * Implements lookup.h with a cache of records, from this run or from a file. On a miss it opens the
 * debug info and records the result, also a negative one. Queries about places in code are in
 * lookup_cached_places.c, those about instances of generics in lookup_cached_instances.c.
 */
#include <string.h>

#include "debugger/base/log.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/symtab.h"
#include "dwarf/records/records.h"
#include "dwarf/types/type.h"

/* ---- records of one DIE ---- */

/* The type of a record; false when there is no record. */
static bool lookup_cached_known_type(struct dwarf_module *dm, enum record_kind kind, uint64_t key,
                                     const char *text, const struct type **ret)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), kind, key, text, &record))
		return false;
	*ret = type_at(dm, record_number(&record));
	return true;
}

static const struct type *lookup_cached_keep_type(struct dwarf_module *dm, enum record_kind kind,
                                                  uint64_t key, const char *text,
                                                  const struct type *t)
{
	struct record_writer d;

	if (t && type_module(t) != dm)
		return t;
	record_begin(&d, debuginfo_records(dm), kind, key, text);
	record_add_number(&d, t ? type_die(t) : 0);
	record_end(&d);
	return t;
}

/* ---- functions ---- */

static struct function *known_function(struct dwarf_module *dm, uint64_t die)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_FUNCTION, die, NULL, &record))
		return NULL;
	struct function *f = NEW(&dm->di->arena, struct function);
	f->dm = dm;
	f->die = die;
	f->name = record_text(&record);
	f->linkage = record_text(&record);
	f->low = record_number(&record);
	f->high = f->low + record_number(&record);
	if (f->high) {
		f->low += dm->module->bias;
		f->high += dm->module->bias;
	}
	if (!f->name)
		f->name = f->linkage ? f->linkage : "?";
	return f;
}

static void keep_function(struct dwarf_module *dm, const struct function *f)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), RECORD_FUNCTION, f->die, NULL);
	record_add_text(&d, f->name);
	record_add_text(&d, f->linkage);
	record_add_number(&d, f->high ? f->low - dm->module->bias : 0);
	record_add_number(&d, f->high - f->low);
	record_end(&d);
}

const struct function *lookup_function_die(struct dwarf_module *dm, uint64_t die)
{
	struct function *known = die ? map_get(&dm->functions, die) : NULL;
	const struct function *f;

	if (known || die == 0)
		return known;
	f = known_function(dm, die);
	if (!f && debuginfo_need(dm) && (f = lookup_dwarf_function_die(dm, die)))
		keep_function(dm, f);
	/* A search visits many functions; do not cache them. */
	if (records_are_paused(debuginfo_records(dm)))
		return f;
	if (f)
		map_put(&dm->functions, die, (void *)(uintptr_t)f);
	return f;
}

/* A layout file has ranges of functions, not one record for each address. */
static const struct function *function_below(struct dwarf_module *dm, uint64_t pc)
{
	const struct function *f;
	struct record record;
	uint64_t low;

	if (!record_find_below(debuginfo_records(dm), RECORD_CODE, pc, &low, &record))
		return NULL;
	f = lookup_function_die(dm, record_number(&record));
	return f && pc + dm->module->bias < f->high ? f : NULL;
}

const struct function *lookup_function(struct debuginfo *di, uint64_t addr)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	uint64_t pc = m ? module_link_addr(m, addr).v : 0;
	const struct function *f;
	struct record_writer d;
	struct record record;

	if (!dm)
		return NULL;
	if (record_find(debuginfo_records(dm), RECORD_PC, pc, NULL, &record))
		return lookup_function_die(dm, record_number(&record));
	if (!debuginfo_need(dm))
		return function_below(dm, pc);
	f = lookup_dwarf_function(di, addr);
	record_begin(&d, debuginfo_records(dm), RECORD_PC, pc, NULL);
	record_add_number(&d, f ? f->die : 0);
	record_end(&d);
	return f;
}

const struct type *function_param(const struct function *f, const char *name)
{
	const struct type *t = NULL;

	if (lookup_cached_known_type(f->dm, RECORD_PARAM, f->die, name, &t))
		return t;
	t = debuginfo_need(f->dm) ? function_read_param(f, name) : NULL;
	return lookup_cached_keep_type(f->dm, RECORD_PARAM, f->die, name, t);
}

const struct type *function_variable(const struct function *f, const char *name)
{
	const struct type *t = NULL;

	if (lookup_cached_known_type(f->dm, RECORD_VARIABLE, f->die, name, &t))
		return t;
	t = debuginfo_need(f->dm) ? function_read_variable(f, name) : NULL;
	return lookup_cached_keep_type(f->dm, RECORD_VARIABLE, f->die, name, t);
}

const struct type *function_first_argument(const struct function *f)
{
	const struct type *t = NULL;

	if (lookup_cached_known_type(f->dm, RECORD_ARGUMENT, f->die, NULL, &t))
		return t;
	t = debuginfo_need(f->dm) ? function_read_first_argument(f) : NULL;
	return lookup_cached_keep_type(f->dm, RECORD_ARGUMENT, f->die, NULL, t);
}

bool function_has_context(const struct function *f)
{
	struct record_writer d;
	struct record record;

	if (record_find(debuginfo_records(f->dm), RECORD_CONTEXT, f->die, NULL, &record))
		return record_number(&record) != 0;
	if (!debuginfo_need(f->dm))
		return false;
	bool has = function_read_has_context(f);
	record_begin(&d, debuginfo_records(f->dm), RECORD_CONTEXT, f->die, NULL);
	record_add_number(&d, has);
	record_end(&d);
	return has;
}

/* ---- names ---- */

const struct type *lookup_type(struct dwarf_module *dm, const char *name, uint64_t near)
{
	uint64_t key = map_key_of_text(name);
	const struct type *t = NULL;

	if (map_has(&dm->types.by_name, key)) {
		t = map_get(&dm->types.by_name, key);
		if (!t || strcmp(type_name(t), name) == 0)
			return t;
	}
	if (!lookup_cached_known_type(dm, RECORD_NAME, 0, name, &t)) {
		t = debuginfo_need(dm) ? lookup_dwarf_type(dm, name, near) : NULL;
		LOG("dwarf", "type %s: %s", name, t ? "found" : "not found");
		lookup_cached_keep_type(dm, RECORD_NAME, 0, name, t);
	}
	map_put(&dm->types.by_name, key, (void *)(uintptr_t)t);
	return t;
}

static bool known_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                struct thread_local **ret, size_t *nret, const char **doubt)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_TLS, 0, path, &record))
		return false;
	*doubt = record_text(&record);
	*nret = record_count(&record);
	*ret = NEW_ARRAY(a, struct thread_local, *nret);
	for (size_t i = 0; i < *nret; i++) {
		struct thread_local *t = &(*ret)[i];

		t->dm = dm;
		t->offset = record_number(&record);
		t->type = type_at(dm, record_number(&record));
		t->linkage = record_text(&record);
	}
	return true;
}

struct error *lookup_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                   struct thread_local **ret, size_t *nret, const char **doubt)
{
	struct record_writer d;

	if (known_thread_locals(dm, path, a, ret, nret, doubt))
		return NULL;
	*ret = NULL;
	*nret = 0;
	*doubt = NULL;
	if (debuginfo_need(dm))
		TRY(lookup_dwarf_thread_locals(dm, path, a, ret, nret, doubt));
	record_begin(&d, debuginfo_records(dm), RECORD_TLS, 0, path);
	record_add_text(&d, *doubt);
	record_add_number(&d, *nret);
	for (size_t i = 0; i < *nret; i++) {
		record_add_number(&d, (*ret)[i].offset);
		record_add_number(&d, (*ret)[i].type ? type_die((*ret)[i].type) : 0);
		record_add_text(&d, (*ret)[i].linkage);
	}
	record_end(&d);
	return NULL;
}

bool lookup_static(struct dwarf_module *dm, const char *name, const struct type **type,
                   uint64_t *addr)
{
	struct record_writer d;
	struct record record;
	bool found;

	if (record_find(debuginfo_records(dm), RECORD_STATIC, 0, name, &record)) {
		*type = type_at(dm, record_number(&record));
		*addr = record_number(&record) + dm->module->bias;
		return *type != NULL;
	}
	*type = NULL;
	*addr = 0;
	found = debuginfo_need(dm) && lookup_dwarf_static(dm, name, type, addr);
	record_begin(&d, debuginfo_records(dm), RECORD_STATIC, 0, name);
	record_add_number(&d, found && *type ? type_die(*type) : 0);
	record_add_number(&d, found ? *addr - dm->module->bias : 0);
	record_end(&d);
	return found;
}

/*
 * The number's address is recorded like that of lookup_static(), under its size and without a type.
 */
bool lookup_initial_number(struct dwarf_module *dm, const char *name, size_t size, uint64_t *ret)
{
	struct records *records = debuginfo_records(dm);
	struct record_writer d;
	struct record record;
	uint64_t addr;

	if (record_find(records, RECORD_STATIC, size, name, &record)) {
		record_number(&record);
		addr = record_number(&record);
	} else {
		addr = symtab_variable(dm, name, size);
		record_begin(&d, records, RECORD_STATIC, size, name);
		record_add_number(&d, 0);
		record_add_number(&d, addr);
		record_end(&d);
	}
	return addr && debuginfo_initial_number(dm, addr, size, ret);
}

static unsigned find_polled_as(const struct type *t, bool *recorded)
{
	struct dwarf_module *dm = type_module(t);
	struct record record;
	uint64_t known = 0;

	if (record_find(debuginfo_records(dm), RECORD_HAS_POLL, type_poll_key(t), type_name(t),
	                &record))
		known = record_number(&record);
	*recorded = known & POLLED_STREAMS_TOO;
	if (!*recorded && debuginfo_need(dm))
		return lookup_dwarf_polled_as(t);
	return known & POLLED_BITS;
}

unsigned lookup_polled_as(const struct type *t)
{
	struct dwarf_module *dm = type_module(t);
	struct type_memo *memo;

	type_kind(t); /* completes it, and its memo */
	memo = type_memo(t);
	if (!memo->poll_known) {
		bool recorded;

		memo->polled_as = find_polled_as(t, &recorded) & 3;
		memo->poll_recorded = recorded;
		memo->poll_known = true;
	}
	if (!memo->poll_queried && !records_are_paused(debuginfo_records(dm))) {
		memo->poll_queried = true;
		dm->types.unrecorded |= !memo->poll_recorded;
	}
	return memo->polled_as;
}

/* ---- coroutines and trait objects ---- */

const char *lookup_poll_linkage(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);
	uint64_t die = type_die(coroutine);
	struct record_writer d;
	struct record record;

	if (record_find(debuginfo_records(dm), RECORD_POLL, die, NULL, &record))
		return record_text(&record);
	const char *linkage = debuginfo_need(dm) ? lookup_dwarf_poll_linkage(coroutine) : NULL;
	record_begin(&d, debuginfo_records(dm), RECORD_POLL, die, NULL);
	record_add_text(&d, linkage);
	record_end(&d);
	return linkage;
}

bool lookup_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                         const char **file, unsigned *line)
{
	struct dwarf_module *dm = type_module(coroutine);
	uint64_t key = record_nth_key(type_die(coroutine), nth);
	struct record_writer d;
	struct record record;

	if (key && record_find(debuginfo_records(dm), RECORD_AWAITEE, key, awaitee_type, &record)) {
		*file = record_text(&record);
		*line = (unsigned)record_number(&record);
		return *file != NULL;
	}
	bool found = debuginfo_need(dm) &&
	             lookup_dwarf_awaitee_line(coroutine, awaitee_type, nth, file, line);
	if (!key)
		return found;
	record_begin(&d, debuginfo_records(dm), RECORD_AWAITEE, key, awaitee_type);
	record_add_text(&d, found ? *file : NULL);
	record_add_number(&d, found ? *line : 0);
	record_end(&d);
	return found;
}

/* Is the memory at addr readable and constant? Otherwise a result from it is valid only now. */
static bool is_always_exact(struct dwarf_module *dm, uint64_t addr)
{
	uint64_t word;
	struct error *err = target_read_uint(dm->di->target, addr + 8, 8, &word);

	error_free(err);
	return !err && debuginfo_is_constant(dm, module_link_addr(dm->module, addr).v);
}

const struct type *lookup_vtable(struct debuginfo *di, uint64_t addr, unsigned slot, bool *exact)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	uint64_t link = m ? module_link_addr(m, addr).v : 0;
	const struct type *t;
	struct record_writer d;
	struct record record;

	if (dm && record_find(debuginfo_records(dm), RECORD_VTABLE, link, NULL, &record)) {
		t = type_at(dm, record_number(&record));
		*exact = record_number(&record) != 0;
		return t;
	}
	t = lookup_dwarf_vtable(di, addr, slot, exact);
	if (!dm || (t && type_module(t) != dm) || !is_always_exact(dm, addr))
		return t;
	record_begin(&d, debuginfo_records(dm), RECORD_VTABLE, link, NULL);
	record_add_number(&d, t ? type_die(t) : 0);
	record_add_number(&d, *exact);
	record_end(&d);
	return t;
}

/* ---- the module ---- */

const char *lookup_crate_version(struct dwarf_module *dm, const char *crate)
{
	struct record_writer d;
	struct record record;

	if (record_find(debuginfo_records(dm), RECORD_CRATE, 0, crate, &record))
		return record_text(&record);
	const char *version = debuginfo_need(dm) ? debuginfo_read_crate_version(dm, crate) : NULL;
	record_begin(&d, debuginfo_records(dm), RECORD_CRATE, 0, crate);
	record_add_text(&d, version);
	record_end(&d);
	return version;
}

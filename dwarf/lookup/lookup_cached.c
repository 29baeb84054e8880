/*
 * The functions of lookup.h: by what was answered before, in this run or in a file, else by the
 * debug info, which is opened then. What it answers is kept, that there is nothing too. Those about
 * places in code are in lookup_cached_places.c, those about instances of generics in
 * lookup_cached_instances.c.
 */
#include <string.h>

#include "debugger/base/log.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/records/records.h"
#include "dwarf/types/type.h"

/* ---- records of one DIE ---- */

/* The type of a record; false when there is no record. */
static bool known_type(struct dwarf_module *dm, enum fact_kind kind, uint64_t key, const char *text,
                       const struct type **ret)
{
	struct fact fact;

	if (!fact_find(debuginfo_facts(dm), kind, key, text, &fact))
		return false;
	*ret = type_at(dm, fact_number(&fact));
	return true;
}

static const struct type *keep_type(struct dwarf_module *dm, enum fact_kind kind, uint64_t key,
                                    const char *text, const struct type *t)
{
	struct fact_draft d;

	if (t && type_module(t) != dm)
		return t;
	fact_begin(&d, debuginfo_facts(dm), kind, key, text);
	fact_add_number(&d, t ? type_die(t) : 0);
	fact_end(&d);
	return t;
}

/* ---- functions ---- */

static struct function *known_function(struct dwarf_module *dm, uint64_t die)
{
	struct fact fact;

	if (!fact_find(debuginfo_facts(dm), FACT_FUNCTION, die, NULL, &fact))
		return NULL;
	struct function *f = NEW(&dm->di->arena, struct function);
	f->dm = dm;
	f->die = die;
	f->name = fact_text(&fact);
	f->linkage = fact_text(&fact);
	f->low = fact_number(&fact);
	f->high = f->low + fact_number(&fact);
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
	struct fact_draft d;

	fact_begin(&d, debuginfo_facts(dm), FACT_FUNCTION, f->die, NULL);
	fact_add_text(&d, f->name);
	fact_add_text(&d, f->linkage);
	fact_add_number(&d, f->high ? f->low - dm->module->bias : 0);
	fact_add_number(&d, f->high - f->low);
	fact_end(&d);
}

const struct function *lookup_function_die(struct dwarf_module *dm, uint64_t die)
{
	struct function *known = die ? map_get(&dm->functions, die) : NULL;
	const struct function *f;

	if (known || die == 0)
		return known;
	f = known_function(dm, die);
	if (!f && debuginfo_need(dm) && (f = search_function_die(dm, die)))
		keep_function(dm, f);
	/* Of the many that a search looks at none is worth a place here. */
	if (facts_are_paused(debuginfo_facts(dm)))
		return f;
	if (f)
		map_put(&dm->functions, die, (void *)(uintptr_t)f);
	return f;
}

/* A layout file has the ranges of functions instead of what covers each address. */
static const struct function *function_below(struct dwarf_module *dm, uint64_t pc)
{
	const struct function *f;
	struct fact fact;
	uint64_t low;

	if (!fact_find_below(debuginfo_facts(dm), FACT_CODE, pc, &low, &fact))
		return NULL;
	f = lookup_function_die(dm, fact_number(&fact));
	return f && pc + dm->module->bias < f->high ? f : NULL;
}

const struct function *lookup_function(struct debuginfo *di, uint64_t addr)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	uint64_t pc = m ? module_link_addr(m, addr).v : 0;
	const struct function *f;
	struct fact_draft d;
	struct fact fact;

	if (!dm)
		return NULL;
	if (fact_find(debuginfo_facts(dm), FACT_PC, pc, NULL, &fact))
		return lookup_function_die(dm, fact_number(&fact));
	if (!debuginfo_need(dm))
		return function_below(dm, pc);
	f = search_function(di, addr);
	fact_begin(&d, debuginfo_facts(dm), FACT_PC, pc, NULL);
	fact_add_number(&d, f ? f->die : 0);
	fact_end(&d);
	return f;
}

const struct type *function_param(const struct function *f, const char *name)
{
	const struct type *t = NULL;

	if (known_type(f->dm, FACT_PARAM, f->die, name, &t))
		return t;
	t = debuginfo_need(f->dm) ? search_param(f, name) : NULL;
	return keep_type(f->dm, FACT_PARAM, f->die, name, t);
}

const struct type *function_variable(const struct function *f, const char *name)
{
	const struct type *t = NULL;

	if (known_type(f->dm, FACT_VARIABLE, f->die, name, &t))
		return t;
	t = debuginfo_need(f->dm) ? search_variable(f, name) : NULL;
	return keep_type(f->dm, FACT_VARIABLE, f->die, name, t);
}

const struct type *function_first_argument(const struct function *f)
{
	const struct type *t = NULL;

	if (known_type(f->dm, FACT_ARGUMENT, f->die, NULL, &t))
		return t;
	t = debuginfo_need(f->dm) ? search_first_argument(f) : NULL;
	return keep_type(f->dm, FACT_ARGUMENT, f->die, NULL, t);
}

bool function_has_context(const struct function *f)
{
	struct fact_draft d;
	struct fact fact;

	if (fact_find(debuginfo_facts(f->dm), FACT_CONTEXT, f->die, NULL, &fact))
		return fact_number(&fact) != 0;
	if (!debuginfo_need(f->dm))
		return false;
	bool has = search_has_context(f);
	fact_begin(&d, debuginfo_facts(f->dm), FACT_CONTEXT, f->die, NULL);
	fact_add_number(&d, has);
	fact_end(&d);
	return has;
}

/* ---- names ---- */

const struct type *lookup_type(struct dwarf_module *dm, const char *name, uint64_t near)
{
	uint64_t key = map_key_of_text(name);
	const struct type *t = NULL;

	if (map_has(&dm->by_name, key)) {
		t = map_get(&dm->by_name, key);
		if (!t || strcmp(type_name(t), name) == 0)
			return t;
	}
	if (!known_type(dm, FACT_NAME, 0, name, &t)) {
		t = debuginfo_need(dm) ? search_type(dm, name, near) : NULL;
		LOG("dwarf", "type %s: %s", name, t ? "found" : "not found");
		keep_type(dm, FACT_NAME, 0, name, t);
	}
	map_put(&dm->by_name, key, (void *)(uintptr_t)t);
	return t;
}

static bool known_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                struct thread_local **ret, size_t *nret, const char **doubt)
{
	struct fact fact;

	if (!fact_find(debuginfo_facts(dm), FACT_TLS, 0, path, &fact))
		return false;
	*doubt = fact_text(&fact);
	*nret = fact_count(&fact);
	*ret = NEW_ARRAY(a, struct thread_local, *nret);
	for (size_t i = 0; i < *nret; i++) {
		struct thread_local *t = &(*ret)[i];

		t->dm = dm;
		t->offset = fact_number(&fact);
		t->type = type_at(dm, fact_number(&fact));
		t->linkage = fact_text(&fact);
	}
	return true;
}

struct error *lookup_thread_locals(struct dwarf_module *dm, const char *path, struct arena *a,
                                   struct thread_local **ret, size_t *nret, const char **doubt)
{
	struct fact_draft d;

	if (known_thread_locals(dm, path, a, ret, nret, doubt))
		return NULL;
	*ret = NULL;
	*nret = 0;
	*doubt = NULL;
	if (debuginfo_need(dm))
		TRY(search_thread_locals(dm, path, a, ret, nret, doubt));
	fact_begin(&d, debuginfo_facts(dm), FACT_TLS, 0, path);
	fact_add_text(&d, *doubt);
	fact_add_number(&d, *nret);
	for (size_t i = 0; i < *nret; i++) {
		fact_add_number(&d, (*ret)[i].offset);
		fact_add_number(&d, (*ret)[i].type ? type_die((*ret)[i].type) : 0);
		fact_add_text(&d, (*ret)[i].linkage);
	}
	fact_end(&d);
	return NULL;
}

bool lookup_static(struct dwarf_module *dm, const char *name, const struct type **type,
                   uint64_t *addr)
{
	struct fact_draft d;
	struct fact fact;
	bool found;

	if (fact_find(debuginfo_facts(dm), FACT_STATIC, 0, name, &fact)) {
		*type = type_at(dm, fact_number(&fact));
		*addr = fact_number(&fact) + dm->module->bias;
		return *type != NULL;
	}
	*type = NULL;
	*addr = 0;
	found = debuginfo_need(dm) && search_static(dm, name, type, addr);
	fact_begin(&d, debuginfo_facts(dm), FACT_STATIC, 0, name);
	fact_add_number(&d, found && *type ? type_die(*type) : 0);
	fact_add_number(&d, found ? *addr - dm->module->bias : 0);
	fact_end(&d);
	return found;
}

static bool find_has_poll(const struct type *t, bool *told)
{
	struct dwarf_module *dm = type_module(t);
	struct fact fact;

	*told = fact_find(debuginfo_facts(dm), FACT_HAS_POLL, type_poll_key(t), type_name(t),
	                  &fact);
	if (*told)
		return fact_number(&fact) != 0;
	return debuginfo_need(dm) && search_has_poll(t);
}

bool lookup_has_poll(const struct type *t)
{
	struct dwarf_module *dm = type_module(t);
	struct type_memo *memo;

	type_kind(t); /* completes it, and its memo */
	memo = type_memo(t);
	if (!memo->poll_known) {
		bool told, found = find_has_poll(t, &told);

		memo->has_poll = found;
		memo->poll_told = told;
		memo->poll_known = true;
	}
	if (!memo->poll_asked && !facts_are_paused(debuginfo_facts(dm))) {
		memo->poll_asked = true;
		dm->types_untold |= !memo->poll_told;
	}
	return memo->has_poll;
}

/* ---- coroutines and trait objects ---- */

const char *lookup_poll_linkage(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);
	uint64_t die = type_die(coroutine);
	struct fact_draft d;
	struct fact fact;

	if (fact_find(debuginfo_facts(dm), FACT_POLL, die, NULL, &fact))
		return fact_text(&fact);
	const char *linkage = debuginfo_need(dm) ? search_poll_linkage(coroutine) : NULL;
	fact_begin(&d, debuginfo_facts(dm), FACT_POLL, die, NULL);
	fact_add_text(&d, linkage);
	fact_end(&d);
	return linkage;
}

bool lookup_awaitee_line(const struct type *coroutine, const char *awaitee_type, unsigned nth,
                         const char **file, unsigned *line)
{
	struct dwarf_module *dm = type_module(coroutine);
	uint64_t key = fact_nth_key(type_die(coroutine), nth);
	struct fact_draft d;
	struct fact fact;

	if (key && fact_find(debuginfo_facts(dm), FACT_AWAITEE, key, awaitee_type, &fact)) {
		*file = fact_text(&fact);
		*line = (unsigned)fact_number(&fact);
		return *file != NULL;
	}
	bool found =
		debuginfo_need(dm) && search_awaitee_line(coroutine, awaitee_type, nth, file, line);
	if (!key)
		return found;
	fact_begin(&d, debuginfo_facts(dm), FACT_AWAITEE, key, awaitee_type);
	fact_add_text(&d, found ? *file : NULL);
	fact_add_number(&d, found ? *line : 0);
	fact_end(&d);
	return found;
}

/* What the target's memory told is of this moment, unless it was read and cannot change. */
static bool tells_always(struct dwarf_module *dm, uint64_t addr)
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
	struct fact_draft d;
	struct fact fact;

	if (dm && fact_find(debuginfo_facts(dm), FACT_VTABLE, link, NULL, &fact)) {
		t = type_at(dm, fact_number(&fact));
		*exact = fact_number(&fact) != 0;
		return t;
	}
	t = search_vtable(di, addr, slot, exact);
	if (!dm || (t && type_module(t) != dm) || !tells_always(dm, addr))
		return t;
	fact_begin(&d, debuginfo_facts(dm), FACT_VTABLE, link, NULL);
	fact_add_number(&d, t ? type_die(t) : 0);
	fact_add_number(&d, *exact);
	fact_end(&d);
	return t;
}

/* ---- the module ---- */

const char *debuginfo_crate_version(struct dwarf_module *dm, const char *crate)
{
	struct fact_draft d;
	struct fact fact;

	if (fact_find(debuginfo_facts(dm), FACT_CRATE, 0, crate, &fact))
		return fact_text(&fact);
	const char *version = debuginfo_need(dm) ? search_crate_version(dm, crate) : NULL;
	fact_begin(&d, debuginfo_facts(dm), FACT_CRATE, 0, crate);
	fact_add_text(&d, version);
	fact_end(&d);
	return version;
}

/*
 * Queries for the functions and lines at an address, and for the lines of variables, with the cache
 * of lookup_cached.c.
 */
#include "dwarf/lookup/inlined.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/records/records.h"
#include "dwarf/types/type.h"

static struct location *known_places(struct dwarf_module *dm, enum record_kind kind, uint64_t pc,
                                     struct arena *a, size_t *nret)
{
	struct record record;
	size_t n;

	if (!record_find(debuginfo_records(dm), kind, pc, NULL, &record) ||
	    !(n = record_count(&record)))
		return NULL;
	struct location *ret = NEW_ARRAY(a, struct location, n);
	for (size_t i = 0; i < n; i++) {
		struct location *l = &ret[i];
		uint64_t flags;

		l->function = lookup_function_die(dm, record_number(&record));
		l->name = record_text(&record);
		l->linkage = record_text(&record);
		l->file = record_text(&record);
		l->comp_dir = record_text(&record);
		l->line = (unsigned)record_number(&record);
		flags = record_number(&record);
		l->mangled = flags & 1;
		l->inlined = flags & 2;
	}
	*nret = n;
	return ret;
}

static void keep_places(struct dwarf_module *dm, enum record_kind kind, uint64_t pc,
                        const struct location *l, size_t n)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), kind, pc, NULL);
	record_add_number(&d, n);
	for (size_t i = 0; i < n; i++) {
		record_add_number(&d, l[i].function ? l[i].function->die : 0);
		record_add_text(&d, l[i].name);
		record_add_text(&d, l[i].linkage);
		record_add_text(&d, l[i].file);
		record_add_text(&d, l[i].comp_dir);
		record_add_number(&d, l[i].line);
		record_add_number(&d, l[i].mangled | l[i].inlined << 1);
	}
	record_end(&d);
}

/* A layout file has only some functions and some of the functions inlined into them. */
static struct location *places_by_function(struct debuginfo *di, uint64_t addr, struct arena *a,
                                           bool lines, size_t *nret)
{
	const struct function *f = lookup_function(di, addr);
	struct location *ret;

	if (!f)
		return NULL;
	ret = inlined_places(f, module_link_addr(f->dm->module, addr).v, a, lines, nret);
	if (ret)
		return ret;
	ret = NEW(a, struct location);
	*ret = (struct location){ .function = f, .name = f->name, .linkage = f->linkage };
	*nret = 1;
	return ret;
}

typedef struct location *places_fn(struct debuginfo *di, uint64_t addr, struct arena *a,
                                   size_t *nret);

static struct location *places(struct debuginfo *di, uint64_t addr, struct arena *a,
                               enum record_kind kind, places_fn *search, size_t *nret)
{
	struct module *m = module_at(di->target, addr);
	struct dwarf_module *dm = m ? debuginfo_module(di, m) : NULL;
	uint64_t pc = m ? module_link_addr(m, addr).v : 0;
	struct location *ret = dm ? known_places(dm, kind, pc, a, nret) : NULL;

	if (ret)
		return ret;
	if (dm && !debuginfo_need(dm) &&
	    (ret = places_by_function(di, addr, a, kind == RECORD_LINES, nret)))
		return ret;
	ret = search(di, addr, a, nret);
	if (dm)
		keep_places(dm, kind, pc, ret, *nret);
	return ret;
}

struct location *lookup_locations(struct debuginfo *di, uint64_t addr, struct arena *a,
                                  size_t *nret)
{
	return places(di, addr, a, RECORD_LINES, lookup_dwarf_locations, nret);
}

struct location *lookup_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                     size_t *nret)
{
	return places(di, addr, a, RECORD_INLINED, lookup_dwarf_functions_at, nret);
}

struct location *lookup_rust_functions_at(struct debuginfo *di, uint64_t addr, struct arena *a,
                                          size_t *nret)
{
	const struct module *m = module_at(di->target, addr);

	if (!m || !debuginfo_is_system(m))
		return places(di, addr, a, RECORD_INLINED, lookup_dwarf_rust_functions_at, nret);
	*nret = 1;
	return NEW(a, struct location);
}

/* ---- variables ---- */

_Static_assert((int)DECLARED_STATES == (int)RECORD_NTHS, "as many have a key");

bool lookup_declaration(const struct saved_variable *v, const char **file, unsigned *line)
{
	struct dwarf_module *dm = type_module(v->coroutine);
	uint64_t key = record_nth_key(type_die(v->coroutine), v->state);
	struct record_writer d;
	struct record record;

	if (key && record_find(debuginfo_records(dm), RECORD_DECLARED, key, v->name, &record)) {
		*file = record_text(&record);
		*line = (unsigned)record_number(&record);
		/* The record may be of another variable of that name that is saved beside it. */
		if (record_number(&record) == v->offset)
			return *file != NULL;
	}
	bool found = debuginfo_need(dm) && lookup_dwarf_declaration(v, file, line);
	if (!key)
		return found;
	record_begin(&d, debuginfo_records(dm), RECORD_DECLARED, key, v->name);
	record_add_text(&d, found ? *file : NULL);
	record_add_number(&d, found ? *line : 0);
	record_add_number(&d, v->offset);
	record_end(&d);
	return found;
}

bool lookup_variable_place(struct dwarf_module *dm, uint64_t die, const char **file,
                           const char **comp_dir, unsigned *line)
{
	struct record_writer d;
	struct record record;

	if (die == 0)
		return false;
	if (record_find(debuginfo_records(dm), RECORD_PLACE, die, NULL, &record)) {
		*file = record_text(&record);
		*comp_dir = record_text(&record);
		*line = (unsigned)record_number(&record);
		return *file != NULL;
	}
	bool found =
		debuginfo_need(dm) && lookup_dwarf_variable_place(dm, die, file, comp_dir, line);
	record_begin(&d, debuginfo_records(dm), RECORD_PLACE, die, NULL);
	record_add_text(&d, found ? *file : NULL);
	record_add_text(&d, found ? *comp_dir : NULL);
	record_add_number(&d, found ? *line : 0);
	record_end(&d);
	return found;
}

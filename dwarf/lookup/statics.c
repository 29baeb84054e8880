/*
 * Finds statics by name. For a qualified name it searches the units of the crate. For a bare name
 * it must read all units: it keeps the notes of one at a time, and records every static that it
 * finds.
 */
#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/log.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/die_name.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"
#include "dwarf/scan/die.h"
#include "dwarf/types/type.h"

enum {
	MUCH_TO_SCAN = 16 << 20, /* bytes of debug info: below, the notes of scans are kept */
	MAX_NAMES = 1 << 17,     /* statics that are recorded */
	MAX_NAMESAKES = 32,      /* statics that are returned */
	MAX_NAME = 4096,         /* bytes of a qualified name */
	IS_THREAD_LOCAL = 1,     /* a flag of a record */
};

static const char all_known[] = "*"; /* not a valid name */

/* ---- the variables of units ---- */

/* Visits a variable outside of functions with a fixed address. */
typedef void variable_fn(struct dwarf_module *dm, struct unit *u, uint32_t index, void *arg);

struct variable_visit {
	unsigned flags; /* of the variables to visit: they have one of these */
	variable_fn *visit;
	void *arg;
};

static void visit_variables(struct dwarf_module *dm, struct unit *u, void *arg)
{
	const struct variable_visit *v = arg;

	for (size_t i = 0; i < u->found.nvariables; i++) {
		if (u->found.scopes[u->found.variables[i]].flags & v->flags)
			v->visit(dm, u, u->found.variables[i], v->arg);
	}
}

/* NULL stands for all crates. */
static bool is_of(const struct unit *u, const char *crate, size_t len)
{
	return !crate || unit_is_of_crate(u, crate, len);
}

static bool statics_is_much_to_scan(const struct dwarf_module *dm, const char *crate, size_t len)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < dm->nunits; i++) {
		if (!dm->units[i].scanned && is_of(&dm->units[i], crate, len))
			bytes += dm->units[i].end - dm->units[i].start;
	}
	return bytes > MUCH_TO_SCAN;
}

/* Visits the variables of a crate, or of all (NULL). ^C ends only the latter. */
static struct error *each_variable(struct dwarf_module *dm, const char *crate, size_t len,
                                   struct variable_visit v)
{
	struct scanner *passing = statics_is_much_to_scan(dm, crate, len) ? scanner_new() : NULL;
	struct error *err = NULL;

	for (size_t i = 0; i < dm->nunits && !err; i++) {
		if (!is_of(&dm->units[i], crate, len))
			continue;
		progress("looking for statics, unit", i + 1, dm->nunits);
		debuginfo_pass(dm, &dm->units[i], passing, visit_variables, &v);
		if (!crate) /* not within a crate: a partial result would be cached */
			err = interrupt_check();
	}
	scanner_free(passing);
	return err;
}

/* The DIE of a variable's type, also from the declaration that it completes; 0: none. */
static uint64_t statics_type_of(struct dwarf_module *dm, uint64_t variable)
{
	for (int hop = 0; variable && hop < 4; hop++) {
		struct unit *u = debuginfo_unit_of(dm, variable);
		uint64_t next = 0;
		struct attribute_value v;
		struct attribute at;
		struct die d;

		if (!u || !die_read(&dm->sections, u, variable, &d))
			return 0;
		while (die_next(&d, &at, &v)) {
			if (at.name == DW_AT_type)
				return v.number;
			if (at.name == DW_AT_specification || at.name == DW_AT_abstract_origin)
				next = v.number;
		}
		variable = next;
	}
	return 0;
}

/* ---- by a qualified name ---- */

struct wanted_static {
	const char *name, *last;
	const struct type *type;
	uint64_t addr;
	bool found, several;
};

static void match_static(struct dwarf_module *dm, struct unit *u, uint32_t index, void *arg)
{
	struct wanted_static *w = arg;
	const char *own = scan_scope_name(&dm->sections, u, index);

	if (!own || strcmp(own, w->last) != 0)
		return;
	struct scope s = scan_scope(&dm->sections, u, index);
	STR(whole);
	if (s.low == 0 || !die_append_name(dm, s.die, &whole) || strcmp(whole.data, w->name) != 0)
		return;
	uint64_t type = statics_type_of(dm, s.die);
	uint64_t at = module_runtime_addr(dm->module, (struct link_addr){ s.low });
	if (w->found && at != w->addr)
		w->several = true;
	w->type = type ? type_at(dm, type) : NULL;
	w->addr = at;
	w->found |= w->type != NULL;
}

bool lookup_dwarf_static(struct dwarf_module *dm, const char *name, const struct type **type,
                         uint64_t *addr)
{
	const char *colons = strstr(name, "::");
	struct wanted_static w = { .name = name, .last = qualified_last(name) };

	if (!colons || !dm->dwarf)
		return false;
	error_free(each_variable(dm, name, (size_t)(colons - name),
	                         (struct variable_visit){ SCOPE_ADDRESS, match_static, &w }));
	*type = w.type;
	*addr = w.addr;
	return w.found && !w.several;
}

/* ---- all of them ---- */

struct statics_entry {
	const char *name;   /* qualified; of a thread-local the name in the source */
	const char *last;   /* last component, in name */
	uint64_t type, low; /* DIE; link-time address */
	bool thread_local;
};

struct index {
	VEC(struct statics_entry) entries;
	struct map seen; /* hashes of name and address */
	struct arena names;
};

static bool statics_is_identifier(const char *name, size_t len)
{
	if (len == 0 || isdigit((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!isalnum(c) && c != '_' && c < 0x80)
			return false;
	}
	return true;
}

/*
 * Is the text a component that thread_local! adds below the source's name:
 * "NAME::{constant#0}::VAL"?
 */
static bool is_macros_own(const char *part)
{
	return part[0] == '{' || strncmp(part, "__", 2) == 0 || strcmp(part, "VAL") == 0;
}

static void cut_macros_own(struct str *name)
{
	const char *last = qualified_last(name->data);

	while (last - name->data > 2 && is_macros_own(last)) {
		str_truncate(name, (size_t)(last - name->data) - 2);
		last = qualified_last(name->data);
	}
}

static bool is_in_module(const struct dwarf_module *dm, uint64_t low)
{
	uint64_t at = module_runtime_addr(dm->module, (struct link_addr){ low });

	/* The linker leaves a tombstone address in a dropped variable. */
	return low && at >= dm->module->start && at < dm->module->end;
}

static void add_entry(struct index *index, struct statics_entry e)
{
	if (!map_put(&index->seen, map_key_of_pair(map_key_of_text(e.name), e.low), NULL))
		return;
	e.name = arena_strdup(&index->names, e.name);
	e.last = qualified_last(e.name);
	if (statics_is_identifier(e.last, strlen(e.last)))
		*vec_push(&index->entries) = e;
}

static void statics_note_variable(struct dwarf_module *dm, struct unit *u, uint32_t i, void *arg)
{
	const struct scope_note *note = &u->found.scopes[i];
	const char *own = scan_scope_name(&dm->sections, u, i);

	/*
	 * Skip vtables: a large program has a hundred thousand. A variable without a name completes
	 * another.
	 */
	if (own ? !statics_is_identifier(own, strlen(own)) : !(note->flags & SCOPE_ORIGIN))
		return;
	struct statics_entry e = { .thread_local = note->flags & SCOPE_TLS };
	struct scope s = scan_scope(&dm->sections, u, i);
	STR(name);
	if (!e.thread_local) {
		e.low = s.low;
		if (!is_in_module(dm, s.low))
			return;
	}
	if (!die_append_name(dm, s.die, &name) || name.len > MAX_NAME)
		return;
	if (e.thread_local)
		cut_macros_own(&name);
	e.name = str_text(&name);
	e.type = statics_type_of(dm, s.die);
	add_entry(arg, e);
}

static int by_name(const void *a, const void *b)
{
	const struct statics_entry *x = a, *y = b;
	int order = strcmp(x->last, y->last);

	if (order == 0)
		order = strcmp(x->name, y->name);
	return order ? order : x->low < y->low ? -1 : x->low > y->low;
}

/* The end of the run of statics with the name of the first. */
static size_t namesakes_end(const struct index *index, size_t first)
{
	size_t end = first + 1;

	while (end < index->entries.n &&
	       strcmp(index->entries.data[end].last, index->entries.data[first].last) == 0)
		end++;
	return end;
}

static void keep_namesakes(struct dwarf_module *dm, const struct statics_entry *e, size_t n)
{
	size_t listed = n < MAX_NAMESAKES ? n : MAX_NAMESAKES;
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), RECORD_GLOBALS, 0, e->last);
	record_add_number(&d, n);
	record_add_number(&d, listed);
	for (size_t i = 0; i < listed; i++) {
		record_add_text(&d, e[i].name);
		record_add_number(&d, e[i].type);
		record_add_number(&d, e[i].low);
		record_add_number(&d, e[i].thread_local ? IS_THREAD_LOCAL : 0);
	}
	record_end(&d);
}

static void keep_number(struct dwarf_module *dm, const char *name, size_t n)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), RECORD_GLOBALS, 0, name);
	record_add_number(&d, n);
	record_add_number(&d, 0);
	record_end(&d);
}

/* Records all statics; if there are too many, only those with the wanted name. */
static void keep_index(struct dwarf_module *dm, struct index *index, const char *wanted)
{
	bool all = index->entries.n <= MAX_NAMES, found = false;

	if (index->entries.n)
		qsort(index->entries.data, index->entries.n, sizeof(*index->entries.data), by_name);
	for (size_t i = 0, end; i < index->entries.n; i = end) {
		const struct statics_entry *first = &index->entries.data[i];
		bool is_it = strcmp(first->last, wanted) == 0;

		end = namesakes_end(index, i);
		if (all || is_it)
			keep_namesakes(dm, first, end - i);
		found |= is_it;
	}
	if (all)
		keep_number(dm, all_known, index->entries.n);
	else if (!found)
		keep_number(dm, wanted, 0);
	LOG("dwarf", "%zu statics", index->entries.n);
}

static struct error *statics_make_index(struct dwarf_module *dm, const char *wanted)
{
	struct index index = { .entries = { 0 } };
	struct error *err = each_variable(dm, NULL, 0,
	                                  (struct variable_visit){ SCOPE_ADDRESS | SCOPE_TLS,
	                                                           statics_note_variable, &index });

	if (!err)
		keep_index(dm, &index, wanted);
	vec_free(&index.entries);
	map_free(&index.seen);
	arena_free(&index.names);
	return err;
}

/* Reads the globals of that name from records. False when it is unknown whether there are any. */
static bool known_globals(struct dwarf_module *dm, const char *name, struct arena *a,
                          struct global **ret, size_t *nret, size_t *total)
{
	struct records *records = debuginfo_records(dm);
	struct record record;

	*ret = NULL;
	*nret = *total = 0;
	if (!record_find(records, RECORD_GLOBALS, 0, name, &record))
		return record_find(records, RECORD_GLOBALS, 0, all_known, &record);
	*total = record_number(&record);
	*nret = record_count(&record);
	*total = *total < *nret ? *nret : *total;
	*ret = NEW_ARRAY(a, struct global, *nret);
	for (size_t i = 0; i < *nret; i++) {
		struct global *g = &(*ret)[i];
		const char *text = record_text(&record);
		uint64_t type = record_number(&record), low = record_number(&record);

		g->name = text ? text : name;
		g->type = type ? type_at(dm, type) : NULL;
		g->thread_local = record_number(&record) & IS_THREAD_LOCAL;
		g->addr = g->thread_local ? 0 : low + dm->module->bias;
	}
	return true;
}

struct error *lookup_globals(struct dwarf_module *dm, const char *name, struct arena *a,
                             struct global **ret, size_t *nret, size_t *total)
{
	if (!statics_is_identifier(name, strlen(name))) {
		*ret = NULL;
		*nret = *total = 0;
		return NULL;
	}
	if (known_globals(dm, name, a, ret, nret, total) || !debuginfo_need(dm))
		return NULL;
	TRY(statics_make_index(dm, name));
	known_globals(dm, name, a, ret, nret, total);
	return NULL;
}

bool lookup_globals_near(struct dwarf_module *dm)
{
	struct record record;

	return record_find(debuginfo_records(dm), RECORD_GLOBALS, 0, all_known, &record) ||
	       !debuginfo_need(dm) || dm->sections.info.size <= MUCH_TO_SCAN;
}

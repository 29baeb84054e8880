#include "dwarf/lookup/function_names.h"

#include <dwarf.h>
#include <stdatomic.h>
#include <string.h>

#include "debugger/base/parallel.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/die_name.h"
#include "dwarf/module/line.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"
#include "dwarf/scan/name_filter.h"
#include "dwarf/types/die_attrs.h"

enum {
	MUCH_TO_SCAN = 16 << 20, /* bytes of debug info: below, the notes of scans are kept */
	FEW_UNITS = 32,
	/* Key in place of a home: RECORD_INSTANCES has units in which a name may be. */
	RECORD_UNITS = 1,
};

struct names_search {
	const char *path, *last; /* last: its last component */
	struct arena *a;
	VEC(struct named_function) found;
};

const char *function_names_plain(struct arena *a, const char *name)
{
	return name_without_generics(a, name);
}

/* Whether path is the end of name, whole components. */
static bool function_names_ends_in(const char *name, const char *path)
{
	size_t len = strlen(name), n = strlen(path);

	return n <= len && strcmp(name + len - n, path) == 0 &&
	       (n == len || (len - n >= 2 && memcmp(name + len - n - 2, "::", 2) == 0));
}

static bool is_coroutine(const char *own)
{
	return strncmp(own, "{async_", 7) == 0;
}

static bool is_base(const char *component, const char *base)
{
	size_t len = qualified_base_len(component);

	return strlen(base) == len && memcmp(component, base, len) == 0;
}

/* A quick test of a scope's own name, and for an async function that of the one around it. */
static bool may_fit(struct names_search *s, struct dwarf_module *dm, struct unit *u,
                    const struct scope_note *note, const char *own)
{
	if (is_base(own, s->last))
		return true;
	if (strncmp(own, "{async_fn#", 10) != 0 || note->parent == SCOPE_NONE)
		return false;
	const char *outer = scan_scope_name(&dm->sections, u, note->parent);

	return outer && is_base(outer, s->last);
}

/* The path as the programmer wrote it: a closure in an async function is in the function. */
static const char *shown_name(struct names_search *s, struct dwarf_module *dm, uint64_t die,
                              const char *full)
{
	const char *linkage, *resolved = NULL;
	const char *shown = strstr(full, "{async_") ? name_function(s->a, full)
	                                            : name_without_generics(s->a, full);

	if (!strstr(shown, "{impl#"))
		return shown;
	linkage = function_read_linkage(dm, die);
	if (linkage)
		resolved = name_impl_from_linkage(s->a, shown, linkage);
	return resolved ? resolved : shown;
}

static bool function_names_is_known(const struct names_search *s, const struct named_function *f)
{
	for (size_t i = 0; i < s->found.n; i++) {
		const struct named_function *other = &s->found.data[i];

		if (other->dm == f->dm && other->line == f->line &&
		    strcmp(other->plain, f->plain) == 0 && strcmp(other->file, f->file) == 0)
			return true;
	}
	return false;
}

static void function_names_add(struct names_search *s, struct dwarf_module *dm, struct unit *u,
                               uint64_t offset, const char *own)
{
	const char *full = die_name(dm, offset);
	struct die_attrs attrs;
	struct die d;

	if (!full || !die_attrs_open(dm, offset, &d))
		return;
	die_attrs_read(&d, &attrs);
	struct named_function f = {
		.dm = dm,
		.plain = function_names_plain(s->a, full),
		.shown = shown_name(s, dm, offset, full),
		.file = line_file(dm, u, (unsigned)attrs.file.value),
		.line = (unsigned)attrs.line.value,
		.is_async = is_coroutine(own),
	};
	if (!f.file || !f.line ||
	    !(function_names_ends_in(f.shown, s->path) ||
	      function_names_ends_in(f.plain, s->path) ||
	      function_names_ends_in(name_without_trait(s->a, f.shown), s->path)))
		return;
	if (!function_names_is_known(s, &f))
		*vec_push(&s->found) = f;
}

static void function_names_visit_unit(struct dwarf_module *dm, struct unit *u, void *arg)
{
	struct names_search *s = arg;

	for (uint32_t i = 0; i < u->found.nscopes; i++) {
		const struct scope_note *note = &u->found.scopes[i];
		const char *own = note->tag == DW_TAG_subprogram
		                          ? scan_scope_name(&dm->sections, u, i)
		                          : NULL;

		if (own && may_fit(s, dm, u, note, own))
			function_names_add(s, dm, u, u->start + note->die, own);
	}
}

/* The units of a module, which several threads look through. */
struct units_filter {
	struct dwarf_module *dm;
	struct name_filter filter;
	bool *may_have;     /* of each unit */
	atomic_size_t next; /* the first unit that nobody has taken */
};

/* Drops pages of a large module, all of which would take more memory than everything else. */
static void drop_pages(const uint8_t *data, size_t size, void *arg)
{
	const struct dwarf_module *dm = arg;

	if (dm->sections.info.size > MUCH_TO_SCAN)
		residency_drop(dm, data, size);
}

static void *filter_some(void *arg)
{
	struct units_filter *all = arg;
	struct dwarf_module *dm = all->dm;
	struct name_filter filter = all->filter; /* it caches */
	size_t first, i;

	while ((first = atomic_fetch_add(&all->next, FEW_UNITS)) < dm->nunits) {
		for (i = first; i < first + FEW_UNITS && i < dm->nunits; i++)
			all->may_have[i] = name_filter_may_have(&filter, &dm->units[i]);
		const struct unit *u = &dm->units[first], *last = &dm->units[i - 1];

		drop_pages(dm->sections.info.data + u->start, last->end - u->start, dm);
	}
	return NULL;
}

static void search_units(struct names_search *s, struct dwarf_module *dm, bool *may_have)
{
	struct units_filter all = { .dm = dm, .may_have = may_have };
	const struct name_filter_watcher watcher = { drop_pages, dm };

	name_filter_open(&all.filter, &dm->sections, s->last, &watcher);
	parallel_run(filter_some, &all, dm->nunits / FEW_UNITS + 1);
}

/* Reads the units from records. False: they are not there, or damaged. */
static bool recall_units(struct names_search *s, struct dwarf_module *dm, bool *may_have)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_INSTANCES, RECORD_UNITS, s->last, &record))
		return false;
	for (size_t n = record_count(&record); n; n--) {
		const char *none = record_text(&record);
		uint64_t i = record_number(&record);

		if (none || i >= dm->nunits)
			return false;
		may_have[i] = true;
	}
	return record_ended(&record);
}

static void keep_units(struct names_search *s, struct dwarf_module *dm, const bool *may_have)
{
	struct record_writer d;
	size_t n = 0;

	for (size_t i = 0; i < dm->nunits; i++)
		n += may_have[i];
	record_begin(&d, debuginfo_records(dm), RECORD_INSTANCES, RECORD_UNITS, s->last);
	record_add_number(&d, n);
	for (size_t i = 0; i < dm->nunits; i++) {
		if (!may_have[i])
			continue;
		record_add_text(&d, NULL);
		record_add_number(&d, i);
	}
	record_end(&d);
}

/* Finds the units that may have functions of the name; returns how much is left to scan of them. */
static uint64_t filter_units(struct names_search *s, struct dwarf_module *dm, bool *may_have)
{
	uint64_t bytes = 0;

	if (!recall_units(s, dm, may_have)) {
		search_units(s, dm, may_have);
		keep_units(s, dm, may_have);
	}
	for (size_t i = 0; i < dm->nunits; i++) {
		const struct unit *u = &dm->units[i];

		bytes += may_have[i] && !u->scanned ? u->end - u->start : 0;
	}
	return bytes;
}

static struct error *visit_module(struct names_search *s, struct dwarf_module *dm)
{
	struct scanner *passing = NULL;
	struct error *err = NULL;
	SCRATCH(tmp);

	if (!debuginfo_need(dm))
		return NULL;
	bool *may_have = NEW_ARRAY(&tmp, bool, dm->nunits);
	if (filter_units(s, dm, may_have) > MUCH_TO_SCAN)
		passing = scanner_new();
	for (size_t i = 0; i < dm->nunits && !err; i++) {
		progress("looking for functions, unit", i + 1, dm->nunits);
		if (may_have[i])
			debuginfo_pass(dm, &dm->units[i], passing, function_names_visit_unit, s);
		err = interrupt_check();
	}
	scanner_free(passing);
	return err;
}

/* An async function leaves its constructor out: its body is meant. */
static void drop_constructors(struct names_search *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->found.n; i++) {
		const struct named_function f = s->found.data[i];
		bool has_body = false;

		for (size_t j = 0; j < s->found.n && !f.is_async && !has_body; j++) {
			const struct named_function *other = &s->found.data[j];

			has_body = other->is_async && other->line == f.line &&
			           strcmp(other->file, f.file) == 0 &&
			           strcmp(other->shown, f.shown) == 0;
		}
		if (!has_body)
			s->found.data[n++] = f;
	}
	s->found.n = n;
}

struct error *function_names_find(struct debuginfo *di, const char *path, struct arena *a,
                                  struct named_function **ret, size_t *n)
{
	struct names_search s = { .path = path, .last = qualified_last(path), .a = a };
	struct error *err = NULL;

	for (size_t i = 0; i < di->nmodules && !err; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);

		if (dm)
			err = visit_module(&s, dm);
	}
	drop_constructors(&s);
	*n = s.found.n;
	*ret = vec_to_arena(&s.found, a);
	return err;
}

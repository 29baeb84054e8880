#include "dwarf/lookup/function_names.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/module/die_name.h"
#include "dwarf/module/line.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/die_attrs.h"

enum { MUCH_TO_SCAN = 16 << 20 /* bytes of debug info: below, the notes of scans are kept */ };

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
static bool ends_in(const char *name, const char *path)
{
	size_t len = strlen(name), n = strlen(path);

	return n <= len && strcmp(name + len - n, path) == 0 &&
	       (n == len || (len - n >= 2 && memcmp(name + len - n - 2, "::", 2) == 0));
}

/* "<app::A as app::Tr>::go" becomes "app::A::go"; other names stay. */
static const char *without_trait(struct arena *a, const char *name)
{
	const char *as = strstr(name, " as "), *end = strstr(name, ">::");

	if (name[0] != '<' || !as || !end || end < as)
		return name;
	return arena_printf(a, "%.*s%s", (int)(as - name - 1), name + 1, end + 1);
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

static bool is_known(const struct names_search *s, const struct named_function *f)
{
	for (size_t i = 0; i < s->found.n; i++) {
		const struct named_function *other = &s->found.data[i];

		if (other->dm == f->dm && other->line == f->line &&
		    strcmp(other->plain, f->plain) == 0 && strcmp(other->file, f->file) == 0)
			return true;
	}
	return false;
}

static void add(struct names_search *s, struct dwarf_module *dm, struct unit *u, uint64_t offset,
                const char *own)
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
	    !(ends_in(f.shown, s->path) || ends_in(f.plain, s->path) ||
	      ends_in(without_trait(s->a, f.shown), s->path)))
		return;
	if (!is_known(s, &f))
		*vec_push(&s->found) = f;
}

static void visit_unit(struct dwarf_module *dm, struct unit *u, void *arg)
{
	struct names_search *s = arg;

	for (uint32_t i = 0; i < u->nscopes; i++) {
		const struct scope_note *note = &u->scopes[i];
		const char *own = note->tag == DW_TAG_subprogram
		                          ? scan_scope_name(&dm->sections, u, i)
		                          : NULL;

		if (own && may_fit(s, dm, u, note, own))
			add(s, dm, u, u->start + note->die, own);
	}
}

static struct error *visit_module(struct names_search *s, struct dwarf_module *dm)
{
	struct scanner *passing = NULL;
	struct error *err = NULL;
	uint64_t bytes = 0;

	if (!debuginfo_need(dm))
		return NULL;
	for (size_t i = 0; i < dm->nunits; i++)
		bytes += dm->units[i].scanned ? 0 : dm->units[i].end - dm->units[i].start;
	if (bytes > MUCH_TO_SCAN)
		passing = scanner_new();
	for (size_t i = 0; i < dm->nunits && !err; i++) {
		progress("looking for functions, unit", i + 1, dm->nunits);
		debuginfo_pass(dm, &dm->units[i], passing, visit_unit, s);
		err = interrupt_check();
	}
	scanner_free(passing);
	return err;
}

/* An async function leaves its constructor out: what is meant is its body. */
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

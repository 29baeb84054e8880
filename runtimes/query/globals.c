#include "runtimes/query/globals.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"

enum { MAX_LISTED = 8 };

/* The statics that a name may mean. */
struct globals_candidates {
	VEC(struct global) list;
	size_t total; /* of all candidates, also those that are not in the list */
};

/* Whether name is the whole path, or its last parts. */
static bool globals_path_ends(const char *path, const char *name)
{
	size_t len = strlen(path), n = strlen(name);

	if (n > len || strcmp(path + len - n, name) != 0)
		return false;
	return n == len || (len - n >= 2 && memcmp(path + len - n - 2, "::", 2) == 0);
}

static struct error *add_by_end(struct dwarf_module *dm, const char *name, struct arena *a,
                                struct globals_candidates *c)
{
	const char *last = qualified_last(name);
	struct global *globals;
	size_t n, total;

	TRY(lookup_globals(dm, last, a, &globals, &n, &total));
	for (size_t i = 0; i < n; i++) {
		if (globals_path_ends(globals[i].name, name)) {
			*vec_push(&c->list) = globals[i];
			c->total++;
		}
	}
	/* lookup_globals() did not return all: each of the others may match. */
	c->total += total - n;
	return NULL;
}

static struct error *add_from_all(struct inspector *in, const char *name, struct arena *a,
                                  struct globals_candidates *c)
{
	for (size_t i = 0; i < in->di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(in->di, i);
		struct global whole = { .name = name };

		if (!dm)
			continue;
		/* For a whole path only the debug info of its crate is read. */
		if (strstr(name, "::") && lookup_static(dm, name, &whole.type, &whole.addr)) {
			*vec_push(&c->list) = whole;
			c->total++;
		}
	}
	for (size_t i = 0; !c->total && i < in->di->nmodules; i++) {
		struct dwarf_module *dm = debuginfo_program_module(in->di, i);

		if (dm)
			TRY(add_by_end(dm, name, a, c));
	}
	return NULL;
}

/* Prefers a static whose whole path is the name to those that only end with it. */
static void prefer_whole(struct globals_candidates *c, const char *name)
{
	const struct global *whole = NULL;

	if (c->total != c->list.n || !strstr(name, "::"))
		return;
	for (size_t i = 0; i < c->list.n; i++) {
		if (strcmp(c->list.data[i].name, name) != 0)
			continue;
		if (whole)
			return;
		whole = &c->list.data[i];
	}
	if (!whole)
		return;
	c->list.data[0] = *whole;
	c->list.n = c->total = 1;
}

static struct error *globals_several(const struct globals_candidates *c, const char *name)
{
	STR(names);

	for (size_t i = 0; i < c->list.n && i < MAX_LISTED; i++) {
		const struct global *g = &c->list.data[i];
		bool same = (i && strcmp(g[-1].name, g->name) == 0) ||
		            (i + 1 < c->list.n && strcmp(g[1].name, g->name) == 0);

		str_printf(&names, "%s%s", i ? ", " : "", g->name);
		if (g->thread_local)
			str_append(&names, " (a thread-local)");
		else if (same)
			str_printf(&names, " (at 0x%" PRIx64 ")", g->addr);
	}
	if (c->total > MAX_LISTED)
		str_printf(&names, " and %zu more", c->total - MAX_LISTED);
	return error_new(ERR_USAGE, "%zu statics are called `%s`; print one by its path: %s",
	                 c->total, name, str_text(&names));
}

static struct error *globals_choose(struct globals_candidates *c, const char *name,
                                    struct global *ret, bool *found)
{
	prefer_whole(c, name);
	if (c->total > 1 || c->list.n != c->total)
		return globals_several(c, name);
	*found = c->total == 1;
	if (!*found)
		return NULL;
	*ret = c->list.data[0];
	if (ret->thread_local)
		return error_new(ERR_USAGE,
		                 "%s is a thread-local: each thread has its own, and none is a "
		                 "static",
		                 ret->name);
	if (!ret->type)
		return error_new(ERR_LAYOUT, "the type of the static %s is not known", ret->name);
	return NULL;
}

struct error *globals_find(struct inspector *in, const char *name, struct arena *a,
                           struct global *ret, bool *found)
{
	struct globals_candidates c = { .total = 0 };
	struct error *err;

	*found = false;
	err = add_from_all(in, name, a, &c);
	if (!err)
		err = globals_choose(&c, name, ret, found);
	vec_free(&c.list);
	return err;
}

bool globals_is_near(const struct inspector *in)
{
	bool near = true;

	for (size_t i = 0; near && i < in->di->nmodules; i++) {
		struct dwarf_module *dm = in->di->modules[i];

		near = debuginfo_is_system(dm->module) || !debuginfo_module(in->di, dm->module) ||
		       lookup_globals_near(dm);
	}
	return near;
}

/* Finds the program's name for a lock that one of its futures waits for. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/ownership/ownership_walk.h"
#include "runtimes/query/locals.h"

enum { MAX_NAMED = 1 << 12 /* locks that are searched for */ };

/*
 * The row of the object, of this type, that a wait of that kind waits for. With no type: of any
 * object. NULL: such objects have no name.
 */
static const struct named_row *ownership_name_named_row(const struct collector *c, const char *kind,
                                                        const struct type *t)
{
	for (const struct crate_types *const *crate = crates_in(c->in->di); *crate; crate++) {
		for (const struct named_row *row = (*crate)->named; row && row->kind; row++) {
			if (strcmp(row->kind, kind) == 0 && (!t || type_is(t, row->type)))
				return row;
		}
	}
	return NULL;
}

struct name_search {
	const struct collector *c;
	const char *kind; /* of the wait */
	uint64_t addr;
	size_t found; /* index, 0 none */
	const struct named_row *row;
};

static bool ownership_name_look(const struct reached *at, size_t index, void *arg)
{
	struct name_search *s = arg;

	if (s->found)
		return false;
	if (at->v.addr == s->addr && (s->row = ownership_name_named_row(s->c, s->kind, at->v.type)))
		s->found = index;
	return !s->found;
}

/* The index of the outermost value that is the object to the program; 0: the start itself. */
static size_t ownership_name_outermost(const struct reach *r, const struct name_search *s,
                                       const struct type *start)
{
	size_t at = s->found, named = at;

	while (s->row->within && at) {
		at = r->list[at].from;
		if (str_begins(type_name(at ? r->list[at].v.type : start), s->row->within))
			named = at;
	}
	return named;
}

/* "self.accounts": the path from this variable to the lock, NULL when there is none. */
static const char *name_from(struct collector *c, const struct local_place *l,
                             struct name_search *s)
{
	struct reach r;

	s->found = 0;
	if (l->v.addr == s->addr && ownership_name_named_row(c, s->kind, l->v.type))
		return arena_strdup(c->a, l->name);
	object_walk(c, l->v, ownership_name_look, s, &r);
	if (!s->found)
		return NULL;
	size_t named = ownership_name_outermost(&r, s, l->v.type);
	const char *path = named ? object_walk_path(c, &r, named) : NULL;
	return arena_printf(c->a, "%s%s%s", l->name, path && *path ? "." : "", path ? path : "");
}

static const char *ownership_name_search(struct collector *c, const struct future *f,
                                         struct name_search *s)
{
	struct frame_place place;
	const char *name = NULL;
	struct local_place *list;
	size_t n;

	if (!locals_place_of(f, &place) || !place.active)
		return NULL;
	list = locals_list(c, &place, f, &n);
	for (size_t i = 0; i < n && !name; i++) {
		if (list[i].in_memory && !list[i].problem && list[i].v.type)
			name = name_from(c, &list[i], s);
	}
	return name;
}

void ownership_name_wait(struct walk *w, struct wait *wait)
{
	struct ownership_data *all = w->c->holdings;
	struct name_search s = { .c = w->c, .kind = wait->kind, .addr = wait->object };

	if (!s.kind || !ownership_name_named_row(w->c, s.kind, NULL) || !s.addr || !w->own)
		return;
	if (!map_has(&all->names, s.addr) && all->names.n < MAX_NAMED)
		map_put(&all->names, s.addr,
		        (void *)(uintptr_t)ownership_name_search(w->c, w->own, &s));
	wait->name = map_get(&all->names, s.addr);
}

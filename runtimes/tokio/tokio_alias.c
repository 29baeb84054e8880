/*
 * Finds futures whose poll functions were merged. LLVM merges functions of equal code in one
 * codegen unit, fat LTO and `--icf=all` of lld and mold those of the whole program: hand-written
 * futures that differ in name only then share one poll, as do instances of one generic async fn and
 * the async fns that one macro makes. The debug info names only one of them. The others are
 * detected by a task cell of theirs whose poll function has no code.
 */
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/names/qualified.h"
#include "runtimes/query/merged_code.h"
#include "runtimes/tokio/tokio.h"

static const char poll_path[] = "tokio::runtime::task::raw::poll";
static const char cell_path[] = "tokio::runtime::task::core::Cell";

/* A future of a crate; its task cell is in the debug info, but no poll function of it has code. */
struct tokio_alias_unpolled {
	struct tokio_alias_unpolled *next;
	const char *future;
};

struct tokio_held_futures {
	struct tokio_held_futures *next;
	const struct dwarf_module *dm;
	uint64_t crate; /* lookup_crate() */
	struct tokio_alias_unpolled *first;
};

struct tokio_alias_search {
	struct map with_code; /* hash of "T, S" of a poll function that has code */
	struct map seen;      /* futures found so far */
	struct arena *arena;  /* of what is found */
	struct tokio_alias_unpolled **end;
	struct arena scratch;
};

/* "T, S" of "path<T, S>". */
static const char *generics(struct arena *a, const char *name, size_t path_len)
{
	const char *open = name + path_len;
	size_t len = strlen(open);

	return len > 2 ? arena_strndup(a, open + 1, len - 2) : "";
}

static void visit_poll(const char *name, bool has_code, void *arg)
{
	struct tokio_alias_search *s = arg;
	const char *args = generics(&s->scratch, name, sizeof(poll_path) - 1);

	if (has_code)
		map_put(&s->with_code, map_key_of_text(args), NULL);
}

static void visit_cell(const char *name, bool has_code, void *arg)
{
	struct tokio_alias_search *s = arg;
	const char *args = generics(&s->scratch, name, sizeof(cell_path) - 1);
	const char *future;

	(void)has_code;
	if (map_has(&s->with_code, map_key_of_text(args)))
		return;
	/* Functions for different schedulers may be merged too, so S does not matter. */
	future = qualified_first_generic(&s->scratch, name);
	if (!future || !map_put(&s->seen, map_key_of_text(future), NULL))
		return;
	*s->end = NEW(s->arena, struct tokio_alias_unpolled);
	(*s->end)->future = arena_strdup(s->arena, future);
	s->end = &(*s->end)->next;
}

static void note_unmerged(const char *name, bool has_code, void *arg)
{
	(void)name;
	(void)has_code;
	*(bool *)arg = true;
}

/*
 * Unpolled futures of the DIE's crate, searched once: a program has as many instances as tasks'
 * types.
 */
static const struct tokio_alias_unpolled *unpolled_of(struct inspector *in, struct tokio *k,
                                                      struct dwarf_module *dm, uint64_t die)
{
	uint64_t crate = lookup_crate(dm, die);
	struct tokio_held_futures *u;

	for (u = k->unpolled; u; u = u->next) {
		if (u->dm == dm && u->crate == crate)
			return u->first;
	}
	u = NEW(&in->arena, struct tokio_held_futures);
	*u = (struct tokio_held_futures){ .next = k->unpolled, .dm = dm, .crate = crate };
	k->unpolled = u;

	struct tokio_alias_search s = { .arena = &in->arena, .end = &u->first };
	bool unmerged = false;

	lookup_each_instance(dm, die, UNMERGED_CODE, note_unmerged, &unmerged);
	if (unmerged)
		return NULL;
	static const char *const paths[] = { poll_path, cell_path };
	lookup_find_instances(dm, die, paths, sizeof(paths) / sizeof(*paths));
	lookup_each_instance(dm, die, poll_path, visit_poll, &s);
	lookup_each_instance(dm, die, cell_path, visit_cell, &s);
	map_free(&s.with_code);
	map_free(&s.seen);
	arena_free(&s.scratch);
	return u->first;
}

static bool same_members(const struct type *t, const struct type *other)
{
	size_t n, nother;
	const struct member *m = type_members(t, &n), *o = type_members(other, &nother);
	bool same = n == nother;

	for (size_t i = 0; same && i < n; i++)
		same = strcmp(type_name(m[i].type), type_name(o[i].type)) == 0;
	return same;
}

/*
 * Do both poll the same futures? `Wrap<users>` and `Wrap<orders>` do not, nor do coroutines of one
 * macro that awaits `$fetch(id)`, where the poll functions of the awaited futures are merged too.
 */
static bool same_parts(const struct type *t, const struct type *other)
{
	size_t n, nother;
	const struct variant *v = type_variants(t, &n), *w = type_variants(other, &nother);

	if (!type_is_coroutine(t))
		return same_members(t, other);
	for (size_t i = 0; i < n && i < nother; i++) {
		if (!v[i].payload || !w[i].payload || !same_members(v[i].payload, w[i].payload))
			return false;
	}
	return n == nother;
}

void tokio_plan_aliases(struct inspector *in, struct tokio *k, const struct function *f,
                        struct task_plan *plan)
{
	const char *own = type_name(plan->future);
	struct str found = { 0 }, any = { 0 };
	VEC(const struct type *) others = { 0 };

	str_append_clean(&any, own, strlen(own));
	for (const struct tokio_alias_unpolled *u = unpolled_of(in, k, f->dm, f->die); u;
	     u = u->next) {
		const struct type *t =
			strcmp(u->future, own) == 0 ? NULL : lookup_type(f->dm, u->future, f->die);

		if (!t || !merged_code_may_share(t, plan->future))
			continue;
		str_append(&found, found.len ? ", " : "");
		str_append_clean(&found, u->future, strlen(u->future));
		str_append(&any, " or ");
		str_append_clean(&any, u->future, strlen(u->future));
		*vec_push(&others) = t;
		plan->doubtful_parts |= !same_parts(t, plan->future);
	}
	if (found.len) {
		plan->aliases = arena_strdup(&in->arena, str_text(&found));
		plan->type = arena_strdup(&in->arena, str_text(&any));
		*vec_push(&others) = NULL;
		plan->others = vec_to_arena(&others, &in->arena);
	}
	str_free(&found);
	str_free(&any);
}

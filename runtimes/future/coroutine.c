/* Compiler-made futures: the enum that rustc generates for an async fn, block or closure. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/held_futures.h"

enum future_kind coroutine_kind(const char *name)
{
	static const struct {
		const char *mark;
		enum future_kind kind;
	} marks[] = {
		{ "{async_fn", FUTURE_ASYNC_FN },
		{ "{async_block", FUTURE_ASYNC_BLOCK },
		{ "{async_closure", FUTURE_ASYNC_CLOSURE },
	};
	const char *last = qualified_last(name);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (strncmp(last, marks[i].mark, strlen(marks[i].mark)) == 0)
			return marks[i].kind;
	}
	return FUTURE_OTHER;
}

static const char *coroutine_own_function_name(struct inspector *in, const struct type *t)
{
	const char *path = name_function(&in->arena, type_name(t));
	const char *linkage, *resolved;

	if (!strstr(path, "{impl#"))
		return path;
	linkage = lookup_poll_linkage(t);
	resolved = linkage ? name_impl_from_linkage(&in->arena, path, linkage) : NULL;
	return resolved ? resolved : path;
}

static void read_outline(const struct variant *v, struct coroutine_state *s)
{
	const char *name = v->name ? v->name : "";

	s->variant = v;
	s->await_point = -1;
	if (strncmp(name, "Suspend", 7) == 0) {
		s->state = FUTURE_SUSPENDED;
		s->await_point = atoi(name + 7);
		s->awaitee = v->payload ? type_member(v->payload, "__awaitee") : NULL;
	} else if (strcmp(name, "Unresumed") == 0) {
		s->state = FUTURE_UNRESUMED;
	} else if (strcmp(name, "Returned") == 0) {
		s->state = FUTURE_RETURNED;
	} else if (strcmp(name, "Panicked") == 0) {
		s->state = FUTURE_PANICKED;
	}
}

struct coroutine_state *coroutine_outline(struct inspector *in, const struct coroutine_plan *plan,
                                          size_t index)
{
	struct coroutine_state **s = &plan->states[index];

	if (!*s) {
		*s = NEW(&in->arena, struct coroutine_state);
		read_outline(&plan->variants[index], *s);
	}
	return *s;
}

/*
 * Finds the user's line of an await inside a macro (select!, join!). The variant has the macro's
 * own line; the awaitee variable of the poll function has the line where the user called the macro.
 */
static bool callers_line(struct inspector *in, const struct type *t,
                         const struct coroutine_plan *plan, size_t index, const char **file,
                         unsigned *line)
{
	const struct coroutine_state *s = coroutine_outline(in, plan, index);
	const char *own_file = plan->variants[0].file, *macros = s->variant->file, *awaitee;
	unsigned nth = 0;

	if (!s->awaitee || !macros || !own_file || strcmp(macros, own_file) == 0)
		return false;
	awaitee = type_name(s->awaitee->type);
	for (size_t i = 0; i < index; i++) {
		const struct member *other = coroutine_outline(in, plan, i)->awaitee;

		nth += other && strcmp(type_name(other->type), awaitee) == 0;
	}
	return lookup_awaitee_line(t, awaitee, nth, file, line);
}

static void read_place(struct inspector *in, const struct type *t,
                       const struct coroutine_plan *plan, size_t index, struct coroutine_state *s)
{
	const char *file;

	if (!callers_line(in, t, plan, index, &file, &s->line)) {
		file = s->variant->file;
		s->line = s->variant->line;
	}
	if (file) {
		struct source source = source_path_of(in->di, &in->arena, file, type_comp_dir(t));
		s->file = source.path;
		s->file_short = source.text;
		s->library = source.library;
	}
}

const struct coroutine_plan *coroutine_plan(struct inspector *in, const struct type *t)
{
	struct coroutine_plan *plan;

	if (type_class_of(t)->plan) {
		lookup_context(t);
		return type_class_of(t)->plan;
	}
	type_class_of(t)->plan = plan = NEW(&in->arena, struct coroutine_plan);
	plan->kind = coroutine_kind(type_name(t));
	plan->type = inspector_clean_name(&in->arena, type_name(t));
	plan->function = coroutine_own_function_name(in, t);
	lookup_context(t);
	plan->variants = type_variants(t, &plan->nstates);
	plan->states = NEW_ARRAY(&in->arena, struct coroutine_state *, plan->nstates);
	plan->merged = NEW(&in->arena, struct coroutine_merged);
	map_put(&in->coroutines, (uintptr_t)plan->type, (void *)(uintptr_t)t);
	return plan;
}

const struct coroutine_state *coroutine_state(struct inspector *in, const struct type *t,
                                              const struct coroutine_plan *plan, size_t index)
{
	struct coroutine_state *s = coroutine_outline(in, plan, index);

	if (s->complete)
		return s;
	s->complete = true;
	read_place(in, t, plan, index, s);
	if (s->awaitee)
		held_futures_plan(in, t, s);
	return s;
}

const struct coroutine_state *coroutine_captured(struct inspector *in, const struct type *t,
                                                 const struct coroutine_plan *plan, size_t index)
{
	struct coroutine_state *s = coroutine_outline(in, plan, index);

	if (s->state == FUTURE_UNRESUMED && !s->captured) {
		s->captured = true;
		held_futures_plan(in, t, s);
	}
	return s;
}

const struct source_place *coroutine_defined_at(struct inspector *in, const struct type *t)
{
	struct coroutine_plan *plan = (struct coroutine_plan *)(uintptr_t)coroutine_plan(in, t);

	for (size_t i = 0; i < plan->nstates && !plan->defined_known; i++) {
		const struct coroutine_state *s = coroutine_outline(in, plan, i);
		struct source_place *place;

		if (s->state != FUTURE_UNRESUMED)
			continue;
		s = coroutine_state(in, t, plan, i);
		if (!s->file || !s->line)
			break;
		plan->defined = place = NEW(&in->arena, struct source_place);
		*place = (struct source_place){ s->file, s->file_short, s->line };
		break;
	}
	plan->defined_known = true;
	return plan->defined;
}

const struct source_place *coroutine_defined_by_name(struct inspector *in, const char *type)
{
	const struct type *t = type ? map_get(&in->coroutines, (uintptr_t)type) : NULL;

	return t ? coroutine_defined_at(in, t) : NULL;
}

/* The future inside generic wrappers; NULL: unknown. */
static const struct future *inside_wrappers(const struct future *f)
{
	while (f && f->wraps) {
		const struct future *inner = NULL;

		for (size_t i = 0; i < f->nchildren && !inner; i++) {
			const struct future *child = f->children[i];

			if (child->branch == BRANCH_POLLED && child->edge &&
			    strcmp(child->edge, "await") == 0)
				inner = child;
		}
		f = inner;
	}
	return f;
}

const struct source_place *coroutine_defined_by_tree(struct inspector *in,
                                                     const struct future *root)
{
	const struct future *named = inside_wrappers(root);

	return named ? coroutine_defined_by_name(in, named->type) : NULL;
}

const char *coroutine_poll_path(struct arena *a, const struct location *l)
{
	const char *path = name_function(a, l->name), *resolved = NULL;

	if (strstr(path, "{impl#") && l->linkage)
		resolved = name_impl_from_linkage(a, path, l->linkage);
	return resolved ? resolved : path;
}

const char *coroutine_whole_name(struct arena *a, const struct location *l)
{
	if (!l->name || !coroutine_is_poll(l) || !strstr(l->name, "{impl#"))
		return l->name;
	const char *path = coroutine_poll_path(a, l), *kind = qualified_last(l->name);
	const char *last = qualified_last(path);
	int len = (int)qualified_base_len(kind);

	if (strstr(path, "{impl#"))
		return l->name;
	/* A block is in its path already. */
	if (last[0] == '{')
		return path;
	return arena_printf(a, "%s::%.*s", path, len, kind);
}

bool coroutine_is_poll(const struct location *l)
{
	return l->name && !l->mangled && coroutine_kind(l->name) != FUTURE_OTHER;
}

const char *coroutine_function_name(struct arena *a, const struct location *l)
{
	if (coroutine_is_poll(l))
		return coroutine_poll_path(a, l);
	return l->name ? name_without_generics(a, inspector_clean_name(a, l->name)) : NULL;
}

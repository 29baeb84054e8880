/* Compiler-made futures: the enum that rustc makes of an async fn, block or closure. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/demangle.h"
#include "dwarf/qualified.h"
#include "runtimes/held.h"
#include "runtimes/traits.h"

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

static const char *function_name(struct inspector *in, const struct type *t)
{
	const char *path = name_function(&in->arena, type_name(t));
	const char *linkage, *resolved;

	if (!strstr(path, "{impl#"))
		return path;
	linkage = lookup_poll_linkage(t);
	resolved = linkage ? name_impl_from_linkage(&in->arena, path, linkage) : NULL;
	return resolved ? resolved : path;
}

/*
 * An await that a macro wrote (select!, join!) has the macro's own line in its variant; the
 * poll function's variables have the line where the user called it.
 */
static void use_callers_line(struct inspector *in, const struct type *t,
                             const struct coroutine_plan *plan, size_t index)
{
	struct coroutine_state *s = &plan->states[index];
	const char *own_file = plan->states[0].file, *awaitee, *file;
	unsigned nth = 0, line;

	if (!s->awaitee || !s->file || !own_file || strcmp(s->file, own_file) == 0)
		return;
	awaitee = type_name(s->awaitee->type);
	for (size_t i = 0; i < index; i++) {
		const struct member *other = plan->states[i].awaitee;

		nth += other && strcmp(type_name(other->type), awaitee) == 0;
	}
	if (!lookup_awaitee_line(t, awaitee, nth, &file, &line))
		return;
	s->file = clean_name(&in->arena, file);
	s->file_short = name_file_short(&in->arena, file, type_comp_dir(t));
	s->line = line;
}

static void read_state(struct inspector *in, const struct type *t, const struct variant *v,
                       struct coroutine_state *s)
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
	s->line = v->line;
	if (v->file) {
		s->file_short = name_file_short(&in->arena, v->file, type_comp_dir(t));
		s->file = clean_name(&in->arena, v->file);
	}
}

const struct coroutine_plan *coroutine_plan(struct inspector *in, const struct type *t)
{
	struct coroutine_plan *plan;
	const struct variant *variants;

	if (traits_of(t)->plan) {
		lookup_context(t);
		return traits_of(t)->plan;
	}
	traits_of(t)->plan = plan = NEW(&in->arena, struct coroutine_plan);
	plan->kind = coroutine_kind(type_name(t));
	plan->type = clean_name(&in->arena, type_name(t));
	plan->function = function_name(in, t);
	lookup_context(t);
	variants = plan->variants = type_variants(t, &plan->nstates);
	plan->states = NEW_ARRAY(&in->arena, struct coroutine_state, plan->nstates);
	for (size_t i = 0; i < plan->nstates; i++)
		read_state(in, t, &variants[i], &plan->states[i]);
	return plan;
}

const struct coroutine_state *coroutine_state(struct inspector *in, const struct type *t,
                                              const struct coroutine_plan *plan, size_t index)
{
	struct coroutine_state *s = &plan->states[index];

	if (s->complete)
		return s;
	s->complete = true;
	use_callers_line(in, t, plan, index);
	if (s->awaitee)
		held_plan(in, t, s);
	return s;
}

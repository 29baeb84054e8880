#include "runtimes/inspect/may_run_tasks.h"

#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/leaf.h"

enum {
	MAX_TYPES = 1 << 12, /* that are looked at */
	MAX_REFERENCES = 4,
};

struct may_run_tasks_search {
	struct inspector *in;
	VEC(const struct type *) types; /* found so far: the queue of the walk */
	struct map met;
	bool tasks;  /* there may be tasks in one of them */
	bool erased; /* one has something of a type that is not known */
	bool future; /* one is a future */
};

static void may_run_tasks_meet(struct may_run_tasks_search *s, const struct type *t)
{
	if (t && map_put(&s->met, (uintptr_t)t, NULL))
		*vec_push(&s->types) = t;
}

/* The type that a reference, or a Pin of one, refers to. */
static const struct type *referent(const struct type *t)
{
	for (int i = 0; i < MAX_REFERENCES; i++) {
		const struct type_class *c = type_class_of(t);
		const struct type *to = c->next && c->step != STEP_DYN ? c->next : NULL;

		if (!to)
			break;
		t = to;
	}
	return t;
}

/* A future that a function is generic over may be any future of the program. */
static void note_generic(struct may_run_tasks_search *s, const struct type *t)
{
	s->tasks |= future_is_or_has_polled(s->in, t);
}

static bool note_part(enum function_part part, const struct type *t, void *arg)
{
	const struct type_param *params;
	struct may_run_tasks_search *s = arg;
	size_t n;

	may_run_tasks_meet(s, t);
	if (part == FUNCTION_GENERIC) {
		note_generic(s, t);
		return s->tasks;
	}
	t = referent(t);
	s->future |= future_is_type(s->in, t);
	params = type_params(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (params[i].type)
			note_generic(s, params[i].type);
	}
	return s->tasks;
}

/* Searches the name of a type, which has the generics, also those of containers. */
static void look_at_name(struct may_run_tasks_search *s, const char *name)
{
	static const char *const coroutines[] = { "{async_", "{gen_env#", "{gen#",
		                                  "dyn core::future::future::Future<" };

	for (size_t i = 0; i < sizeof(coroutines) / sizeof(*coroutines); i++)
		s->tasks |= strstr(name, coroutines[i]) != NULL;
	/* A pointer to a function that polls. */
	s->tasks |= strstr(name, "fn(") && strstr(name, "core::task::wake::Context");
	s->erased |= strstr(name, "dyn ") != NULL;
}

/* Whether the members of a type say nothing about tasks: its generics tell all that it contains. */
static bool may_run_tasks_is_library(const struct may_run_tasks_search *s, const char *name)
{
	static const char *const std[] = { "core::", "alloc::", "std::", "hashbrown::" };

	if (str_begins_with_any(name, std))
		return true;
	for (const struct runtime *const *r = runtimes_in(s->in->di); *r; r++) {
		if (str_begins(name, (*r)->path))
			return true;
	}
	return false;
}

static void may_run_tasks_meet_parts(struct may_run_tasks_search *s, const struct type *t)
{
	const struct variant *variants;
	const struct member *members;
	size_t n;

	members = type_members(t, &n);
	for (size_t i = 0; i < n; i++)
		may_run_tasks_meet(s, members[i].type);
	variants = type_variants(t, &n);
	for (size_t i = 0; i < n; i++)
		may_run_tasks_meet(s, variants[i].payload);
}

static void may_run_tasks_look_at(struct may_run_tasks_search *s, const struct type *t)
{
	const struct type_class *class = type_class_of(t);
	const struct type_param *params;
	size_t n;

	look_at_name(s, type_name(t));
	s->tasks |= class->forms.coroutine || leaf_is_known(t) || leaf_owns_tasks(t) ||
	            class->task_set || class->driver;
	s->erased |= type_kind(t) == TYPE_OPAQUE || class->forms.erased;
	may_run_tasks_meet(s, type_target(t));
	params = type_params(t, &n);
	for (size_t i = 0; i < n; i++)
		may_run_tasks_meet(s, params[i].type);
	if (!may_run_tasks_is_library(s, type_name(t)))
		may_run_tasks_meet_parts(s, t);
}

static bool may_run_tasks_returns_poll(const struct function *f)
{
	const struct type *t = function_read_result(f);

	return t && type_is(t, "core::task::poll::Poll");
}

bool may_run_tasks(struct inspector *in, const struct function *f)
{
	struct may_run_tasks_search s = { .in = in };

	if (!debuginfo_need(f->dm))
		return true;
	function_read_types(f, note_part, &s);
	for (size_t i = 0; i < s.types.n && !s.tasks; i++) {
		may_run_tasks_look_at(&s, s.types.data[i]);
		s.tasks |= s.types.n > MAX_TYPES;
	}
	vec_free(&s.types);
	map_free(&s.met);
	return s.tasks || (!may_run_tasks_returns_poll(f) && (s.erased || !s.future));
}

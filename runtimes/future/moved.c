#include "runtimes/future/moved.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/needs_drop.h"

/* Whether two types are defined in one crate. */
static bool is_same_crate(const struct type *a, const struct type *b)
{
	const char *name = type_name(a), *end = strstr(name, "::");

	return end && strncmp(name, type_name(b), (size_t)(end - name) + 2) == 0;
}

typedef bool drops_fn(struct inspector *in, const struct type *t);

/* Without a search of the debug info: what is not known to need no drop counts. */
static bool may_need_drop(struct inspector *in, const struct type *t)
{
	(void)in;
	return type_kind(t) >= TYPE_POINTER && !type_class_of(t)->borrowed &&
	       type_name(t)[0] != '&' && type_name(t)[0] != '*';
}

/* Whether code of the coroutine's crate can move a member out that needs drop. */
static bool has_movable_member(struct inspector *in, const struct type *coroutine,
                               const struct type *t, drops_fn *drops)
{
	bool own = is_same_crate(coroutine, t);
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if ((own || !members[i].restricted) &&
		    (!members[i].type || drops(in, members[i].type)))
			return true;
	}
	return false;
}

/*
 * Whether a value of t can only be moved as a whole, by code of the coroutine's crate. The content
 * of a ManuallyDrop may be gone while the value is there.
 */
static bool is_sealed(struct inspector *in, const struct type *coroutine, const struct type *t,
                      drops_fn *drops)
{
	const char *name = type_name(t);

	switch (type_kind(t)) {
	case TYPE_POINTER:
		return type_target(t) && !drops(in, type_target(t));
	case TYPE_ARRAY:
		return type_target(t) && !drops(in, type_target(t));
	case TYPE_ENUM:
		return type_is_coroutine(t);
	case TYPE_STRUCT:
		/* A closure's captures; a fat pointer, whose target has no size. */
		return qualified_last(name)[0] == '{' || str_begins(name, "alloc::boxed::Box<") ||
		       (!type_is(t, "core::mem::manually_drop::ManuallyDrop") &&
		        !has_movable_member(in, coroutine, t, drops));
	default:
		return false;
	}
}

static enum moved_rule rule_of(struct inspector *in, const struct type *coroutine,
                               const struct type *t, drops_fn *drops)
{
	if (!drops(in, t))
		return MOVED_NEVER;
	return debuginfo_panics_unwind(type_module(coroutine)) && is_sealed(in, coroutine, t, drops)
	               ? MOVED_BY_FLAGS
	               : MOVED_OPEN;
}

enum moved_rule moved_rule(struct inspector *in, const struct type *coroutine, const struct type *t)
{
	return rule_of(in, coroutine, t, needs_drop);
}

enum moved_rule moved_rule_of_future(const struct type *coroutine, const struct type *t)
{
	return rule_of(NULL, coroutine, t, may_need_drop);
}

size_t moved_flags_clear(struct target *t, struct value v, const struct coroutine_state *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nflags; i++) {
		uint64_t addr = v.addr + s->variant->offset + s->flags[i]->offset, flag = 0;

		error_free(target_read_uint(t, addr, 1, &flag));
		n += flag == 0;
	}
	return n;
}

bool moved_flag_is_clear(struct inspector *in, struct value v, const struct variant *active)
{
	const struct coroutine_plan *plan = coroutine_plan(in, v.type);

	if (active < plan->variants || active >= plan->variants + plan->nstates)
		return true;
	return moved_flags_clear(
		       in->target, v,
		       coroutine_state(in, v.type, plan, (size_t)(active - plan->variants))) != 0;
}

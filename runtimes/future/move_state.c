#include "runtimes/future/move_state.h"

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
	return type_kind(t) >= TYPE_POINTER && !type_class_of(t)->forms.borrowed &&
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

static enum move_rule rule_of(struct inspector *in, const struct type *coroutine,
                              const struct type *t, drops_fn *drops)
{
	if (!drops(in, t))
		return MOVE_NEVER;
	return debuginfo_panics_unwind(type_module(coroutine)) && is_sealed(in, coroutine, t, drops)
	               ? MOVE_BY_FLAGS
	               : MOVE_OPEN;
}

enum move_rule move_rule(struct inspector *in, const struct type *coroutine, const struct type *t)
{
	return rule_of(in, coroutine, t, needs_drop);
}

enum move_rule move_rule_of_future(const struct type *coroutine, const struct type *t)
{
	return rule_of(NULL, coroutine, t, may_need_drop);
}

size_t move_state_flags_clear(struct target *t, struct value v, const struct coroutine_state *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nflags; i++) {
		uint64_t addr = v.addr + s->variant->offset + s->flags[i]->offset, flag = 0;

		error_free(target_read_uint(t, addr, 1, &flag));
		n += flag == 0;
	}
	return n;
}

bool move_state_flag_is_clear(struct inspector *in, struct value v, const struct variant *active)
{
	const struct coroutine_plan *plan = coroutine_plan(in, v.type);

	if (active < plan->variants || active >= plan->variants + plan->nstates)
		return true;
	return move_state_flags_clear(
		       in->target, v,
		       coroutine_state(in, v.type, plan, (size_t)(active - plan->variants))) != 0;
}

/* ---- by what the bytes are ---- */

enum { MAX_SETTLED_DEPTH = 8 };

static bool move_state_is_settled_below(struct inspector *in, struct value v, int depth);

static bool members_are_settled(struct inspector *in, struct value v, const struct type *t,
                                int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (!members[i].type ||
		    !move_state_is_settled_below(
			    in, (struct value){ members[i].type, v.addr + members[i].offset },
			    depth))
			return false;
	}
	return true;
}

static bool move_state_is_suspended(struct inspector *in, struct value v,
                                    const struct variant *active)
{
	const struct coroutine_plan *plan = coroutine_plan(in, v.type);
	size_t i = (size_t)(active - plan->variants);

	return i < plan->nstates && coroutine_outline(in, plan, i)->state == FUTURE_SUSPENDED;
}

static bool enum_is_settled(struct inspector *in, struct value v, int depth)
{
	const struct variant *active = NULL;
	struct error *err = value_variant(in->target, v, &active);
	bool ok = !err;

	error_free(err);
	if (ok && type_is_coroutine(v.type))
		return move_state_is_suspended(in, v, active);
	return ok && (!active->payload ||
	              members_are_settled(in, value_payload(v, active), active->payload, depth));
}

/* A Vec without capacity has no memory (alloc/src/raw_vec.rs). */
static bool vec_is_empty(struct inspector *in, struct value v)
{
	const struct path *p = inspector_optional_path(
		in, v.type, "buf.inner.cap.0 | buf.inner.cap | buf.cap.0 | buf.cap");
	uint64_t capacity = 1;
	bool found = false;
	struct error *err = p ? path_uint(in->target, p, v, &capacity, &found) : NULL;
	bool empty = p && !err && found && capacity == 0;

	error_free(err);
	return empty;
}

/* A type with an impl of Drop of its own may own more than its members do. */
static bool struct_is_settled(struct inspector *in, struct value v, int depth)
{
	const char *name = type_name(v.type);

	if (str_begins(name, "alloc::vec::Vec<"))
		return vec_is_empty(in, v);
	return !str_begins(name, "core::ptr::") && !needs_drop_itself(in, v.type) &&
	       members_are_settled(in, v, v.type, depth);
}

static bool move_state_is_settled_below(struct inspector *in, struct value v, int depth)
{
	if (!needs_drop(in, v.type))
		return true;
	if (++depth > MAX_SETTLED_DEPTH)
		return false;
	switch (type_kind(v.type)) {
	case TYPE_STRUCT:
		return struct_is_settled(in, v, depth);
	case TYPE_ENUM:
		return !needs_drop_itself(in, v.type) && enum_is_settled(in, v, depth);
	default:
		return false;
	}
}

bool move_state_is_settled(struct inspector *in, struct value v)
{
	return move_state_is_settled_below(in, v, 0);
}

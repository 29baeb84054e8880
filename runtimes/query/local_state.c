#include "runtimes/query/local_state.h"

#include "debugger/base/str.h"
#include "dwarf/frame/variable_flow.h"
#include "dwarf/types/scalar.h"
#include "runtimes/future/needs_drop.h"

enum { MAX_NESTED = 8 };

static bool local_state_is_copy(const struct type *t, int depth);

static bool are_copies(const struct type *t, int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (!local_state_is_copy(members[i].type, depth + 1))
			return false;
	}
	return true;
}

/*
 * Whether a use of a value of the type copies it: then a variable keeps it. Of a struct or an enum
 * the debug info does not say whether it is Copy, but for tuples and Option; `&mut T` is not.
 */
static bool local_state_is_copy(const struct type *t, int depth)
{
	const char *name = t && depth < MAX_NESTED ? type_name(t) : NULL;
	size_t n;

	if (!name)
		return false;
	if (type_is_scalar(t))
		return true;
	switch (type_kind(t)) {
	case TYPE_POINTER:
		return (name[0] == '&' && !str_begins(name, "&mut ")) || str_begins(name, "fn(");
	case TYPE_ARRAY:
		return local_state_is_copy(type_target(t), depth + 1);
	case TYPE_STRUCT:
		return name[0] == '(' ? are_copies(t, depth)
		                      : name[0] == '&' && !str_begins(name, "&mut ");
	default:
		break;
	}
	if (!str_begins(name, "core::option::Option<"))
		return false;
	const struct variant *v = type_variants(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (v[i].payload && !are_copies(v[i].payload, depth))
			return false;
	}
	return n != 0;
}

bool local_state_is_kept(const struct type *t)
{
	return !t || type_size(t) == 0 || type_name(t)[0] == '&' || local_state_is_copy(t, 0);
}

/* Whether the value may have been moved out. It is set. */
static bool local_state_may_be_moved(struct inspector *in, const struct variable_state *s,
                                     const struct type *t)
{
	if (s->used || s->kept)
		return false;
	if (s->gone || needs_drop(in, t))
		return true;
	return s->shared || !local_state_is_copy(t, 0);
}

void local_state_apply(struct inspector *in, const struct variable_state *s, bool may_be_lost,
                       struct local_place *l)
{
	l->may_be_lost = may_be_lost;
	if (!s->known) {
		l->may_be_unset = s->unset;
		l->may_be_stale = s->stale;
		l->uncertain = may_be_lost || s->widened || s->unset || s->stale ||
		               needs_drop(in, l->v.type) || !local_state_is_kept(l->v.type);
		return;
	}
	if (s->never) {
		l->may_be_lost = l->uncertain = false;
		l->problem =
			"it has no value here: not set yet, moved out, or not kept across an await";
		return;
	}
	/* The code knows the awaits behind which it was set again. */
	l->may_be_lost = may_be_lost && s->unset;
	l->may_be_unset = s->unset && !l->may_be_lost && !s->kept;
	l->uncertain = (s->unset && !s->kept) || local_state_may_be_moved(in, s, l->v.type);
}

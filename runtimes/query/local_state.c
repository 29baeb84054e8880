#include "runtimes/query/local_state.h"

#include <string.h>

#include "dwarf/frame/variable_flow.h"
#include "runtimes/future/needs_drop.h"

/*
 * Whether a use of the variable copies it: then the variable keeps its value. Of a struct or an
 * enum the debug info does not say whether it is Copy; `&mut T` is not.
 */
static bool is_copy(const struct type *t)
{
	switch (type_kind(t)) {
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_INT:
	case TYPE_UINT:
	case TYPE_FLOAT:
		return true;
	case TYPE_POINTER:
		return strncmp(type_name(t), "&mut ", 5) != 0;
	default:
		return false;
	}
}

/* Whether the value may have been moved out. It is set. */
static bool may_be_moved(struct inspector *in, const struct variable_state *s, const struct type *t)
{
	if (s->used || s->kept)
		return false;
	if (s->gone || needs_drop(in, t))
		return true;
	return s->shared || (s->lent && !is_copy(t));
}

void local_state_apply(struct inspector *in, const struct variable_state *s, bool may_be_lost,
                       struct local_place *l)
{
	l->may_be_lost = may_be_lost;
	l->uncertain = may_be_lost || needs_drop(in, l->v.type);
	if (!s->known)
		return;
	if (s->never) {
		l->may_be_lost = l->uncertain = false;
		l->problem =
			"it has no value here: not set yet, moved out, or not kept over an await";
		return;
	}
	/* The code knows the awaits behind which it was set again. */
	l->may_be_lost = may_be_lost && s->unset;
	l->may_be_unset = s->unset && !l->may_be_lost && !s->kept;
	l->uncertain = (s->unset && !s->kept) || may_be_moved(in, s, l->v.type);
}

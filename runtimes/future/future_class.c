#include "runtimes/future/future_class.h"

#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"
#include "runtimes/future/composite_future.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/future/pool.h"

static bool is_one_of(const struct type *t, const char *const *list)
{
	for (; list && *list; list++) {
		if (type_is(t, *list))
			return true;
	}
	return false;
}

static void classify_for(const struct runtime *r, const struct type *t, struct type_class *f)
{
	if (is_one_of(t, r->tasks.handles))
		f->forms.handle = true;
	if (!r->tasks.set)
		return;
	if (type_is(t, r->tasks.set->type))
		f->task_set = r->tasks.set;
	if (r->tasks.set->driver && type_is(t, r->tasks.set->driver))
		f->driver = r->tasks.set;
}

void future_classify(const struct type *t, struct type_class *f)
{
	f->rows.leaf = leaf_find_row(t, false);
	f->rows.resource = leaf_find_row(t, true);
	f->rows.properties = leaf_find_properties(t);
	f->rows.pool = f->forms.coroutine ? pool_find_row(t) : NULL;
	f->rows.combinator = combinator_find_row(t);
	f->rows.sequence = combinator_sequence_row(t);
	f->forms.boundary = object_walk_is_boundary(t);
	f->forms.maybe_done = combinator_is_maybe_done(t);
	f->forms.poll_fn = select_join_is_poll_fn(t);
	f->forms.composite = composite_future_is_type(t);
	for (const struct runtime *const *r = runtimes_of(t); *r; r++)
		classify_for(*r, t, f);
}

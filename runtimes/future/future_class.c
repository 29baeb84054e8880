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
	if (is_one_of(t, r->handles))
		f->handle = true;
	if (!r->task_set)
		return;
	if (type_is(t, r->task_set->type))
		f->task_set = r->task_set;
	if (r->task_set->driver && type_is(t, r->task_set->driver))
		f->driver = r->task_set;
}

void future_classify(const struct type *t, struct type_class *f)
{
	f->leaf = leaf_find_row(t, false);
	f->resource = leaf_find_row(t, true);
	f->properties = leaf_find_properties(t);
	f->pool = f->coroutine ? pool_find_row(t) : NULL;
	f->combinator = combinator_find_row(t);
	f->sequence = combinator_sequence_row(t);
	f->boundary = object_walk_is_boundary(t);
	f->maybe_done = combinator_is_maybe_done(t);
	f->poll_fn = select_join_is_poll_fn(t);
	f->composite = composite_future_is_type(t);
	for (const struct runtime *const *r = runtimes_of(t); *r; r++)
		classify_for(*r, t, f);
}

/*
 * futures_util's FuturesUnordered: a set that has a heap node for each future. FuturesOrdered,
 * join_all of many futures, buffer_unordered, for_each_concurrent and SelectAll contain one.
 */
#include <inttypes.h>

#include "runtimes/common/waker.h"
#include "runtimes/future/combinator.h"

/* futures-util 0.3: stream/futures_unordered/{mod,task}.rs */
static const char head_path[] = "head_all";
static const char next_path[] = "next_all";
static const char future_path[] = "future.Some.0";
static const char waker_path[] = "ready_to_run_queue.waker";

bool futures_unordered_is_type(const struct type *t)
{
	return type_is(t, "futures_util::stream::futures_unordered::FuturesUnordered");
}

/* A link is a raw pointer in an AtomicPtr or an UnsafeCell; its target is the node type. */
static struct error *futures_unordered_read_link(struct collector *c, struct value from,
                                                 const char *expr, struct value *node)
{
	struct value link;
	bool found;

	TRY(inspector_eval(c->in, from, expr, &link, &found));
	for (int hop = 0; hop < 8 && link.type && type_kind(link.type) != TYPE_POINTER; hop++) {
		const struct member *m = type_single_member(link.type);

		link = m ? (struct value){ m->type, link.addr + m->offset } : (struct value){ 0 };
	}
	if (!link.type || !type_target(link.type))
		return error_new(ERR_LAYOUT, "%s: '%s' is not a pointer to a node",
		                 type_name(from.type), expr);
	node->type = type_target(link.type);
	return target_read_uint(c->in->target, link.addr, 8, &node->addr);
}

/* Does a wake-up of the set wake the task that polls it? */
static struct error *set_armed(const struct decoder *d, struct value set,
                               enum waker_registered *ret)
{
	struct value place;
	bool found, vacant;

	*ret = WAKER_REGISTERED_UNKNOWN;
	TRY(inspector_eval(d->c->in, set, waker_path, &place, &found));
	if (found)
		TRY(waker_stored(d->c, place, d->waker, ret, &vacant));
	if (*ret == WAKER_REGISTERED_YES && d->in_set)
		*ret = d->set_armed;
	return NULL;
}

static struct error *find_in_node(struct finder *f, struct value node)
{
	struct finder each = *f;
	struct value future;
	bool there;

	TRY(inspector_eval(f->d->c->in, node, future_path, &future, &there));
	if (!there) /* the future has finished; its node is not released yet */
		return NULL;
	if (f->branch == BRANCH_POLLED) {
		each.edge = "set";
		each.waker = node.addr;
		if (!f->d->strict)
			map_put(&f->d->c->nodes, node.addr, (void *)(uintptr_t)node.type);
	}
	/* All elements are futures (impl<Fut: Future> FuturesUnordered<Fut>). */
	if (combinator_is_maybe_done(future.type))
		return combinator_find_futures(&each, future, 0);
	combinator_found(&each, future, each.edge);
	return NULL;
}

struct error *futures_unordered_nodes(struct collector *c, struct value set, size_t max,
                                      value_vec *nodes)
{
	struct map seen = { 0 };
	struct value node;
	struct error *err = futures_unordered_read_link(c, set, head_path, &node);

	while (!err && node.addr) {
		if (nodes->n >= max)
			err = error_new(ERR_UNSUPPORTED, "more than %zu futures in a set", max);
		else if (!map_put(&seen, node.addr, NULL))
			err = error_new(ERR_CORRUPT, "a set of futures is circular");
		if (err)
			break;
		*vec_push(nodes) = node;
		err = futures_unordered_read_link(c, node, next_path, &node);
	}
	map_free(&seen);
	return err;
}

struct error *futures_unordered_find(struct finder *f, struct value set)
{
	value_vec nodes = { 0 };
	struct error *err = futures_unordered_nodes(f->d->c, set, FUTURE_MAX_NODES, &nodes),
		     *bad = NULL;

	if (f->branch == BRANCH_POLLED && nodes.n)
		bad = set_armed(f->d, set, &f->set_armed);
	for (size_t i = nodes.n; i-- > 0;) {
		struct error *each = find_in_node(f, nodes.data[i]);

		error_free(bad ? each : NULL);
		bad = bad ? bad : each;
	}
	vec_free(&nodes);
	if (!err)
		return bad;
	error_free(bad);
	return err;
}

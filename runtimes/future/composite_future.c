#include "runtimes/future/composite_future.h"

#include <string.h>

#include "dwarf/names/qualified.h"
#include "runtimes/future/object_walk.h"
#include "runtimes/future/sibling_resources.h"

static const char *const types[] = {
	"tower::buffer::worker::Worker",
	/* Their timers and the signal from the other half are futures; the connection and the queue
	 * of requests are not. */
	"hyper::proto::h2::server::Server",
	"hyper::proto::h2::client::ClientTask",
};

bool composite_future_is_type(const struct type *t)
{
	const char *name = type_name(t);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (qualified_is(name, types[i]))
			return true;
	}
	return false;
}

static size_t composite_future_add_children(struct future **to, size_t n,
                                            struct future *const *list, size_t nlist, bool at_rest)
{
	for (size_t i = 0; i < nlist; i++) {
		if (future_is_at_rest(list[i]) == at_rest)
			to[n++] = list[i];
	}
	return n;
}

const char *composite_future_add(struct decoder *d, struct value v, struct future *f)
{
	frame_vec list = { 0 };
	const char *limit = object_walk_registered(d, v, &list);

	sibling_resources_keep_new(f, &list);
	struct future **children = NEW_ARRAY(d->c->a, struct future *, f->nchildren + list.n);
	size_t n = list.n;
	if (n)
		memcpy(children, list.data, n * sizeof(*children));
	vec_free(&list);
	size_t polled =
		composite_future_add_children(children, n, f->children, f->nchildren, false);
	if (polled == 0)
		return limit;
	n = composite_future_add_children(children, polled, f->children, f->nchildren, true);
	for (size_t i = polled; i < n; i++) {
		children[i]->branch = BRANCH_HELD;
		children[i]->edge = "held";
	}
	f->children = children;
	f->nchildren = n;
	return limit;
}

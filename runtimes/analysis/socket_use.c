#include "runtimes/analysis/socket_use.h"

#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/vec.h"
#include "runtimes/model/wait_kind.h"

/* A waiter and the index of its socket. */
struct socket_found {
	size_t socket;
	struct socket_waiter waiter;
};

struct socket_search {
	const struct snapshot *snapshot;
	struct socket_waiter who; /* owner of the tree */
	VEC(struct socket_found) found;
};

/* The file descriptor of the wait; -1 none. */
static int64_t waited_fd(const struct wait *w)
{
	int64_t fd;

	return w && wait_number(w, "fd", &fd) ? fd : -1;
}

/* Binary search in the snapshot's sockets, which are sorted by fd; nsockets: not found. */
static size_t socket_index(const struct snapshot *s, int64_t fd)
{
	size_t low = 0, high = s->nsockets;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->sockets[middle].fd < fd)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->nsockets && s->sockets[low].fd == fd ? low : s->nsockets;
}

/* Only polled futures wait. */
static void socket_use_search_tree(struct socket_search *search, const struct future *f)
{
	if (!f || f->branch != BRANCH_POLLED)
		return;
	size_t socket = socket_index(search->snapshot, waited_fd(f->wait));
	if (socket < search->snapshot->nsockets) {
		struct socket_waiter waiter = search->who;

		waiter.wait = f->wait;
		*vec_push(&search->found) = (struct socket_found){ socket, waiter };
	}
	for (size_t i = 0; i < f->nchildren; i++)
		socket_use_search_tree(search, f->children[i]);
}

static void search_all(struct socket_search *search)
{
	const struct snapshot *s = search->snapshot;

	for (size_t i = 0; i < s->ntasks; i++) {
		search->who = (struct socket_waiter){ .task = s->tasks[i] };
		socket_use_search_tree(search, s->tasks[i]->root);
	}
	for (size_t i = 0; i < s->nthreads; i++) {
		search->who = (struct socket_waiter){ .thread = &s->threads[i] };
		socket_use_search_tree(search, s->threads[i].root);
	}
}

/* Adds the owners of sockets from the snapshot's list, which has those of other descriptors, too.
 */
static void add_owners(struct arena *a, const struct snapshot *s, struct socket_use *uses)
{
	for (size_t i = 0; i < s->ndescriptors; i++) {
		size_t socket = socket_index(s, s->descriptors[i].fd);

		if (socket < s->nsockets)
			uses[socket].nowners++;
	}
	for (size_t i = 0; i < s->nsockets; i++) {
		uses[i].owners = NEW_ARRAY(a, const struct holding *, uses[i].nowners);
		uses[i].nowners = 0;
	}
	for (size_t i = 0; i < s->ndescriptors; i++) {
		size_t socket = socket_index(s, s->descriptors[i].fd);

		if (socket < s->nsockets)
			uses[socket].owners[uses[socket].nowners++] = &s->descriptors[i];
	}
}

struct socket_use *socket_uses(struct arena *a, const struct snapshot *s)
{
	struct socket_use *uses = NEW_ARRAY(a, struct socket_use, s->nsockets);
	struct socket_search search = { .snapshot = s };

	search_all(&search);
	for (size_t i = 0; i < search.found.n; i++)
		uses[search.found.data[i].socket].nwaiters++;
	for (size_t i = 0; i < s->nsockets; i++) {
		uses[i].socket = &s->sockets[i];
		uses[i].waiters = NEW_ARRAY(a, struct socket_waiter, uses[i].nwaiters);
		uses[i].nwaiters = 0;
	}
	for (size_t i = 0; i < search.found.n; i++) {
		struct socket_use *use = &uses[search.found.data[i].socket];

		use->waiters[use->nwaiters++] = search.found.data[i].waiter;
	}
	vec_free(&search.found);
	add_owners(a, s, uses);
	return uses;
}

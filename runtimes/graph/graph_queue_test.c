/* The edges of waiters in the queue of a lock: to its holders, and to those ahead of them. */
#include <inttypes.h>

#include "runtimes/test/graph.h"

enum { A = 0xa0, B = 0xb0, MAX_DEPTH = 8 };

static void put_node(const struct graph *g, struct str *s, size_t node, int depth);

/* The target, then what is special: ? in doubt, ! granted, * not polled, @ place, + behind it. */
static void put_edge(const struct graph *g, struct str *s, const struct graph_edge *e, int depth)
{
	put_node(g, s, e->to, depth);
	str_printf(s, "%s%s%s", e->unpolled ? "*" : "", e->granted ? "!" : "", e->doubt ? "?" : "");
	if (e->place)
		str_printf(s, "@%" PRIu64, e->place);
	for (size_t i = 0; i < e->nbehind; i++) {
		str_append(s, "+");
		put_node(g, s, e->behind[i], MAX_DEPTH);
	}
}

/* "3" is task 3, "-" is outside, "all(1 2)" are holders 1 and 2, "queue(...)" those ahead. */
static void put_node(const struct graph *g, struct str *s, size_t node, int depth)
{
	const struct graph_node *n = &g->nodes[node];

	if (n->kind == GRAPH_TASK)
		str_printf(s, "%s", n->task->id);
	else if (n->kind == GRAPH_OUTSIDE)
		str_append(s, "-");
	else if (n->kind == GRAPH_THREAD || depth == MAX_DEPTH)
		str_append(s, graph_node_kind_name(n->kind));
	if (n->kind == GRAPH_TASK || n->kind == GRAPH_OUTSIDE || n->kind == GRAPH_THREAD ||
	    depth == MAX_DEPTH)
		return;
	str_append(s, n->kind != GRAPH_LOCK  ? graph_node_kind_name(n->kind)
	              : n->rule == GRAPH_ANY ? "any"
	                                     : "all");
	for (size_t i = 0; i < n->nedges; i++) {
		str_append(s, i ? " " : "(");
		put_edge(g, s, &g->edges[n->first + i], depth + 1);
	}
	str_append(s, n->nedges ? ")" : "()");
}

/* Compares the edges of the nth task in the wait-for graph, as text, with those expected. */
static void expect_wait(struct program *p, size_t nth, const char *expected)
{
	STR(s);

	if (!p->graph)
		judge(p);
	const struct graph_node *n = &p->graph->nodes[graph_of_task(p->graph, nth)];
	for (size_t i = 0; i < n->nedges; i++) {
		str_append(&s, i ? "; " : "");
		put_edge(p->graph, &s, &p->graph->edges[n->first + i], 0);
	}
	assert_string_equal(str_text(&s), expected);
}

static struct task *add_waiter(struct program *p, uint64_t id, const char *kind, uint64_t object,
                               int64_t place)
{
	return add_task(p, id, calls(p, "f", locks(p, kind, object, place)));
}

static struct task *add_sleeper(struct program *p, uint64_t id)
{
	return add_task(p, id, calls(p, "g", sleeps(p)));
}

/* Each waits for those whose place is before its own, in whatever order the tasks are. */
static void order_of_places(void **state)
{
	PROGRAM(p);

	(void)state;
	add_waiter(&p, 1, "mutex", A, 3);
	add_waiter(&p, 2, "mutex", A, 1);
	add_waiter(&p, 3, "mutex", A, 2);
	guards(&p, add_sleeper(&p, 4), "mutex", A);
	expect_wait(&p, 0, "queue(queue(any(4) 2@1) 3@2)");
	expect_wait(&p, 1, "any(4)");
	expect_wait(&p, 2, "queue(any(4) 2@1)");
}

/* The waiters of two locks, one after the other in turns. */
static void two_locks(void **state)
{
	PROGRAM(p);

	(void)state;
	add_waiter(&p, 1, "mutex", B, 2);
	add_waiter(&p, 2, "mutex", A, 1);
	add_waiter(&p, 3, "mutex", B, 1);
	add_waiter(&p, 4, "mutex", A, 2);
	guards(&p, add_sleeper(&p, 5), "mutex", A);
	guards(&p, add_sleeper(&p, 6), "mutex", B);
	expect_wait(&p, 0, "queue(any(6) 3@1)");
	expect_wait(&p, 1, "any(5)");
	expect_wait(&p, 2, "any(6)");
	expect_wait(&p, 3, "queue(any(5) 2@1)");
}

/* Where the place is unknown only the holder is waited for, and nobody waits for the waiter. */
static void unknown_place(void **state)
{
	PROGRAM(p);
	struct future *f = with(&p, leaf(&p, "mutex", A), "polled", DETAIL_BOOL, 1);

	(void)state;
	add_waiter(&p, 1, "mutex", A, 1);
	add_task(&p, 2, calls(&p, "f", f));
	guards(&p, add_sleeper(&p, 3), "mutex", A);
	expect_wait(&p, 0, "any(3)");
	expect_wait(&p, 1, "any(3)");
}

static void unknown_holder(void **state)
{
	PROGRAM(p);

	(void)state;
	add_waiter(&p, 1, "mutex", A, 1);
	add_waiter(&p, 2, "mutex", A, 2);
	expect_wait(&p, 0, "any(-)");
	expect_wait(&p, 1, "queue(any(-) 1@1)");
}

/* A waiter that was granted the lock goes on by itself; the others wait for it. */
static void granted_waiter(void **state)
{
	PROGRAM(p);

	(void)state;
	add_waiter(&p, 1, "mutex", A, 0);
	add_waiter(&p, 2, "mutex", A, 1);
	add_waiter(&p, 3, "mutex", A, 2);
	expect_wait(&p, 0, "-");
	expect_wait(&p, 1, "any(1!)");
	expect_wait(&p, 2, "queue(any(1!) 2@1)");
}

/* ---- readers and writers ---- */

/* A writer waits for all ahead of it, a reader for writers alone. */
static void readers_and_writers(void **state)
{
	PROGRAM(p);
	struct task *reader = add_sleeper(&p, 7);

	(void)state;
	add_waiter(&p, 1, "rwlock_read", A, 1);
	add_waiter(&p, 2, "rwlock_read", A, 2);
	add_waiter(&p, 3, "rwlock_write", A, 3);
	add_waiter(&p, 4, "rwlock_read", A, 4);
	add_waiter(&p, 5, "rwlock_write", A, 5);
	add_waiter(&p, 6, "rwlock_read", A, 6);
	guards(&p, reader, "rwlock_read", A);
	expect_wait(&p, 1, "any(-)");
	expect_wait(&p, 2, "any(-)");
	expect_wait(&p, 3, "queue(queue(all(7) 1@1) 2@2)");
	expect_wait(&p, 4, "queue(any(-) 3@3)");
	expect_wait(&p, 5, "queue(queue(queue(queue(all(7) 1@1) 2@2) 3@3) 4@4)");
	expect_wait(&p, 6, "queue(queue(any(-) 3@3) 5@5)");
}

/* A reader waits for the one that writes; those that were granted a share are none. */
static void reader_behind_a_writing_holder(void **state)
{
	PROGRAM(p);

	(void)state;
	add_waiter(&p, 1, "rwlock_read", A, 0);
	add_waiter(&p, 2, "rwlock_read", A, 1);
	add_waiter(&p, 3, "rwlock_write", A, 2);
	guards(&p, add_sleeper(&p, 4), "rwlock_write", A);
	expect_wait(&p, 0, "-");
	expect_wait(&p, 1, "any(4)");
	expect_wait(&p, 2, "queue(all(4 1!) 2@1)");
}

/* ---- holders ---- */

/* An uncertain holder counts only where no certain one is known. */
static void uncertain_holders(void **state)
{
	PROGRAM(one);
	PROGRAM(both);

	(void)state;
	add_waiter(&one, 1, "mutex", A, 1);
	guards(&one, add_sleeper(&one, 2), "mutex", A)->uncertain = true;
	guards(&one, add_sleeper(&one, 3), "mutex", A)->uncertain = true;
	expect_wait(&one, 0, "any(2? 3?)");
	add_waiter(&both, 1, "mutex", A, 1);
	guards(&both, add_sleeper(&both, 2), "mutex", A)->uncertain = true;
	guards(&both, add_sleeper(&both, 3), "mutex", A);
	expect_wait(&both, 0, "any(3)");
}

/*
 * Wakers are not holders of a lock, nor is a granted future whose own place in the queue says so.
 */
static void other_roles(void **state)
{
	PROGRAM(p);
	struct task *granted = add_waiter(&p, 2, "mutex", A, 0);

	(void)state;
	add_waiter(&p, 1, "mutex", A, 1);
	holds(&p, add_sleeper(&p, 3), HOLDING_SENDER, "mutex", A);
	struct holding *h = guards(&p, granted, "mutex", A);
	h->granted = true;
	h->future = granted->root->children[0];
	expect_wait(&p, 1, "any(2!)");
}

/* A granted future that stands in no queue has the lock; not with a part of its permits only. */
static void granted_holdings(void **state)
{
	(void)state;
	for (int partial = 0; partial < 2; partial++) {
		PROGRAM(p);
		struct holding *h;

		add_waiter(&p, 1, "mutex", A, 1);
		h = guards(&p, add_sleeper(&p, 2), "mutex", A);
		h->granted = true;
		h->partial = partial;
		expect_wait(&p, 0, partial ? "any(-)" : "any(2*!+1)");
	}
}

/* ---- futures that are not polled ---- */

static struct future *held_lock(struct program *p, uint64_t addr, int64_t place, const char *note)
{
	struct future *f = held(locks(p, "mutex", A, place), BRANCH_HELD);

	f->addr = addr;
	f->note = note;
	return f;
}

static const char moved[] = "may have been moved out";

/* A place that polls a future is the real one, whichever is found first. */
static void trace_of_a_polled_future(void **state)
{
	(void)state;
	for (int polled_first = 0; polled_first < 2; polled_first++) {
		PROGRAM(p);
		struct future *there = locks(&p, "mutex", A, 1);
		struct future *trace = held_lock(&p, 0x7000, 1, moved);

		there->addr = 0x7000;
		if (polled_first)
			add_task(&p, 1, calls(&p, "got", there));
		add_task(&p, 2, calls(&p, "gave", sleeps(&p), trace));
		if (!polled_first)
			add_task(&p, 1, calls(&p, "got", there));
		add_waiter(&p, 3, "mutex", A, 2);
		guards(&p, add_sleeper(&p, 4), "mutex", A);
		expect_wait(&p, 2, "queue(any(4) 1@1)");
	}
}

/* Two places show a future that neither polls: one of them in the queue, both if it was granted. */
static void traces_alone(void **state)
{
	PROGRAM(queued);
	PROGRAM(granted);

	(void)state;
	add_task(&queued, 1,
	         calls(&queued, "f", sleeps(&queued), held_lock(&queued, 0x7000, 1, moved)));
	add_task(&queued, 2,
	         calls(&queued, "f", sleeps(&queued), held_lock(&queued, 0x7000, 1, moved)));
	add_waiter(&queued, 3, "mutex", A, 2);
	guards(&queued, add_sleeper(&queued, 4), "mutex", A);
	expect_wait(&queued, 2, "queue(any(4) 1*?@1+3)");
	add_task(&granted, 1,
	         calls(&granted, "f", sleeps(&granted), held_lock(&granted, 0x7000, 0, moved)));
	add_task(&granted, 2,
	         calls(&granted, "f", sleeps(&granted), held_lock(&granted, 0x7000, 0, moved)));
	add_waiter(&granted, 3, "mutex", A, 1);
	expect_wait(&granted, 2, "any(1*!?+3 2*!?+3)");
}

/* Futures at two addresses are two; one whose address is unknown is no trace of another. */
static void futures_at_other_addresses(void **state)
{
	(void)state;
	for (uint64_t addr = 0; addr <= 0x7000; addr += 0x7000) {
		PROGRAM(p);

		add_task(&p, 1, calls(&p, "f", sleeps(&p), held_lock(&p, addr, 1, NULL)));
		add_task(&p, 2,
		         calls(&p, "f", sleeps(&p), held_lock(&p, addr + (addr != 0), 1, NULL)));
		add_waiter(&p, 3, "mutex", A, 2);
		guards(&p, add_sleeper(&p, 4), "mutex", A);
		expect_wait(&p, 2, "queue(queue(any(4) 1*@1+2+3) 2*@1+3)");
	}
}

/* ---- permits ---- */

static struct future *wants_permit(struct program *p, int64_t place, int64_t missing)
{
	return with(p, locks(p, "semaphore", A, place), "permits_missing", DETAIL_INT, missing);
}

/* As many permits as the first two waiters want come back: only the third waits for them. */
static void enough_permits_for_some(void **state)
{
	PROGRAM(p);

	(void)state;
	for (int64_t i = 1; i <= 4; i++)
		add_task(&p, (uint64_t)i, calls(&p, "f", wants_permit(&p, i, 1)));
	guards(&p, add_sleeper(&p, 5), "semaphore", A)->permits = 2;
	expect_wait(&p, 0, "any(5?)");
	expect_wait(&p, 1, "any(5?)");
	expect_wait(&p, 2, "queue(queue(any(5?) 1?@1) 2?@2)");
	expect_wait(&p, 3, "queue(queue(queue(any(5?) 1?@1) 2?@2) 3?@3)");
}

/* Enough permits for all: nobody waits for others in the queue. */
static void enough_permits(void **state)
{
	PROGRAM(p);

	(void)state;
	for (int64_t i = 1; i <= 2; i++) {
		struct future *f = wants_permit(&p, i, 2);

		add_task(&p, (uint64_t)i,
		         calls(&p, "f", with(&p, f, "permits_available", DETAIL_INT, 1)));
	}
	guards(&p, add_sleeper(&p, 5), "semaphore", A)->permits = 3;
	expect_wait(&p, 0, "any(5?)");
	expect_wait(&p, 1, "any(5?)");
}

/* How many permits a holder has is not known: then nobody waits for others in the queue. */
static void unknown_permits(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		PROGRAM(p);

		add_task(&p, 1, calls(&p, "f", wants_permit(&p, 1, 9)));
		add_task(&p, 2, calls(&p, "f", wants_permit(&p, 2, 9)));
		guards(&p, add_sleeper(&p, 5), "semaphore", A)->permits =
			i ? (uint64_t)INT32_MAX + 1 : 0;
		expect_wait(&p, 1, "any(5?)");
	}
}

/* ---- room in a channel, connections, native locks ---- */

static struct future *sends_to(struct program *p, int64_t place, int64_t queued, int64_t capacity)
{
	struct future *f = locks(p, "mpsc_send", A, place);

	with(p, f, "queued", DETAIL_INT, queued);
	return with(p, f, "capacity", DETAIL_INT, capacity);
}

/* Only the receiver makes room in a full channel; else permits are somewhere. */
static void room(void **state)
{
	(void)state;
	for (int64_t queued = 1; queued <= 2; queued++) {
		PROGRAM(p);

		add_task(&p, 1, calls(&p, "f", sends_to(&p, 1, queued, 2)));
		holds(&p, add_sleeper(&p, 2), HOLDING_RECEIVER, "mpsc", A);
		holds(&p, add_sleeper(&p, 3), HOLDING_RECEIVER, "mpsc", A)->uncertain = true;
		holds(&p, add_sleeper(&p, 4), HOLDING_SENDER, "mpsc", A);
		expect_wait(&p, 0, queued == 2 ? "any(2)" : "any(2?)");
	}
}

static void room_without_receiver(void **state)
{
	PROGRAM(p);

	(void)state;
	add_task(&p, 1, calls(&p, "f", sends_to(&p, 1, 1, 1)));
	expect_wait(&p, 0, "any(-)");
}

/* Waiters of a pool wait for all that have connections, and not for each other. */
static void connections(void **state)
{
	PROGRAM(p);
	struct future *second = locks(&p, "pool", A, 2);

	(void)state;
	add_task(&p, 1, calls(&p, "f", pools(&p, A, 2)));
	second->wait->details = pools(&p, A, 2)->wait->details;
	second->wait->ndetails = pools(&p, A, 2)->wait->ndetails;
	add_task(&p, 2, calls(&p, "f", second));
	guards(&p, add_sleeper(&p, 3), "pool", A)->permits = 1;
	guards(&p, add_sleeper(&p, 4), "pool", A)->permits = 1;
	expect_wait(&p, 0, "any(3 4)");
	expect_wait(&p, 1, "any(3 4)");
}

static void native_locks(void **state)
{
	PROGRAM(p);
	struct wait *w = NEW(&p.s.arena, struct wait), *other = NEW(&p.s.arena, struct wait);
	STR(s);

	(void)state;
	*w = (struct wait){ .kind = "std_mutex", .phrase = "", .object = A };
	*other = (struct wait){ .kind = "std_mutex", .phrase = "", .object = B };
	add_thread(&p, THREAD_WORKER, NULL)->wait = w;
	add_thread(&p, THREAD_WORKER, NULL)->wait = w;
	add_thread(&p, THREAD_WORKER, NULL)->wait = other;
	guards(&p, add_sleeper(&p, 1), "std_mutex", A);
	judge(&p);
	for (size_t i = 0; i < 3; i++) {
		const struct graph_node *n = &p.graph->nodes[graph_of_thread(p.graph, i)];

		for (size_t k = 0; k < n->nedges; k++)
			put_edge(p.graph, &s, &p.graph->edges[n->first + k], 0);
		str_append(&s, ";");
	}
	assert_string_equal(str_text(&s), "any(1);any(1);-;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_places),
		cmocka_unit_test(two_locks),
		cmocka_unit_test(unknown_place),
		cmocka_unit_test(unknown_holder),
		cmocka_unit_test(granted_waiter),
		cmocka_unit_test(readers_and_writers),
		cmocka_unit_test(reader_behind_a_writing_holder),
		cmocka_unit_test(uncertain_holders),
		cmocka_unit_test(other_roles),
		cmocka_unit_test(granted_holdings),
		cmocka_unit_test(trace_of_a_polled_future),
		cmocka_unit_test(traces_alone),
		cmocka_unit_test(futures_at_other_addresses),
		cmocka_unit_test(enough_permits_for_some),
		cmocka_unit_test(enough_permits),
		cmocka_unit_test(unknown_permits),
		cmocka_unit_test(room),
		cmocka_unit_test(room_without_receiver),
		cmocka_unit_test(connections),
		cmocka_unit_test(native_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

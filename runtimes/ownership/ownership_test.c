/* Which wait a holding can end, and how findings are judged, ordered and limited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/ownership/ownership.h"

/* ---- which wait a holding can end ---- */

static struct holding holding_of(enum holding_role role, uint64_t primitive)
{
	return (struct holding){ .role = role, .primitive = primitive, .object = 0x900 };
}

static void test_can_end(void **state)
{
	const struct wait lock = { .kind = "mutex", .primitive = 0x10 };
	const struct wait receive = { .kind = "mpsc_recv", .primitive = 0x10 };
	const struct wait send = { .kind = "mpsc_send", .primitive = 0x10 };
	const struct wait notify = { .kind = "notify", .primitive = 0x10 };
	const struct holding guard = holding_of(HOLDING_LOCK, 0x10);
	const struct holding sender = holding_of(HOLDING_SENDER, 0x10);
	const struct holding receiver = holding_of(HOLDING_RECEIVER, 0x10);
	const struct holding waker = holding_of(HOLDING_WAKER, 0x10);

	(void)state;
	assert_true(holding_can_end(&guard, &lock));
	assert_false(holding_can_end(&sender, &lock));
	assert_true(holding_can_end(&sender, &receive));
	assert_false(holding_can_end(&receiver, &receive));
	assert_true(holding_can_end(&receiver, &send));
	assert_true(holding_can_end(&guard, &send));
	assert_false(holding_can_end(&sender, &send));
	assert_true(holding_can_end(&waker, &notify));
	assert_false(holding_can_end(&guard, &notify));
}

/* Matches by object when one side knows no primitive. Unknown addresses match nothing. */
static void test_can_end_by_object(void **state)
{
	const struct holding guard = holding_of(HOLDING_LOCK, 0x10), none = { 0 };
	struct wait wait = { .kind = "std_mutex", .object = 0x900 };

	(void)state;
	assert_true(holding_can_end(&guard, &wait));
	wait.object = 0x901;
	assert_false(holding_can_end(&guard, &wait));
	wait.object = 0;
	assert_false(holding_can_end(&none, &wait));
	assert_false(holding_can_end(&guard, &(struct wait){ .object = 0x900 }));
}

/* ---- how candidates are judged ---- */

static const struct ownership_row mutex_row = { .type = "Guard",
	                                        .role = HOLDING_LOCK,
	                                        .kind = "mutex",
	                                        .member = "",
	                                        .part = "",
	                                        .single = true };

struct judged {
	struct debuginfo di; /* no runtime is registered */
	struct inspector in;
	struct collector c;
	struct snapshot *out;
};

static void judged_init(struct judged *j)
{
	*j = (struct judged){ .out = calloc(1, sizeof(*j->out)) };
	if (!j->out || !(j->c.holdings = calloc(1, sizeof(*j->c.holdings))))
		abort();
	j->in.di = &j->di;
	j->c.in = &j->in;
	j->c.out = j->out;
	j->c.a = &j->out->arena;
	j->c.want = WANT_OWNERS;
}

static void judged_deinit(struct judged *j)
{
	ownership_free(&j->c);
	arena_free(&j->c.scratch);
	snapshot_free(j->out);
}

/* A guard at addr of the mutex at 0x10, which is taken. */
static struct found *add(struct judged *j, uint64_t addr, bool uncertain)
{
	struct found *f = vec_push(&j->c.holdings->list);

	f->row = &mutex_row;
	f->h = (struct holding){ .role = HOLDING_LOCK,
		                 .kind = "mutex",
		                 .type = "Guard",
		                 .addr = addr,
		                 .object = 0x10,
		                 .primitive = 0x10,
		                 .permits = 1,
		                 .uncertain = uncertain };
	f->has_available = f->has_total = true;
	f->total = 1;
	return f;
}

/*
 * How many values are published of one that may have a permit of the semaphore at 0x10. waited: a
 * task waits there; permits: somebody has permits of it as a value.
 */
static size_t slots_published(bool waited, bool permits)
{
	struct wait wait = { .kind = "semaphore", .object = 0x10, .primitive = 0x18 };
	struct future root = { .wait = &wait };
	struct task task = { .id = "1", .root = &root }, *tasks[] = { &task };
	struct judged j;
	size_t n = 0;

	judged_init(&j);
	j.out->tasks = tasks;
	j.out->ntasks = waited;
	if (permits)
		add(&j, 0x100, false);
	struct found *f = add(&j, 0x200, true);
	f->row = NULL;
	f->h.role = HOLDING_SLOT;
	f->h.kind = "semaphore";
	f->h.primitive = 0;
	ownership_resolve(&j.c);
	for (size_t i = 0; i < j.out->nholdings; i++) {
		if (j.out->holdings[i].role != HOLDING_SLOT)
			continue;
		assert_int_equal(j.out->holdings[i].primitive, 0x18);
		n++;
	}
	j.out->tasks = NULL;
	j.out->ntasks = 0;
	judged_deinit(&j);
	return n;
}

static void test_slots(void **state)
{
	(void)state;
	assert_int_equal(slots_published(true, false), 1);
	assert_int_equal(slots_published(false, false), 0);
	assert_int_equal(slots_published(true, true), 0);
}

/* A value at addr that owns descriptor 9, which several may share. */
static void add_descriptor(struct judged *j, uint64_t addr, bool shared, bool uncertain)
{
	static const struct ownership_row row = DESCRIPTOR_OF("Socket");
	struct found *f = vec_push(&j->c.holdings->list);

	f->row = &row;
	f->h = (struct holding){ .role = HOLDING_DESCRIPTOR,
		                 .kind = "io",
		                 .type = "Socket",
		                 .addr = addr,
		                 .fd = 9,
		                 .shared = shared,
		                 .uncertain = uncertain };
	f->order = j->c.holdings->list.n;
}

/* A certain owner refutes what moves left behind; those who share a socket all have it. */
static void test_descriptors(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add_descriptor(&j, 0x100, false, true);
	add_descriptor(&j, 0x200, false, true);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 0);
	assert_int_equal(j.out->ndescriptors, 2);
	judged_deinit(&j);
	judged_init(&j);
	add_descriptor(&j, 0x100, false, true);
	add_descriptor(&j, 0x200, false, false);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->ndescriptors, 1);
	assert_int_equal(j.out->descriptors[0].addr, 0x200);
	judged_deinit(&j);
	judged_init(&j);
	add_descriptor(&j, 0x100, false, true);
	add_descriptor(&j, 0x200, true, false);
	add_descriptor(&j, 0x200, true, false);
	add_descriptor(&j, 0x200, true, true);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->ndescriptors, 3);
	assert_int_equal(j.out->descriptors[0].addr, 0x200);
	assert_true(j.out->descriptors[2].uncertain);
	judged_deinit(&j);
}

static void test_only_candidate(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add(&j, 0x100, true);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 1);
	assert_true(j.out->holdings[0].uncertain && j.out->holdings[0].sole);
	assert_int_equal(j.out->nunsearched, 1);
	judged_deinit(&j);
}

/* It may be of another type, and then be no guard and have no lock. */
static void test_candidate_that_may_be_misread(void **state)
{
	struct judged j;
	struct future root = { .aliases = "app::keep<u32>" };
	struct task task = { .root = &root };
	struct task *tasks[] = { &task, &task };
	struct found *f;

	(void)state;
	judged_init(&j);
	j.out->tasks = tasks;
	j.out->ntasks = 2;
	f = add(&j, 0x100, true);
	f->root = &root;
	f = add(&j, 0x200, true);
	f->h.object = f->h.primitive = 0x20;
	f->order = 2;
	f = add(&j, 0x300, true);
	f->root = &root;
	f->order = 1;
	f->h.object = f->h.primitive = 0x20;
	f->available = 1; /* all permits available, if it were a lock */
	/* A lock with two permits. */
	for (int i = 0; i < 2; i++) {
		f = add(&j, 0x400 + i, true);
		f->root = i ? &root : NULL;
		f->order = i ? 1 : 2;
		f->h.object = f->h.primitive = 0x30;
		f->total = 2;
	}
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(j.out->holdings[i].sole, j.out->holdings[i].addr == 0x400);
	j.out->ntasks = 0;
	j.out->tasks = NULL;
	judged_deinit(&j);
}

static void test_several_candidates(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add(&j, 0x100, true);
	add(&j, 0x200, true);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 2);
	assert_false(j.out->holdings[0].sole || j.out->holdings[1].sole);
	judged_deinit(&j);
}

static void test_certain_one_refutes(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add(&j, 0x100, true);
	add(&j, 0x200, false);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 1);
	assert_int_equal(j.out->holdings[0].addr, 0x200);
	assert_false(j.out->holdings[0].sole);
	judged_deinit(&j);
}

/* A reference to a Notify at 0x40 that an Arc shares which counts so many. */
static struct found *add_reference(struct judged *j, uint64_t handle, uint64_t strong,
                                   uint64_t weak)
{
	struct found *f = add(j, 0x40, false);

	f->row = NULL;
	f->h.role = HOLDING_WAKER;
	f->h.kind = "notify";
	f->h.primitive = f->h.permits = 0;
	f->sharing.at = 0x40;
	f->sharing.handle = handle;
	f->sharing.strong = strong;
	f->sharing.weak = weak;
	return f;
}

/* Two certain references of so many: who else can have one? */
static bool nobody_else(uint64_t strong, uint64_t weak)
{
	struct judged j;
	bool none = true;

	judged_init(&j);
	add_reference(&j, 0x100, strong, weak);
	add_reference(&j, 0x200, strong, weak);
	add_reference(&j, 0x300, strong, weak)->h.uncertain = true;
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, strong > 2 ? 3 : 2);
	for (size_t i = 0; i < j.out->nholdings; i++)
		none &= j.out->holdings[i].nobody_else;
	judged_deinit(&j);
	return none;
}

static void test_all_references_are_known(void **state)
{
	(void)state;
	assert_true(nobody_else(2, 1));
	assert_false(nobody_else(3, 1));
	/* A Weak can be upgraded. */
	assert_false(nobody_else(2, 2));
}

/* Stale memory of a dropped guard. */
static void test_free_lock(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add(&j, 0x100, true)->available = 1;
	struct found *f = add(&j, 0x200, true);
	f->h.primitive = 0x20;
	f->has_total = f->has_available = false;
	f->free = true;
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 0);
	judged_deinit(&j);
}

/* Found through two variables: it is certain when either finding is. */
static void test_one_value_twice(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add(&j, 0x100, true);
	add(&j, 0x100, false);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 1);
	assert_false(j.out->holdings[0].uncertain);
	judged_deinit(&j);
}

static struct found *add_trace(struct judged *j, uint64_t addr, size_t order)
{
	struct found *f = add(j, addr, true);

	f->order = order;
	f->trace = true;
	f->h.path = order == 1 ? "trace of 1" : "trace of 2";
	return f;
}

/* A boxed future moved to another task: the stale pointer to it does not count. */
static void test_trace_of_what_is_polled(void **state)
{
	(void)state;
	for (int last = 0; last < 2; last++) {
		struct judged j;

		judged_init(&j);
		for (int i = 0; i < 3; i++) {
			if (i == 2 * last)
				add(&j, 0x100, true)->h.path = "polled";
			else
				add_trace(&j, 0x100, 1 + (size_t)i);
		}
		ownership_resolve(&j.c);
		assert_int_equal(j.out->nholdings, 1);
		assert_string_equal(j.out->holdings[0].path, "polled");
		assert_true(j.out->holdings[0].uncertain && j.out->holdings[0].sole);
		judged_deinit(&j);
	}
}

/* No task polls it: its memory was reused, or a pointer is stale. The owner is unknown. */
static void test_traces_only(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add_trace(&j, 0x100, 1);
	add_trace(&j, 0x100, 1);
	add_trace(&j, 0x100, 2);
	add_trace(&j, 0x100, 2);
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 2);
	assert_string_equal(j.out->holdings[0].path, "trace of 1");
	assert_string_equal(j.out->holdings[1].path, "trace of 2");
	for (size_t i = 0; i < 2; i++)
		assert_true(j.out->holdings[i].uncertain && !j.out->holdings[i].sole);
	judged_deinit(&j);
}

/* Traces of one value count once: the two taken permits are this value's and another's. */
static void test_traces_count_once(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add_trace(&j, 0x100, 1);
	add_trace(&j, 0x100, 2);
	add(&j, 0x200, true)->order = 3;
	for (size_t i = 0; i < 3; i++) {
		j.c.holdings->list.data[i].h.kind = "semaphore";
		j.c.holdings->list.data[i].total = 5;
		j.c.holdings->list.data[i].available = 3;
	}
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 3);
	assert_false(j.out->holdings[0].sole || j.out->holdings[1].sole);
	assert_true(j.out->holdings[2].sole);
	judged_deinit(&j);
}

/* A waiting writer holds all permits but those of the readers, who keep theirs. */
static void test_partial_grant_refutes_nobody(void **state)
{
	struct judged j;
	struct found *f;

	(void)state;
	judged_init(&j);
	f = add(&j, 0x100, true);
	f->h.kind = "rwlock_read";
	f->total = 8;
	f = add(&j, 0x200, false);
	f->row = NULL;
	f->h.kind = "rwlock_write";
	f->h.granted = f->h.partial = true;
	f->h.permits = 7;
	f->has_total = false;
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 2);
	assert_true(j.out->holdings[0].sole);
	judged_deinit(&j);
}

/* A key is never 0, even for addresses that a hostile program chose. */
static void test_value_whose_key_is_nothing(void **state)
{
	struct judged j;
	struct found *f;

	(void)state;
	judged_init(&j);
	for (int i = 0; i < 2; i++) {
		f = add(&j, 0x100, true);
		f->h.object =
			(f->h.addr * UINT64_C(0x9e3779b97f4a7c15)) ^ map_key_of_text(f->h.type);
	}
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 1);
	judged_deinit(&j);
}

/* Ordered by tasks, then by threads, not by when they were found. */
static void test_order(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	add(&j, 0x100, true)->order = 2;
	add(&j, 0x200, true)->order = 0;
	add(&j, 0x300, true)->order = 2;
	ownership_resolve(&j.c);
	assert_int_equal(j.out->nholdings, 3);
	assert_int_equal(j.out->holdings[0].addr, 0x200);
	assert_int_equal(j.out->holdings[1].addr, 0x100);
	assert_int_equal(j.out->holdings[2].addr, 0x300);
	judged_deinit(&j);
}

static void test_unsearched_once_and_bounded(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	ownership_unsearched(&j.c, "what is in %s", "a");
	ownership_unsearched(&j.c, "what is in %s", "a");
	assert_int_equal(j.c.holdings->unsearched.n, 1);
	for (int i = 0; i < 1000; i++)
		ownership_unsearched(&j.c, "what is in %d", i);
	assert_true(j.c.holdings->unsearched.n < 100);
	assert_string_equal(j.c.holdings->unsearched.data[j.c.holdings->unsearched.n - 1],
	                    "and more of this kind");
	judged_deinit(&j);
}

/* ---- limits ---- */

static void test_too_many_are_found(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	assert_true(ownership_within_budget(&j.c));
	while (j.c.holdings->list.n < 1 << 18)
		vec_push(&j.c.holdings->list)->gone = true;
	assert_false(ownership_within_budget(&j.c));
	assert_false(ownership_within_budget(&j.c));
	assert_int_equal(j.c.holdings->unsearched.n, 1);
	assert_non_null(strstr(j.c.holdings->unsearched.data[0], "the limit was reached"));
	judged_deinit(&j);
}

/* The limits grow with the number of tasks. */
static void test_budget_by_tasks(void **state)
{
	struct judged j;

	(void)state;
	judged_init(&j);
	j.c.holdings->visited = 1 << 20;
	j.out->ntasks = 1;
	assert_true(ownership_within_budget(&j.c));
	j.c.holdings->visited += 64;
	assert_false(ownership_within_budget(&j.c));
	assert_int_equal(j.c.holdings->unsearched.n, 1);
	j.out->ntasks = 0;
	judged_deinit(&j);
}

static void test_interrupted(void **state)
{
	struct judged j;
	struct future root = { .function = "main" };
	struct task task = { .id = "1", .root = &root };
	struct task *tasks[] = { &task };

	(void)state;
	judged_init(&j);
	j.out->tasks = tasks;
	j.out->ntasks = 1;
	interrupt_request();
	ownership_search(&j.c);
	interrupt_clear();
	assert_false(root.searched);
	j.out->ntasks = 0;
	j.out->tasks = NULL;
	judged_deinit(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_can_end),
		cmocka_unit_test(test_can_end_by_object),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_only_candidate),
		cmocka_unit_test(test_candidate_that_may_be_misread),
		cmocka_unit_test(test_several_candidates),
		cmocka_unit_test(test_certain_one_refutes),
		cmocka_unit_test(test_all_references_are_known),
		cmocka_unit_test(test_free_lock),
		cmocka_unit_test(test_one_value_twice),
		cmocka_unit_test(test_trace_of_what_is_polled),
		cmocka_unit_test(test_traces_only),
		cmocka_unit_test(test_traces_count_once),
		cmocka_unit_test(test_partial_grant_refutes_nobody),
		cmocka_unit_test(test_value_whose_key_is_nothing),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_unsearched_once_and_bounded),
		cmocka_unit_test(test_too_many_are_found),
		cmocka_unit_test(test_budget_by_tasks),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

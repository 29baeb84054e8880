/* Queue texts, RwLock states, channel positions, and the table of tokio::sync paths. */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "runtimes/test/futures.h"
#include "runtimes/tokio/leaf_sync.h"

static const char *queue_text(struct arena *a, const struct queue *q)
{
	const char *parts, *text = marked_finish(a, leaf_queue_text(a, q), &parts);

	assert_string_equal(parts, arena_printf(a, "q0+%zu", strlen(text)));
	return text;
}

static void test_queue_text(void **state)
{
	struct arena *a = *state;
	struct queue q = { .found = true };

	assert_string_equal(queue_text(a, &q), "first in its queue");
	q = (struct queue){ .ahead = 1,
		            .all_tasks = true,
		            .distinct = true,
		            .tasks = (const char *[]){ "5" },
		            .ntasks = 1 };
	assert_string_equal(queue_text(a, &q), "1 task ahead in its queue (task 5)");
	q = (struct queue){ .ahead = 2,
		            .all_tasks = true,
		            .distinct = true,
		            .tasks = (const char *[]){ "5", "7" },
		            .ntasks = 2 };
	assert_string_equal(queue_text(a, &q), "2 tasks ahead in its queue (tasks 5, 7)");
	q = (struct queue){ .ahead = 4,
		            .all_tasks = true,
		            .distinct = true,
		            .tasks = (const char *[]){ "5", "7", "8", "9" },
		            .ntasks = 4 };
	assert_string_equal(queue_text(a, &q), "4 tasks ahead in its queue (tasks 5, 7, 8, 9)");
	q = (struct queue){ .ahead = 5,
		            .all_tasks = true,
		            .distinct = true,
		            .tasks = (const char *[]){ "5", "7", "8", "9", "10" },
		            .ntasks = 5 };
	assert_string_equal(queue_text(a, &q),
	                    "5 tasks ahead in its queue (tasks 5, 7, 8, 9, ...)");
}

/*
 * A thread in block_on may wait there too, which is no task. Only the first of many are examined.
 */
static void test_queue_text_of_others(void **state)
{
	struct arena *a = *state;
	struct queue q = { .ahead = 1, .distinct = true };

	assert_string_equal(queue_text(a, &q), "1 waiter ahead in its queue");
	q = (struct queue){
		.ahead = 3, .distinct = true, .tasks = (const char *[]){ "5" }, .ntasks = 1
	};
	assert_string_equal(queue_text(a, &q), "3 waiters ahead in its queue (task 5)");
	q = (struct queue){
		.ahead = 90, .distinct = true, .tasks = (const char *[]){ "5", "7" }, .ntasks = 2
	};
	assert_string_equal(queue_text(a, &q), "90 waiters ahead in its queue (tasks 5, 7, ...)");
}

/* Several futures of one task count as one task, and the waiter's own task is not another. */
static void test_queue_text_of_futures(void **state)
{
	struct arena *a = *state;
	struct queue q = {
		.ahead = 2, .all_tasks = true, .tasks = (const char *[]){ "3", "3" }, .ntasks = 2
	};

	assert_string_equal(queue_text(a, &q), "2 futures ahead in its queue (2 of task 3)");
	q.own = "3";
	assert_string_equal(queue_text(a, &q), "2 futures ahead in its queue (2 of this task)");
	q.own = "4";
	assert_string_equal(queue_text(a, &q), "2 futures ahead in its queue (2 of task 3)");
	q = (struct queue){ .own = "7",
		            .ahead = 1,
		            .all_tasks = true,
		            .distinct = true,
		            .tasks = (const char *[]){ "7" },
		            .ntasks = 1 };
	assert_string_equal(queue_text(a, &q), "1 future ahead in its queue (of this task)");
	q = (struct queue){ .own = "7",
		            .ahead = 3,
		            .all_tasks = true,
		            .tasks = (const char *[]){ "7", "5", "7" },
		            .ntasks = 3 };
	assert_string_equal(queue_text(a, &q),
	                    "3 futures ahead in its queue (2 of this task, 1 of task 5)");
	q.all_tasks = false;
	q.ahead = 90;
	assert_string_equal(queue_text(a, &q),
	                    "90 waiters ahead in its queue (2 of this task, 1 of task 5, ...)");
	q = (struct queue){ .ahead = 6,
		            .all_tasks = true,
		            .tasks = (const char *[]){ "1", "1", "2", "3", "4", "5" },
		            .ntasks = 6 };
	assert_string_equal(queue_text(a, &q),
	                    "6 futures ahead in its queue (2 of task 1, 1 of task 2, 1 of task 3, "
	                    "1 of task 4, ...)");
}

static void test_rwlock_holders(void **state)
{
	enum { DEFAULT = 0x1fffffff };

	(void)state;
	assert_int_equal(leaf_rwlock_held(DEFAULT, 0), RWLOCK_FREE);
	assert_int_equal(leaf_rwlock_held(DEFAULT, 1), RWLOCK_READ);
	assert_int_equal(leaf_rwlock_held(DEFAULT, DEFAULT - 1), RWLOCK_READ);
	assert_int_equal(leaf_rwlock_held(DEFAULT, DEFAULT), RWLOCK_WRITTEN);
	/* RwLock::with_max_readers() */
	assert_int_equal(leaf_rwlock_held(5, 4), RWLOCK_READ);
	assert_int_equal(leaf_rwlock_held(5, 5), RWLOCK_FULL);
	assert_int_equal(leaf_rwlock_held(1, 1), RWLOCK_FULL);
}

static void test_rwlock_direction(void **state)
{
	(void)state;
	assert_true(leaf_rwlock_is_write(
		"tokio::sync::rwlock::{impl#14}::write::{async_fn_env#0}<u32>"));
	assert_true(
		leaf_rwlock_is_write("tokio::sync::rwlock::{impl#3}::write_owned::{async_fn#0}::{"
	                             "async_block_env#0}<u32>"));
	assert_false(
		leaf_rwlock_is_write("tokio::sync::rwlock::{impl#3}::read::{async_fn_env#0}<u32>"));
	/* The user's type parameter does not count. */
	assert_false(leaf_rwlock_is_write(
		"tokio::sync::rwlock::{impl#3}::read::{async_fn_env#0}<app::{impl#0}::write>"));
	assert_false(leaf_rwlock_is_write("tokio::sync::rwlock::RwLock"));
}

static void test_channel_queued(void **state)
{
	uint64_t n = 99;

	(void)state;
	assert_true(leaf_channel_queued(7, 7, 1, &n));
	assert_int_equal(n, 0);
	assert_true(leaf_channel_queued(40, 7, 1, &n));
	assert_int_equal(n, 33);
	/* The last sender's mark does not count as a message. */
	assert_true(leaf_channel_queued(40, 7, 0, &n));
	assert_int_equal(n, 32);
	assert_true(leaf_channel_queued(7, 7, 0, &n));
	assert_int_equal(n, 0);
	assert_true(leaf_channel_queued(2, UINT64_MAX, 1, &n));
	assert_int_equal(n, 3);
	assert_false(leaf_channel_queued(6, 7, 1, &n));
}

static void expect_next(struct leaf *l, const char *text, const char *passed_over)
{
	l->w->ndetails = 0;
	assert_string_equal(leaf_next(l, "granted"), text);
	assert_int_equal(l->w->ndetails, passed_over != NULL);
	if (passed_over)
		assert_string_equal(l->w->details[0].string, passed_over);
}

/* Only a polled future goes on when it is granted what it waits for. */
static void test_what_comes_next(void **state)
{
	struct futures f = futures_open();
	struct wait_detail details[4];
	struct wait w = { .details = details };
	struct decoder d = { .c = f.c };
	struct leaf l = { .d = &d, .w = &w, .v = { NULL, 0x1000 } };

	(void)state;
	expect_next(&l, "granted, not taken yet", NULL);
	d.woken = true;
	expect_next(&l, "granted, about to resume", NULL);
	d.unpolled = true;
	expect_next(&l, "granted, but nobody polls the future that got it", NULL);
	/* It may be polled by an unseen future, or have moved. */
	d.doubted = true;
	expect_next(&l, "granted, not taken yet", NULL);
	d.unpolled = false;
	expect_next(&l, "granted, about to resume", NULL);
	futures_close(&f);
}

/* A future of an idle task whose wake-up was consumed by a poll that did not reach it. */
static void test_passed_over(void **state)
{
	static const char possible[] = "granted; its task may have been polled since without "
				       "polling it",
			  certain[] = "granted; its task was polled since and did not poll it";
	struct futures f = futures_open();
	struct wait_detail details[4];
	struct wait w = { .details = details };
	struct decoder d = { .c = f.c, .waker = 0x2000, .idle = true };
	struct leaf l = { .d = &d, .w = &w, .v = { NULL, 0x1000 } };

	(void)state;
	expect_next(&l, possible, "possible");
	/* No one who could be about to wake it has a waker of it. */
	d.forgotten = true;
	expect_next(&l, certain, "certain");
	/* A set of futures has a waker of its own, which the task's references do not count. */
	d.in_set = true;
	expect_next(&l, possible, "possible");
	/* A core does not move between two looks. */
	expect_next(&l, possible, "possible");
	futures_close(&f);
}

/* Each path that is read from tokio's types is in the table. */
static void test_every_path_has_a_row(void **state)
{
	(void)state;
	for (int row = 0; row < NLEAF_SYNC_PATHS; row++) {
		assert_non_null(leaf_sync_layout[row].key);
		assert_non_null(sync_path(row));
		assert_true(leaf_sync_layout[row].optional);
	}
	assert_null(leaf_sync_layout[NLEAF_SYNC_PATHS].key);
}

static int setup(void **state)
{
	static struct arena a;

	*state = &a;
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_text),
		cmocka_unit_test(test_queue_text_of_others),
		cmocka_unit_test(test_queue_text_of_futures),
		cmocka_unit_test(test_rwlock_holders),
		cmocka_unit_test(test_rwlock_direction),
		cmocka_unit_test(test_channel_queued),
		cmocka_unit_test(test_what_comes_next),
		cmocka_unit_test(test_passed_over),
		cmocka_unit_test(test_every_path_has_a_row),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

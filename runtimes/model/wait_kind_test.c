#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtimes/model/wait_kind.h"

/* Does the wait-for graph have a node with the kind's noun? */
static bool has_node(const struct wait_kind *k)
{
	switch (k->target) {
	case WAIT_LOCK:
	case WAIT_CHANNEL:
	case WAIT_TASK_SET:
	case WAIT_LOCAL_SET:
	case WAIT_WAKERS:
	case WAIT_NATIVE_LOCK:
		return true;
	default:
		return false;
	}
}

/* The fields of a row must be consistent: the users of the table rely on it. */
static void check_row(const struct wait_kind *k)
{
	bool sender = wait_kind_ended_by(k, HOLDING_SENDER);
	bool receiver = wait_kind_ended_by(k, HOLDING_RECEIVER);

	assert_int_equal(k->noun != NULL, has_node(k));
	assert_ptr_equal(wait_kind(k->name), k);
	if (k->target == WAIT_LOCK)
		assert_true(k->access && wait_kind_ended_by(k, HOLDING_LOCK));
	if (k->target == WAIT_WAKERS)
		assert_int_equal(k->roles, 1 << HOLDING_WAKER);
	if (k->target == WAIT_CHANNEL)
		assert_true(sender != receiver && (k->ends || k->tells_closed));
	if (k->access == WAIT_ROOM)
		assert_true(receiver);
	if (k->has_holder)
		assert_true(k->roles);
}

static void check_keys(const struct wait_kind *k)
{
	const char *const keys[] = { k->ends, k->queue, k->tells_closed ? "closed" : NULL,
		                     k->has_versions ? "version_seen" : NULL,
		                     k->target == WAIT_LOCK ? "polled" : NULL };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!keys[i])
			continue;
		assert_non_null(k->details);
		assert_non_null(strstr(k->details, keys[i]));
		assert_true(wait_detail_is_known(k, keys[i]));
	}
}

static void test_rows(void **state)
{
	(void)state;
	size_t n = 0;

	for (const struct wait_kind *k = wait_kinds; k->name; k++, n++) {
		check_row(k);
		check_keys(k);
	}
	assert_true(n > 40);
}

static void test_unknown_kind(void **state)
{
	(void)state;
	const struct wait_kind *k = wait_kind("no such kind");

	assert_null(k->name);
	assert_int_equal(k->target, WAIT_OUTSIDE);
	assert_true(wait_kind_ended_by(k, HOLDING_LOCK));
	assert_false(wait_kind_ended_by(k, HOLDING_SENDER));
	assert_ptr_equal(wait_kind(NULL), k);
	assert_ptr_equal(wait_kind_of(NULL), k);
}

static void test_detail_keys(void **state)
{
	(void)state;
	const struct wait_kind *sleep = wait_kind("sleep");

	assert_true(wait_detail_is_known(sleep, "deadline_ns"));
	assert_true(wait_detail_is_known(sleep, "now"));
	/* A key of another kind: an earlier asyncdbg may have used it for this one. */
	assert_true(wait_detail_is_known(sleep, "lag"));
	assert_true(wait_detail_is_known(wait_kind("no such kind"), "lag"));
	assert_false(wait_detail_is_known(sleep, "deadline"));
	assert_false(wait_detail_is_known(sleep, "ns"));
	assert_false(wait_detail_is_known(sleep, "remaining_ms now"));
	assert_false(wait_detail_is_known(sleep, ""));
	assert_false(wait_detail_is_known(sleep, "kind"));
}

#define NUMBER(k, n)                                                                               \
	{                                                                                          \
		.key = (k), .kind = DETAIL_INT, .number = (n)                                      \
	}

static void test_details_of_a_wait(void **state)
{
	(void)state;
	static const char *const ids[] = { "7", "8" };
	struct wait_detail details[] = {
		NUMBER("tasks_in_set", 2),
		{ .key = "tasks", .kind = DETAIL_LIST, .list = ids, .nlist = 2 },
		{ .key = "job", .kind = DETAIL_STRING, .string = "app::work" },
		{ .key = "closed", .kind = DETAIL_BOOL, .number = 1 },
	};
	struct wait w = { .kind = "join_set", .details = details, .ndetails = 4 };
	int64_t number;

	assert_true(wait_number(&w, "tasks_in_set", &number));
	assert_int_equal(number, 2);
	assert_false(wait_number(&w, "tasks", &number));
	assert_int_equal(wait_texts(&w, "tasks")->nlist, 2);
	assert_string_equal(wait_text(&w, "job"), "app::work");
	assert_null(wait_text(&w, "tasks"));
	assert_null(wait_texts(&w, "job"));
	assert_true(wait_yes(&w, "closed"));
	assert_false(wait_yes(&w, "finished"));
}

static bool is_closed(const char *kind, const char *key, int64_t n, const char *key2, int64_t m)
{
	struct wait_detail details[] = { NUMBER(key, n), NUMBER(key2, m) };
	struct wait w = { .kind = kind, .details = details, .ndetails = 2 };

	return wait_is_closed(&w);
}

static void test_closed(void **state)
{
	(void)state;
	assert_true(is_closed("mpsc_recv", "senders", 0, "queued", 0));
	assert_false(is_closed("mpsc_recv", "senders", 0, "queued", 1));
	assert_false(is_closed("mpsc_recv", "senders", 0, "capacity", 1));
	assert_false(is_closed("mpsc_recv", "senders", 1, "queued", 0));
	assert_true(is_closed("mpsc_send", "closed", 1, "senders", 1));
	assert_false(is_closed("mpsc_send", "closed", 0, "senders", 0));
	assert_true(is_closed("oneshot", "sender_alive", 0, "value_there", 0));
	assert_false(is_closed("oneshot", "sender_alive", 0, "value_there", 1));
	assert_true(is_closed("oneshot_closed", "receiver_alive", 0, "polled", 1));
	assert_false(is_closed("watch", "senders", 0, "receivers", 1));
	assert_false(is_closed("mutex", "closed", 1, "polled", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),        cmocka_unit_test(test_unknown_kind),
		cmocka_unit_test(test_detail_keys), cmocka_unit_test(test_details_of_a_wait),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "runtimes/trace/trace_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtimes/model/model.h"
#include "runtimes/trace/task_lives.h"

static void test_texts(void **state)
{
	struct arena a = { 0 };
	uint64_t key;

	(void)state;
	assert_string_equal(trace_key_text(&a, 17), "17");
	assert_string_equal(trace_key_text(&a, trace_key_of_address("async_executor", 0x7f00)),
	                    "async_executor:0x7f00");
	assert_true(trace_key_read("17", &key));
	assert_int_equal(key, 17);
	assert_true(trace_key_read("async_executor:0x7f00", &key));
	assert_true(key == trace_key_of_address("async_executor", 0x7f00));
	assert_true(trace_key_is(key, key));
	assert_false(trace_key_is(key, trace_key_of_address("tokio", 0x7f00)));
	assert_false(trace_key_is(key, 0x7f00));
	uint64_t any;
	assert_true(trace_key_read("0x7f00", &any));
	assert_true(trace_key_is(key, any));
	assert_string_equal(trace_key_text(&a, any), "0x7f00");
	assert_false(trace_key_read("other:0x7f00", &key));
	assert_false(trace_key_read("tokio:17", &key));
	assert_false(trace_key_read("tokio:0x", &key));
	assert_false(trace_key_read("", &key));
	assert_false(trace_key_read("-1", &key));
	assert_false(trace_key_read("17 ", &key));
	assert_false(trace_key_read("99999999999999999999", &key));
	arena_free(&a);
}

static void test_tasks_of_snapshots(void **state)
{
	const struct task counted = { .id = "3", .number = 3, .addr = 0x1000 };
	const struct task other = { .id = "async_executor:0x1000", .addr = 0x1000 };

	(void)state;
	assert_int_equal(trace_key(&counted), 3);
	assert_true(trace_key(&other) == trace_key_of_address("async_executor", 0x1000));
	assert_int_equal(trace_key(&(struct task){ 0 }), 0);
}

static void test_an_address_is_used_again(void **state)
{
	struct task_lives lives = { 0 };
	uint64_t key = trace_key_of_address("async_executor", 0x1000);

	(void)state;
	assert_true(task_lives_begin(&lives, key));
	assert_false(task_lives_begin(&lives, key));
	task_lives_at(&lives, key)->tid = 7;
	task_lives_end(&lives, key);
	assert_false(task_lives_at(&lives, key)->lives);
	assert_true(task_lives_begin(&lives, key));
	assert_int_equal(task_lives_at(&lives, key)->tid, 0);
	task_lives_free(&lives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_tasks_of_snapshots),
		cmocka_unit_test(test_an_address_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

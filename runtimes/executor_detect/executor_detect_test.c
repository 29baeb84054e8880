/* Tests of executor_detect.h. The test's own executable is the file: it has the paths that rustc
 * stores. */
#include "runtimes/executor_detect/executor_detect.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtimes/executor_detect/async_processes.h"
#include "runtimes/executor_detect/executor_detect_cache.h"

/* As in .rodata of a Rust program: paths follow each other without NULs. */
const char survey_paths[] =
	"/rustc/0000/library/core/src/option.rs"
	"/home/u/.cargo/registry/src/index-1/tokio-9.8.7/src/runtime/context.rs"
	"/home/u/.cargo/registry/src/index-1/tokio-util-6.6.6/src/runtime/x.rs"
	"/home/u/.cargo/registry/src/index-1/futures-executor-0.9.9/src/local_pool.txt"
	"/build/vendor/async-std/src/task/block_on.rs"
	"/home/u/.cargo/registry/src/index-1/async-task-9.9.1/src/task.rs";

static const struct detected_executor *find(const struct detected_executors *s, const char *crate)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->data[i].crate, crate) == 0)
			return &s->data[i];
	}
	return NULL;
}

static int open_self(const void *arg)
{
	(void)arg;
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static void check_own(const struct detected_executors *s)
{
	const struct detected_executor *tokio = find(s, "tokio"), *async_std = find(s, "async_std");

	assert_true(s->rust);
	assert_non_null(tokio);
	assert_string_equal(tokio->version, "9.8.7");
	assert_true(tokio->supported);
	/* A vendored crate has no version in its path. */
	assert_non_null(async_std);
	assert_null(async_std->version);
	assert_false(async_std->supported);
	/* No Rust source. */
	assert_null(find(s, "futures-executor"));
	/* Its tasks without its executors: some crate has executors of its own. */
	const struct detected_executor *tasks = find(s, "async_executor");
	assert_non_null(tasks);
	assert_true(tasks->supported);
}

static void test_finds_executors_by_paths(void **state)
{
	SCRATCH(tmp);
	struct detected_executors s;
	int fd = open_self(survey_paths);

	(void)state;
	executor_detect_file(&tmp, fd, &s);
	check_own(&s);
	close(fd);
}

static void test_other_files_have_none(void **state)
{
	SCRATCH(tmp);
	struct detected_executors s;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	(void)state;
	executor_detect_file(&tmp, fd, &s);
	assert_int_equal(s.n, 0);
	assert_false(s.rust || s.has_debug_info);
	close(fd);
}

static int never(const void *arg)
{
	(void)arg;
	fail_msg("the file is opened although the cache has its survey");
	return -1;
}

static int open_none(const void *arg)
{
	(void)arg;
	errno = ENOENT;
	return -1;
}

static int open_other(const void *arg)
{
	(void)arg;
	return open("/proc/self/status", O_RDONLY | O_CLOEXEC);
}

static void test_caches_surveys(void **state)
{
	SCRATCH(tmp);
	char directory[] = "/tmp/survey_test.XXXXXX";
	struct file_identity file;
	struct detected_executors s;
	int fd = open_self(NULL);

	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("XDG_CACHE_HOME", directory, 1);
	assert_true(file_identity_read(fd, &file));
	close(fd);
	struct executor_detect_cache *c = executor_detect_cache_open(true);
	/* A process that has ended, or runs another program by now: nothing is cached. */
	assert_false(executor_detect_cache_get(c, &tmp, &file, open_none, NULL, &s));
	assert_false(executor_detect_cache_get(c, &tmp, &file, open_other, NULL, &s));
	assert_int_equal(s.n, 0);
	assert_true(executor_detect_cache_get(c, &tmp, &file, open_self, NULL, &s));
	check_own(&s);
	executor_detect_cache_close(c);

	c = executor_detect_cache_open(true);
	assert_true(executor_detect_cache_get(c, &tmp, &file, never, NULL, &s));
	check_own(&s);
	/* The same file after a change. */
	file.changed_ns++;
	assert_false(executor_detect_cache_get(c, &tmp, &file, open_self, NULL, &s));
	assert_int_equal(s.n, 0);
	executor_detect_cache_close(c);

	char *command = NULL;
	assert_true(asprintf(&command, "rm -rf '%s'", directory) > 0);
	assert_int_equal(system(command), 0);
	free(command);
}

static void test_own_process_is_not_listed(void **state)
{
	SCRATCH(tmp);
	const struct async_processes_options options = { .closed = true };
	struct async_processes list;

	(void)state;
	assert_null(async_processes_read(&tmp, &options, &list));
	assert_true(list.all.n > 0);
	for (size_t i = 0; i < list.n; i++)
		assert_int_not_equal(list.data[i].process->pid, getpid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_executors_by_paths),
		cmocka_unit_test(test_other_files_have_none),
		cmocka_unit_test(test_caches_surveys),
		cmocka_unit_test(test_own_process_is_not_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of proc.h, on the /proc files of the test itself. */
#include "debugger/live/proc.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void test_regions(void **state)
{
	SCRATCH(tmp);
	struct region r;
	int local = 0;

	(void)state;
	assert_true(proc_region(&tmp, getpid(), (uintptr_t)&local, &r));
	assert_true(r.start <= (uintptr_t)&local && (uintptr_t)&local < r.end);
	assert_true(r.readable && r.writable && !r.executable);
	assert_true(proc_region(&tmp, getpid(), (uintptr_t)&test_regions, &r));
	assert_true(r.executable && !r.writable);
	assert_non_null(strstr(r.name, "proc_test"));
	assert_false(proc_region(&tmp, getpid(), 16, &r));
	/* A process that does not exist has no mapping. */
	assert_false(proc_region(&tmp, 0x7fffffff, (uintptr_t)&local, &r));
}

static void test_region_ends(void **state)
{
	SCRATCH(tmp);
	struct region r;
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, 3 * len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(page != MAP_FAILED);
	assert_int_equal(mprotect(page + len, len, PROT_READ), 0);
	assert_true(proc_region(&tmp, getpid(), (uintptr_t)page + 2 * len - 1, &r));
	assert_int_equal(r.start, (uintptr_t)page + len);
	assert_int_equal(r.end, (uintptr_t)page + 2 * len);
	assert_true(r.readable && !r.writable && !r.executable);
	assert_null(r.name);
	munmap(page, 3 * len);
}

static void take_no_notice(int signal)
{
	(void)signal;
}

static void test_signals_that_end_it(void **state)
{
	(void)state;
	assert_true(proc_signal_ends(getpid(), SIGQUIT));
	assert_true(proc_signal_ends(gettid(), SIGXCPU));
	signal(SIGQUIT, take_no_notice);
	assert_false(proc_signal_ends(getpid(), SIGQUIT));
	signal(SIGQUIT, SIG_IGN);
	assert_false(proc_signal_ends(getpid(), SIGQUIT));
	signal(SIGQUIT, SIG_DFL);
	/* It ends without a core, or not at all. */
	assert_false(proc_signal_ends(getpid(), SIGTERM));
	assert_false(proc_signal_ends(getpid(), SIGCHLD));
	assert_false(proc_signal_ends(0x7fffffff, SIGQUIT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_region_ends),
		cmocka_unit_test(test_signals_that_end_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

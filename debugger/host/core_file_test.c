#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/host/core_file.h"
#include "debugger/host/process_end.h"

static const struct core_origin origin = {
	.pid = 4321, .inner = 12, .uid = 1000, .gid = 100, .directory = "/srv/a[b]", .known = true
};

static void assert_names(const char *pattern, bool uses_pid, const char *expected)
{
	SCRATCH(tmp);
	const char *names = core_file_names(&origin, pattern, uses_pid, SIGSEGV, &tmp);

	assert_string_equal(names ? names : "none", expected);
}

static void test_names(void **state)
{
	(void)state;
	assert_names("core", false, "/srv/a\\[b\\]/core");
	assert_names("core", true, "/srv/a\\[b\\]/core.12");
	assert_names("/cores/core.%p", true, "/cores/core.12");
	assert_names("/cores/%e.%P.%s.%t.%u.%g.%%", false, "/cores/*.4321.11.*.1000.100.%");
	assert_names("/cores/x%", false, "/cores/x");
	assert_names("", true, "none");
	assert_names("|/usr/bin/something %p", false, "none");
	assert_names("|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h", false,
	             "/var/lib/systemd/coredump/core.*.1000.*.4321.*");
	assert_names("|/usr/share/apport/apport -p%p", false,
	             "/var/lib/apport/coredump/core.*.1000.*.4321.*");
}

static void test_origin(void **state)
{
	struct core_origin o;
	char directory[4096];
	SCRATCH(tmp);

	(void)state;
	core_file_origin(getpid(), &tmp, &o);
	assert_true(o.known);
	assert_int_equal(o.pid, getpid());
	assert_int_equal(o.uid, geteuid());
	assert_string_equal(o.directory, getcwd(directory, sizeof(directory)));
}

/* A child that ends itself; reaped: before it is asked for. */
static struct process_end end_of_child(int signal, bool reaped)
{
	struct process_end e;
	pid_t pid = fork();

	if (pid == 0) {
		if (signal)
			raise(signal);
		_exit(3);
	}
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	siginfo_t info;
	waitid(P_PID, (id_t)pid, &info, WEXITED | (reaped ? 0 : WNOWAIT));
	process_end_read(pid, pidfd, &e);
	close(pidfd);
	if (!reaped)
		waitpid(pid, NULL, 0);
	return e;
}

static void test_ends(void **state)
{
	(void)state;
	for (int reaped = 0; reaped < 2; reaped++) {
		struct process_end exited = end_of_child(0, reaped),
				   killed = end_of_child(SIGKILL, reaped);

		/* With old kernels it is unknown as soon as it is reaped. */
		if (reaped && !exited.known)
			continue;
		assert_true(exited.known && killed.known);
		assert_int_equal(exited.signal, 0);
		assert_int_equal(killed.signal, SIGKILL);
		assert_false(killed.dumped);
	}
}

static void test_stat(void **state)
{
	static const char head[] = "12 (a) Z b) ",
			  middle[] = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 "
				     "24 25 26 27 28 29 30 31 "
				     "32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 ";
	struct process_end e = { 0 };
	SCRATCH(tmp);

	(void)state;
	assert_true(process_end_parse(arena_printf(&tmp, "%sZ%s139\n", head, middle), &e));
	assert_int_equal(e.signal, SIGSEGV);
	assert_true(e.dumped);
	assert_true(process_end_parse(arena_printf(&tmp, "%sX%s256\n", head, middle), &e));
	assert_int_equal(e.signal, 0);
	assert_false(process_end_parse(arena_printf(&tmp, "%sS%s0\n", head, middle), &e));
	assert_false(process_end_parse("12 (a) Z 1 2 3", &e));
	assert_false(process_end_parse("", &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_stat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

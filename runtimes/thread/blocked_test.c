/* Which call a thread blocks in, by the functions on its made-up stack. */
#include "runtimes/thread/blocked.h"

#include "runtimes/test/futures.h"

enum { MAX_TEST_FRAMES = 4 };

/* A job on a thread: its frames, innermost first; the last one runs the job. */
struct blocked_job {
	struct futures f;
	struct frame frames[MAX_TEST_FRAMES];
	struct location places[MAX_TEST_FRAMES];
	struct location *functions[MAX_TEST_FRAMES];
	size_t counts[MAX_TEST_FRAMES];
	struct thread_stack stack;
	struct thread_info info;
};

static void run_job(struct blocked_job *j, const char *const *names, const char *syscall,
                    uint64_t first_argument)
{
	struct marks marks = { .n = 1 };
	struct thread *th;
	size_t n = 0;

	*j = (struct blocked_job){ .f = futures_open() };
	th = target_fake_thread(j->f.fixture.target, 7);
	th->regs.in_syscall = true;
	th->regs.syscall_args[0] = first_argument;
	th->regs.syscall = (uint64_t)arch_syscall_named(j->f.fixture.target->arch, syscall)->number;
	for (; names[n]; n++) {
		j->places[n].name = names[n];
		j->functions[n] = &j->places[n];
		j->counts[n] = 1;
	}
	j->stack = (struct thread_stack){ .thread = th,
		                          .stack = { .frames = j->frames, .nframes = n },
		                          .functions = j->functions,
		                          .nfunctions = j->counts };
	marks.data[0] = (struct mark){ .kind = MARK_TASK_POLL,
		                       .frame = n - 1,
		                       .of = *runtimes_in(j->f.in->di),
		                       .name = names[n - 1] };
	j->info.task = "1";
	blocked_find(j->f.c, &j->info, &j->stack, &marks);
	assert_non_null(j->info.wait);
}

/* The functions of a lock's wait, called by one of the program's own. */
static void expect_condvar(const char *call, const char *own, const char *kind, bool in_condvar)
{
	const char *const names[] = { "syscall", call, own, "tokio::runtime::task::raw::poll",
		                      NULL };
	struct blocked_job j;

	run_job(&j, names, "futex", 0);
	assert_string_equal(j.info.wait->kind, kind);
	assert_int_equal(j.stack.in_condvar, in_condvar);
	futures_close(&j.f);
}

/* What the program calls its own functions, and the text of the wait, say nothing about it. */
static void test_condvar(void **state)
{
	(void)state;
	expect_condvar("std::sync::poison::condvar::Condvar::wait", "app::work", "std_condvar",
	               true);
	expect_condvar("std::sync::condvar::Condvar::wait_timeout", "app::work", "std_condvar",
	               true);
	expect_condvar("parking_lot::condvar::Condvar::wait_until_internal", "app::work",
	               "parking_lot", true);
	expect_condvar("std::sync::poison::mutex::Mutex::lock", "app::Condvar::wait", "std_mutex",
	               false);
	expect_condvar("parking_lot::raw_mutex::RawMutex::lock_slow", "app::condvar::wait",
	               "parking_lot", false);
}

/* A call that an earlier stop interrupted is named as it was before. */
static void test_restarted_sleep(void **state)
{
	static const struct {
		const char *syscall, *function, *phrase;
		uint64_t argument; /* the first one: a clock, or an address */
	} cases[] = {
		{ "clock_nanosleep", "clock_nanosleep", "system call clock_nanosleep", 1 },
		{ "restart_syscall", "clock_nanosleep", "system call clock_nanosleep", 1 },
		{ "restart_syscall", "std::sys::thread::unix::sleep::nanosleep",
		  "system call clock_nanosleep", 0 },
		{ "restart_syscall", "nanosleep", "system call nanosleep", 0x7ffc00001230 },
		{ "restart_syscall", "__clock_nanosleep", "system call nanosleep", 0x7ffc00001230 },
		{ "restart_syscall", "poll", "system call poll", 0 },
		{ "restart_syscall", "work", "system call restart_syscall", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const names[] = { cases[i].function, "app::work",
			                      "tokio::runtime::task::raw::poll", NULL };
		struct blocked_job j;

		run_job(&j, names, cases[i].syscall, cases[i].argument);
		assert_string_equal(j.info.wait->phrase, cases[i].phrase);
		futures_close(&j.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_condvar),
		cmocka_unit_test(test_restarted_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests what is known of a thread that cannot be stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/target/target.h"
#include "debugger/test/child.h"

/* Sleeps uninterruptibly until the new process ends. */
static void child_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
}

static void test_thread_pointer(void **state)
{
	const struct target_options options = { 0 };
	CHILD(c, NULL, child_vfork);
	struct target *t CLEANUP(target_closep) = NULL;

	(void)state;
	while (child_state(c.pid, c.pid) != 'D')
		sched_yield();
	struct error *err = target_live_open(c.pid, &options, &t);
	if (!err)
		err = target_stop(t);
	if (err)
		fail_msg("%s", err->message);
	assert_int_equal(t->nthreads, 1 + CHILD_WORKERS);
	assert_int_equal(t->threads[0].tid, c.pid);
	assert_false(t->threads[0].stopped);
	assert_false(t->threads[0].has_regs);
	assert_int_equal(t->threads[0].run_state, 'D');
	assert_non_null(t->threads[0].problem);
	/* It leads to the thread-locals, which tell what runtime the thread is inside. */
	assert_true(t->threads[0].regs.thread_pointer != 0);
	for (size_t i = 1; i < t->nthreads; i++)
		assert_true(t->threads[i].stopped);
	assert_true(t->nnotes > 0);
	assert_non_null(strstr(t->notes[0], "they are in uninterruptible sleep"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

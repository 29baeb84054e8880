#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <locale.h>
#include <sys/resource.h>

#include "debugger/target/target.h"
#include "debugger/test/child.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/graph/verdict.h"
#include "runtimes/session/asyncdbg.h"
#include "runtimes/test/snapshot.h"

/* The state of the caller that no call may change. */
struct surroundings {
	sigset_t mask;
	int policy, priority, niceness;
	struct sigaction actions[NSIG];
	char **environment;
	char locale[64], directory[256];
};

static struct surroundings surroundings(void)
{
	struct surroundings now = { .policy = sched_getscheduler(0),
		                    .niceness = getpriority(PRIO_PROCESS, 0),
		                    .environment = environ };
	struct sched_param param;

	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now.mask), 0);
	assert_int_equal(sched_getparam(0, &param), 0);
	now.priority = param.sched_priority;
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &now.actions[i]);
	snprintf(now.locale, sizeof(now.locale), "%s", setlocale(LC_ALL, NULL));
	assert_non_null(getcwd(now.directory, sizeof(now.directory)));
	return now;
}

static void assert_unchanged(const struct surroundings *before)
{
	struct surroundings now = surroundings();

	assert_memory_equal(&now.mask, &before->mask, sizeof(now.mask));
	assert_int_equal(now.policy, before->policy);
	assert_int_equal(now.priority, before->priority);
	assert_int_equal(now.niceness, before->niceness);
	for (int i = 1; i < NSIG; i++)
		assert_ptr_equal(now.actions[i].sa_handler, before->actions[i].sa_handler);
	assert_ptr_equal(now.environment, before->environment);
	assert_string_equal(now.locale, before->locale);
	assert_string_equal(now.directory, before->directory);
}

static size_t count_entries(const char *directory)
{
	DIR *d = opendir(directory);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Opens a process, takes snapshots in each way and closes it, with a signal mask of the caller. */
static void look_at(pid_t pid, const struct stop_options *stop)
{
	const struct asyncdbg_options options = { .pid = pid, .target.stop = *stop };
	struct surroundings before = surroundings();
	size_t files = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
	const struct snapshot *snap, *again;
	struct snapshot *taken;
	struct asyncdbg *d;

	assert_null(asyncdbg_open(&options, &d));
	assert_unchanged(&before);
	assert_int_equal(asyncdbg_kind(d), ASYNCDBG_LIVE);
	assert_null(asyncdbg_snapshot(d, WANT_TASKS | WANT_STACKS, NULL, &snap));
	assert_unchanged(&before);
	assert_int_equal(snap->nthreads, CHILD_WORKERS + 1);
	assert_ptr_equal(asyncdbg_last(d), snap);
	assert_null(asyncdbg_take(d, WANT_TASKS, &taken));
	assert_unchanged(&before);
	assert_ptr_equal(asyncdbg_last(d), snap);
	snapshot_free(taken);
	assert_false(asyncdbg_reuse_snapshot(d, true));
	assert_null(asyncdbg_snapshot(d, WANT_TASKS, NULL, &again));
	assert_ptr_equal(again, snap);
	assert_true(asyncdbg_reuse_snapshot(d, false));
	asyncdbg_close(d);
	assert_unchanged(&before);
	assert_int_equal(count_entries("/proc/self/fd"), files);
	assert_int_equal(count_entries("/proc/self/task"), threads);
}

static void nothing_of_the_caller_changes(void **state)
{
	static const struct stop_options ways[] = {
		{ 0 }, { .all = true }, { .never = true }, { .has_max = true, .max_ns = 5000000 }
	};
	struct child child = child_start(NULL, child_pause);
	sigset_t some, before;

	(void)state;
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	sigaddset(&some, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &some, &before);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		look_at(child.pid, &ways[i]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	look_at(child.pid, &ways[0]);
	child_end(&child);
}

static void assert_error(struct error *err, enum error_kind kind)
{
	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	error_free(err);
}

static void errors_come_back(void **state)
{
	struct asyncdbg_options both = { .pid = getpid(), .file = "core" };
	struct surroundings before = surroundings();
	struct asyncdbg *d = NULL;
	const struct snapshot *snap;
	struct snapshot *taken;

	(void)state;
	assert_error(asyncdbg_open(&both, &d), ERR_USAGE);
	assert_error(asyncdbg_open(&(struct asyncdbg_options){ .file = "/nowhere/core" }, &d),
	             ERR_OS);
	assert_error(asyncdbg_open(&(struct asyncdbg_options){ .program = "/nowhere/exe" }, &d),
	             ERR_OS);
	struct error *self = asyncdbg_open(&(struct asyncdbg_options){ .pid = getpid() }, &d);
	assert_non_null(self);
	error_free(self);
	assert_null(d);
	assert_unchanged(&before);

	assert_null(asyncdbg_open(&(struct asyncdbg_options){ 0 }, &d));
	assert_int_equal(asyncdbg_kind(d), ASYNCDBG_NONE);
	assert_error(asyncdbg_snapshot(d, WANT_TASKS, NULL, &snap), ERR_USAGE);
	assert_error(asyncdbg_take(d, WANT_TASKS, &taken), ERR_STATE);
	asyncdbg_close(d);
	assert_error(asyncdbg_snapshot(NULL, WANT_TASKS, NULL, &snap), ERR_USAGE);
	assert_null(asyncdbg_last(NULL));
	asyncdbg_close(NULL);
}

static void answers_of_a_snapshot(void **state)
{
	const struct saved_origin origin = { "then.saved", 86400 };
	struct question question = { .has_whatis = true };
	struct snapshot *made = make_snapshot(), *taken;
	struct asyncdbg *d = asyncdbg_from_snapshot(made, WANT_TASKS | WANT_HOLDINGS, &origin);
	const struct snapshot *snap;

	(void)state;
	assert_int_equal(asyncdbg_kind(d), ASYNCDBG_SAVED);
	assert_string_equal(asyncdbg_origin(d)->file, "then.saved");
	assert_null(asyncdbg_snapshot(d, WANT_TASKS, NULL, &snap));
	assert_ptr_equal(snap, made);
	assert_error(asyncdbg_snapshot(d, WANT_STACKS, NULL, &snap), ERR_STATE);
	assert_error(asyncdbg_snapshot(d, WANT_TASKS, &question, &snap), ERR_STATE);
	assert_error(asyncdbg_take(d, WANT_TASKS, &taken), ERR_STATE);
	const struct verdicts *v = asyncdbg_verdicts(d, snap);
	assert_ptr_equal(asyncdbg_verdicts(d, snap), v);
	assert_int_equal(v->n, 0);
	/* A saved snapshot is never dropped. */
	asyncdbg_drop(d);
	assert_null(asyncdbg_snapshot(d, WANT_TASKS, NULL, &snap));
	assert_ptr_equal(snap, made);
	asyncdbg_close(d);
}

static const struct snapshot *ask(struct asyncdbg *d, const struct question *question)
{
	const struct snapshot *snap;

	assert_null(asyncdbg_snapshot(d, WANT_TASKS, question, &snap));
	return snap;
}

/* A snapshot is reused for the question that it answers, and for no other. */
static void questions_of_a_process(void **state)
{
	static const struct question none, questions[] = {
		{ .task = "4" }, { .print = "x" },   { .names = true },      { .thread = 1 },
		{ .frame = 1 },  { .native = true }, { .has_whatis = true }, { .whatis = 1 },
	};
	struct child child = child_start(NULL, child_pause);
	const struct asyncdbg_options options = { .pid = child.pid };
	struct asyncdbg *d;

	(void)state;
	assert_null(asyncdbg_open(&options, &d));
	asyncdbg_reuse_snapshot(d, true);
	const struct snapshot *before = ask(d, NULL);
	assert_ptr_equal(ask(d, &none), before);
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		const struct snapshot *snap = ask(d, &questions[i]);

		assert_ptr_not_equal(snap, before);
		assert_ptr_equal(ask(d, &questions[i]), snap);
		assert_ptr_equal(ask(d, NULL), snap);
		before = ask(d, &none);
		assert_ptr_not_equal(before, snap);
	}
	asyncdbg_close(d);
	child_end(&child);
}

static enum error_kind update_error;

static struct error *updates_fail(struct target *t, bool *changed)
{
	(void)t, (void)changed;
	return error_new(update_error, "no list of libraries");
}

/* Libraries that cannot be listed hide no tasks; an interrupt comes through. */
static void updates_of_libraries(void **state)
{
	struct child child = child_start(NULL, child_pause);
	const struct asyncdbg_options options = { .pid = child.pid };
	struct snapshot *taken;
	struct asyncdbg *d;

	(void)state;
	assert_null(asyncdbg_open(&options, &d));
	struct target *t = asyncdbg_target(d);
	const struct target_ops *before = t->ops;
	struct target_ops failing = *before;
	failing.update_modules = updates_fail;
	t->ops = &failing;
	update_error = ERR_OS;
	assert_null(asyncdbg_take(d, WANT_TASKS, &taken));
	snapshot_free(taken);
	update_error = ERR_INTERRUPTED;
	assert_error(asyncdbg_take(d, WANT_TASKS, &taken), ERR_INTERRUPTED);
	t->ops = before;
	assert_null(asyncdbg_take(d, WANT_TASKS, &taken));
	snapshot_free(taken);
	asyncdbg_close(d);
	child_end(&child);
}

static void checks_of_a_snapshot(void **state)
{
	const struct saved_origin origin = { "then.saved", 86400 };
	struct asyncdbg *d = asyncdbg_from_snapshot(make_snapshot(), ASYNCDBG_CHECK_WANTS, &origin);
	struct checks_result result;
	const struct snapshot *snap;
	SCRATCH(a);

	(void)state;
	assert_null(asyncdbg_snapshot(d, ASYNCDBG_CHECK_WANTS, NULL, &snap));
	/* A saved snapshot is looked at once: the interval does not pass. */
	assert_null(asyncdbg_check(d, snap, 3600, &a, &result));
	assert_ptr_equal(result.snapshot, snap);
	assert_int_equal(result.nskipped, 1);
	assert_non_null(strstr(result.skipped[0], "long-poll: it needs two looks"));
	for (size_t i = 1; i < result.nfound; i++)
		assert_true(result.found[i - 1].severity >= result.found[i].severity);
	interrupt_request();
	assert_error(asyncdbg_check(d, snap, 0, &a, &result), ERR_INTERRUPTED);
	interrupt_clear();
	asyncdbg_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_the_caller_changes),
		cmocka_unit_test(errors_come_back),
		cmocka_unit_test(answers_of_a_snapshot),
		cmocka_unit_test(questions_of_a_process),
		cmocka_unit_test(updates_of_libraries),
		cmocka_unit_test(checks_of_a_snapshot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of sessions: when snapshots are taken again, and the focus. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/base/session.h"
#include "runtimes/saved/saved.h"

/* A child that does nothing, in a session; ended by close_child(). */
struct child {
	struct session session;
	struct target_ops ops;
	pid_t pid;
};

/* kind: "core" makes the session treat the child as a core, "live" does not. */
static void open_child(struct child *c, const char *kind)
{
	static struct asyncdbg_options options; /* the session borrows it */

	options = (struct asyncdbg_options){ 0 };
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	options.pid = c->pid;
	struct error *err CLEANUP(error_freep) = session_open(&options, &c->session);
	if (err)
		fail_msg("%s", err->message);
	struct target *t = asyncdbg_target(c->session.handle);

	c->ops = *t->ops;
	c->ops.kind = kind;
	t->ops = &c->ops;
}

static void close_child(struct child *c)
{
	session_close(&c->session);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
}

#define CHILD(name, kind)                                                                          \
	struct child name CLEANUP(close_child) = { 0 };                                            \
	open_child(&(name), (kind))

static const struct snapshot *ask(struct session *s, unsigned wants, const struct question *q)
{
	const struct snapshot *snap = NULL;

	assert_null(session_snapshot(s, wants, q, &snap));
	assert_non_null(snap);
	return snap;
}

static void a_core_is_read_once(void **state)
{
	CHILD(c, "core");

	(void)state;
	const struct snapshot *first = ask(&c.session, WANT_RUNNING, NULL);
	assert_ptr_equal(ask(&c.session, WANT_RUNNING, NULL), first);
	const struct snapshot *second = ask(&c.session, WANT_STACKS, NULL);
	assert_ptr_not_equal(second, first);
	assert_ptr_equal(ask(&c.session, WANT_RUNNING, NULL), second);
	assert_int_equal(asyncdbg_last_wants(c.session.handle), WANT_RUNNING | WANT_STACKS);
}

/* The values of variables come with their names; the names alone do not do for who wants values. */
static void values_include_names(void **state)
{
	CHILD(c, "core");

	(void)state;
	const struct snapshot *names = ask(&c.session, WANT_LOCAL_NAMES, NULL);
	const struct snapshot *values = ask(&c.session, WANT_LOCALS, NULL);
	assert_ptr_not_equal(values, names);
	CHILD(other, "core");
	values = ask(&other.session, WANT_LOCALS, NULL);
	assert_ptr_equal(ask(&other.session, WANT_LOCAL_NAMES, NULL), values);
}

static void a_running_program_is_read_anew(void **state)
{
	CHILD(c, "live");

	(void)state;
	const struct snapshot *first = ask(&c.session, WANT_RUNNING, NULL);
	assert_ptr_not_equal(ask(&c.session, WANT_RUNNING, NULL), first);
}

/* The result of one expression is never reused for another one. */
static void each_question_is_put(void **state)
{
	CHILD(c, "core");
	char print[] = "a.b";
	struct question q = { .thread = 1, .print = print };

	(void)state;
	const struct snapshot *plain = ask(&c.session, WANT_RUNNING, NULL);
	const struct snapshot *first = ask(&c.session, WANT_RUNNING, &q);
	assert_ptr_not_equal(first, plain);
	assert_ptr_equal(ask(&c.session, WANT_RUNNING, &q), first);
	assert_ptr_equal(ask(&c.session, WANT_RUNNING, NULL), first);

	struct question others[] = { q, q, q, q, q, q };
	others[0].print = "a.c";
	others[1].frame = 1;
	others[2].thread = 2;
	others[3].task = "5";
	others[4].has_whatis = true;
	others[5].print = NULL;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct snapshot *before = ask(&c.session, WANT_RUNNING, &q);

		assert_ptr_not_equal(ask(&c.session, WANT_RUNNING, &others[i]), before);
	}
	/* The question is copied, because the words of a command are freed earlier. */
	first = ask(&c.session, WANT_RUNNING, &q);
	print[2] = 'c';
	assert_ptr_not_equal(ask(&c.session, WANT_RUNNING, &q), first);
}

static void the_number_of_the_thread_in_focus(void **state)
{
	CHILD(c, "live");
	struct session *s = &c.session;
	const struct thread_info *th;

	(void)state;
	assert_int_equal(session_focus_number(s), 1);

	const struct snapshot *snap = ask(s, WANT_RUNNING, NULL);
	assert_null(session_focus(s, snap, &th));
	assert_int_equal(th->tid, c.pid);
	s->focus = c.pid;
	assert_int_equal(session_focus_number(s), th->number);
	/* A thread that has ended. */
	s->focus = getpid();
	assert_int_equal(session_focus_number(s), 0);
	struct error *err CLEANUP(error_freep) = session_focus(s, snap, &th);
	assert_int_equal(err->kind, ERR_STATE);
}

/* A saved snapshot serves the wants that it was saved with, like the target, and no others. */
static void a_saved_snapshot_is_no_target(void **state)
{
	CHILD(c, "live");
	struct saved_info info = { .wants = WANT_RUNNING | WANT_TASKS };
	struct asyncdbg_options options = { 0 };
	struct question question = { .has_whatis = true };
	struct session saved CLEANUP(session_close) = { 0 };
	const struct snapshot *snap, *again;
	char path[] = "/tmp/session_test.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_null(saved_write(path, ask(&c.session, info.wants, NULL), &info));
	options.file = path;
	struct error *err CLEANUP(error_freep) = session_open(&options, &saved);
	unlink(path);
	assert_null(err);
	assert_int_equal(asyncdbg_kind(saved.handle), ASYNCDBG_SAVED);
	assert_null(asyncdbg_target(saved.handle));
	assert_null(session_snapshot(&saved, WANT_TASKS, NULL, &snap));
	assert_int_equal(asyncdbg_last_wants(saved.handle), WANT_TASKS);
	assert_int_equal(snap->target.pid, c.pid);
	assert_null(session_snapshot(&saved, WANT_RUNNING, NULL, &again));
	assert_ptr_equal(snap, again);
	/* As with a live target, data that only an earlier command wanted is not shown. */
	assert_int_equal(asyncdbg_last_wants(saved.handle), WANT_RUNNING);
	struct error *without CLEANUP(error_freep) =
		session_snapshot(&saved, WANT_LAYOUT, NULL, &again);
	assert_int_equal(without->kind, ERR_STATE);
	struct error *error CLEANUP(error_freep) =
		session_snapshot(&saved, WANT_TASKS, &question, &again);
	assert_int_equal(error->kind, ERR_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_core_is_read_once),
		cmocka_unit_test(values_include_names),
		cmocka_unit_test(a_running_program_is_read_anew),
		cmocka_unit_test(each_question_is_put),
		cmocka_unit_test(the_number_of_the_thread_in_focus),
		cmocka_unit_test(a_saved_snapshot_is_no_target),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

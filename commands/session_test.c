#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/session.h"
#include "debugger/target_fake.h"

/* A program that is nothing but two threads; kind: "core" stands still, others do not. */
static struct session open_session(struct target_ops *ops, const char *kind)
{
	struct session s = { .target = target_fake_open() };

	target_fake_thread(s.target, 100);
	target_fake_thread(s.target, 101);
	*ops = *s.target->ops;
	ops->kind = kind;
	s.target->ops = ops;
	assert_null(inspector_open(s.target, &s.inspector));
	return s;
}

static const struct snapshot *ask(struct session *s, unsigned wants, const struct question *q)
{
	const struct snapshot *snap = NULL;

	assert_null(session_snapshot(s, wants, q, &snap));
	assert_non_null(snap);
	return snap;
}

static void a_core_is_read_once(void **state)
{
	struct target_ops ops;
	struct session s CLEANUP(session_close) = open_session(&ops, "core");

	(void)state;
	const struct snapshot *first = ask(&s, WANT_RUNNING, NULL);
	assert_ptr_equal(ask(&s, WANT_RUNNING, NULL), first);
	const struct snapshot *second = ask(&s, WANT_STACKS, NULL);
	assert_ptr_not_equal(second, first);
	assert_ptr_equal(ask(&s, WANT_RUNNING, NULL), second);
	assert_int_equal(s.wants, WANT_RUNNING | WANT_STACKS);
}

static void a_running_program_is_read_anew(void **state)
{
	struct target_ops ops;
	struct session s CLEANUP(session_close) = open_session(&ops, "fake");

	(void)state;
	const struct snapshot *first = ask(&s, WANT_RUNNING, NULL);
	assert_ptr_not_equal(ask(&s, WANT_RUNNING, NULL), first);
}

/* The answer to one question is never taken for the answer to another one. */
static void each_question_is_asked(void **state)
{
	struct target_ops ops;
	struct session s CLEANUP(session_close) = open_session(&ops, "core");
	char print[] = "a.b";
	struct question q = { .thread = 1, .print = print };

	(void)state;
	const struct snapshot *plain = ask(&s, WANT_RUNNING, NULL);
	const struct snapshot *first = ask(&s, WANT_RUNNING, &q);
	assert_ptr_not_equal(first, plain);
	assert_ptr_equal(ask(&s, WANT_RUNNING, &q), first);
	assert_ptr_equal(ask(&s, WANT_RUNNING, NULL), first);

	struct question others[] = { q, q, q, q, q, q };
	others[0].print = "a.c";
	others[1].frame = 1;
	others[2].thread = 2;
	others[3].task = "5";
	others[4].has_whatis = true;
	others[5].print = NULL;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct snapshot *before = ask(&s, WANT_RUNNING, &q);

		assert_ptr_not_equal(ask(&s, WANT_RUNNING, &others[i]), before);
	}
	/* What was asked is kept: the words of a command do not live as long. */
	first = ask(&s, WANT_RUNNING, &q);
	print[2] = 'c';
	assert_ptr_not_equal(ask(&s, WANT_RUNNING, &q), first);
}

static void the_number_of_the_thread_in_focus(void **state)
{
	struct target_ops ops;
	struct session s CLEANUP(session_close) = open_session(&ops, "core");
	const struct snapshot *snap;
	const struct thread_info *th;

	(void)state;
	assert_int_equal(session_focus_number(&s), 1);
	s.target->signal.tid = 101;
	assert_int_equal(session_focus_number(&s), 2);
	s.focus = 100;
	assert_int_equal(session_focus_number(&s), 1);
	snap = ask(&s, WANT_RUNNING, NULL);
	assert_null(session_focus(&s, snap, &th));
	assert_int_equal(th->number, session_focus_number(&s));
	s.focus = 102;
	assert_int_equal(session_focus_number(&s), 0);
	struct error *err CLEANUP(error_freep) = session_focus(&s, snap, &th);
	assert_int_equal(err->kind, ERR_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_core_is_read_once),
		cmocka_unit_test(a_running_program_is_read_anew),
		cmocka_unit_test(each_question_is_asked),
		cmocka_unit_test(the_number_of_the_thread_in_focus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

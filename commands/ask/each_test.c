/* Tests of --exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/shell/execute.h"
#include "commands/test/answer.h"
#include "runtimes/analysis/holders.h"

/* Opens a session as `asyncdbg -c FILE` does; the session owns the snapshot. */
static void open_saved(struct session *s, const char *first_id)
{
	static const struct saved_origin origin = { "then.saved", 1763750610 };
	struct snapshot *snap = make_snapshot();

	snap->tasks[0]->id = first_id;
	*s = (struct session){ .handle = asyncdbg_from_snapshot(snap, ~0U, &origin) };
}

static const char *run(struct caught *c, struct session *s, const char *line)
{
	enum status status = STATUS_OK;

	execute_line(s, c->out, line, &status);
	fflush(c->options.answers);
	fflush(c->options.messages);
	return c->answers;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void runs_each_command_for_each_task(void **state)
{
	struct session s CLEANUP(session_close) = { 0 };
	CAUGHT(c);

	(void)state;
	open_saved(&s, "4");
	catch (&c, TEXT);
	const char *output = run(&c, &s, "tasks --exec 'async task {}; tasks --with \"id\" ^{}$'");

	assert_string_equal(c.messages, "");
	assert_int_equal(count(output, "Task: 4"), 1);
	assert_int_equal(count(output, "Task: 5"), 1);
	assert_int_equal(count(output, "1 of 2 tasks match"), 2);
	/* Each snapshot says that it was saved. */
	assert_int_equal(count(output, "asyncdbg: snapshot then.saved of pid "), 1);
	assert_int_equal(count(output, "), saved 2025-11-21 18:43:30 UTC, "), 1);
	/* Waiting tasks are counted once for the snapshot, not for each task. */
	assert_true(asyncdbg_waiting(s.handle)->counted);
	asyncdbg_drop(s.handle);
	assert_false(asyncdbg_waiting(s.handle)->counted);
	assert_false(asyncdbg_reuse_snapshot(s.handle, false));
}

/* An id with blanks and semicolons stays one word of its command. */
static void an_id_is_no_command(void **state)
{
	struct session s CLEANUP(session_close) = { 0 };
	CAUGHT(c);

	(void)state;
	open_saved(&s, "5; quit");
	catch (&c, TEXT);
	run(&c, &s, "tasks --exec 'async task {}'");
	assert_false(s.quit);
	assert_int_equal(count(c.answers, "serve.rs"), 1);
}

static void refuses_to_nest(void **state)
{
	struct session s CLEANUP(session_close) = { 0 };
	CAUGHT(c);

	(void)state;
	open_saved(&s, "4");
	catch (&c, TEXT);
	asyncdbg_reuse_snapshot(s.handle, true);
	run(&c, &s, "tasks --exec info");
	assert_non_null(strstr(c.messages, "cannot be nested"));
	assert_true(asyncdbg_reuse_snapshot(s.handle, true));
	assert_int_equal(c.nanswers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_each_command_for_each_task),
		cmocka_unit_test(an_id_is_no_command),
		cmocka_unit_test(refuses_to_nest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

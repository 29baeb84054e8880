#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/checks.h"
#include "commands/execute.h"
#include "commands/test_snapshot.h"
#include "debugger/base/str.h"
#include "runtimes/test_graph.h"

enum { A = 0xa0, B = 0xb0 };

static void finish_program(struct program *p)
{
	judge(p);
	p->s.target.kind = "core";
	p->s.target.core = "core";
	p->s.complete = true;
	snapshot_number_frames(&p->s);
}

/* Two that wait for each other, one behind them, and one with a timer. */
static void make_deadlock(struct program *p)
{
	struct future *select = calls(p, "app::c", as(locks(p, "mutex", A, 1), "select arm 0"),
	                              as(sleeps(p), "select arm 1"));
	struct task *one = add_task(p, 1, calls(p, "app::a", locks(p, "mutex", B, 1)));
	struct task *two = add_task(p, 2, calls(p, "app::b", locks(p, "mutex", A, 2)));

	guards(p, one, "mutex", A);
	guards(p, two, "mutex", B)->line = 55;
	add_task(p, 3, select);
	add_task(p, 4, calls(p, "app::d", joins(p, 1)));
	finish_program(p);
}

/* What a line answers. */
static void ask(struct caught *c, struct session *s, const struct program *p, const char *line,
                enum format format)
{
	catch (c, format);
	struct error *err = run_line(c, s, &p->s, line);

	if (err)
		fail_msg("%s: %s", line, err->message);
	(void)s;
}

static void assert_answers(const struct program *p, const char *line, const char *expected)
{
	CAUGHT(c);
	struct session s = { 0 };

	ask(&c, &s, p, line, TEXT);
	const char *body = strchr(c.answers, '\n');
	assert_non_null(body);
	assert_string_equal(body + 1, expected);
	session_close(&s);
}

static void graph_as_text(void **state)
{
	PROGRAM(p);

	(void)state;
	make_deadlock(&p);
	assert_answers(&p, "async graph 3",
	               "task 1 app::a at src/x.rs:12 [stuck]\n"
	               "   waits for Mutex 0xb0 [mutex]\n"
	               "      held by task 2 (`guard` at src/x.rs:55)\n"
	               "task 2 app::b at src/x.rs:12 [stuck]\n"
	               "   waits for Mutex 0xa0 [mutex]\n"
	               "      behind task 3\n"
	               "      held by task 1 (`guard` at src/x.rs:41)\n"
	               "task 3 app::c at src/x.rs:12\n"
	               "   waits for any of (select):\n"
	               "      Mutex 0xa0 [mutex]\n"
	               "         held by task 1 (`guard` at src/x.rs:41)\n"
	               "      sleep\n"
	               "task 4 app::d at src/x.rs:12 [stuck]\n"
	               "   waits for task 1 [join]\n");
}

/* Whoever has nothing to do with it is not shown. */
static void graph_of_one_task(void **state)
{
	PROGRAM(p);

	(void)state;
	add_task(&p, 1, calls(&p, "app::a", joins(&p, 2)));
	add_task(&p, 2, calls(&p, "app::b", joins(&p, 3)));
	add_task(&p, 3, calls(&p, "app::c", sleeps(&p)));
	add_task(&p, 4, calls(&p, "app::d", joins(&p, 3)));
	finish_program(&p);
	assert_answers(&p, "async graph 2",
	               "task 1 app::a at src/x.rs:12\n   waits for task 2 [join]\n"
	               "task 2 app::b at src/x.rs:12\n   waits for task 3 [join]\n");
	assert_answers(&p, "async graph 3",
	               "task 1 app::a at src/x.rs:12\n   waits for task 2 [join]\n"
	               "task 2 app::b at src/x.rs:12\n   waits for task 3 [join]\n"
	               "task 4 app::d at src/x.rs:12\n   waits for task 3 [join]\n");
}

static void nothing_waits(void **state)
{
	PROGRAM(p);

	(void)state;
	add_task(&p, 1, calls(&p, "app::a", sleeps(&p)));
	finish_program(&p);
	assert_answers(&p, "async graph", "no wait for another task was found\n");
	p.s.unsearched = (const char *[]){ "statics" };
	p.s.nunsearched = 1;
	assert_answers(&p, "async deadlocks", "no deadlock found\nnot searched: statics\n");
}

static void deadlocks_as_text(void **state)
{
	PROGRAM(p);

	(void)state;
	make_deadlock(&p);
	assert_answers(&p, "async deadlocks",
	               "deadlock: task 1 holds Mutex 0xa0 (`guard` at src/x.rs:41) and waits for "
	               "Mutex 0xb0; task 2 holds Mutex 0xb0 (`guard` at src/x.rs:55) and waits for "
	               "Mutex 0xa0\n"
	               "   1 more stands behind it: task 4\n"
	               "Task: 1 (idle)\n"
	               "#0 async fn app::a suspended at src/x.rs:12\n"
	               "#1 mutex\n"
	               "Task: 2 (idle)\n"
	               "#0 async fn app::b suspended at src/x.rs:12\n"
	               "#1 mutex\n");
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 16);

	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
	fclose(f);
	return text;
}

/* Names of a program may hold anything. */
static void dot_escapes(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };
	char path[] = "/tmp/asyncdbg-dot-XXXXXX", line[64];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	add_task(&p, 1, calls(&p, "app::\"a\\\"\n];", joins(&p, 2)));
	add_task(&p, 2, calls(&p, "app::b", sleeps(&p)));
	finish_program(&p);
	snprintf(line, sizeof(line), "async graph --dot %s", path);
	ask(&c, &s, &p, line, TEXT);
	assert_string_equal(c.answers, "");
	assert_non_null(strstr(c.messages, ": 2 nodes, 1 edges\n"));
	char *text = read_file(path);
	assert_non_null(strstr(text, "  n1 [shape=box, label=\"task 1\\napp::\\\"a\\\\\\\"?];\\n"
	                             "src/x.rs:12\"];\n"));
	assert_non_null(strstr(text, "  n1 -> n2 [label=\"join\"];\n"));
	free(text);
	unlink(path);
	session_close(&s);
}

static void dot_to_nowhere(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };

	(void)state;
	make_deadlock(&p);
	catch (&c, TEXT);
	struct error *err = run_line(&c, &s, &p.s, "async graph --dot /nowhere/x.dot");
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_OS);
	error_free(err);
	session_close(&s);
}

/* ---- check ---- */

static unsigned finding_of(const struct program *p, const char *line, const char *expected)
{
	CAUGHT(c);
	struct session s = { 0 };

	ask(&c, &s, p, line, TEXT);
	if (expected && !strstr(c.answers, expected))
		fail_msg("%s answers %s", line, c.answers);
	unsigned finding = s.finding;
	session_close(&s);
	return finding;
}

static void check_fails_on_errors(void **state)
{
	PROGRAM(p);

	(void)state;
	make_deadlock(&p);
	assert_int_equal(finding_of(&p, "check", "error: deadlock: task 1 holds Mutex 0xa0"),
	                 STATUS_FOUND);
	assert_int_equal(finding_of(&p, "check --fail-on deadlock", NULL), STATUS_FOUND);
	assert_int_equal(finding_of(&p, "check --fail-on no-waker,deadlock", NULL), STATUS_FOUND);
	assert_int_equal(finding_of(&p, "check --fail-on futurelock,no-waker", NULL), 0);
	finding_of(&p, "check", "1 more behind (more: async deadlocks)\n");
	finding_of(&p, "check", "not checked: long-poll: it takes two looks at a live process\n");
}

static void check_refuses(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "check --fail-on deadlok", "\"deadlok\" is no check; there are deadlock, "
		                             "futurelock, no-waker, blocked-worker, long-poll, "
		                             "starved-queue, panicked-task, closed-channel-wait, "
		                             "huge-future, many-identical" },
		{ "check --interval x", "\"x\" is not a number of seconds" },
		{ "check --interval -1", "\"-1\" is not a number of seconds" },
		{ "check --interval 1e9", "\"1e9\" is not a number of seconds" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		PROGRAM(p);
		CAUGHT(c);
		struct session s = { 0 };

		finish_program(&p);
		catch (&c, TEXT);
		struct error *err = run_line(&c, &s, &p.s, cases[i].line);
		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
		assert_string_equal(err->message, cases[i].message);
		error_free(err);
		session_close(&s);
	}
}

static void check_of_tasks(void **state)
{
	PROGRAM(p);
	struct future *closed = with(&p, leaf(&p, "oneshot", A), "sender_alive", DETAIL_BOOL, 0);
	struct future *panicked = calls(&p, "app::p", sleeps(&p));

	(void)state;
	with(&p, closed, "value_there", DETAIL_BOOL, 0);
	add_task(&p, 1, calls(&p, "app::a", closed));
	add_task(&p, 2, calls(&p, "app::w", leaf(&p, "nothing", 0)));
	add_task(&p, 3, calls(&p, "app::w", leaf(&p, "nothing", 0)));
	panicked->children[0]->state = FUTURE_PANICKED;
	add_task(&p, 4, panicked);
	struct task *large = add_task(&p, 5, calls(&p, "app::l", sleeps(&p)));
	large->type = "app::l";
	large->size = 20000;
	finish_program(&p);
	finding_of(&p, "check",
	           "warning: no-waker: 2 tasks sleep, and nothing that they can reach has their "
	           "waker");
	finding_of(&p, "check",
	           "warning: panicked-task: task 4 has a future that panicked, in app::p at "
	           "src/x.rs:12 (more: async task 4)\n");
	finding_of(&p, "check",
	           "warning: closed-channel-wait: task 1 sleeps at a channel whose other end is "
	           "gone, in app::a at src/x.rs:12");
	assert_int_equal(finding_of(&p, "check",
	                            "info: huge-future: task 5 has a future of 20000 bytes, in "
	                            "app::l"),
	                 0);
	assert_int_equal(finding_of(&p, "check --fail-on huge-future", NULL), STATUS_FOUND);
}

static void a_select_is_woken_by_its_timer(void **state)
{
	PROGRAM(p);

	(void)state;
	add_task(&p, 1,
	         calls(&p, "app::w", as(leaf(&p, "nothing", 0), "select arm 0"),
	               as(sleeps(&p), "select arm 1")));
	finish_program(&p);
	assert_answers(&p, "check",
	               "nothing found\n"
	               "not checked: long-poll: it takes two looks at a live process\n");
}

static void many_identical(void **state)
{
	PROGRAM(p);

	(void)state;
	for (uint64_t i = 1; i <= 1200; i++)
		add_task(&p, i, calls(&p, i % 3 ? "app::a" : "app::b", sleeps(&p)));
	finish_program(&p);
	finding_of(&p, "check",
	           "info: many-identical: 800 tasks await at one place (of 1200), in app::a at "
	           "src/x.rs:12; the first is task 1");
}

static struct wait *sits_in(struct program *p, const char *kind)
{
	struct wait *w = NEW(&p->s.arena, struct wait);

	w->kind = kind;
	w->phrase = arena_printf(&p->s.arena, "%s at 0xa0", kind);
	return w;
}

static void check_of_workers(void **state)
{
	PROGRAM(p);

	(void)state;
	struct thread_info *th = add_thread(&p, THREAD_WORKER, NULL);
	th->task = "7";
	th->wait = sits_in(&p, "std_mutex");
	th->has_queue = true;
	th->queue_len = 2;
	finish_program(&p);
	p.s.runtimes[0].has_inject = true;
	p.s.runtimes[0].inject_len = 9;
	finding_of(&p, "check",
	           "warning: blocked-worker: thread #1 polling task 7 sits in std_mutex at 0xa0 "
	           "(more: thread 1)\n");
	finding_of(&p, "check",
	           "error: starved-queue: 9 tasks in the queue of runtime 0, and all its 1 workers "
	           "are blocked (more: info threads)\n");
	finding_of(&p, "check",
	           "warning: starved-queue: 2 tasks in the queue of thread #1, which is blocked");
	/* A socket does not block, and a free worker takes what is queued. */
	p.threads.data[0].wait = sits_in(&p, "syscall");
	assert_answers(&p, "check",
	               "nothing found\n"
	               "not checked: long-poll: it takes two looks at a live process\n");
	p.s.runtimes[0].has_inject = false;
}

/* The table: names are what --fail-on takes. */
static void checks_are_in_order(void **state)
{
	(void)state;
	for (const struct check *c = check_table; c->name; c++) {
		assert_non_null(c->run);
		assert_non_null(c->what);
		assert_null(strchr(c->name, ','));
		for (const struct check *other = c + 1; other->name; other++)
			assert_string_not_equal(c->name, other->name);
		assert_non_null(strstr(check_command.help, c->name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graph_as_text),
		cmocka_unit_test(graph_of_one_task),
		cmocka_unit_test(nothing_waits),
		cmocka_unit_test(deadlocks_as_text),
		cmocka_unit_test(dot_escapes),
		cmocka_unit_test(dot_to_nowhere),
		cmocka_unit_test(check_fails_on_errors),
		cmocka_unit_test(check_refuses),
		cmocka_unit_test(check_of_tasks),
		cmocka_unit_test(a_select_is_woken_by_its_timer),
		cmocka_unit_test(many_identical),
		cmocka_unit_test(check_of_workers),
		cmocka_unit_test(checks_are_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

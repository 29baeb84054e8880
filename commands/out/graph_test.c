/* Tests of the wait-for graph, verdicts and findings as text, JSON and DOT. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/shell/execute.h"
#include "commands/test/answer.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/checks.h"
#include "runtimes/test/graph.h"

enum { A = 0xa0, B = 0xb0 };

static void finish_program(struct program *p)
{
	judge(p);
	p->s.target.kind = "core";
	p->s.target.core = "core";
	p->s.complete = true;
	snapshot_number_frames(&p->s);
}

/* Two tasks that wait for each other, one behind them, and one with a timer. */
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

/* Runs a line and captures its output. */
static void ask(struct caught *c, struct session *s, const struct program *p, const char *line,
                enum format format)
{
	c->options.cut = format == TEXT;
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

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

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

/* An arm of a select! that others may wake is one line, with the wakers below it. */
static void arms_are_shown_once(void **state)
{
	PROGRAM(p);

	(void)state;
	struct task *one = add_task(&p, 1, calls(&p, "app::a", sleeps(&p)));
	add_task(&p, 2,
	         calls(&p, "app::b", as(leaf(&p, "notify", A), "select arm 0"),
	               as(sleeps(&p), "select arm 1"),
	               as(leaf(&p, "cancellation", B), "select arm 2")));
	holds(&p, one, HOLDING_WAKER, "notify", A);
	finish_program(&p);
	assert_answers(&p, "async graph 2",
	               "task 2 app::b at src/x.rs:12\n"
	               "   waits for any of (select):\n"
	               "      notify 0xa0 [notify]\n"
	               "         known to task 1 (`guard` at src/x.rs:41)\n"
	               "         and others\n"
	               "      sleep\n"
	               "      cancellation\n");
}

/* Where all references are known, there are no others. */
static void all_that_know_are_shown(void **state)
{
	PROGRAM(p);

	(void)state;
	struct task *one = add_task(&p, 1, calls(&p, "app::a", sleeps(&p)));
	add_task(&p, 2, calls(&p, "app::b", leaf(&p, "notify", A)));
	holds(&p, one, HOLDING_WAKER, "notify", A)->nobody_else = true;
	finish_program(&p);
	assert_answers(&p, "async graph 2",
	               "task 2 app::b at src/x.rs:12\n"
	               "   waits for notify 0xa0 [notify]\n"
	               "      known to task 1 (`guard` at src/x.rs:41)\n");
}

/* Without a known declaration, the line of the await is printed, and labelled as such. */
static void lines_of_awaits_are_shown_as_that(void **state)
{
	PROGRAM(p);

	(void)state;
	struct task *one = add_task(&p, 1, calls(&p, "app::a", sleeps(&p)));
	struct holding *h;
	add_task(&p, 2, calls(&p, "app::b", locks(&p, "mutex", A, 1)));
	add_task(&p, 3, calls(&p, "app::c", locks(&p, "mutex", B, 1)));
	guards(&p, one, "mutex", A)->declared = false;
	h = guards(&p, NULL, "mutex", B);
	h->declared = false;
	h->line = 77;
	add_thread(&p, THREAD_OTHER, NULL);
	finish_program(&p);
	assert_answers(&p, "async graph 2",
	               "task 2 app::b at src/x.rs:12\n"
	               "   waits for Mutex 0xa0 [mutex]\n"
	               "      held by task 1 (`guard`, awaiting at src/x.rs:41)\n");
	assert_answers(&p, "async graph 3",
	               "task 3 app::c at src/x.rs:12\n"
	               "   waits for Mutex 0xb0 [mutex]\n"
	               "      held by thread #1 (`guard`, running at src/x.rs:77)\n");
}

/* Two equal holdings in one place are printed once. */
static void candidates_are_shown_once(void **state)
{
	PROGRAM(p);

	(void)state;
	struct task *one = add_task(&p, 1, calls(&p, "app::a", sleeps(&p)));
	add_task(&p, 2, calls(&p, "app::b", locks(&p, "semaphore", A, 1)));
	for (int i = 0; i < 3; i++)
		guards(&p, one, "semaphore", A)->line = i < 2 ? 41 : 50;
	finish_program(&p);
	assert_answers(&p, "async graph 2",
	               "task 2 app::b at src/x.rs:12\n"
	               "   waits for Semaphore 0xa0 [semaphore]\n"
	               "      held by task 1 (`guard` at src/x.rs:41), 2 times ! unless permits "
	               "are held elsewhere or added\n"
	               "      held by task 1 (`guard` at src/x.rs:50) ! unless permits are held "
	               "elsewhere or added\n");
}

/* On a terminal, only the first of many nodes are printed, stuck ones first. */
static void many_are_cut_on_a_terminal(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 120; i++)
		add_task(&p, i, calls(&p, "app::a", joins(&p, 200)));
	add_task(&p, 200, calls(&p, "app::b", sleeps(&p)));
	guards(&p, add_task(&p, 201, calls(&p, "app::c", locks(&p, "mutex", A, 1))), "mutex", A);
	finish_program(&p);
	c.options.group = true;
	ask(&c, &s, &p, "async graph", TEXT);
	const char *body = strchr(c.answers, '\n') + 1;
	assert_ptr_equal(strstr(body, "task 201 app::c at src/x.rs:12 [stuck]\n"), body);
	assert_int_equal(count(body, "waits for task 200"), 99);
	assert_non_null(strstr(body, "\n21 more wait; async graph ID shows what concerns one task, "
	                             "and a file or pipe gets all\n"));
	session_close(&s);
	assert_int_equal(finding_of(&p, "async graph", "\ntask 201 app::c"), 0);
}

/* Nodes unrelated to the task are not shown. */
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

/* A program that could not be read, such as a stripped one, is not reported to be in order. */
static void nothing_was_looked_at(void **state)
{
	PROGRAM(p);

	(void)state;
	finish_program(&p);
	p.s.nruntimes = 0;
	p.s.complete = false;
	assert_answers(&p, "async graph",
	               "no wait for another task was found, but no runtime either: see notes\n");
	assert_answers(&p, "async deadlocks",
	               "no deadlock found, but no runtime either: see notes\n");
}

static void deadlocks_as_text(void **state)
{
	PROGRAM(p);

	(void)state;
	make_deadlock(&p);
	assert_answers(
		&p, "async deadlocks",
		"deadlock: task 1 holds Mutex 0xa0 (`guard` at src/x.rs:41) and waits for Mutex "
		"0xb0; task 2 holds Mutex 0xb0 (`guard` at src/x.rs:55) and waits for Mutex 0xa0\n"
		"   1 more waits behind it: task 4\n"
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
	assert_non_null(strstr(c.messages, ": 2 nodes, 1 edge\n"));
	char *text = read_file(path);
	assert_non_null(strstr(text, "  n1 [shape=box, label=\"task 1\\napp::\\\"a\\\\\\\"?];\\n"
	                             "src/x.rs:12\"];\n"));
	assert_non_null(strstr(text, "  n1 -> n2 [label=\"join\"];\n"));
	free(text);
	unlink(path);
	session_close(&s);
}

static void dot_to_standard_output(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };

	(void)state;
	make_deadlock(&p);
	ask(&c, &s, &p, "async graph --dot -", TEXT);
	assert_ptr_equal(strstr(c.answers, "digraph asyncdbg {\n"), c.answers);
	assert_non_null(strstr(c.answers, "}\n"));
	assert_string_equal(c.messages, "");
	assert_int_equal(access("-", F_OK), -1);
	session_close(&s);
}

/* With --json, the file and the counts of what was written are printed as JSON. */
static void what_was_written_as_json(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };
	char path[] = "/tmp/asyncdbg-dot-XXXXXX", line[64], expected[128];
	int fd = mkstemp(path);
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	make_deadlock(&p);
	snprintf(line, sizeof(line), "async graph --dot %s", path);
	ask(&c, &s, &p, line, JSONL);
	assert_int_equal(stat(path, &st), 0);
	char *text = read_file(path);
	snprintf(expected, sizeof(expected),
	         "\"written\":{\"file\":\"%s\",\"bytes\":%lld,\"nodes\":%zu,\"edges\":%zu}", path,
	         (long long)st.st_size, count(text, "shape="), count(text, " -> "));
	free(text);
	if (!strstr(c.answers, expected))
		fail_msg("%s", c.answers);
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

/* ---- those that are alike ---- */

enum { FIRST_LOCK = 0x100 };

/* A task that waits for a lock that it owns, and a task that waits behind it. */
static void add_futile(struct program *p, uint64_t id, const char *function)
{
	uint64_t lock = FIRST_LOCK * id;
	struct task *task = add_task(p, id, calls(p, function, locks(p, "mutex", lock, 1)));

	guards(p, task, "mutex", lock);
	add_task(p, id + 1, calls(p, "app::behind", joins(p, id)));
}

static void alike_are_one(void **state)
{
	PROGRAM(p);

	(void)state;
	for (uint64_t id = 10; id < 100; id += 10)
		add_futile(&p, id, "app::a");
	/* Its place differs. */
	add_futile(&p, 100, "app::b");
	/* A cycle of two is not alike to a cycle of one. */
	struct task *one = add_task(&p, 110, calls(&p, "app::a", locks(&p, "mutex", B, 1)));
	struct task *two = add_task(&p, 111, calls(&p, "app::a", locks(&p, "mutex", A, 1)));
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B);
	finish_program(&p);
	p.s.unsearched = (const char *[]){ "statics" };
	p.s.nunsearched = 1;
	assert_int_equal(p.verdicts->n, 11);
	assert_answers(
		&p, "async deadlocks",
		"deadlock: task 10 holds Mutex 0xa00 (`guard` at src/x.rs:41) and waits for it\n"
		"   8 more like it: task 20, task 30, task 40, task 50, task 60, task 70, task 80, "
		"task 90\n"
		"   9 more wait behind them: task 11, task 21, task 31, task 41, task 51, task 61, "
		"task 71, task 81, task 91\n"
		"Task: 10 (idle)\n"
		"#0 async fn app::a suspended at src/x.rs:12\n"
		"#1 mutex\n"
		"deadlock: task 100 holds Mutex 0x6400 (`guard` at src/x.rs:41) and waits for it\n"
		"   1 more waits behind it: task 101\n"
		"Task: 100 (idle)\n"
		"#0 async fn app::b suspended at src/x.rs:12\n"
		"#1 mutex\n"
		"deadlock: task 110 holds Mutex 0xa0 (`guard` at src/x.rs:41) and waits for Mutex "
		"0xb0; task 111 holds Mutex 0xb0 (`guard` at src/x.rs:41) and waits for Mutex "
		"0xa0\n"
		"Task: 110 (idle)\n"
		"#0 async fn app::a suspended at src/x.rs:12\n"
		"#1 mutex\n"
		"Task: 111 (idle)\n"
		"#0 async fn app::a suspended at src/x.rs:12\n"
		"#1 mutex\n"
		"not searched: statics\n");
	assert_answers(&p, "check",
	               "error: deadlock: task 10 holds Mutex 0xa00 (`guard` at src/x.rs:41) and "
	               "waits for it; 9 more behind this and similar ones (more: async deadlocks)\n"
	               "   8 more like it: task 20, task 30, task 40, task 50, task 60, task 70, "
	               "task 80, task 90\n"
	               "error: deadlock: task 100 holds Mutex 0x6400 (`guard` at src/x.rs:41) and "
	               "waits for it; 1 more behind (more: async deadlocks)\n"
	               "error: deadlock: task 110 holds Mutex 0xa0 (`guard` at src/x.rs:41) and "
	               "waits for Mutex 0xb0; task 111 holds Mutex 0xb0 (`guard` at src/x.rs:41) "
	               "and waits for Mutex 0xa0 (more: async deadlocks)\n"
	               "not checked: long-poll: it needs two looks at a live process\n"
	               "not searched: statics\n");
}

/* Callers may differ; text in backticks comes from the program and is never an id. */
static void alike_but_for_their_callers(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };

	(void)state;
	for (uint64_t id = 1; id <= 12; id++) {
		const char *name = arena_printf(&p.s.arena, "app::caller%u", (unsigned)(id % 5));
		struct future *work = calls(&p, "app::a", locks(&p, "mutex", FIRST_LOCK * id, 1));
		struct task *task = add_task(&p, id, calls(&p, name, work));

		guards(&p, task, "mutex", FIRST_LOCK * id)->path = id <= 10   ? "guard"
		                                                   : id == 11 ? "task 1"
		                                                              : "task 2";
	}
	finish_program(&p);
	ask(&c, &s, &p, "async deadlocks", TEXT);
	assert_non_null(strstr(c.answers, "   9 more like it: task 2, task 3, task 4, task 5, "
	                                  "task 6, task 7, task 8, task 9 and 1 more; their "
	                                  "outermost futures are app::caller1, app::caller2, "
	                                  "app::caller3 and 2 others\n"));
	assert_non_null(strstr(c.answers, "deadlock: task 11 holds"));
	assert_non_null(strstr(c.answers, "deadlock: task 12 holds"));
	session_close(&s);
}

/* JSON lists the first waiters of a long queue behind a future that is not polled, and counts all.
 */
static void a_long_queue_is_counted(void **state)
{
	static const char *const counts[] = { NULL, "\"queued_behind_count\":40" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		PROGRAM(p);
		CAUGHT(c);
		struct session s = { 0 };
		struct future *first =
			held(calls(&p, "app::add", locks(&p, "mutex", A, 1)), BRANCH_HELD);

		add_task(&p, 5, calls(&p, "app::keep", joins(&p, 6), first));
		for (int k = 0; k < (i ? 40 : 32); k++)
			add_task(&p, 6 + (uint64_t)k,
			         calls(&p, "app::f", locks(&p, "mutex", A, 2 + k)));
		guards(&p, add_task(&p, 100, calls(&p, "app::g", sleeps(&p))), "mutex", A);
		finish_program(&p);
		ask(&c, &s, &p, "async deadlocks", JSONL);
		assert_int_equal(count(c.answers, "queued_behind_count"), i);
		assert_non_null(strstr(c.answers, "\"queued_behind\":["));
		if (counts[i])
			assert_non_null(strstr(c.answers, counts[i]));
		session_close(&s);
	}
}

/* JSON has all verdicts, and which of them are alike. */
static void alike_as_json(void **state)
{
	PROGRAM(p);
	CAUGHT(c);
	struct session s = { 0 };
	size_t n = 0;

	(void)state;
	add_futile(&p, 10, "app::b");
	add_futile(&p, 20, "app::a");
	add_futile(&p, 30, "app::a");
	finish_program(&p);
	ask(&c, &s, &p, "async deadlocks", JSONL);
	assert_non_null(strstr(c.answers, "\"alike\":0}"));
	assert_non_null(strstr(c.answers, "\"alike\":1}"));
	assert_null(strstr(c.answers, "\"alike\":2}"));
	for (const char *at = c.answers; (at = strstr(at, "\"waiting_on\"")); at++)
		n++;
	assert_int_equal(n, 3);
	const char *unsearched = strstr(c.answers, "\"unsearched\"");
	assert_non_null(unsearched);
	assert_null(strstr(unsearched + 1, "\"unsearched\""));
	session_close(&s);
}

static void check_says_why_not(void **state)
{
	PROGRAM(p);

	(void)state;
	struct task *task = add_task(&p, 1, calls(&p, "app::a", locks(&p, "mutex", A, 1)));
	struct holding *h = guards(&p, task, "mutex", A);
	h->uncertain = h->sole = true;
	finish_program(&p);
	finding_of(&p, "check",
	           "error: deadlock: task 1 holds Mutex 0xa0 (`guard` at src/x.rs:41) and waits "
	           "for it "
	           "(more: async deadlocks)\n"
	           "   ! rests on guards or ends of channels that were found nowhere else, though "
	           "nothing proves that they are still there\n");
}

/* A liveness probe must not end a service because of an uncertain finding. */
static void what_is_only_possible_fails_by_name(void **state)
{
	PROGRAM(p);

	(void)state;
	struct future *inner = locks(&p, "mutex", A, 1);
	inner->edge = "holds";
	struct task *task = add_task(&p, 1, calls(&p, "app::Hand", inner));
	guards(&p, task, "mutex", A);
	finish_program(&p);
	assert_int_equal(finding_of(&p, "check", "warning: deadlock: possibly, task 1"), 0);
	assert_int_equal(finding_of(&p, "check --fail-on deadlock", NULL), 0);
	assert_int_equal(finding_of(&p, "check --fail-on deadlock:possible", NULL), STATUS_FOUND);
	assert_int_equal(finding_of(&p, "check --fail-on no-waker:possible,deadlock", NULL), 0);
	assert_int_equal(finding_of(&p, "check --fail-on 'no-waker, deadlock:possible '", NULL),
	                 STATUS_FOUND);
}

/* ---- check ---- */

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
	assert_int_equal(finding_of(&p, "check --fail-on 'no-waker, deadlock '", NULL),
	                 STATUS_FOUND);
	finding_of(&p, "check", "1 more behind (more: async deadlocks)\n");
	finding_of(&p, "check", "not checked: long-poll: it needs two looks at a live process\n");
}

static void check_refuses(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "check --fail-on deadlok",
		  "unknown check \"deadlok\"; the checks are deadlock, futurelock, no-waker, "
		  "blocked-worker, long-poll, starved-queue, timer-overdue, panicked-task, "
		  "closed-channel-wait, "
		  "huge-future, many-identical" },
		{ "check --fail-on huge-future:possible",
		  "\"huge-future:possible\": that check reports only what is certain; use "
		  "huge-future" },
		{ "check --fail-on 'deadlock, x'",
		  "unknown check \"x\"; the checks are deadlock, futurelock, no-waker, "
		  "blocked-worker, "
		  "long-poll, starved-queue, timer-overdue, panicked-task, closed-channel-wait, "
		  "huge-future, "
		  "many-identical" },
		{ "async graph --dot ''", "the file name is empty" },
		{ "save ''", "the file name is empty" },
		{ "report ''", "the file name is empty" },
		{ "report", "say which file to write: report FILE.html" },
		{ "check --interval x",
		  "\"x\" is not an interval: 5s, 200ms, 2m, 1h, up to a day" },
		{ "check --interval -1",
		  "\"-1\" is not an interval: 5s, 200ms, 2m, 1h, up to a day" },
		{ "check --interval 1e9",
		  "\"1e9\" is not an interval: 5s, 200ms, 2m, 1h, up to a day" },
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
	           "warning: no-waker: 2 tasks are suspended and have no waker: nothing can wake "
	           "them, in app::w at src/x.rs:12; the first is task 2");
	finding_of(&p, "check",
	           "warning: panicked-task: task 4 has a future that panicked, in app::p at "
	           "src/x.rs:12 (more: async task 4)\n");
	finding_of(&p, "check",
	           "warning: closed-channel-wait: task 1 waits on a channel whose other end is "
	           "gone, in app::a at src/x.rs:12");
	assert_int_equal(finding_of(&p, "check",
	                            "info: huge-future: task 5 has a future of 20000 bytes, in "
	                            "app::l"),
	                 0);
	assert_int_equal(finding_of(&p, "check --fail-on huge-future", NULL), STATUS_FOUND);
}

static struct future *unarmed(struct program *p, const char *kind)
{
	struct future *f = leaf(p, kind, A);

	f->wait->armed = WAKER_REGISTERED_NO;
	return f;
}

/* Waits at two things. */
static struct task *without_waker(struct program *p, struct future *one, struct future *two)
{
	struct task *task = add_task(p, 1, calls(p, "app::w", one, two));

	task->has_wakers = true;
	finish_program(p);
	return task;
}

static bool has_no_waker(struct program *p)
{
	struct session s = { 0 };
	bool found;
	CAUGHT(c);

	catch (&c, TEXT);
	assert_null(run_line(&c, &s, &p->s, "check"));
	found = strstr(c.answers, "no-waker: task 1 is suspended and has no waker") != NULL;
	session_close(&s);
	return found;
}

static void tasks_without_wakers(void **state)
{
	static const enum task_state others[] = { TASK_SCHEDULED, TASK_RUNNING, TASK_COMPLETE };
	PROGRAM(both);
	PROGRAM(one);
	PROGRAM(on_purpose);
	PROGRAM(never);

	(void)state;
	struct task *task = without_waker(&both, unarmed(&both, "mutex"), unarmed(&both, "sleep"));
	assert_true(has_no_waker(&both));
	task->wakers = 1;
	assert_false(has_no_waker(&both));
	task->wakers = 0;
	task->has_wakers = false;
	assert_false(has_no_waker(&both));
	task->has_wakers = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		task->state = others[i];
		assert_false(has_no_waker(&both));
	}
	/* A leaf that contradicts the count. */
	task = without_waker(&one, unarmed(&one, "mutex"), sleeps(&one));
	assert_false(has_no_waker(&one));
	without_waker(&on_purpose, unarmed(&on_purpose, "pending"), unarmed(&on_purpose, "sleep"));
	assert_true(has_no_waker(&on_purpose));
	without_waker(&never, unarmed(&never, "pending"), unarmed(&never, "pending"));
	assert_false(has_no_waker(&never));
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
	               "not checked: long-poll: it needs two looks at a live process\n");
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
	           "warning: blocked-worker: thread #1 polling task 7 is blocked in std_mutex at "
	           "0xa0 (more: thread 1)\n");
	finding_of(
		&p, "check",
		"error: starved-queue: 9 tasks in the queue of runtime 0, and its only worker is "
		"blocked (more: info threads)\n");
	finding_of(&p, "check",
	           "warning: starved-queue: 2 tasks in the queue of thread #1, which is blocked");
	/* A socket does not block, and a free worker takes what is queued. */
	p.threads.data[0].wait = sits_in(&p, "syscall");
	assert_answers(&p, "check",
	               "nothing found\n"
	               "not checked: long-poll: it needs two looks at a live process\n");
	p.s.runtimes[0].has_inject = false;
}

/* The names in the table are those that --fail-on takes. */
static void checks_are_in_order(void **state)
{
	(void)state;
	for (const struct check *c = checks_table; c->name; c++) {
		assert_non_null(c->run);
		assert_non_null(c->what);
		assert_null(strchr(c->name, ','));
		for (const struct check *other = c + 1; other->name; other++)
			assert_string_not_equal(c->name, other->name);
		assert_non_null(strstr(check_command.help, c->name));
	}
}

/* A thread in block_on that waits for a lock of threads. */
static struct thread_info *make_blocked(struct program *p)
{
	struct thread_info *th = add_thread(p, THREAD_BLOCK_ON, calls(p, "app::root", sleeps(p)));

	th->wait = NEW(&p->s.arena, struct wait);
	*th->wait = (struct wait){ .kind = "std_mutex", .object = A, .primitive = A };
	th->wait->phrase = "std Mutex lock";
	return th;
}

/* The thread of a block_on is not said to run on itself. */
static void a_block_on_that_runs_a_task(void **state)
{
	PROGRAM(p);

	(void)state;
	struct task *task = add_task(&p, 7, calls(&p, "app::a", sleeps(&p)));
	task->state = TASK_RUNNING;
	task->thread = 1;
	make_blocked(&p)->task = task->id;
	finish_program(&p);
	assert_answers(&p, "async graph",
	               "task 7 app::a at src/x.rs:12\n"
	               "   runs on thread #1\n"
	               "thread #1 app::root at src/x.rs:12\n"
	               "   runs task 7\n");
}

static void a_block_on_that_waits_for_a_lock(void **state)
{
	PROGRAM(p);

	(void)state;
	make_blocked(&p);
	finish_program(&p);
	assert_answers(&p, "async graph",
	               "thread #1 app::root at src/x.rs:12\n"
	               "   waits for std Mutex lock\n");
}

/* Only one is the only candidate. Lines of equal candidates are printed once. */
static void only_one_is_the_only_candidate(void **state)
{
	struct holding *h;
	PROGRAM(p);

	(void)state;
	struct task *one = add_task(&p, 1, calls(&p, "app::a", sleeps(&p)));
	struct task *two = add_task(&p, 2, calls(&p, "app::b", sleeps(&p)));
	add_task(&p, 3, calls(&p, "app::c", locks(&p, "mutex", A, 1)));
	add_task(&p, 4, calls(&p, "app::d", locks(&p, "rwlock_write", B, 1)));
	for (int i = 0; i < 4; i++) {
		h = guards(&p, i == 3 ? two : one, i ? "rwlock_read" : "mutex", i ? B : A);
		h->uncertain = h->sole = true;
	}
	finish_program(&p);
	assert_answers(&p, "async graph 3",
	               "task 3 app::c at src/x.rs:12\n"
	               "   waits for Mutex 0xa0 [mutex]\n"
	               "      held by task 1 (`guard` at src/x.rs:41), the only candidate\n");
	assert_answers(&p, "async graph 4",
	               "task 4 app::d at src/x.rs:12\n"
	               "   waits for RwLock 0xb0 [rwlock_write]\n"
	               "      held by task 1 (`guard` at src/x.rs:41), 2 times, 2 of the only 3 "
	               "candidates\n"
	               "      held by task 2 (`guard` at src/x.rs:41), one of the only 3 "
	               "candidates\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graph_as_text),
		cmocka_unit_test(a_long_queue_is_counted),
		cmocka_unit_test(arms_are_shown_once),
		cmocka_unit_test(all_that_know_are_shown),
		cmocka_unit_test(a_block_on_that_runs_a_task),
		cmocka_unit_test(a_block_on_that_waits_for_a_lock),
		cmocka_unit_test(lines_of_awaits_are_shown_as_that),
		cmocka_unit_test(candidates_are_shown_once),
		cmocka_unit_test(only_one_is_the_only_candidate),
		cmocka_unit_test(many_are_cut_on_a_terminal),
		cmocka_unit_test(graph_of_one_task),
		cmocka_unit_test(nothing_waits),
		cmocka_unit_test(nothing_was_looked_at),
		cmocka_unit_test(deadlocks_as_text),
		cmocka_unit_test(alike_are_one),
		cmocka_unit_test(alike_but_for_their_callers),
		cmocka_unit_test(alike_as_json),
		cmocka_unit_test(check_says_why_not),
		cmocka_unit_test(dot_escapes),
		cmocka_unit_test(dot_to_standard_output),
		cmocka_unit_test(what_was_written_as_json),
		cmocka_unit_test(dot_to_nowhere),
		cmocka_unit_test(check_fails_on_errors),
		cmocka_unit_test(what_is_only_possible_fails_by_name),
		cmocka_unit_test(check_refuses),
		cmocka_unit_test(check_of_tasks),
		cmocka_unit_test(tasks_without_wakers),
		cmocka_unit_test(a_select_is_woken_by_its_timer),
		cmocka_unit_test(many_identical),
		cmocka_unit_test(check_of_workers),
		cmocka_unit_test(checks_are_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

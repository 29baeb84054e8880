/* Tests of `tasks`: filters, counts, groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/test/answer.h"
#include "debugger/base/marked.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/field.h"

/* Ten tasks: 10..15 sleep in serve, 16..18 wait for a mutex there, 19 has no tree. */
static struct snapshot *make_many(void)
{
	struct snapshot *s = make_snapshot();
	struct arena *a = &s->arena;

	s->ntasks = 10;
	s->tasks = NEW_ARRAY(a, struct task *, s->ntasks);
	for (unsigned i = 0; i < s->ntasks; i++) {
		struct future *leaf = make_sleep(a);

		leaf->wait->details[0].number = 1000 * (int64_t)i;
		const char *text = arena_printf(
			a, "sleep future, sleeping " MARKED_NUMBER("%u") " seconds", i);
		if (i >= 6) {
			leaf->wait->kind = "mutex";
			text = i == 6 ? "mutex lock, " MARKED_QUEUE("first in its queue")
			              : "mutex lock, " MARKED_QUEUE("1 task ahead in its queue");
			leaf->wait->ndetails = 0;
			leaf->wait->task = "16";
		}
		leaf->wait->phrase = marked_finish(a, text, &leaf->wait->phrase_parts);
		leaf = make_await(a, "app::get", 0, "src/get.rs", i < 6 ? 4 : 9, leaf);
		s->tasks[i] = make_task(a, 10 + i, 0, TASK_IDLE,
		                        make_await(a, "app::serve", 0, "src/serve.rs", 21, leaf));
	}
	s->tasks[2]->state = TASK_SCHEDULED;
	s->tasks[9]->root = NULL;
	s->tasks[9]->type = "app::Gone";
	s->tasks[9]->problem = "not readable";
	snapshot_number_frames(s);
	return s;
}

#define MANY(name) struct snapshot *name CLEANUP(free_snapshot) = make_many()

/* The answer without its first line, the subject. */
static const char *answer(struct caught *c, const struct snapshot *s, const char *line)
{
	struct session session = { 0 };
	struct error *err CLEANUP(error_freep) = run_line(c, &session, s, line);

	if (err)
		return arena_strdup(&c->out->arena, err->message);
	const char *end = strchr(c->answers, '\n');
	return end ? end + 1 : c->answers;
}

/* Checks the ids of the tasks that pass a condition. */
static void assert_chosen(const char *line, const char *expected)
{
	MANY(s);
	CAUGHT(c);
	STR(ids);

	catch (&c, TEXT);
	for (const char *row = strchr(answer(&c, s, line), '\n'); row && row[1];
	     row = strchr(row + 1, '\n')) {
		char state[16];
		unsigned id;

		/* The last line begins with a number, too. */
		if (sscanf(row + 1, "%u %15s", &id, state) == 2 && strcmp(state, "of") != 0)
			str_printf(&ids, "%s%u", ids.len ? " " : "", id);
	}
	assert_string_equal(str_text(&ids), expected);
}

static void chooses(void **state)
{
	(void)state;
	assert_chosen("tasks --with id 12", "12");
	assert_chosen("tasks --with id '>17'", "18 19");
	assert_chosen("tasks --with id '>=17' --with id '!=18'", "17 19");
	assert_chosen("tasks --with id 11..13", "11 12 13");
	assert_chosen("tasks --with id '^1[12]$'", "11 12");
	assert_chosen("tasks --with state sched", "12");
	assert_chosen("tasks --without state idle", "12");
	assert_chosen("tasks --with function '::get$' --without id '<15'", "15 16 17 18");
	assert_chosen("tasks --with location 'get.rs:9'", "16 17 18");
	assert_chosen("tasks --with waiting_on mutex", "16 17 18");
	assert_chosen("tasks --with waiting_on first", "16");
	assert_chosen("tasks --with task 16", "16 17 18");
	assert_chosen("tasks --with remaining_ms '<2000'", "10 11");
	assert_chosen("tasks --with armed yes --with id '<12'", "10 11");
	assert_chosen("tasks --with armed no", "");
	assert_chosen("tasks --with depth 3 --with id '>15'", "16 17 18");
	assert_chosen("tasks --with frames '<3'", "19");
	assert_chosen("tasks --with leaves 0", "19");
	assert_chosen("tasks --with problem readable", "19");
	assert_chosen("tasks --with type Gone", "19");
	assert_chosen("tasks --with runtime 0 --with runtime multi --limit 2", "10 11");
	assert_chosen("tasks --with thread 1", "");
	assert_chosen("tasks --with object '^0x7f00$' --with id '<12'", "10 11");
}

static void refuse(const char *line, const char *reason)
{
	MANY(s);
	CAUGHT(c);
	struct session session = { 0 };

	catch (&c, TEXT);
	struct error *err CLEANUP(error_freep) = run_line(&c, &session, s, line);

	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
	assert_non_null(strstr(err->message, reason));
	assert_int_equal(c.nanswers, 0);
}

static void refuses(void **state)
{
	(void)state;
	refuse("tasks --with nonsense 1", ": id, kind, state");
	refuse("tasks --with state '('", "not a valid regular expression");
	refuse("tasks --with depth deep", "depth is a number");
	refuse("tasks --with depth '>'", "depth is a number");
	refuse("tasks --with depth 1..", "depth is a number");
	refuse("tasks --with depth 99999999999999999999", "depth is a number");
	refuse("tasks --with depth '>9223372036854775807'", "depth is a number");
	refuse("tasks --limit many", "a number of tasks");
	refuse("tasks --group remaining_ms", "cannot be grouped by remaining_ms");
	refuse("tasks --group state --exec info", "cannot be combined");
	refuse("tasks --exec 'nonsense {}'", "unknown command");
	refuse("tasks --exec 'tasks --exec info'", "cannot be nested");
	refuse("tasks --exec ''", "needs a command");
	refuse("async bt all --group --no-group", "cannot be combined");
	refuse("async bt all --without state '['", "not a valid regular expression");
}

static void cuts(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(c);

	catch (&c, TEXT);
	assert_string_equal(answer(&c, s, "tasks --with state idle --limit 1"),
	                    "ID  STATE  RUNTIME  AWAITING AT   WAITING ON                        "
	                    "ROOT FUTURE\n"
	                    "10  idle         0  src/get.rs:4  sleep future, sleeping 0 seconds  "
	                    "app::serve\n"
	                    "9 of 10 tasks match; showing 1 of 9 tasks, --limit 0 shows all\n");
}

static void places(void **state)
{
	static const struct source_place spawned = { "/a/src/main.rs", "src/main.rs", 42 };
	static const struct source_place defined = { "/a/src/get.rs", "src/get.rs", 3 };

	(void)state;
	MANY(s);
	CAUGHT(c);

	catch (&c, TEXT);
	s->tasks[0]->spawned_at = s->tasks[3]->spawned_at = &spawned;
	s->tasks[0]->defined_at = &defined;
	assert_non_null(strstr(answer(&c, s, "tasks --with spawned_at 'main.rs:42$'"),
	                       "2 of 10 tasks match"));
	assert_non_null(strstr(answer(&c, s, "tasks --with defined_at '^/a/src/get'"),
	                       "1 of 10 tasks match"));
	assert_non_null(strstr(answer(&c, s, "tasks --group spawned_at"), "2  src/main.rs:42 "));
	assert_non_null(strstr(answer(&c, s, "async task 10"),
	                       "Task: 10 (idle) spawned at src/main.rs:42\n"));
	assert_non_null(strstr(answer(&c, s, "async task 10"), ", defined at src/get.rs:3\n"));
	assert_non_null(
		strstr(answer(&c, s, "async bt all -v"),
	               "Task: 10 (idle) spawned at src/main.rs:42, defined at src/get.rs:3"));
}

/* A job that waits for a lock, one that blocks on a future, and two that are queued. */
static void add_jobs(struct snapshot *s)
{
	struct thread_info *th = &s->threads[3];

	s->jobs = NEW_ARRAY(&s->arena, struct job, 4);
	s->njobs = 4;
	s->jobs[0] = (struct job){
		.id = "31", .thread = 4, .addr = 0x7100, .function = "app::hash", .type = "Hash"
	};
	s->jobs[1] = (struct job){ .id = "32", .runtime = -1, .thread = 5, .function = "app::sum" };
	s->jobs[2] = (struct job){ .id = "33", .ahead = 0, .function = "app::hash" };
	s->jobs[3] = (struct job){ .id = "34", .ahead = JOB_NO_ORDER };
	th->wait = NEW(&s->arena, struct wait);
	*th->wait = (struct wait){ .kind = "std_mutex", .phrase = "std mutex at 0x10" };
	th[1].role = THREAD_BLOCKING;
	th[1].root = make_sleep(&s->arena);
}

static void jobs_are_rows(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(c);

	add_jobs(s);
	catch (&c, TEXT);
	assert_string_equal(
		answer(&c, s, "tasks --with id '>30'"),
		"ID  KIND      STATE            RUNTIME  AWAITING AT  WAITING ON"
		"                                              ROOT FUTURE\n"
		"31  blocking  running #4             0  -            std mutex at 0x10"
		"                                       app::hash\n"
		"32  blocking  running #5             -  -            sleep future, sleeping "
		"already happened 18 seconds ago  app::sum\n"
		"33  blocking  queued, 0 ahead        0  -            -"
		"                                                       app::hash\n"
		"34  blocking  queued                 0  -            -"
		"                                                       -\n"
		"0 of 10 tasks and 4 of 4 blocking jobs match\n");
}

static void chooses_jobs(void **state)
{
	static const char *const lines[][2] = {
		{ "tasks --with kind blocking", "31 32 33 34" },
		{ "tasks --with kind task --with id '>17'", "18 19" },
		{ "tasks --with function hash", "31 33" },
		{ "tasks --with state sched", "12 33 34" },
		{ "tasks --with thread 4", "31" },
		{ "tasks --with waiting_on 'std mutex'", "31" },
		{ "tasks --with type Hash", "31" },
		{ "tasks --with kind blocking --limit 3", "31 32 33" },
		{ "tasks --with id '>18' --limit 2", "19 31" },
		{ "async bt all --with kind blocking --with id '>32'", "33 34" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		MANY(s);
		CAUGHT(c);
		STR(ids);

		add_jobs(s);
		catch (&c, TEXT);
		const char *row = answer(&c, s, lines[i][0]);

		while (*row) {
			char word[16];
			unsigned id;

			if ((sscanf(row, "%u %15s", &id, word) == 2 && strcmp(word, "of") != 0) ||
			    sscanf(row, "Task: %u", &id) == 1)
				str_printf(&ids, "%s%u", ids.len ? " " : "", id);
			row += strcspn(row, "\n") + 1;
		}
		assert_string_equal(str_text(&ids), lines[i][1]);
	}
}

static void cuts_jobs(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(c);

	add_jobs(s);
	catch (&c, TEXT);
	assert_non_null(
		strstr(answer(&c, s, "tasks --limit 11"),
	               "\nshowing all tasks and 1 of 4 blocking jobs, --limit 0 shows all\n"));
	assert_non_null(strstr(answer(&c, s, "tasks --limit 2"),
	                       "\nshowing 2 of 10 tasks and 0 of 4 blocking jobs, --limit 0"));
}

static void one_job(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(c);

	add_jobs(s);
	catch (&c, TEXT);
	assert_non_null(strstr(answer(&c, s, "async task 31"),
	                       "Task: 31 (blocking, running on thread #4) app::hash\n"
	                       "     header 0x7100, runtime 0 (multi_thread, 2 workers)\n"
	                       "     spawned Hash\n"
	                       "Thread #4 (pid: 28409"));
	assert_non_null(strstr(answer(&c, s, "async task 33"),
	                       "Task: 33 (blocking, queued, 0 ahead of it) app::hash\n"
	                       "     runtime 0 (multi_thread, 2 workers)\n"
	                       "     threads of its pool run: 31 (thread #4)\n"));
	assert_non_null(strstr(answer(&c, s, "task 32"), "#0 sleep future"));
}

static struct future *wrapper(struct arena *a, const char *function, struct future *child)
{
	struct future *f = make_future(a, FUTURE_OTHER, function, child);

	child->edge = "await";
	f->wraps = true;
	return f;
}

/* One or more wrappers are skipped when a task is named; other futures are not. */
static void wrappers_are_looked_through(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(text);
	CAUGHT(json);
	struct arena *a = &s->arena;
	struct future *limit, *delay = make_sleep(a);

	s->tasks[0]->root = wrapper(a, "tracing::Instrumented", s->tasks[0]->root);
	limit = wrapper(a, "tokio::Timeout", s->tasks[1]->root);
	delay->edge = "deadline";
	make_fork(a, limit, 2, (struct future *[]){ delay, limit->children[0] });
	s->tasks[1]->root = wrapper(a, "tracing::Instrumented", limit);
	s->tasks[2]->root = wrapper(a, "app::Hand", s->tasks[2]->root);
	s->tasks[2]->root->wraps = false;
	s->tasks[3]->root = wrapper(a, "app::Ended", s->tasks[3]->root);
	s->tasks[3]->root->children[0]->branch = BRANCH_DONE;
	snapshot_number_frames(s);
	catch (&text, TEXT);
	assert_string_equal(answer(&text, s, "tasks --group function"),
	                    "TASKS  FUNCTION    OLDEST  NEWEST  STATE\n"
	                    "    7  app::serve      10      18  idle\n"
	                    "    1  app::Hand       12      12  scheduled\n"
	                    "    1  app::Ended      13      13  idle\n"
	                    "    1  -               19      19  idle\n");
	CAUGHT(row);
	catch (&row, TEXT);
	assert_non_null(strstr(answer(&row, s, "tasks --with id 11"), "  app::serve\n"));
	catch (&json, JSON);
	const char *all = answer(&json, s, "tasks"), *first = strstr(all, "\"wrapped\"");
	assert_non_null(first);
	assert_memory_equal(first, "\"wrapped\": \"app::serve\"", 23);
	first = strstr(first + 1, "\"wrapped\"");
	assert_non_null(first);
	assert_null(strstr(first + 1, "\"wrapped\""));
}

static void counts(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(c);

	catch (&c, TEXT);
	assert_string_equal(answer(&c, s, "tasks --group waiting_on"),
	                    "TASKS  WAITING ON  OLDEST  NEWEST  STATE\n"
	                    "    6  sleep           10      15  5 idle, 1 scheduled\n"
	                    "    3  mutex           16      18  idle\n"
	                    "    1  -               19      19  idle\n");
	CAUGHT(cut);
	catch (&cut, TEXT);
	assert_string_equal(answer(&cut, s, "tasks --group id --limit 2 --with id '<13'"),
	                    "TASKS  ID  OLDEST  NEWEST  STATE\n"
	                    "    1  10      10      10  idle\n"
	                    "    1  11      11      11  idle\n"
	                    "3 of 10 tasks match; showing 2 of 3 groups with 2 tasks, --limit 0 "
	                    "shows all\n");
}

static void groups(void **state)
{
	(void)state;
	MANY(s);
	CAUGHT(c);

	catch (&c, TEXT);
	assert_string_equal(
		answer(&c, s, "async bt all --group --with id '>0'"),
		"10 tasks in 3 groups: 9 idle, 1 scheduled\n"
		" 9  ├─ app::serve at src/serve.rs:21\n"
		" 6  │  ├─ app::get at src/get.rs:4 › sleep future, sleeping 0-5 seconds  "
		"[tasks 10..15, 5 idle, 1 scheduled]\n"
		" 3  │  └─ app::get at src/get.rs:9 › mutex lock, 0-1 ahead in its queue  "
		"[tasks 16..18]\n"
		" 1  └─ app::Gone ! not readable  [task 19]\n"
		"10 of 10 tasks match\n");
	CAUGHT(ascii);
	ascii.options.ascii = true;
	ascii.options.width = 60;
	catch (&ascii, TEXT);
	assert_string_equal(
		answer(&ascii, s,
	               "async bt all --group --limit 1 --with function serve --with state idle"),
		"8 tasks in 2 groups: idle\n"
		"8  `- app::serve at src/serve.rs:21\n"
		"5     |- app::get > sleep future, sleepin...  [tasks 10..15]\n"
		"3     `- in 1 other, not shown\n"
		"8 of 10 tasks match; showing 1 of 2 groups with 5 tasks, --limit 0 "
		"shows all\n");
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* One task that polls two hundred things. */
static void a_wide_group_is_cut(void **state)
{
	(void)state;
	enum { WIDE = 200 };
	MANY(s);
	CAUGHT(c);
	CAUGHT(all);
	struct future *children[WIDE];

	for (unsigned i = 0; i < WIDE; i++) {
		children[i] = make_await(&s->arena, "app::one", 0, "src/one.rs", i + 1,
		                         make_sleep(&s->arena));
		make_edge(children[i], "set", BRANCH_POLLED);
	}
	make_fork(&s->arena, s->tasks[0]->root, WIDE, children);
	s->ntasks = 1;
	catch (&c, TEXT);
	const char *text = answer(&c, s, "async bt all --group --with id 10");

	assert_in_range(count_lines(text), 50, 90);
	assert_non_null(strstr(text, "more, --limit 0 shows all"));
	catch (&all, TEXT);
	text = answer(&all, s, "async bt all --group --with id 10 --limit 0");
	assert_int_equal(count_lines(text), 1 + 1 + WIDE + 1);
	assert_null(strstr(text, "--limit 0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses),       cmocka_unit_test(refuses),
		cmocka_unit_test(cuts),          cmocka_unit_test(places),
		cmocka_unit_test(jobs_are_rows), cmocka_unit_test(chooses_jobs),
		cmocka_unit_test(cuts_jobs),     cmocka_unit_test(one_job),
		cmocka_unit_test(counts),        cmocka_unit_test(wrappers_are_looked_through),
		cmocka_unit_test(groups),        cmocka_unit_test(a_wide_group_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of `report`: the page and its data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

#include "commands/report/report.h"
#include "commands/report/report_page.h"
#include "commands/report/report_table.h"
#include "commands/test/answer.h"
#include "runtimes/test/graph.h"

/* A page, and the data in it. */
struct page {
	char *text;
	size_t len;
	char *data;
	json_t *json;
};

static void page_deinit(struct page *p)
{
	free(p->text);
	free(p->data);
	json_decref(p->json);
}

static struct page write_page(const struct snapshot *snap, bool verbose)
{
	struct answer answer = {
		.command = "report",
		.snapshot = snap,
		.wants = report_command.wants,
		.verbose = verbose,
	};
	struct page p = { 0 };
	FILE *f = open_memstream(&p.text, &p.len);

	assert_non_null(f);
	assert_null(report_write(f, &answer, 1700000000));
	fclose(f);
	assert_true(p.len > report_page_head_size + report_page_tail_size);
	assert_memory_equal(p.text, report_page_head, report_page_head_size);
	assert_memory_equal(p.text + p.len - report_page_tail_size, report_page_tail,
	                    report_page_tail_size);
	p.data = strndup(p.text + report_page_head_size,
	                 p.len - report_page_head_size - report_page_tail_size);
	p.json = json_loads(p.data, 0, NULL);
	assert_non_null(p.json);
	return p;
}

#define PAGE(name, snap) struct page name CLEANUP(page_deinit) = write_page(snap, false)

static json_int_t column(const struct page *p, const char *key, size_t task)
{
	const json_t *array = json_object_get(json_object_get(p->json, "tasks"), key);

	assert_true(task < json_array_size(array));
	return json_integer_value(json_array_get(array, task));
}

static const char *string(const struct page *p, json_int_t number)
{
	return json_string_value(
		json_array_get(json_object_get(p->json, "strings"), (size_t)number));
}

static void tells_tasks_by_columns(void **state)
{
	SNAPSHOT(snap);
	PAGE(p, snap);

	(void)state;
	assert_int_equal(column(&p, "id", 0), 4);
	assert_int_equal(column(&p, "id", 1), 5);
	assert_int_equal(column(&p, "state", 1), TASK_RUNNING);
	assert_int_equal(column(&p, "thread", 1), 3);
	assert_string_equal(string(&p, column(&p, "awaiting", 0)), "src/main.rs:21");
	assert_string_equal(string(&p, column(&p, "waiting", 0)),
	                    "sleep future, sleeping already happened 18 seconds ago");
	assert_string_equal(string(&p, 0), "");
	/* The sleep's phrase, object and task. */
	assert_string_equal(string(&p, column(&p, "details", 0)),
	                    "sleep future, sleeping already happened 18 seconds ago");
	assert_string_equal(string(&p, column(&p, "details", 1)), "0x7f00");
	assert_string_equal(string(&p, column(&p, "details", 2)), "");
}

static const char evil[] =
	"</script><img src=x onerror=a()>&lt;<!--]]>\xe2\x80\xa8\xe2\x80\xa9\"\\\n\xff";
static const char evil_cleaned[] =
	"</script><img src=x onerror=a()>&lt;<!--]]>\\u{2028}\\u{2029}\"\\?\xef\xbf\xbd";

/* Strings of any origin contain no HTML markup. */
static void hostile_text_stays_text(void **state)
{
	SNAPSHOT(snap);

	(void)state;
	snap->tasks[0]->root->function = evil;
	snap->tasks[0]->root->type = evil;
	snap->tasks[0]->root->file_short = evil;
	snap->tasks[0]->root->note = evil;
	snap->tasks[0]->root->children[0]->wait->phrase = evil;
	snap->tasks[1]->problem = evil;
	snap->tasks[1]->number = 0;
	snap->tasks[1]->id = evil;
	snap->threads[0].name = evil;
	snap->target.command = evil;
	snap->runtimes[0].name = evil;
	add_note(snap, evil);

	PAGE(p, snap);
	assert_null(strpbrk(p.data, "<>&\n"));
	assert_null(strstr(p.data, "\xe2\x80\xa8"));
	assert_null(strstr(p.data, "\xe2\x80\xa9"));
	assert_string_equal(json_string_value(json_array_get(json_object_get(p.json, "notes"), 0)),
	                    evil_cleaned);
}

/* Equal trees are written once; each of their tasks takes only a few numbers. */
static void equal_trees_are_one_shape(void **state)
{
	enum { TASKS = 1000 };
	SNAPSHOT(snap);
	struct arena *a = &snap->arena;

	(void)state;
	snap->tasks = NEW_ARRAY(a, struct task *, TASKS);
	for (unsigned i = 0; i < TASKS; i++)
		snap->tasks[i] =
			make_task(a, i + 1, 0, TASK_IDLE,
		                  make_await(a, "app::work", 1, "src/main.rs", 21, make_sleep(a)));
	snap->ntasks = TASKS;
	PAGE(many, snap);
	assert_int_equal(column(&many, "shape", 0), column(&many, "shape", TASKS - 1));
	snap->ntasks = TASKS / 2;
	PAGE(half, snap);
	assert_int_equal(json_array_size(json_object_get(many.json, "shapes")),
	                 json_array_size(json_object_get(half.json, "shapes")));
	assert_int_equal(json_array_size(json_object_get(many.json, "strings")),
	                 json_array_size(json_object_get(half.json, "strings")));
	assert_true(many.len - half.len < TASKS / 2 * 60);
	/* Another line is another shape. */
	snap->tasks[0]->root->line = 22;
	PAGE(other, snap);
	assert_int_not_equal(column(&other, "shape", 0), column(&other, "shape", 1));
}

/* Numbers that JavaScript would round are written as text. */
static void large_numbers_are_text(void **state)
{
	SNAPSHOT(snap);

	(void)state;
	snap->tasks[0]->id = "18446744073709551615";
	snap->tasks[0]->number = UINT64_MAX;
	snap->tasks[0]->addr = UINT64_C(0xfffffffffffff000);
	PAGE(p, snap);
	const json_t *tasks = json_object_get(p.json, "tasks");
	assert_string_equal(json_string_value(json_array_get(json_object_get(tasks, "id"), 0)),
	                    "18446744073709551615");
	assert_string_equal(json_string_value(json_array_get(json_object_get(tasks, "addr"), 0)),
	                    "0xfffffffffffff000");
}

/* Values may be secrets: they are written on request only. */
static void variables_only_on_request(void **state)
{
	SNAPSHOT(snap);

	(void)state;
	make_locals(&snap->arena, snap->tasks[0]->root);
	PAGE(brief, snap);
	assert_null(strstr(brief.data, "Request"));
	struct page whole CLEANUP(page_deinit) = write_page(snap, true);
	assert_non_null(strstr(whole.data, "Request"));
	assert_int_equal(json_array_size(json_object_get(whole.json, "locals")), 4 * 8);
}

static void same_page_each_time(void **state)
{
	SNAPSHOT(snap);

	(void)state;
	PAGE(one, snap);
	PAGE(two, snap);
	assert_string_equal(one.text, two.text);
}

/* The page refers to no external address, and begins with its content security policy. */
static void page_loads_nothing(void **state)
{
	SNAPSHOT(snap);
	PAGE(p, snap);
	const char *policy = strstr(p.text, "Content-Security-Policy");

	(void)state;
	assert_non_null(policy);
	assert_non_null(strstr(p.text, "default-src 'none'"));
	assert_true(policy < strstr(p.text, "<style"));
	assert_null(strstr(p.text, "unsafe"));
	assert_null(strstr(p.text, "@STYLE"));
	assert_null(strstr(p.text, "@SCRIPT"));
	assert_null(strstr(p.text, " src="));
	assert_null(strstr(p.text, "innerHTML"));
}

static void command_writes_in_one_step(void **state)
{
	char dir[] = "/tmp/report-XXXXXX";
	SCRATCH(tmp);
	SNAPSHOT(snap);
	CAUGHT(c);

	(void)state;
	assert_non_null(mkdtemp(dir));
	const char *file = arena_printf(&tmp, "%s/a.html", dir);
	catch (&c, TEXT);
	assert_null(run_command(&c, &report_command, snap, file));
	assert_string_equal(c.answers, "");
	assert_non_null(strstr(c.messages, "2 tasks, 5 threads"));
	/* Write through a symbolic link, which is kept. */
	const char *link = arena_printf(&tmp, "%s/link", dir);
	assert_int_equal(symlink("a.html", link), 0);
	assert_int_equal(truncate(file, 0), 0);
	assert_null(run_command(&c, &report_command, snap, link));
	struct stat st;
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(file, &st), 0);
	assert_true(S_ISREG(st.st_mode) && st.st_size > 0);
	assert_int_equal(remove(link), 0);
	assert_int_equal(remove(file), 0);
	/* No other file was left in the directory. */
	assert_int_equal(remove(dir), 0);
	struct error *err CLEANUP(error_freep) = run_command(&c, &report_command, snap, file);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_OS);
}

/* Cycles are reported with their members; edges that lead outside are left out. */
static void tells_who_waits_for_whom(void **state)
{
	PROGRAM(program);

	(void)state;
	struct task *a =
		add_task(&program, 1, calls(&program, "f", locks(&program, "mutex", 0xb0, 1)));
	struct task *b =
		add_task(&program, 2, calls(&program, "f", locks(&program, "mutex", 0xa0, 1)));
	add_task(&program, 3, calls(&program, "g", sleeps(&program)));
	guards(&program, a, "mutex", 0xa0);
	guards(&program, b, "mutex", 0xb0);
	judge(&program);
	PAGE(p, &program.s);
	const json_t *verdicts = json_object_get(p.json, "verdicts");
	const json_t *verdict = json_array_get(verdicts, 0);
	const json_t *nodes = json_object_get(p.json, "graph_nodes");

	assert_int_equal(json_array_size(verdicts), 1);
	assert_string_equal(json_string_value(json_object_get(verdict, "kind")), "deadlock");
	assert_true(json_is_true(json_object_get(verdict, "certain")));
	assert_int_equal(json_array_size(json_object_get(verdict, "members")), 2);
	for (size_t i = 0; i < 2; i++) {
		json_int_t member =
			json_integer_value(json_array_get(json_object_get(verdict, "members"), i));
		json_int_t task = json_integer_value(json_array_get(nodes, (size_t)member * 7 + 1));

		assert_in_range(task, 1, 2);
	}
	/* Both tasks, their locks and queue positions, but not the sleeping task. */
	for (size_t i = 0; i < json_array_size(nodes); i += 7)
		assert_int_not_equal(json_integer_value(json_array_get(nodes, i + 1)), 3);
	assert_int_equal(json_array_size(json_object_get(p.json, "holdings")), 2 * 15);
}

/* A task is named by the wrapped future, not by its wrapper. */
static void graph_names_what_is_wrapped(void **state)
{
	PROGRAM(program);

	(void)state;
	struct future *inner = calls(&program, "app::handle", locks(&program, "mutex", 0xa0, 1));
	struct future *wrapper = calls(&program, "tracing::Instrumented", inner);
	wrapper->kind = FUTURE_OTHER;
	wrapper->wraps = true;
	add_task(&program, 1, wrapper);
	guards(&program, add_task(&program, 2, calls(&program, "app::hold", sleeps(&program))),
	       "mutex", 0xa0);
	judge(&program);
	PAGE(p, &program.s);
	const json_t *nodes = json_object_get(p.json, "graph_nodes");
	size_t found = 0;

	for (size_t i = 0; i < json_array_size(nodes); i += 7) {
		const char *name = string(&p, json_integer_value(json_array_get(nodes, i + 4)));

		assert_string_not_equal(name, "tracing::Instrumented");
		found += strcmp(name, "app::handle") == 0;
	}
	assert_int_equal(found, 1);
}

/* The only sender of a channel is the only candidate, even if it may have been moved. */
static void doubts_holdings_as_the_graph_does(void **state)
{
	enum { ROW = 15, DOUBT = 13, PLACES = 14 };
	PROGRAM(program);

	(void)state;
	struct task *sender = add_task(&program, 1, calls(&program, "f", sleeps(&program)));
	add_task(&program, 2, calls(&program, "g", receives(&program, 0xc0, 1)));
	holds(&program, sender, HOLDING_SENDER, "mpsc", 0xc0)->uncertain = true;
	/* No task waits for this one, so the graph has no edge for it. */
	guards(&program, sender, "mutex", 0xa0)->uncertain = true;
	guards(&program, sender, "mutex", 0xb0);
	judge(&program);
	PAGE(p, &program.s);
	const json_t *rows = json_object_get(p.json, "holdings");
	const char *doubts[3];

	assert_int_equal(json_array_size(rows), 3 * ROW);
	for (size_t i = 0; i < 3; i++) {
		doubts[i] = string(&p, json_integer_value(json_array_get(rows, i * ROW + DOUBT)));
		assert_int_equal(json_integer_value(json_array_get(rows, i * ROW + PLACES)), 1);
	}
	assert_string_equal(doubts[0], graph_sole_doubt);
	assert_string_equal(doubts[1], "it may have been dropped or moved earlier");
	assert_string_equal(doubts[2], "");
}

/* The findings of check are reported; verdicts are not repeated. */
static void tells_findings(void **state)
{
	PROGRAM(program);

	(void)state;
	struct task *a =
		add_task(&program, 1, calls(&program, "f", locks(&program, "mutex", 0xa0, 1)));
	guards(&program, a, "mutex", 0xa0);
	add_task(&program, 2, calls(&program, "g", sleeps(&program)))->root->state =
		FUTURE_PANICKED;
	judge(&program);
	PAGE(p, &program.s);
	const json_t *findings = json_object_get(p.json, "findings");
	size_t panicked = 0;

	assert_int_equal(json_array_size(json_object_get(p.json, "verdicts")), 1);
	for (size_t i = 0; i < json_array_size(findings); i++) {
		const char *check =
			json_string_value(json_object_get(json_array_get(findings, i), "check"));

		assert_string_not_equal(check, "deadlock");
		panicked += strcmp(check, "panicked-task") == 0;
	}
	assert_int_equal(panicked, 1);
}

/* Every task has the index of its group. */
static void tells_groups(void **state)
{
	PROGRAM(program);

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		add_task(&program, i + 1,
		         calls(&program, i == 1 ? "app::other" : "app::same", sleeps(&program)));
	judge(&program);
	PAGE(p, &program.s);
	const json_t *groups = json_object_get(p.json, "groups");

	assert_int_equal(json_array_size(groups), 2);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(groups, 0), 1)), 4);
	assert_int_equal(column(&p, "group", 0), 0);
	assert_int_equal(column(&p, "group", 1), 1);
	assert_int_equal(column(&p, "group", 4), 0);
}

static void table_keeps_rows_once(void **state)
{
	struct report_table t CLEANUP(report_table_free) = { 0 };
	char name[16];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			int len = snprintf(name, sizeof(name), "row %u", i);

			assert_int_equal(report_table_row(&t, name, (size_t)len), i);
		}
	}
	assert_int_equal(t.n, 5000);
	/* A prefix of a row is a new row; a look-up by address finds the same row. */
	assert_int_equal(report_table_row(&t, "row", 3), 5000);
	assert_int_equal(report_table_name(&t, "row"), 5000);
	assert_string_equal(t.data[4999].bytes, "row 4999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_tasks_by_columns),
		cmocka_unit_test(hostile_text_stays_text),
		cmocka_unit_test(equal_trees_are_one_shape),
		cmocka_unit_test(large_numbers_are_text),
		cmocka_unit_test(variables_only_on_request),
		cmocka_unit_test(same_page_each_time),
		cmocka_unit_test(page_loads_nothing),
		cmocka_unit_test(command_writes_in_one_step),
		cmocka_unit_test(tells_who_waits_for_whom),
		cmocka_unit_test(graph_names_what_is_wrapped),
		cmocka_unit_test(doubts_holdings_as_the_graph_does),
		cmocka_unit_test(tells_findings),
		cmocka_unit_test(tells_groups),
		cmocka_unit_test(table_keeps_rows_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

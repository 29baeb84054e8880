/* Tests of `diff`: comparison, doubts, output, usage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "commands/parts/parts.h"
#include "commands/shell/execute.h"
#include "commands/test/answer.h"
#include "runtimes/analysis/diff.h"
#include "runtimes/saved/saved.h"

/* make_snapshot() has task 4, asleep, task 5, running, and thread 1 in block_on. */
enum { SLEEPS, RUNS };

#define DIFF(name, before, after, earlier)                                                         \
	struct diff name CLEANUP(diff_free) = { 0 };                                               \
	diff_compute(before, after, earlier, &name)

static const struct diff_item *item_of(const struct diff *d, const struct task *task)
{
	for (size_t i = 0; i < d->nitems; i++) {
		if (d->items[i].after == task || d->items[i].before == task)
			return &d->items[i];
	}
	fail_msg("no item of task %s", task->id);
	return NULL;
}

static void set_deadline(struct snapshot *s, int64_t deadline)
{
	struct wait *wait = s->tasks[SLEEPS]->root->children[0]->wait;

	wait->details[0].key = "deadline_ns";
	wait->details[0].number = deadline;
}

static void test_unchanged(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);
	SNAPSHOT(c);

	(void)state;
	/* A change of the time left is no movement. */
	b->tasks[SLEEPS]->root->children[0]->wait->details[0].number = -19000;
	b->tasks[SLEEPS]->root->children[0]->wait->phrase = "sleeping on";
	DIFF(ab, a, b, NULL);
	assert_int_equal(ab.nitems, 3);
	assert_int_equal(ab.counts[DIFF_UNCHANGED], 3);
	assert_false(diff_has_moved(&ab));
	assert_int_equal(item_of(&ab, b->tasks[SLEEPS])->looks, 2);
	c->tasks[RUNS]->root->line++;
	DIFF(bc, b, c, &ab);
	assert_int_equal(item_of(&bc, c->tasks[SLEEPS])->looks, 3);
	assert_int_equal(item_of(&bc, c->tasks[RUNS])->looks, 1);
	assert_int_equal(item_of(&bc, c->tasks[RUNS])->kind, DIFF_MOVED);
	assert_true(diff_has_moved(&bc));
	/* Items that have not moved for longest come first. */
	const struct diff_group *g = bc.groups;
	assert_int_equal(g[0].items[0]->kind, DIFF_MOVED);
	assert_int_equal(g[1].items[0]->looks, 3);
}

static void test_moved(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	b->tasks[SLEEPS]->root->line = 30;
	b->tasks[SLEEPS]->root->await_point = 2;
	DIFF(d, a, b, NULL);
	const struct diff_item *item = item_of(&d, b->tasks[SLEEPS]);
	assert_int_equal(item->kind, DIFF_MOVED);
	assert_string_equal(item->from.function, "tokio_tcp::main::{async_block#0}");
	assert_string_equal(item->from.file, "src/main.rs");
	assert_int_equal(item->from.line, 21);
	assert_string_equal(item->from.on, "sleep");
	assert_null(item->from.state);
	assert_int_equal(item->to.line, 30);
	assert_false(item->again);
	assert_int_equal(d.counts[DIFF_MOVED], 1);
	assert_int_equal(d.counts[DIFF_UNCHANGED], 2);
}

/* Each of these changes alone is a movement. */
static void test_what_moves(void **state)
{
	enum { STATE, OBJECT, ADDRESS, BRANCH, CHILD_GONE, KIND, JOINED, CASES };

	(void)state;
	for (int i = 0; i < CASES; i++) {
		SNAPSHOT(a);
		SNAPSHOT(b);
		struct task *task = b->tasks[SLEEPS];
		struct future *leaf = task->root->children[0];

		if (i == STATE)
			task->state = TASK_SCHEDULED;
		else if (i == OBJECT)
			leaf->wait->object++;
		else if (i == ADDRESS)
			leaf->addr++;
		else if (i == BRANCH)
			leaf->branch = BRANCH_DONE;
		else if (i == CHILD_GONE)
			task->root->nchildren = 0;
		else if (i == KIND)
			leaf->wait->kind = "interval";
		else
			leaf->wait->task = "7";
		DIFF(d, a, b, NULL);
		assert_int_equal(item_of(&d, task)->kind, DIFF_MOVED);
		assert_int_equal(item_of(&d, task)->again,
		                 i == OBJECT || i == ADDRESS || i == JOINED);
	}
}

static void test_rearmed(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	set_deadline(a, 100);
	set_deadline(b, 200);
	DIFF(d, a, b, NULL);
	assert_int_equal(item_of(&d, b->tasks[SLEEPS])->kind, DIFF_REARMED);
	/* A rearmed timer alone is no movement. */
	assert_false(diff_has_moved(&d));
	b->tasks[SLEEPS]->root->line++;
	DIFF(both, a, b, NULL);
	assert_int_equal(item_of(&both, b->tasks[SLEEPS])->kind, DIFF_MOVED);
}

static void test_new_and_gone(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	/* Another task, in the memory of the first one. */
	b->tasks[SLEEPS]->id = "8";
	b->tasks[SLEEPS]->number = 8;
	DIFF(d, a, b, NULL);
	assert_int_equal(d.counts[DIFF_NEW], 1);
	assert_int_equal(d.counts[DIFF_GONE], 1);
	assert_int_equal(item_of(&d, b->tasks[SLEEPS])->kind, DIFF_NEW);
	assert_int_equal(item_of(&d, a->tasks[SLEEPS])->kind, DIFF_GONE);
	/* The same task in another runtime. */
	b->tasks[SLEEPS]->id = "4";
	b->runtimes[0].addr++;
	DIFF(other, a, b, NULL);
	assert_int_equal(other.counts[DIFF_NEW], 2);
	assert_int_equal(other.counts[DIFF_GONE], 2);
	assert_int_equal(other.counts[DIFF_UNCHANGED], 1);
}

/* The indexes of runtimes can differ between snapshots. */
static void test_runtimes_by_handle(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	b->nruntimes = 2;
	b->runtimes[1] = b->runtimes[0];
	b->runtimes[1].index = 1;
	b->runtimes[0].addr = 0x777;
	b->tasks[SLEEPS]->runtime = b->tasks[RUNS]->runtime = 1;
	DIFF(d, a, b, NULL);
	assert_int_equal(d.counts[DIFF_UNCHANGED], 3);
}

static void test_unknown(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	b->tasks[SLEEPS]->root = NULL;
	b->tasks[SLEEPS]->problem = "its memory could not be read";
	b->tasks[RUNS]->root->problem = "its type is not known";
	b->tasks[RUNS]->root->line++;
	DIFF(d, a, b, NULL);
	assert_int_equal(d.counts[DIFF_UNKNOWN], 2);
	assert_false(diff_has_moved(&d));
}

static void test_block_on(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	b->threads[0].root->line++;
	DIFF(moved, a, b, NULL);
	assert_int_equal(moved.counts[DIFF_MOVED], 1);
	b->threads[0].role = THREAD_OTHER;
	DIFF(gone, a, b, NULL);
	assert_int_equal(gone.counts[DIFF_GONE], 1);
	DIFF(new, b, a, NULL);
	assert_int_equal(new.counts[DIFF_NEW], 1);
	/* A snapshot that could not read the thread shows nothing. */
	b->complete = false;
	DIFF(unread, a, b, NULL);
	assert_int_equal(unread.counts[DIFF_UNKNOWN], 1);
	assert_int_equal(unread.counts[DIFF_GONE], 0);
	DIFF(before, b, a, NULL);
	assert_int_equal(before.counts[DIFF_UNKNOWN], 1);
	assert_false(diff_has_moved(&before));
	/* A worker blocks on no future, and an ended thread is gone. */
	b->threads[0].role = THREAD_WORKER;
	DIFF(works, a, b, NULL);
	assert_int_equal(works.counts[DIFF_GONE], 1);
	b->threads[0].role = THREAD_OTHER;
	b->threads[0].tid++;
	DIFF(ended, a, b, NULL);
	assert_int_equal(ended.counts[DIFF_GONE], 1);
	/* What it blocks on could not be read. */
	b->threads[0].tid--;
	b->complete = true;
	b->threads[0].role = THREAD_BLOCK_ON;
	b->threads[0].root = NULL;
	DIFF(rootless, a, b, NULL);
	assert_int_equal(rootless.counts[DIFF_UNKNOWN], 1);
}

/* ---- doubts ---- */

static void assert_doubt(const struct snapshot *a, const struct snapshot *b, const char *expected)
{
	DIFF(d, a, b, NULL);

	d.before_name = "A";
	d.after_name = "B";
	diff_find_uncertainties(&d);
	assert_int_equal(d.ndoubts, expected != NULL);
	if (expected && !strstr(d.doubts[0], expected))
		fail_msg("\"%s\" does not say \"%s\"", d.doubts[0], expected);
}

static void test_different_processes(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	assert_doubt(a, b, NULL);
	b->target.pid++;
	assert_doubt(a, b, "A and B seem to be of different processes (pid ");
	/* The same instance with different pids in its own namespace and outside. */
	a->target.instance = b->target.instance = "boot 5";
	assert_doubt(a, b, NULL);
	b->target.pid--;
	b->target.instance = "boot 6";
	assert_doubt(a, b, "started again between them");
	b->target.instance = NULL;
	assert_doubt(a, b, NULL);
	a->target.build_id = "0011";
	b->target.build_id = "0012";
	assert_doubt(a, b, "build-ids 0011 and 0012");
	b->target.build_id = NULL;
	a->target.exe = "/bin/a";
	b->target.exe = "/bin/b";
	assert_doubt(a, b, "their executables are /bin/a and /bin/b");
	/* The same executable under another name. */
	b->target.build_id = "0011";
	assert_doubt(a, b, NULL);
}

static void test_incomplete(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);

	(void)state;
	b->complete = false;
	assert_doubt(a, b,
	             "B is incomplete: tasks that seem new or gone may just not have been read");
	b->complete = true;
	snapshot_incomplete(a, "no stack of %s", "thread 2");
	assert_doubt(a, b,
	             "A is incomplete: tasks that seem new or gone may just not have been read; no "
	             "stack of thread 2");
}

/* A snapshot of n tasks at two places. */
static void make_many(struct snapshot *s, unsigned n)
{
	s->tasks = NEW_ARRAY(&s->arena, struct task *, n);
	s->ntasks = n;
	for (unsigned i = 0; i < n; i++)
		s->tasks[i] = make_task(&s->arena, i + 1, 0, TASK_IDLE,
		                        make_await(&s->arena, "app::f", 0, "src/f.rs", 1 + i % 2,
		                                   make_sleep(&s->arena)));
}

static void test_groups(void **state)
{
	SNAPSHOT(a);
	SNAPSHOT(b);
	SNAPSHOT(none);

	(void)state;
	make_many(a, 1000);
	make_many(b, 1000);
	for (int i = 0; i < 30; i++)
		b->tasks[i]->root->line += 10;
	DIFF(d, a, b, NULL);
	assert_int_equal(d.counts[DIFF_MOVED], 30);
	/* Two kinds of movement, thread 1, and two places of unmoved tasks. */
	assert_int_equal(d.ngroups, 5);
	assert_int_equal(d.groups[0].n, 15);
	assert_string_equal(d.groups[0].items[0]->after->id, "1");
	assert_string_equal(d.groups[0].items[1]->after->id, "3");
	assert_int_equal(d.groups[2].n, 485);
	none->ntasks = none->nthreads = 0;
	DIFF(empty, none, none, NULL);
	assert_int_equal(empty.nitems, 0);
	assert_int_equal(empty.ngroups, 0);
}

/* ---- as it is shown ---- */

static void show(struct caught *c, const struct snapshot *a, const struct snapshot *b)
{
	struct answer answer = { .command = "diff", .snapshot = b, .wants = WANT_TASKS };

	DIFF(d, a, b, NULL);
	d.before_name = "A";
	out_begin(c->out, &answer);
	part_diff(c->out, &d);
	struct error *err CLEANUP(error_freep) = out_end(c->out);
	assert_null(err);
	fflush(c->options.answers);
}

static void make_pair(struct snapshot *a, struct snapshot *b)
{
	make_many(a, 9);
	make_many(b, 10);
	b->tasks[1]->root->line = 7;
	b->tasks[3]->root->children[0]->wait->object++;
}

static void test_text(void **state)
{
	static const char expected[] =
		"From A to the second: 2 moved, 1 new, 8 unchanged\n"
		"Moved\n"
		"       1  app::f at src/f.rs:2 [sleep] -> app::f at src/f.rs:7 [sleep]: 2\n"
		"       1  app::f at src/f.rs:2 [sleep] -> there again: 4\n"
		"New\n"
		"       1  app::f at src/f.rs:2 [sleep]: 10\n"
		"Unchanged\n"
		"       5  app::f at src/f.rs:1 [sleep]: 1, 3, 5, 7, 9\n"
		"       2  app::f at src/f.rs:2 [sleep]: 6, 8\n"
		"       1  tokio_tcp::main at src/main.rs:14 [tokio::net::TcpListener::accept]: "
		"thread #1\n";
	SNAPSHOT(a);
	SNAPSHOT(b);
	CAUGHT(c);

	(void)state;
	make_pair(a, b);
	catch (&c, TEXT);
	show(&c, a, b);
	assert_string_equal(strchr(c.answers, '\n') + 1, expected);
}

static void test_json(void **state)
{
	static const char expected[] =
		"\"diff\":{\"before\":\"A\",\"after\":null,\"has_moved\":true,\"before_complete\":"
		"true,\"doubts\":[],\"counts\":{"
		"\"moved\":2,"
		"\"rearmed\":0,\"new\":1,\"gone\":0,\"unknown\":0,\"unchanged\":8},\"groups\":["
		"{\"kind\":\"moved\",\"count\":1,\"from\":{\"function\":\"app::f\",\"file_short\":"
		"\"src/f.rs\",\"line\":2,\"on\":\"sleep\",\"state\":null},\"to\":{\"function\":"
		"\"app::f\",\"file_short\":\"src/"
		"f.rs\",\"line\":7,\"on\":\"sleep\",\"state\":null},"
		"\"looks\":1,\"tasks\":[{\"id\":\"2\",\"runtime\":0,\"addr\":\"0x9200\"}],"
		"\"threads\":[]},";
	SNAPSHOT(a);
	SNAPSHOT(b);
	CAUGHT(c);

	(void)state;
	make_pair(a, b);
	catch (&c, JSONL);
	show(&c, a, b);
	if (!strstr(c.answers, expected))
		fail_msg("%s", c.answers);
}

/* ---- as it is typed ---- */

static void assert_wrong(const char *line, const char *why)
{
	struct session session = { 0 };
	CAUGHT(c);

	catch (&c, TEXT);
	struct error *err CLEANUP(error_freep) = run_line(&c, &session, NULL, line);
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_USAGE);
	if (!strstr(err->message, why))
		fail_msg("\"%s\" does not say \"%s\"", err->message, why);
}

static void test_usage(void **state)
{
	(void)state;
	assert_wrong("diff", "nothing to compare");
	assert_wrong("diff a b c", "unexpected argument");
	assert_wrong("diff a --interval 5s", "two files");
	assert_wrong("diff --count 2", "--interval");
	assert_wrong("diff --interval 5x", "not an interval");
	assert_wrong("diff --interval -1", "not an interval");
	assert_wrong("diff --interval nan", "not an interval");
	assert_wrong("diff --interval s", "not an interval");
	assert_wrong("diff --interval 0", "not a time between looks");
	assert_wrong("diff --interval 2d", "not an interval");
	assert_wrong("diff --interval 86401", "up to a day");
	assert_wrong("diff --interval 1s --count x", "number of looks");
	assert_wrong("diff --interval 1s --count 0", "at least 1");
	assert_wrong("diff --interval 1s", "--interval needs a process");
}

/* Two files, and the exit code. */
static void test_files(void **state)
{
	const char *tmp = getenv("TMPDIR");
	struct asyncdbg_options options = { 0 };
	struct session session = { .options = &options };
	const struct saved_info info = { .wants = WANT_TASKS | WANT_RUNNING, .when = 86400 };
	char a[256], b[256], line[600];

	(void)state;
	snprintf(a, sizeof(a), "%s/diff_test.%d.a", tmp ? tmp : "/tmp", (int)getpid());
	snprintf(b, sizeof(b), "%s/diff_test.%d.b", tmp ? tmp : "/tmp", (int)getpid());
	snprintf(line, sizeof(line), "diff '%s' '%s'", a, b);
	for (int i = 0; i < 4; i++) {
		static const int findings[] = { STATUS_STILL, STATUS_OK, STATUS_PARTIAL,
			                        STATUS_STILL };
		SNAPSHOT(before);
		SNAPSHOT(after);
		CAUGHT(c);

		catch (&c, TEXT);
		after->tasks[SLEEPS]->root->line += i == 1;
		after->complete = i != 2;
		if (i == 3)
			after->target.build_id = "77";
		assert_null(saved_write(a, before, &info));
		assert_null(saved_write(b, after, &info));
		struct error *err CLEANUP(error_freep) = run_line(&c, &session, NULL, line);
		unlink(a);
		unlink(b);
		assert_null(err);
		assert_int_equal(!!strstr(c.answers, "different processes"), i == 3);
		assert_int_equal(!!strstr(c.answers, ".b (1970-01-02 00:00:00 UTC) is incomplete"),
		                 i == 2);
		assert_non_null(strstr(c.answers, "asyncdbg: snapshot "));
		assert_int_equal(session.finding, findings[i]);
		assert_non_null(strstr(c.answers, "(1970-01-02 00:00:00 UTC) to "));
	}
}

/* Such as the pool of the crate blocking: the only one of its kind and flavor is the same one. */
static void test_runtimes_without_handle(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		SNAPSHOT(a);
		SNAPSHOT(b);

		a->runtimes[0].addr = b->runtimes[0].addr = 0;
		if (i == 1)
			b->runtimes[0].flavor = "blocking";
		if (i == 2) {
			struct runtime_info *two = NEW_ARRAY(&b->arena, struct runtime_info, 2);

			two[0] = two[1] = b->runtimes[0];
			two[1].index = 1;
			b->runtimes = two;
			b->nruntimes = 2;
		}
		DIFF(d, a, b, NULL);
		assert_int_equal(d.counts[DIFF_NEW], i ? 2 : 0);
		assert_int_equal(d.counts[DIFF_GONE], i ? 2 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_what_moves),
		cmocka_unit_test(test_rearmed),
		cmocka_unit_test(test_new_and_gone),
		cmocka_unit_test(test_runtimes_by_handle),
		cmocka_unit_test(test_runtimes_without_handle),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_block_on),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_different_processes),
		cmocka_unit_test(test_incomplete),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

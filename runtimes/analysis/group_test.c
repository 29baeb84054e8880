/* Tests of the grouping of tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "debugger/base/marked.h"
#include "runtimes/analysis/group.h"
#include "runtimes/analysis/group_lines.h"
#include "runtimes/test/snapshot.h"

static struct future *waiting(struct arena *a, const char *type, const char *kind,
                              const char *phrase)
{
	struct future *f = make_future(a, FUTURE_OTHER, type, NULL);

	f->wait = NEW(a, struct wait);
	f->wait->kind = kind;
	f->wait->phrase = marked_finish(a, phrase, &f->wait->phrase_parts);
	return f;
}

static struct future *sleeping(struct arena *a, unsigned seconds)
{
	return waiting(
		a, "Sleep", "sleep",
		arena_printf(a, "sleep future, sleeping " MARKED_NUMBER("%u") " seconds", seconds));
}

/* app::serve at that line, awaiting app::read, which sleeps. */
static struct future *serve(struct arena *a, unsigned line, unsigned seconds)
{
	return make_await(a, "app::serve", 0, "src/serve.rs", line,
	                  make_await(a, "app::read", 0, "src/read.rs", 7, sleeping(a, seconds)));
}

struct some {
	struct arena arena;
	const struct task *tasks[64];
	size_t n;
	struct groups groups;
};

static struct task *add(struct some *s, struct future *root)
{
	struct task *task = make_task(&s->arena, s->n + 10, 0, TASK_IDLE, root);

	s->tasks[s->n++] = task;
	return task;
}

static const struct groups *make(struct some *s)
{
	groups_make(&s->arena, s->tasks, s->n, &s->groups);
	return &s->groups;
}

static void free_some(struct some *s)
{
	arena_free(&s->arena);
}

#define SOME(name) struct some name CLEANUP(free_some) = { 0 }

static void test_nothing(void **state)
{
	(void)state;
	SOME(s);
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 0);
	assert_int_equal(g->nroots, 0);
	assert_int_equal(g->count.tasks, 0);
}

static void test_identical(void **state)
{
	(void)state;
	SOME(s);

	for (unsigned i = 0; i < 3; i++)
		add(&s, serve(&s.arena, 41, 5 + i));
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 1);
	assert_int_equal(g->nnodes, 3);
	assert_int_equal(g->groups[0].count.tasks, 3);
	assert_int_equal(g->groups[0].count.states[TASK_IDLE], 3);
	assert_string_equal(g->groups[0].count.oldest->id, "10");
	assert_string_equal(g->groups[0].count.newest->id, "12");
	assert_int_equal(g->groups[0].nnodes, 3);
	assert_string_equal(group_range_text(&s.arena, &g->groups[0].nodes[2]->wait),
	                    "sleep future, sleeping 5-7 seconds");
	assert_int_equal(g->groups[0].nodes[2]->ends, 3);
}

/* A leaf of which nothing else is known goes by its type. */
static void test_names_of_frames(void **state)
{
	static struct wait wait;
	static const struct {
		struct future f;
		const char *name;
	} cases[] = {
		{ { .kind = FUTURE_OTHER, .function = "f", .type = "T" }, "T" },
		{ { .kind = FUTURE_OTHER, .function = "f" }, "f" },
		{ { .kind = FUTURE_OTHER, .type = "T" }, "T" },
		{ { .kind = FUTURE_OTHER, .function = "f", .type = "T", .wait = &wait }, "f" },
		{ { .kind = FUTURE_OTHER, .function = "f", .type = "T", .nchildren = 1 }, "f" },
		{ { .kind = FUTURE_ASYNC_FN, .function = "f", .type = "T" }, "f" },
		{ { .kind = FUTURE_ASYNC_FN, .type = "T" }, "T" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(group_frame_name(&cases[i].f), cases[i].name);
}

static void test_other_line(void **state)
{
	(void)state;
	SOME(s);

	add(&s, serve(&s.arena, 42, 5));
	add(&s, serve(&s.arena, 41, 5));
	add(&s, serve(&s.arena, 41, 5));
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 2);
	assert_int_equal(g->groups[0].count.tasks, 2);
	assert_int_equal(g->groups[0].root->frame->line, 41);
	assert_int_equal(g->nroots, 2);
	assert_ptr_equal(g->roots[0], g->groups[0].root);
	assert_int_equal(g->roots[1]->frame->line, 42);
}

static void test_other_leaf(void **state)
{
	(void)state;
	SOME(s);
	struct future *root = serve(&s.arena, 41, 5);

	root->children[0]->children[0] =
		waiting(&s.arena, "Acquire", "mutex", "mutex lock, first in its queue");
	add(&s, root);
	add(&s, serve(&s.arena, 41, 5));
	/* The same kind of wait, but another phrase. */
	root = serve(&s.arena, 41, 5);
	root->children[0]->children[0]->wait->phrase =
		"sleep future, sleeping already happened 5 seconds ago";
	add(&s, root);
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 3);
	assert_int_equal(g->nroots, 1);
	assert_int_equal(g->nnodes, 5);
	assert_int_equal(g->roots[0]->count.tasks, 3);
	assert_int_equal(g->roots[0]->children[0]->nchildren, 3);
}

static void test_changed_deep_frame(void **state)
{
	(void)state;
	SOME(s);

	for (unsigned i = 0; i < 20; i++) {
		struct future *f = sleeping(&s.arena, 5);

		for (unsigned depth = 0; depth < 30; depth++)
			f = make_await(&s.arena, "app::deep", 0, "src/deep.rs",
			               depth == 4 && i == 13 ? 99 : 7, f);
		add(&s, f);
	}
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 2);
	assert_int_equal(g->groups[0].count.tasks, 19);
	assert_string_equal(g->groups[1].task->id, "23");
	/* 25 frames are shared. */
	assert_int_equal(g->nnodes, 31 + 6);
	assert_int_equal(g->groups[1].nodes[25]->frame->line, 99);
	assert_int_equal(g->groups[1].nodes[24]->count.tasks, 20);
	assert_int_equal(g->groups[1].nodes[24]->nchildren, 2);
}

static void test_running_and_uncertain(void **state)
{
	(void)state;
	SOME(s);
	struct task *task = add(&s, serve(&s.arena, 41, 5));

	task->state = TASK_RUNNING;
	task->root->running = true;
	task->root->state = FUTURE_STATE_NONE;
	add(&s, serve(&s.arena, 41, 5));
	add(&s, serve(&s.arena, 41, 5))->state = TASK_SCHEDULED;
	add(&s, serve(&s.arena, 41, 5))->root->uncertain = true;
	task = add(&s, serve(&s.arena, 41, 5));
	task->root->uncertain = true;
	task->root->aliases = "app::other";
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 4);
	assert_int_equal(g->groups[0].count.tasks, 2);
	assert_int_equal(g->groups[0].count.states[TASK_IDLE], 1);
	assert_int_equal(g->groups[0].count.states[TASK_SCHEDULED], 1);
	assert_int_equal(g->groups[1].count.states[TASK_RUNNING], 1);
	assert_int_equal(g->count.states[TASK_RUNNING], 1);
	assert_int_equal(g->count.tasks, 5);
}

/* Frames that differ in one thing only. */
static void test_other_frames(void **state)
{
	(void)state;
	static const char *const aliases[] = { "app::x", "app::y" };
	static const char *const problems[] = { "unreadable: " MARKED_NUMBER("0x10"),
		                                "unreadable: " MARKED_NUMBER("0x20"), "cut" };
	SOME(s);

	for (unsigned i = 0; i < 2; i++) {
		struct future *root = add(&s, serve(&s.arena, 1, 5))->root;

		root->uncertain = true;
		root->aliases = aliases[i];
	}
	for (unsigned i = 0; i < 3; i++) {
		struct future *f = add(&s, serve(&s.arena, 2, 5))->root->children[0];

		f->problem = marked_finish(&s.arena, problems[i], &f->problem_parts);
	}
	for (unsigned i = 0; i < 2; i++)
		add(&s, serve(&s.arena, 3, 5))->root->children[0]->running = i;
	for (unsigned i = 0; i < 2; i++)
		add(&s, serve(&s.arena, 4, 5))->root->children[0]->state =
			i ? FUTURE_UNRESUMED : FUTURE_SUSPENDED;
	for (unsigned i = 0; i < 2; i++)
		add(&s, serve(&s.arena, 5, 5))->root->children[0]->children[0]->wait->kind =
			i ? "one" : "other";
	for (unsigned i = 0; i < 2; i++)
		add(&s, serve(&s.arena, 6, 5))->root->children[0]->file =
			i ? "/build/a.rs" : "/build/b.rs";
	const struct groups *g = make(&s);

	/* Two tasks each; the first two problems are the same. */
	assert_int_equal(g->ngroups, 6 * 2);
	assert_int_equal(g->groups[0].count.tasks, 2);
	assert_int_equal(g->groups[0].root->frame->line, 2);
	assert_string_equal(group_range_text(&s.arena, &g->groups[0].nodes[1]->problem),
	                    "unreadable: 0x10-0x20");
	assert_int_equal(g->groups[1].count.tasks, 1);
}

/* Tasks without a number are ordered by their index. */
static void test_without_numbers(void **state)
{
	(void)state;
	SOME(s);

	for (unsigned i = 0; i < 3; i++) {
		struct task *task = add(&s, serve(&s.arena, 41, 5));

		task->number = 0;
		task->id = task_key(&s.arena, "compio", 100 - i);
	}
	const struct groups *g = make(&s);

	assert_string_equal(g->count.oldest->id, "compio:0x64");
	assert_string_equal(g->count.newest->id, "compio:0x62");
	assert_true(g->count.keyed);

	SOME(t);
	add(&t, serve(&t.arena, 41, 5))->number = 30;
	add(&t, serve(&t.arena, 41, 5))->number = 10;
	add(&t, serve(&t.arena, 41, 5))->number = 20;
	g = make(&t);
	assert_int_equal(g->count.oldest->number, 10);
	assert_int_equal(g->count.newest->number, 30);
}

static void test_without_tree(void **state)
{
	(void)state;
	SOME(s);
	struct task *task;

	for (unsigned i = 0; i < 5; i++) {
		task = add(&s, NULL);
		task->type = i == 4 ? "app::Other" : "app::Type";
		const char *problem =
			arena_printf(&s.arena, "nothing readable at " MARKED_NUMBER("0x7f%u"), i);

		task->problem = marked_finish(&s.arena, problem, &task->problem_parts);
		if (i == 3)
			task->problem = NULL;
	}
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 3);
	assert_int_equal(g->groups[0].count.tasks, 3);
	assert_null(g->groups[0].root->frame);
	assert_string_equal(group_range_text(&s.arena, &g->groups[0].root->wait),
	                    "nothing readable at 0x7f0-0x7f2");
	assert_null(g->groups[1].root->wait.pattern);
}

/* The arms of a select! are separate children; each task is counted at each arm. */
static void test_fork(void **state)
{
	(void)state;
	SOME(s);

	for (unsigned i = 0; i < 4; i++) {
		struct future *root =
			make_await(&s.arena, "app::select", 0, "src/select.rs", 3, NULL);
		struct future *arms[] = {
			make_edge(sleeping(&s.arena, 1), "select arm 0",
			          i == 3 ? BRANCH_DISABLED : BRANCH_POLLED),
			make_edge(sleeping(&s.arena, 2), "select arm 1", BRANCH_POLLED),
		};

		make_fork(&s.arena, root, 2, arms);
		add(&s, root);
	}
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 2);
	assert_int_equal(g->groups[0].count.tasks, 3);
	assert_int_equal(g->roots[0]->nchildren, 3);
	assert_int_equal(g->roots[0]->children[0]->count.tasks, 4);
	assert_string_equal(g->roots[0]->children[0]->frame->edge, "select arm 1");
	/* Unpolled children come last. */
	assert_int_equal(g->roots[0]->children[2]->count.tasks, 1);
}

/* Sets that differ only in how many identical children they have, and in their order. */
static void test_sets(void **state)
{
	(void)state;
	SOME(s);

	for (unsigned i = 1; i <= 4; i++) {
		struct future *children[8];
		struct future *root = make_await(&s.arena, "app::set", 0, "src/set.rs", 3, NULL);

		for (unsigned k = 0; k < i; k++)
			children[k] = make_edge(serve(&s.arena, 41, k), "set", BRANCH_POLLED);
		/* The third set has another child first, the fourth has it last. */
		if (i >= 3)
			children[i == 3 ? 0 : i - 1] =
				make_edge(serve(&s.arena, 42, 1), "set", BRANCH_POLLED);
		make_fork(&s.arena, root, i, children);
		add(&s, root);
	}
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 2);
	assert_int_equal(g->groups[0].count.tasks, 2);
	assert_int_equal(g->groups[1].count.tasks, 2);
	assert_int_equal(g->roots[0]->children[0]->count.tasks, 4);
	assert_int_equal(g->roots[0]->children[0]->futures, 1 + 2 + 2 + 3);
}

/* Two equal arms are no set: their number matters. */
static void test_two_are_not_one(void **state)
{
	(void)state;
	SOME(s);

	for (unsigned i = 1; i <= 2; i++) {
		struct future *root = make_await(&s.arena, "app::two", 0, "src/two.rs", 3, NULL);
		struct future *children[] = { sleeping(&s.arena, 1), sleeping(&s.arena, 2) };

		make_fork(&s.arena, root, i, children);
		add(&s, root);
	}
	assert_int_equal(make(&s)->ngroups, 2);
}

static void test_locals(void **state)
{
	(void)state;
	SOME(s);
	static const char *const values[] = { "1", "2", "1", "3", "4", NULL };

	for (unsigned i = 0; i < 6; i++) {
		struct task *task = add(&s, serve(&s.arena, 41, 5));

		task->root->locals = NEW_ARRAY(&s.arena, struct local, 2);
		task->root->nlocals = 2;
		task->root->locals[0] = (struct local){ .name = "n", .value = values[i] };
		task->root->locals[1] =
			(struct local){ .name = "all", .value = "same", .argument = true };
	}
	const struct groups *g = make(&s);
	const struct group_node *root = g->roots[0];

	assert_true(g->has_locals);
	assert_int_equal(root->nlocals, 2);
	assert_int_equal(root->locals[0].distinct, 4);
	assert_int_equal(root->locals[0].seen, 5);
	assert_int_equal(root->locals[0].unknown, 1);
	assert_int_equal(root->locals[0].nexamples, 3);
	assert_string_equal(root->locals[0].examples[2], "3");
	assert_int_equal(root->locals[1].distinct, 1);
	assert_true(root->locals[1].argument);
}

/* Time is linear in futures and memory in distinct frames; deep trees do not overflow the stack. */
static void test_linear(void **state)
{
	(void)state;
	enum { TASKS = 100000, KINDS = 40, DEEP = 50000 };
	struct arena a CLEANUP(arena_free) = { 0 };
	const struct task **tasks = NEW_ARRAY(&a, const struct task *, TASKS);
	struct groups g;

	for (unsigned i = 0; i < TASKS; i++)
		tasks[i] = make_task(&a, i + 1, 0, TASK_IDLE, serve(&a, i % KINDS, i));
	size_t before = a.total;
	groups_make(&a, tasks, TASKS, &g);

	assert_int_equal(g.ngroups, KINDS);
	assert_int_equal(g.nnodes, KINDS * 3);
	assert_int_equal(g.futures, TASKS * 3);
	/* A frame and a shape for each future. */
	assert_in_range(g.probes, TASKS * 3, TASKS * 3 * 2);
	assert_int_equal(g.of[0], g.of[KINDS]);
	assert_int_not_equal(g.of[0], g.of[1]);
	assert_ptr_equal(g.groups[g.of[1]].task, tasks[1]);
	assert_true(a.total - before < KINDS * 3 * 1024 + TASKS * sizeof(*g.of));

	struct future *deep = sleeping(&a, 1);
	for (unsigned i = 0; i < DEEP; i++)
		deep = make_await(&a, "app::deep", 0, "src/deep.rs", 1, deep);
	tasks[0] = tasks[1] = make_task(&a, 1, 0, TASK_IDLE, deep);
	groups_make(&a, tasks, 2, &g);
	assert_int_equal(g.ngroups, 1);
	assert_int_equal(g.groups[0].nnodes, DEEP + 1);
}

/* A hundred thousand tasks of which no two are the same. */
static void test_all_different(void **state)
{
	(void)state;
	enum { TASKS = 100000 };
	struct arena a CLEANUP(arena_free) = { 0 };
	const struct task **tasks = NEW_ARRAY(&a, const struct task *, TASKS);
	struct groups g;

	for (unsigned i = 0; i < TASKS; i++)
		tasks[i] = make_task(&a, i + 1, 0, TASK_IDLE, serve(&a, i, i));
	groups_make(&a, tasks, TASKS, &g);
	assert_int_equal(g.ngroups, TASKS);
	assert_in_range(g.probes, 0, 100);
}

/* Nodes are few and their combinations are many. */
static void test_many_shapes(void **state)
{
	(void)state;
	enum { EACH = 150 };
	struct arena a CLEANUP(arena_free) = { 0 };
	const struct task **tasks = NEW_ARRAY(&a, const struct task *, EACH *EACH);
	struct groups g;

	for (unsigned i = 0; i < EACH * EACH; i++) {
		struct future *root = make_await(&a, "app::join", 0, "src/join.rs", 3, NULL);
		struct future *arms[] = {
			make_edge(serve(&a, i / EACH, 1), "join arm 0", BRANCH_POLLED),
			make_edge(serve(&a, i % EACH, 1), "join arm 1", BRANCH_POLLED),
		};

		make_fork(&a, root, 2, arms);
		tasks[i] = make_task(&a, i + 1, 0, TASK_IDLE, root);
	}
	groups_make(&a, tasks, EACH * EACH, &g);
	assert_int_equal(g.ngroups, EACH * EACH);
	assert_int_equal(g.nnodes, 1 + 2 * 3 * EACH);
	assert_in_range(g.probes, 1, 3 * g.futures);
}

static void test_many_values(void **state)
{
	(void)state;
	enum { TASKS = GROUP_DISTINCT + 100 };
	struct arena a CLEANUP(arena_free) = { 0 };
	const struct task **tasks = NEW_ARRAY(&a, const struct task *, TASKS);
	struct groups g;

	for (unsigned i = 0; i < TASKS; i++) {
		struct future *root = serve(&a, 1, 1);

		root->locals = NEW(&a, struct local);
		root->nlocals = 1;
		root->locals[0] = (struct local){ .name = "n", .value = arena_uint(&a, i) };
		tasks[i] = make_task(&a, i + 1, 0, TASK_IDLE, root);
	}
	groups_make(&a, tasks, TASKS, &g);
	assert_int_equal(g.roots[0]->locals[0].distinct, GROUP_DISTINCT);
	assert_int_equal(g.roots[0]->locals[0].seen, TASKS);
}

/* Nodes are folded onto a line only when all tasks continue to one child. */
static void test_folding(void **state)
{
	(void)state;
	SOME(s);

	/* The tree of one task ends at app::serve. */
	add(&s, serve(&s.arena, 1, 5));
	add(&s, serve(&s.arena, 1, 5))->root->nchildren = 0;
	/* Two arms, each with all tasks. */
	struct future *root = make_await(&s.arena, "app::join", 0, "src/join.rs", 3, NULL);
	struct future *arms[] = { make_edge(sleeping(&s.arena, 1), "join arm 0", BRANCH_POLLED),
		                  make_edge(sleeping(&s.arena, 1), "join arm 1", BRANCH_POLLED) };
	make_fork(&s.arena, root, 2, arms);
	add(&s, root);
	/* A set of which only one child continues. */
	root = make_await(&s.arena, "app::set", 0, "src/set.rs", 3, NULL);
	struct future *children[] = { make_edge(serve(&s.arena, 9, 5), "set", BRANCH_POLLED),
		                      make_edge(serve(&s.arena, 9, 5), "set", BRANCH_POLLED) };
	children[1]->nchildren = 0;
	make_fork(&s.arena, root, 2, children);
	add(&s, root);
	const struct groups *g = make(&s);

	assert_int_equal(g->nroots, 3);
	assert_false(group_is_folded(g->roots[0]->children[0]));
	assert_false(group_is_folded(g->roots[1]->children[0]));
	assert_false(group_is_folded(g->roots[1]->children[1]));
	const struct group_node *set = g->roots[2];
	assert_true(group_is_folded(set->children[0]));
	assert_int_equal(set->children[0]->ends, 1);
	assert_false(group_is_folded(set->children[0]->children[0]));
}

static void test_lines(void **state)
{
	(void)state;
	SOME(s);
	struct group_lines lines;

	/* 4 of line 41, 2 of line 42, of which one sleeps and one has a mutex; 1 of each other. */
	for (unsigned i = 0; i < 4; i++)
		add(&s, serve(&s.arena, 41, i));
	add(&s, serve(&s.arena, 42, 1));
	struct future *root = serve(&s.arena, 42, 5);
	root->children[0]->children[0] = waiting(&s.arena, "Acquire", "mutex", "mutex lock");
	add(&s, root);
	for (unsigned i = 0; i < 5; i++)
		add(&s, serve(&s.arena, 50 + i, i));
	const struct groups *g = make(&s);

	assert_int_equal(g->ngroups, 8);
	group_lines_choose(&s.arena, g, SIZE_MAX, SIZE_MAX, &lines);
	assert_int_equal(lines.ngroups, 8);
	/* One each, but three of line 42. */
	assert_int_equal(lines.nlines, 1 + 3 + 5);
	assert_int_equal(lines.nroots, 7);
	group_lines_choose(&s.arena, g, 1, SIZE_MAX, &lines);
	assert_int_equal(lines.nlines, 2);
	assert_int_equal(lines.ntasks, 4);
	assert_int_equal(lines.nroots, 1);
	group_lines_choose(&s.arena, g, 2, SIZE_MAX, &lines);
	assert_int_equal(lines.nlines, 1 + 2 + 2);
	group_lines_choose(&s.arena, g, SIZE_MAX, 4, &lines);
	assert_int_equal(lines.ngroups, 1);
	assert_int_equal(lines.nlines, 2);
	group_lines_choose(&s.arena, g, SIZE_MAX, 5, &lines);
	assert_int_equal(lines.ngroups, 3);
	assert_int_equal(lines.nlines, 5);
	assert_true(group_is_folded(g->groups[0].nodes[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_names_of_frames),
		cmocka_unit_test(test_other_line),
		cmocka_unit_test(test_other_leaf),
		cmocka_unit_test(test_changed_deep_frame),
		cmocka_unit_test(test_running_and_uncertain),
		cmocka_unit_test(test_without_tree),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_two_are_not_one),
		cmocka_unit_test(test_locals),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_all_different),
		cmocka_unit_test(test_other_frames),
		cmocka_unit_test(test_without_numbers),
		cmocka_unit_test(test_many_shapes),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

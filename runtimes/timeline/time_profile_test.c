#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/model/model.h"
#include "runtimes/timeline/time_profile.h"
#include "runtimes/timeline/timeline.h"

enum { BEGIN = 100 };

static struct trace_frame outer[] = { { "app::outer", "app.rs", 9, false, NULL } };
static struct trace_frame inner[] = { { "app::outer", "app.rs", 9, false, NULL },
	                              { "app::inner", "b.rs", 5, false, NULL } };
static const struct trace_place at_outer = { .frames = outer, .nframes = 1, .leaf = "Sleep" };
static const struct trace_place at_inner = { .frames = inner, .nframes = 2 };

static void append_times(struct str *s, const struct profile_times *t)
{
	static const char letters[] = "porwu";

	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (t->ns[i])
			str_printf(s, " %c%d", letters[i], (int)t->ns[i]);
	}
}

/* "Type w30 {app::outer:9 p5 w30 / w20 {Sleep w10}}": totals, / own times, children. */
static void append_node(struct str *s, const struct profile_node *node)
{
	str_append(s, node->name ? node->name : "?");
	if (node->line)
		str_printf(s, ":%u", node->line);
	append_times(s, &node->total);
	if (profile_times_sum(&node->self) && node->children) {
		str_append(s, " /");
		append_times(s, &node->self);
	}
	for (const struct profile_node *c = node->children; c; c = c->next) {
		str_append(s, c == node->children ? " {" : ", ");
		append_node(s, c);
		str_append(s, c->next ? "" : "}");
	}
}

struct test {
	struct time_profile *profile;
	struct timeline *timeline;
	struct profile_tree tree;
	struct arena arena;
	struct str text;
};

static void begin(struct test *t)
{
	*t = (struct test){ .profile = time_profile_new() };
	t->timeline = timeline_new(TIMELINE_SPANS, time_profile_add, t->profile);
	timeline_begin(t->timeline, &(struct snapshot){ 0 }, BEGIN);
}

static const char *end(struct test *t, uint64_t time)
{
	timeline_cut(t->timeline, time);
	time_profile_tree(t->profile, &t->arena, NULL, NULL, &t->tree);
	for (const struct profile_node *node = t->tree.roots; node; node = node->next) {
		append_node(&t->text, node);
		str_append(&t->text, "; ");
	}
	return str_text(&t->text);
}

static void free_test(struct test *t)
{
	timeline_free(t->timeline);
	time_profile_free(t->profile);
	arena_free(&t->arena);
	str_free(&t->text);
}

static void add(struct test *t, enum trace_event event, uint64_t time, uint64_t task,
                const char *type)
{
	timeline_add(t->timeline,
	             &(struct trace_item){
			     .event = event, .time = time, .task = task, .type = type, .tid = 1 });
}

static void poll(struct test *t, uint64_t from, uint64_t to, uint64_t task,
                 const struct trace_place *place)
{
	add(t, TRACE_POLL_START, from, task, NULL);
	timeline_add(t->timeline, &(struct trace_item){ .event = TRACE_POLL_END,
	                                                .time = to,
	                                                .task = task,
	                                                .tid = 1,
	                                                .ready = !place,
	                                                .place = place });
}

static void test_time_of_one_task(void **state)
{
	struct test t CLEANUP(free_test);

	(void)state;
	begin(&t);
	add(&t, TRACE_SPAWN, 100, 7, "Type");
	poll(&t, 110, 115, 7, &at_outer);
	add(&t, TRACE_WAKE, 145, 7, NULL);
	poll(&t, 147, 160, 7, &at_inner);
	assert_string_equal(end(&t, 200), "Type p18 r12 w70 / p5 r10 {app::outer:9 p13 r2 w70 / "
	                                  "p13 {app::inner:5 w40, Sleep r2 w30}}; ");
	assert_int_equal(t.tree.ntypes, 1);
	assert_int_equal(t.tree.nnodes, 4);
	assert_int_equal(t.tree.types[0].tasks, 1);
	assert_int_equal(t.tree.types[0].polls, 2);
	assert_int_equal(t.tree.types[0].lifetime_ns, 100);
	assert_int_equal(profile_times_sum(&t.tree.types[0].times), 100);
	assert_int_equal(profile_times_sum(&t.tree.total), 100);
}

/* Types are those of equal names, the largest first; a slot serves many tasks. */
static void test_types(void **state)
{
	static const char same[] = "B";
	struct test t CLEANUP(free_test);

	(void)state;
	begin(&t);
	add(&t, TRACE_SPAWN, 100, 1, "A");
	add(&t, TRACE_TERMINATE, 105, 1, NULL);
	add(&t, TRACE_SPAWN, 110, 2, "B");
	add(&t, TRACE_SPAWN, 120, 3, same);
	add(&t, TRACE_TERMINATE, 140, 2, NULL);
	add(&t, TRACE_SPAWN, 150, 4, NULL);
	assert_string_equal(end(&t, 160), "B r70; ? r10; A r5; ");
	assert_int_equal(t.tree.types[0].tasks, 2);
	assert_int_equal(t.tree.types[0].lifetime_ns, 70);
	assert_int_equal(t.tree.roots->next->type, 1);
}

static void test_lost_events(void **state)
{
	struct test t CLEANUP(free_test);
	uint64_t spans, ns;

	(void)state;
	begin(&t);
	add(&t, TRACE_SPAWN, 100, 1, "A");
	timeline_lost(t.timeline, 120);
	poll(&t, 130, 131, 1, &at_outer);
	assert_string_equal(end(&t, 140), "A p1 r20 w9 u10 / p1 r20 u10 {app::outer:9 w9 "
	                                  "{Sleep w9}}; ");
	time_profile_inexact(t.profile, &spans, &ns);
	assert_int_equal(spans, 2);
	assert_int_equal(ns, 30);
}

static bool read_off(pid_t tid, uint64_t *ns, void *arg)
{
	(void)tid;
	*ns = *(const uint64_t *)arg;
	return true;
}

/* What its thread was off the processor before a poll is no part of it. */
static void test_off_processor(void **state)
{
	struct test t CLEANUP(free_test);
	uint64_t now = 1000;

	(void)state;
	begin(&t);
	timeline_measure(t.timeline, read_off, &now);
	for (uint64_t task = 1; task <= 3; task++) {
		add(&t, TRACE_SPAWN, 100, task, task == 3 ? "B" : "A");
		timeline_add(t.timeline, &(struct trace_item){ .event = TRACE_POLL_START,
		                                               .time = 100,
		                                               .task = task,
		                                               .tid = (pid_t)task,
		                                               .off_ns = 990 });
	}
	timeline_add(t.timeline, &(struct trace_item){ .event = TRACE_POLL_END,
	                                               .time = 130,
	                                               .task = 1,
	                                               .tid = 1,
	                                               .ready = true,
	                                               .off_ns = 1010 });
	timeline_cut(t.timeline, 150);
	now = 2000;
	assert_string_equal(end(&t, 160), "A p50 o40; B p40 o20; ");
}

static struct trace_frame code[] = { { "compute", "c.rs", 1, false, NULL },
	                             { "inner", "c.rs", 0, false, NULL } };

/* Of stack 0 there is one function, of stack 1 two. */
static const struct trace_frame *code_of(uint32_t stack, const struct trace_place *place, size_t *n,
                                         void *arg)
{
	assert_ptr_equal(place, &at_outer);
	assert_ptr_equal(arg, code);
	*n = stack + 1;
	return code;
}

/* The samples of an await share its time, to the last nanosecond. */
static void test_samples(void **state)
{
	struct test t CLEANUP(free_test);
	struct task_span span = { .task = 1,
		                  .type = "A",
		                  .doing = DOING_POLLING,
		                  .resumed = &at_outer,
		                  .from = { 100 },
		                  .to = { 200 } };

	(void)state;
	begin(&t);
	time_profile_sample(&span, 0, t.profile);
	time_profile_sample(&span, 1, t.profile);
	time_profile_sample(&span, 1, t.profile);
	span.off_known = true;
	span.off_ns = 20;
	time_profile_add(&span, t.profile);
	time_profile_tree(t.profile, &t.arena, code_of, code, &t.tree);
	append_node(&t.text, t.tree.roots);
	assert_string_equal(str_text(&t.text),
	                    "A p80 o20 {app::outer:9 p80 o20 / o20 {compute:1 p80 / p26 {inner "
	                    "p54}}}");
	const struct profile_node *compute = t.tree.roots->children->children;
	assert_int_equal(compute->kind, PROFILE_CODE);
	assert_int_equal(compute->samples, 1);
	assert_int_equal(compute->children->samples, 2);
	assert_int_equal(t.tree.types[0].tasks, 1);
	assert_int_equal(t.tree.types[0].polls, 1);
}

/* One chain was cut, as of a trace, and the other one is whole: they are at one place. */
static void test_cut_chain(void **state)
{
	static const struct trace_place cut = { .frames = outer, .nframes = 1, .cut = true };
	struct test t CLEANUP(free_test);

	(void)state;
	begin(&t);
	add(&t, TRACE_SPAWN, 100, 1, "T");
	add(&t, TRACE_SPAWN, 100, 2, "T");
	poll(&t, 100, 100, 1, &at_inner);
	poll(&t, 100, 100, 2, &cut);
	assert_string_equal(end(&t, 150), "T w100 {app::outer:9 w100 {? w100}}; ");
	assert_int_equal(t.tree.roots->children->children->kind, PROFILE_CUT);
}

/* A sample of a task at an await that nobody knows, and one of a task that was never polled. */
static void test_unknown_place(void **state)
{
	struct task_span span = { .task = 1,
		                  .type = "T",
		                  .doing = DOING_POLLING,
		                  .from = { 100 },
		                  .to = { 130 },
		                  .open = true,
		                  .unplaced = true };
	struct test t CLEANUP(free_test);

	(void)state;
	begin(&t);
	time_profile_add(&span, t.profile);
	span = (struct task_span){ .task = 2,
		                   .slot = 1,
		                   .type = "T",
		                   .doing = DOING_RUNNABLE,
		                   .from = { 100 },
		                   .to = { 110 },
		                   .open = true };
	time_profile_add(&span, t.profile);
	assert_string_equal(end(&t, 150), "T p30 r10 / r10 {? p30}; ");
	assert_int_equal(t.tree.roots->children->kind, PROFILE_UNPLACED);
}

static void test_many_places(void **state)
{
	enum { PLACES = 1000 };
	static struct trace_frame frames[PLACES];
	static struct trace_place places[PLACES];
	struct test t CLEANUP(free_test);
	uint64_t last = UINT64_MAX;
	size_t n = 0;

	(void)state;
	begin(&t);
	add(&t, TRACE_SPAWN, 100, 1, "A");
	for (size_t i = 0; i < PLACES; i++) {
		frames[i] =
			(struct trace_frame){ "app::f", "app.rs", (unsigned)i + 1, false, NULL };
		places[i] = (struct trace_place){ .frames = &frames[i], .nframes = 1 };
		poll(&t, 100 + i * 100, 101 + i * 100 + i * 37 % 90, 1, &places[i]);
	}
	end(&t, 100 + PLACES * 100);
	for (struct profile_node *c = t.tree.roots->children; c; c = c->next, n++) {
		assert_true(profile_times_sum(&c->total) <= last);
		last = profile_times_sum(&c->total);
	}
	assert_int_equal(n, PLACES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_of_one_task), cmocka_unit_test(test_types),
		cmocka_unit_test(test_lost_events),      cmocka_unit_test(test_off_processor),
		cmocka_unit_test(test_samples),          cmocka_unit_test(test_cut_chain),
		cmocka_unit_test(test_unknown_place),    cmocka_unit_test(test_many_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

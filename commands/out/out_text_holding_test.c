/* Tests of the printed resource owners. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "commands/test/answer.h"

/* Task 4 waits for a mutex; the caller adds its owner. */
static struct wait *waits_for_mutex(struct snapshot *s)
{
	struct wait *w = s->tasks[0]->root->children[0]->wait;

	w->kind = "mutex";
	w->phrase = "mutex lock, first in its queue";
	w->object = 0xabc0;
	w->primitive = 0xabc8;
	w->ndetails = 0;
	return w;
}

static struct holding *add_holding(struct snapshot *s)
{
	struct arena *a = &s->arena;
	struct holding *list = NEW_ARRAY(a, struct holding, s->nholdings + 1);

	for (size_t i = 0; i < s->nholdings; i++)
		list[i] = s->holdings[i];
	s->holdings = list;
	struct holding *h = &list[s->nholdings++];
	*h = (struct holding){ .role = HOLDING_LOCK,
		               .kind = "mutex",
		               .type = "tokio::sync::mutex::MutexGuard<u32>",
		               .addr = 0x6000,
		               .object = 0xabc0,
		               .primitive = 0xabc8,
		               .permits = 1,
		               .task = s->tasks[1],
		               .future = s->tasks[1]->root,
		               .function = "app::transfer",
		               .path = "state.guard",
		               .file = "/build/src/bank.rs",
		               .file_short = "src/bank.rs",
		               .line = 41 };
	return h;
}

static void assert_says(const struct snapshot *s, const char *id, const char *wanted)
{
	CAUGHT(c);

	catch (&c, TEXT);
	assert_null(run_command(&c, &async_task_command, s, id));
	if (!strstr(c.answers, wanted))
		fail_msg("\"%s\" is not in:\n%s", wanted, c.answers);
}

static void assert_silent(const struct snapshot *s, const char *id, const char *unwanted)
{
	CAUGHT(c);

	catch (&c, TEXT);
	assert_null(run_command(&c, &async_task_command, s, id));
	if (strstr(c.answers, unwanted))
		fail_msg("\"%s\" is in:\n%s", unwanted, c.answers);
}

static void test_holder(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	struct holding *h = add_holding(s);
	assert_says(
		s, "4",
		"     held by task 5: `state.guard` in app::transfer running at src/bank.rs:41\n");
	h->uncertain = true;
	assert_says(s, "4", "     may be held by task 5: `state.guard` in app::transfer running");
	h->sole = true;
	assert_says(s, "4",
	            "     held by task 5: `state.guard` in app::transfer running at "
	            "src/bank.rs:41, the only candidate\n");
	h->declared = true;
	assert_says(s, "4", "in app::transfer declared at src/bank.rs:41");
}

/* The place where the guard was declared, and the place where its owner is now. */
static void test_declared(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	struct holding *h = add_holding(s);
	struct future *f = s->tasks[1]->root;
	f->file_short = "src/bank.rs";
	f->line = 44;
	f->running = false;
	h->declared = true;
	assert_says(s, "4",
	            "     held by task 5: `state.guard` in app::transfer declared at "
	            "src/bank.rs:41, awaiting at src/bank.rs:44\n");
	f->running = true;
	assert_says(s, "4", "declared at src/bank.rs:41, running at src/bank.rs:44\n");
	f->line = 0;
	assert_says(s, "4", "app::transfer declared at src/bank.rs:41\n");
	h->declared = false;
	assert_says(s, "4", "app::transfer running at src/bank.rs:41\n");
	h->declared = true;
	h->future = NULL;
	h->stack_frame = 7;
	assert_says(s, "4", "app::transfer frame #7 declared at src/bank.rs:41\n");
}

static void test_native_frame(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	struct holding *h = add_holding(s);
	h->task = NULL;
	h->future = NULL;
	h->thread = 3;
	h->stack_frame = 7;
	assert_says(s, "4",
	            "held by thread #3: `state.guard` in app::transfer frame #7 running at");
}

static void test_granted(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	struct holding *h = add_holding(s);
	h->granted = true;
	h->path = NULL;
	assert_says(s, "4",
	            "given to task 5: a lock future running at src/bank.rs:41, which has "
	            "not taken it yet\n");
	h->partial = true;
	assert_says(s, "4",
	            "in part given to task 5: a lock future running at src/bank.rs:41, which "
	            "waits for more\n");
}

/* The output never claims that there is no owner. */
static void test_not_found(void **state)
{
	static const char *unsearched[] = { "statics", "task 7: torn" };

	(void)state;
	SNAPSHOT(s);
	waits_for_mutex(s);
	s->unsearched = unsearched;
	s->nunsearched = 2;
	assert_says(s, "4", "holder not found; what was not searched is said below\n");
	/* Printed once, for any number of waiting tasks. */
	assert_says(s, "4", "not searched: statics\nnot searched: task 7: torn\n");
	add_holding(s);
	assert_silent(s, "4", "not searched");
	assert_silent(s, "4", "not found");
}

/* A wait without an owner: a timer. */
static void test_nothing_to_hold(void **state)
{
	(void)state;
	SNAPSHOT(s);

	assert_silent(s, "4", "not found");
}

static void test_own(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	struct holding *h = add_holding(s);
	assert_says(s, "5",
	            "     holds: tokio::sync::mutex::MutexGuard<u32> of mutex 0xabc0 "
	            "(`state.guard` in app::transfer running at src/bank.rs:41), "
	            "1 task waits for it\n");
	h->uncertain = true;
	assert_says(s, "5", "     may hold: tokio::sync::mutex::MutexGuard<u32>");
	h->role = HOLDING_SLOT;
	assert_says(s, "5",
	            "src/bank.rs:41), whose type looks like the guard of a pool, "
	            "1 task waits for it\n");
	/* Nothing but a semaphore has such holders. */
	assert_silent(s, "4", "may be held by");
	h->role = HOLDING_WAKER;
	assert_silent(s, "5", "hold:");
}

/* Two permits of one semaphore in one variable of two like frames: a line, and how many. */
static void test_twice(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	add_holding(s)->addr = 0x6000;
	add_holding(s)->addr = 0x7000;
	assert_says(s, "4",
	            "     held by task 5: `state.guard` in app::transfer running at "
	            "src/bank.rs:41, 2 times\n");
	assert_says(s, "5", "src/bank.rs:41), 2 times, 1 task waits for it\n");
	s->holdings[1].uncertain = true;
	assert_silent(s, "4", "times");
	assert_says(s, "4", "     may be held by task 5: `state.guard`");
	s->holdings[1].uncertain = false;
	s->holdings[1].path = "other";
	assert_silent(s, "5", "times");
	assert_says(s, "5", "(`other` in app::transfer running at src/bank.rs:41), 1 task");
}

/* Different holdings have a line each, up to a limit; repeated ones do not count toward it. */
static void test_many(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s);
	for (unsigned i = 0; i < 20; i++)
		add_holding(s)->line = i < 18 ? i + 1 : 1;
	assert_says(s, "4", "src/bank.rs:1, 3 times\n");
	assert_says(s, "4", "src/bank.rs:16\n     and 2 more\n");
	assert_says(s, "5", "     and 2 more\n");
	assert_silent(s, "4", "src/bank.rs:17");
}

static void test_name_of_lock(void **state)
{
	(void)state;
	SNAPSHOT(s);

	waits_for_mutex(s)->name = "self.accounts";
	assert_says(s, "4", ", object 0xabc0 (`self.accounts`)");
}

/* Holdings of other tasks are not printed. */
static void test_json(void **state)
{
	(void)state;
	SNAPSHOT(s);
	CAUGHT(c);

	waits_for_mutex(s);
	add_holding(s);
	struct holding *other = add_holding(s);
	other->path = "elsewhere";
	other->object = other->primitive = 0xdef0;
	catch (&c, JSON);
	assert_null(run_command(&c, &async_task_command, s, "4"));
	assert_non_null(strstr(c.answers, "\"path\": \"state.guard\""));
	assert_non_null(strstr(c.answers, "\"role\": \"lock\""));
	assert_null(strstr(c.answers, "elsewhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holder),       cmocka_unit_test(test_declared),
		cmocka_unit_test(test_native_frame), cmocka_unit_test(test_granted),
		cmocka_unit_test(test_not_found),    cmocka_unit_test(test_nothing_to_hold),
		cmocka_unit_test(test_own),          cmocka_unit_test(test_name_of_lock),
		cmocka_unit_test(test_json),         cmocka_unit_test(test_twice),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

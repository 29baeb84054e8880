/* Held futures that a move has left behind, in made-up trees. */
#include "runtimes/inspect/one_owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { BOXED = 0x5000, AROUND = 0x6000, ELSEWHERE = 0x7000, MAX_CHILDREN = 4 };

static struct arena a;

/* A future of the type at addr with children up to NULL. */
static struct future *polled(const char *type, uint64_t addr, ...)
{
	struct future *f = NEW(&a, struct future), *child;
	va_list list;

	f->function = f->type = type;
	f->addr = addr;
	f->edge = "await";
	f->children = NEW_ARRAY(&a, struct future *, MAX_CHILDREN);
	va_start(list, addr);
	while ((child = va_arg(list, struct future *)))
		f->children[f->nchildren++] = child;
	va_end(list);
	return f;
}

static struct future *held(struct future *f)
{
	f->branch = BRANCH_HELD;
	f->edge = "held";
	return f;
}

static struct future *doubted(struct future *f)
{
	f->doubted = true;
	return held(f);
}

/* A JoinHandle of that task. */
static struct future *handle(uint64_t addr, const char *task)
{
	struct future *f = polled("Handle", addr, NULL);

	f->wait = NEW(&a, struct wait);
	f->wait->kind = "join";
	f->wait->task = task;
	return f;
}

/* A receiver of that channel. */
static struct future *receiver(uint64_t addr, const char *kind, uint64_t channel)
{
	struct future *f = polled("Receiver", addr, NULL);

	f->wait = NEW(&a, struct wait);
	f->wait->kind = kind;
	f->wait->object = channel;
	return f;
}

/* "outer(boxed inner)": the functions of a tree. */
static void print(struct str *s, const struct future *f)
{
	str_append(s, f->function);
	for (size_t i = 0; i < f->nchildren; i++) {
		str_append(s, i ? " " : "(");
		print(s, f->children[i]);
	}
	if (f->nchildren)
		str_append(s, ")");
}

/* Settles tasks with these roots; second may be NULL. */
static void expect(struct future *first, struct future *second, const char *wanted)
{
	struct task tasks[] = { { .root = first }, { .root = second } };
	struct task *list[] = { &tasks[0], &tasks[1] };
	struct snapshot s = { .tasks = list, .ntasks = second ? 2 : 1 };
	STR(text);

	one_owner_resolve(&s);
	print(&text, first);
	if (second) {
		str_append(&text, " ");
		print(&text, second);
	}
	assert_string_equal(str_text(&text), wanted);
}

static struct future *boxed(void)
{
	return polled("boxed", BOXED, NULL);
}

static void test_what_is_polled_is_not_held(void **state)
{
	(void)state;
	expect(polled("outer", 0, polled("inner", 0, boxed(), NULL), held(boxed()), NULL), NULL,
	       "outer(inner(boxed))");
	/* By another task. */
	expect(polled("one", 0, held(boxed()), NULL), polled("two", 0, boxed(), NULL),
	       "one two(boxed)");
	/* What leads to it is a remainder, too. */
	expect(polled("outer", 0, polled("inner", 0, boxed(), NULL),
	              held(polled("around", AROUND, boxed(), NULL)), NULL),
	       NULL, "outer(inner(boxed))");
	/* Another type at the address is another future. */
	expect(polled("outer", 0, polled("first", BOXED, NULL), held(boxed()), NULL), NULL,
	       "outer(first boxed)");
}

static void test_inner_frame_holds_it(void **state)
{
	(void)state;
	expect(polled("outer", 0, polled("inner", 0, held(boxed()), NULL), held(boxed()), NULL),
	       NULL, "outer(inner(boxed))");
	/* Neither frame polls the other: either may have it. */
	expect(polled("join", 0, polled("left", 0, held(boxed()), NULL),
	              polled("right", 0, held(boxed()), NULL), NULL),
	       NULL, "join(left(boxed) right(boxed))");
	expect(polled("one", 0, held(boxed()), NULL), polled("two", 0, held(boxed()), NULL),
	       "one(boxed) two(boxed)");
}

static void test_future_around_it_holds_it(void **state)
{
	(void)state;
	expect(polled("outer", 0, held(boxed()), held(polled("around", AROUND, boxed(), NULL)),
	              NULL),
	       NULL, "outer(around(boxed))");
	/* A future that what is around it merely holds is not its own. */
	expect(polled("outer", 0, held(polled("around", AROUND, held(boxed()), NULL)), NULL), NULL,
	       "outer(around(boxed))");
}

static void test_certain_holder_has_it(void **state)
{
	(void)state;
	expect(polled("outer", 0, polled("inner", 0, doubted(boxed()), NULL), held(boxed()), NULL),
	       NULL, "outer(inner boxed)");
	expect(polled("outer", 0, polled("inner", 0, doubted(boxed()), NULL), doubted(boxed()),
	              NULL),
	       NULL, "outer(inner(boxed))");
}

/* russh 0.65: a session is moved into a select!, and with it the receiver of its end. */
static void test_receivers_move(void **state)
{
	static const char *const kinds[] = { "oneshot", "mpsc_recv" };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct future *there = receiver(AROUND, kinds[i], BOXED);

		expect(polled("outer", 0, receiver(ELSEWHERE, kinds[i], BOXED),
		              doubted(polled("session", AROUND, there, NULL)), NULL),
		       NULL, "outer(Receiver)");
		expect(polled("outer", 0, receiver(ELSEWHERE, kinds[i], BOXED),
		              held(receiver(AROUND, kinds[i], BOXED + 8)), NULL),
		       NULL, "outer(Receiver Receiver)");
	}
	/* A frame polls the receiver by a `&mut`. */
	expect(polled("outer", 0, receiver(AROUND, "oneshot", BOXED),
	              held(polled("session", AROUND, receiver(AROUND, "oneshot", BOXED), NULL)),
	              NULL),
	       NULL, "outer(Receiver session(Receiver))");
	/* Such a channel may have several receivers. */
	expect(polled("outer", 0, receiver(ELSEWHERE, "channel_recv", BOXED),
	              held(receiver(AROUND, "channel_recv", BOXED)), NULL),
	       NULL, "outer(Receiver Receiver)");
}

static void test_values_without_bytes(void **state)
{
	(void)state;
	expect(polled("outer", 0, polled("zst", 1, NULL), held(polled("zst", 1, NULL)), NULL), NULL,
	       "outer(zst zst)");
}

static void test_handles_are_their_tasks(void **state)
{
	(void)state;
	expect(polled("outer", 0, handle(BOXED, "7"), held(handle(ELSEWHERE, "7")), NULL), NULL,
	       "outer(Handle)");
	expect(polled("outer", 0, handle(BOXED, "7"), held(handle(ELSEWHERE, "8")), NULL), NULL,
	       "outer(Handle Handle)");
}

/* The memory of a future that has ended has another one. */
static void test_memory_that_was_used_again(void **state)
{
	(void)state;
	expect(polled("outer", 0, polled("second", BOXED, NULL), doubted(boxed()), NULL), NULL,
	       "outer(second)");
	expect(polled("outer", 0, polled("second", BOXED, NULL), held(boxed()), NULL), NULL,
	       "outer(second boxed)");
}

static int free_trees(void **state)
{
	(void)state;
	arena_free(&a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_what_is_polled_is_not_held, free_trees),
		cmocka_unit_test_teardown(test_inner_frame_holds_it, free_trees),
		cmocka_unit_test_teardown(test_future_around_it_holds_it, free_trees),
		cmocka_unit_test_teardown(test_certain_holder_has_it, free_trees),
		cmocka_unit_test_teardown(test_receivers_move, free_trees),
		cmocka_unit_test_teardown(test_values_without_bytes, free_trees),
		cmocka_unit_test_teardown(test_handles_are_their_tasks, free_trees),
		cmocka_unit_test_teardown(test_memory_that_was_used_again, free_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

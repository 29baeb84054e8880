/* Tests of decisions of a step that executes instructions one by one. */
#include "runtimes/step_rules/into_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- an instruction was executed ---- */

/* `call 0x2000`, five bytes at 0x1000, in a function that returns to 0x500. */
static const struct into_instruction call = {
	.kind = STEP_INTO,
	.before = { 0x1000, 0x7008 },
	.now = { 0x2000, 0x7000 },
	.pushed = 8,
	.returns_to = 0x1005,
	.cfa = 0x7100,
	.returns = 0x500,
};

static enum into_after after(struct into_instruction i)
{
	return into_rules_after_instruction(&i);
}

static void test_called(void **state)
{
	struct into_instruction i = call;

	(void)state;
	assert_int_equal(after(i), INTO_CALLED);
	/* A call is no single instruction yet, and the line ends in no function that it calls. */
	i.kind = STEP_INSTRUCTION;
	i.ends = true;
	assert_int_equal(after(i), INTO_CALLED);
	/* A push, and a jump: nothing leads far away from what was pushed, or nothing was. */
	i = call;
	i.now.pc = 0x1002;
	assert_int_equal(after(i), INTO_ON);
	i.now.pc = 0x100f;
	assert_int_equal(after(i), INTO_ON);
	i.now.pc = 0x1010;
	assert_int_equal(after(i), INTO_CALLED);
	i.now.pc = 0xf00;
	assert_int_equal(after(i), INTO_CALLED);
	i = call;
	i.now.sp = i.before.sp;
	assert_int_equal(after(i), INTO_ON);
	/* The return address is not behind the instruction. */
	i = call;
	i.returns_to = 0x1000;
	assert_int_equal(after(i), INTO_ON);
	i.returns_to = 0x100f;
	assert_int_equal(after(i), INTO_CALLED);
	i.returns_to = 0x1010;
	assert_int_equal(after(i), INTO_ON);
	i.returns_to = 0xfff;
	assert_int_equal(after(i), INTO_ON);
	/* aarch64 has it in a register. */
	i = call;
	i.pushed = 0;
	i.now.sp = i.before.sp;
	assert_int_equal(after(i), INTO_CALLED);
}

static void test_other_instructions(void **state)
{
	/* `ret` */
	struct into_instruction i = { .kind = STEP_INTO,
		                      .before = { 0x1000, 0x70f8 },
		                      .now = { 0x500, 0x7100 },
		                      .pushed = 8,
		                      .returns_to = 0x1234,
		                      .cfa = 0x7100,
		                      .returns = 0x500 };

	(void)state;
	assert_int_equal(after(i), INTO_RETURNED);
	i.ends = true;
	assert_int_equal(after(i), INTO_RETURNED);
	i.kind = STEP_INSTRUCTION;
	assert_int_equal(after(i), INTO_STEPPED);
	/* A recursive call has returned, not that of the step. */
	i.kind = STEP_INTO;
	i.now.sp = 0x7080;
	assert_int_equal(after(i), INTO_LINE);
	i.ends = false;
	assert_int_equal(after(i), INTO_ON);
	i.now = (struct into_registers){ 0x504, 0x7100 };
	assert_int_equal(after(i), INTO_ON);
	/* The spawn comes first: the thread that steps counts no more. */
	i = call;
	i.on_any = true;
	assert_int_equal(after(i), INTO_SPAWNED);
}

static void test_yields(void **state)
{
	(void)state;
	assert_false(into_rules_yields(1));
	assert_false(into_rules_yields(999));
	assert_true(into_rules_yields(1000));
	assert_false(into_rules_yields(1001));
	assert_true(into_rules_yields(2000));
}

/* ---- a call ---- */

static void test_enters(void **state)
{
	const struct into_call users = { .kind = STEP_INTO, .is_users = true, .has_lines = true };
	struct into_call c = users;

	(void)state;
	assert_true(into_rules_enters(&c));
	c.kind = STEP_INSTRUCTION;
	assert_false(into_rules_enters(&c));
	c = users;
	c.spawned = true;
	assert_false(into_rules_enters(&c));
	c = users;
	c.is_users = false;
	assert_false(into_rules_enters(&c));
	c = users;
	c.has_lines = false;
	assert_false(into_rules_enters(&c));
	/* An async function only makes its coroutine. */
	c = users;
	c.makes_coroutine = true;
	assert_false(into_rules_enters(&c));
}

static void test_targets(void **state)
{
	struct into_call c = { .kind = STEP_INTO };

	(void)state;
	assert_int_equal(into_rules_targets(&c), INTO_CALLED_ONES);
	c.is_unseen = true;
	assert_int_equal(into_rules_targets(&c), INTO_CALLED_ONES);
	c.spawned = true;
	assert_int_equal(into_rules_targets(&c), INTO_SPAWNED_ONES);
	c.on_any = true;
	assert_int_equal(into_rules_targets(&c), INTO_NO_TARGETS);
	c.on_any = c.is_unseen = false;
	assert_int_equal(into_rules_targets(&c), INTO_NO_TARGETS);
	c = (struct into_call){ .kind = STEP_INSTRUCTION };
	assert_int_equal(into_rules_targets(&c), INTO_NO_TARGETS);
}

static void test_halts(void **state)
{
	const struct into_halt returned = { .at_breakpoint = true,
		                            .at = { 5, 0x1005 },
		                            .expected = { 5, 0x1005 } };
	struct into_halt h = returned;

	(void)state;
	assert_true(into_rules_has_returned(&h));
	h.at_breakpoint = false;
	assert_false(into_rules_has_returned(&h));
	h = returned;
	h.is_numbered = true;
	assert_false(into_rules_has_returned(&h));
	h = returned;
	h.has_entered = true;
	assert_false(into_rules_has_returned(&h));
	h = returned;
	h.has_ended = true;
	assert_false(into_rules_has_returned(&h));
	/* Another thread, or another place, as that of a catchpoint. */
	h = returned;
	h.at.tid = 6;
	assert_false(into_rules_has_returned(&h));
	h = returned;
	h.at.pc = 0x1006;
	assert_false(into_rules_has_returned(&h));
}

static void test_after_call(void **state)
{
	struct into_call_end e = { .kind = STEP_INTO, .has_returned = true };

	(void)state;
	assert_int_equal(into_rules_after_call(&e), INTO_CALL_DONE);
	e.kind = STEP_INSTRUCTION;
	assert_int_equal(into_rules_after_call(&e), INTO_CALL_STEPPED);
	e.kind = STEP_INTO;
	e.on_any = true;
	assert_int_equal(into_rules_after_call(&e), INTO_CALL_SPAWNED);
	e.on_any = false;
	e.has_targets = true;
	assert_int_equal(into_rules_after_call(&e), INTO_CALL_SPAWNED);
	e.has_returned = false;
	assert_int_equal(into_rules_after_call(&e), INTO_CALL_HALTED);
	e.has_entered = true;
	assert_int_equal(into_rules_after_call(&e), INTO_CALL_ENTERED);
}

/* ---- a function is entered ---- */

static void test_body(void **state)
{
	(void)state;
	assert_true(into_rules_stops_at_body(0x1004, false, true));
	assert_true(into_rules_stops_at_body(0x1004, false, false));
	/* The body of a coroutine is where it goes on, but for a block in a single line. */
	assert_false(into_rules_stops_at_body(0x1004, true, true));
	assert_true(into_rules_stops_at_body(0x1004, true, false));
	assert_false(into_rules_stops_at_body(0, false, true));
}

/* ---- the coroutine is resumed ---- */

static void test_walks_again(void **state)
{
	const struct into_run resumed = { .ran = true, .was_resumed = true, .is_alive = true };
	struct into_run r = resumed;

	(void)state;
	assert_true(into_rules_walks_again(&r));
	r.ran = false;
	assert_false(into_rules_walks_again(&r));
	r = resumed;
	r.was_resumed = false;
	assert_false(into_rules_walks_again(&r));
	r = resumed;
	r.has_ended = true;
	assert_false(into_rules_walks_again(&r));
	r = resumed;
	r.is_alive = false;
	assert_false(into_rules_walks_again(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_called),      cmocka_unit_test(test_other_instructions),
		cmocka_unit_test(test_yields),      cmocka_unit_test(test_enters),
		cmocka_unit_test(test_targets),     cmocka_unit_test(test_halts),
		cmocka_unit_test(test_after_call),  cmocka_unit_test(test_body),
		cmocka_unit_test(test_walks_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

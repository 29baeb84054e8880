#include "debugger/probe/code_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { AT = 0x1000 };

#define CODE(...)                                                                                  \
	&(const struct code_bytes)                                                                 \
	{                                                                                          \
		AT, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })     \
	}

#define PUSH_RBP    0x55
#define MOV_RDI_RSI 0x48, 0x89, 0xfe
#define MOV_RSI_RDI 0x48, 0x89, 0xf7
#define SUB_RSP_24  0x48, 0x83, 0xec, 0x18
#define ADD_RSP_24  0x48, 0x83, 0xc4, 0x18
#define CALL_RAX    0xff, 0xd0
#define CALL_NEXT   0xe8, 0, 0, 0, 0
#define JMP_RAX     0xff, 0xe0
#define JMP_SLOT    0xff, 0x25, 0x10, 0, 0, 0
#define NOP         0x90
#define RET         0xc3

static void test_what_is_emulated(void **state)
{
	(void)state;
	assert_true(code_is_emulated((const uint8_t[]){ PUSH_RBP }, 1));
	assert_true(code_is_emulated((const uint8_t[]){ 0x41, 0x57 }, 2));
	assert_true(code_is_emulated((const uint8_t[]){ CALL_NEXT }, 5));
	assert_true(code_is_emulated((const uint8_t[]){ 0x0f, 0x84, 0, 0, 0, 0 }, 6));
	assert_false(code_is_emulated((const uint8_t[]){ 0x66, 0x90 }, 2));
	assert_false(code_is_emulated((const uint8_t[]){ RET }, 1));
	assert_false(code_is_emulated((const uint8_t[]){ SUB_RSP_24 }, 4));
	assert_false(code_is_emulated((const uint8_t[]){ 0x0f, 0x1f, 0x44, 0, 0 }, 5));
	assert_false(code_is_emulated(NULL, 0));
}

static void test_an_entry_that_is_emulated(void **state)
{
	struct code_site site;

	(void)state;
	assert_true(code_entry_site(CODE(PUSH_RBP, MOV_RDI_RSI, RET), 0, &site));
	assert_int_equal(site.address, AT);
	assert_int_equal(site.stack_delta, 0);
	assert_false(site.slow);
}

static void test_an_entry_that_is_moved(void **state)
{
	struct code_site site;

	(void)state;
	assert_true(code_entry_site(CODE(SUB_RSP_24, MOV_RDI_RSI, CALL_NEXT, RET), 0, &site));
	assert_int_equal(site.address, AT + 7);
	assert_int_equal(site.stack_delta, -24);
	assert_false(site.slow);
	/* The argument is lost on the way. */
	assert_true(code_entry_site(CODE(SUB_RSP_24, MOV_RSI_RDI, CALL_NEXT, RET), 0, &site));
	assert_int_equal(site.address, AT);
	assert_true(site.slow);
	/* A loop runs the place several times. */
	assert_true(code_entry_site(CODE(MOV_RDI_RSI, SUB_RSP_24, NOP, 0xeb, 0xf9), 0, &site));
	assert_int_equal(site.address, AT);
	assert_true(site.slow);
}

/* nop; jmp to the nop. */
#define LOOP NOP, 0xeb, 0xfd

static void test_a_loop(void **state)
{
	struct code_site site;

	(void)state;
	assert_true(code_entry_site(CODE(SUB_RSP_24, LOOP), 0, &site));
	assert_true(site.slow);
	assert_true(code_looped_site(CODE(SUB_RSP_24, LOOP), 0, &site));
	assert_false(site.slow);
	assert_int_equal(site.address, AT + 4);
	assert_int_equal(site.stack_delta, -24);
	/* It moves the stack pointer, or writes the argument. */
	assert_true(code_looped_site(CODE(MOV_RDI_RSI, SUB_RSP_24, NOP, 0xeb, 0xf9), 0, &site));
	assert_true(site.slow);
	assert_true(code_looped_site(CODE(SUB_RSP_24, NOP, MOV_RSI_RDI, 0xeb, 0xfa), 0, &site));
	assert_true(site.slow);
	/* Code behind it comes back. */
	assert_true(code_looped_site(CODE(SUB_RSP_24, LOOP, MOV_RSI_RDI, 0xeb, 0xf8), 0, &site));
	assert_true(site.slow);
}

static void test_an_argument_that_moves(void **state)
{
	struct code_site site;

	(void)state;
	/* It was copied to rsi. */
	assert_true(code_entry_site(CODE(MOV_RDI_RSI, 0x31, 0xff, CALL_NEXT, RET), 0, &site));
	assert_int_equal(site.address, AT + 5);
	assert_int_equal(site.argument, 1);
	/* sub rsp, 24; mov [rsp + 8], rdi; xor edi, edi: the stack has it. */
	assert_true(code_entry_site(
		CODE(SUB_RSP_24, 0x48, 0x89, 0x7c, 0x24, 8, 0x31, 0xff, CALL_NEXT, RET), 0, &site));
	assert_int_equal(site.address, AT + 11);
	assert_int_equal(site.argument, CODE_ON_STACK);
	assert_int_equal(site.stack_slot, -24 + 8);
	/* A call through a register leaves it there. */
	assert_true(code_entry_site(
		CODE(SUB_RSP_24, 0x48, 0x89, 0x7c, 0x24, 8, CALL_RAX, CALL_NEXT, RET), 0, &site));
	assert_int_equal(site.address, AT + 11);
	assert_int_equal(site.argument, CODE_ON_STACK);
	/* lea rsi, [rsp + 8]: but not if the callee has its address. */
	assert_true(code_entry_site(CODE(SUB_RSP_24, 0x48, 0x89, 0x7c, 0x24, 8, 0x48, 0x8d, 0x74,
	                                 0x24, 8, CALL_RAX, CALL_NEXT, RET),
	                            0, &site));
	assert_true(site.slow);
	/* mov byte [rsp + 15], 0 overwrites a part of it. */
	assert_true(code_entry_site(CODE(SUB_RSP_24, 0x48, 0x89, 0x7c, 0x24, 8, 0x31, 0xff, 0xc6,
	                                 0x44, 0x24, 15, 0, CALL_NEXT, RET),
	                            0, &site));
	assert_true(site.slow);
}

static void test_a_return_before_a_call(void **state)
{
	struct code_site site;
	const struct code_bytes *code = CODE(CALL_RAX, MOV_RDI_RSI, CALL_RAX, 0x74, 0, RET);

	(void)state;
	assert_true(code_return_site(code, AT + 2, false, &site));
	assert_true(site.slow);
	assert_true(code_return_site(code, AT + 2, true, &site));
	assert_int_equal(site.address, AT + 7);
	assert_false(site.slow);
	assert_false(site.has_result);
}

static void test_a_return(void **state)
{
	struct code_site site;

	(void)state;
	assert_true(
		code_return_site(CODE(CALL_RAX, ADD_RSP_24, 0x74, 0, RET), AT + 2, false, &site));
	assert_int_equal(site.address, AT + 6);
	assert_int_equal(site.stack_delta, 24);
	assert_false(site.slow);
	assert_true(site.has_result);
	/* No call ends there. */
	assert_false(
		code_return_site(CODE(CALL_RAX, ADD_RSP_24, 0x74, 0, RET), AT + 3, false, &site));
	assert_false(code_return_site(CODE(MOV_RDI_RSI, NOP), AT + 3, false, &site));
	assert_false(code_return_site(CODE(CALL_RAX), AT + 2, false, &site));
}

static void test_what_a_call_returned(void **state)
{
	struct code_site site;
	int32_t delta;
	bool keeps;

	(void)state;
	/* "test %al, %al"; "mov $0, %al"; "mov %edi, %eax"; "mov %al, 15(%rsp)". */
	assert_true(
		code_return_site(CODE(CALL_RAX, 0x84, 0xc0, 0x74, 0, RET), AT + 2, false, &site));
	assert_true(site.has_result);
	assert_true(code_return_site(CODE(CALL_RAX, 0xb0, 0, 0x74, 0, RET), AT + 2, false, &site));
	assert_false(site.has_result);
	assert_true(
		code_return_site(CODE(CALL_RAX, 0x89, 0xf8, 0x74, 0, RET), AT + 2, false, &site));
	assert_false(site.has_result);
	assert_true(code_return_site(CODE(CALL_RAX, 0x88, 0x44, 0x24, 15, 0x74, 0, RET), AT + 2,
	                             false, &site));
	assert_true(site.has_result);
	/* The place behind the call itself. */
	assert_true(code_return_site(CODE(CALL_RAX, 0xb0, 0, RET), AT + 2, false, &site));
	assert_true(site.slow && site.has_result);
	assert_true(code_leads_to_return(CODE(CALL_RAX, 0xb0, 0, RET), AT + 2, &delta, &keeps));
	assert_false(keeps);
}

static void test_a_return_that_returns(void **state)
{
	struct code_site site;
	int32_t delta;
	bool keeps;

	(void)state;
	/* What follows the return is another function. */
	const struct code_bytes *code = CODE(CALL_RAX, ADD_RSP_24, RET, PUSH_RBP);
	assert_true(code_return_site(code, AT + 2, false, &site));
	assert_int_equal(site.address, AT + 2);
	assert_true(site.slow);
	assert_true(code_leads_to_return(code, AT + 2, &delta, &keeps));
	assert_true(keeps);
	assert_int_equal(delta, 24 + 8);
	assert_false(code_leads_to_return(CODE(CALL_RAX, 0x74, 0, RET), AT + 2, &delta, &keeps));
}

static void test_a_jump_to_another_function(void **state)
{
	struct code_tail tail;

	(void)state;
	assert_true(code_tail_jump(CODE(MOV_RDI_RSI, 0x31, 0xff, JMP_SLOT), 0, &tail));
	assert_int_equal(tail.slot, AT + 11 + 0x10);
	assert_int_equal(tail.argument, 1);
	assert_true(code_tail_jump(CODE(MOV_RDI_RSI, 0xe9, 1, 0, 0, 0), 0, &tail));
	assert_int_equal(tail.target, AT + 8 + 1);
	assert_int_equal(tail.argument, 0);
	/* xor edi, edi: the argument is gone. */
	assert_false(code_tail_jump(CODE(0x31, 0xff, JMP_SLOT), 0, &tail));
	assert_false(code_tail_jump(CODE(CALL_NEXT, JMP_SLOT), 0, &tail));
	assert_true(code_is_tail_jump_thunk(CODE(MOV_RDI_RSI, JMP_RAX)));
	assert_false(code_is_tail_jump_thunk(CODE(SUB_RSP_24, JMP_RAX)));
	assert_false(code_is_tail_jump_thunk(CODE(MOV_RDI_RSI, RET)));
}

static void note(uint64_t next, void *arg)
{
	uint64_t *found = arg;

	found[++found[0]] = next;
}

static void test_indirect_calls(void **state)
{
	uint64_t found[8] = { 0 };

	(void)state;
	assert_true(code_each_indirect_call(CODE(CALL_NEXT, CALL_RAX, NOP, 0xff, 0x50, 8), note,
	                                    found));
	assert_int_equal(found[0], 2);
	assert_int_equal(found[1], AT + 7);
	assert_int_equal(found[2], AT + 11);
}

static void test_a_function_that_never_returns(void **state)
{
	(void)state;
	assert_true(code_never_returns(CODE(NOP, CALL_NEXT)));
	assert_true(code_never_returns(CODE(CALL_NEXT, 0x0f, 0x0b, RET)));
	/* A jump over what would return, to ud2. */
	assert_true(code_never_returns(CODE(CALL_NEXT, 0xeb, 1, RET, 0x0f, 0x0b)));
	assert_false(code_never_returns(CODE(CALL_NEXT, RET)));
	assert_false(code_never_returns(CODE(0x74, 0, CALL_NEXT)));
	assert_false(code_never_returns(CODE(CALL_NEXT, NOP)));
	/* To itself, out of the function, and through a register. */
	assert_false(code_never_returns(CODE(0xeb, 0xfe)));
	assert_false(code_never_returns(CODE(0xeb, 0x10, CALL_NEXT)));
	assert_false(code_never_returns(CODE(0xff, 0xe0, CALL_NEXT)));
}

static void test_bytes_that_are_no_code(void **state)
{
	struct code_site site;
	struct code_tail tail;
	int32_t delta;
	bool keeps;

	(void)state;
	assert_true(code_entry_site(CODE(0x06, 0x06, 0x06), 0, &site));
	assert_true(site.slow);
	assert_false(code_return_site(CODE(0x06, 0x06, 0x06), AT + 1, false, &site));
	assert_false(code_tail_jump(CODE(0x06), 0, &tail));
	assert_false(code_leads_to_return(CODE(0x06), AT, &delta, &keeps));
	assert_false(code_never_returns(CODE(0x06)));
	assert_false(code_entry_site(&(const struct code_bytes){ AT, NULL, 0 }, 0, &site));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_emulated),
		cmocka_unit_test(test_an_entry_that_is_emulated),
		cmocka_unit_test(test_an_entry_that_is_moved),
		cmocka_unit_test(test_a_loop),
		cmocka_unit_test(test_an_argument_that_moves),
		cmocka_unit_test(test_a_return),
		cmocka_unit_test(test_a_return_before_a_call),
		cmocka_unit_test(test_what_a_call_returned),
		cmocka_unit_test(test_a_return_that_returns),
		cmocka_unit_test(test_a_jump_to_another_function),
		cmocka_unit_test(test_indirect_calls),
		cmocka_unit_test(test_a_function_that_never_returns),
		cmocka_unit_test(test_bytes_that_are_no_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "debugger/probe/code_exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { AT = 0x1000, RAX = 0, RCX = 2, RBX = 3, R15 = 15 };

#define CODE(...)                                                                                  \
	&(const struct code_bytes)                                                                 \
	{                                                                                          \
		AT, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })     \
	}

#define EXCHANGE     0xf0, 0x48, 0x0f, 0xb1, 0x4b, 0x08       /* lock cmpxchg %rcx, 8(%rbx) */
#define EXCHANGE_R15 0xf0, 0x4c, 0x0f, 0xb1, 0x7c, 0xcb, 0xf8 /* %r15, -8(%rbx,%rcx,8) */
#define EXCHANGE_4   0xf0, 0x0f, 0xb1, 0x4b, 0x08             /* %ecx, 8(%rbx) */
#define EXCHANGE_RIP 0xf0, 0x48, 0x0f, 0xb1, 0x0d, 8, 0, 0, 0 /* %rcx, 8(%rip) */
#define UNLOCKED     0x48, 0x0f, 0xb1, 0x4b, 0x08
#define JNE_BACK     0x75, 0xf8
#define MOV_RAX_R15  0x49, 0x89, 0xc7
#define MOV_RAX_RCX  0x48, 0x89, 0xc1
#define AND_RAX      0x48, 0x83, 0xe0, 0x01
#define RET          0xc3

struct found {
	size_t n;
	struct code_exchange last;
};

static void note(const struct code_exchange *x, void *arg)
{
	struct found *f = arg;

	f->n++;
	f->last = *x;
}

static struct found find(const struct code_bytes *code)
{
	struct found f = { 0 };

	assert_true(code_each_exchange(code, note, &f));
	return f;
}

static void test_the_jump_behind_it(void **state)
{
	(void)state;
	struct found f = find(CODE(EXCHANGE, JNE_BACK, RET));
	const struct probe_exchange *x = &f.last.operands;

	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.instruction, AT);
	assert_int_equal(f.last.address, AT + 6);
	assert_false(f.last.slow);
	assert_int_equal(x->base, RBX);
	assert_int_equal(x->index, PROBE_NO_REGISTER);
	assert_int_equal(x->source, RCX);
	assert_int_equal(x->displacement, 8);
}

static void test_an_index(void **state)
{
	(void)state;
	struct found f = find(CODE(EXCHANGE_R15, JNE_BACK, RET));
	const struct probe_exchange *x = &f.last.operands;

	assert_int_equal(f.n, 1);
	assert_int_equal(x->base, RBX);
	assert_int_equal(x->index, RCX);
	assert_int_equal(x->scale, 8);
	assert_int_equal(x->source, R15);
	assert_int_equal(x->displacement, -8);
}

static void test_a_move_between(void **state)
{
	(void)state;
	struct found f = find(CODE(EXCHANGE, MOV_RAX_R15, 0x75, 0xf5, RET));

	assert_int_equal(f.last.address, AT + 9);
	assert_false(f.last.slow);
}

/* What it has used must still be there, and its flags. */
static void test_a_change_between(void **state)
{
	(void)state;
	struct found moved = find(CODE(EXCHANGE, MOV_RAX_RCX, 0x75, 0xf5, RET));
	assert_int_equal(moved.last.address, AT + 6);
	assert_true(moved.last.slow);

	struct found flags = find(CODE(EXCHANGE, AND_RAX, 0x75, 0xf4, RET));
	assert_int_equal(flags.last.address, AT + 6);
	assert_true(flags.last.slow);
}

/* A point that other paths reach may be hit without an exchange. */
static void test_a_jump_to_the_point(void **state)
{
	(void)state;
	/* jmp +6, which leads to the jne */
	assert_int_equal(find(CODE(0xeb, 0x06, EXCHANGE, JNE_BACK, RET)).n, 0);
	/* jmp +9, which leads to the jne behind the mov: only that is shared */
	struct found f = find(CODE(0xeb, 0x09, EXCHANGE, MOV_RAX_R15, 0x75, 0xf5, RET));
	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.address, AT + 8);
	assert_true(f.last.slow);
}

static void test_other_instructions(void **state)
{
	(void)state;
	assert_int_equal(find(CODE(UNLOCKED, JNE_BACK, RET)).n, 0);
	assert_int_equal(find(CODE(EXCHANGE_4, JNE_BACK, RET)).n, 0);
	assert_int_equal(find(CODE(EXCHANGE_RIP, JNE_BACK, RET)).n, 0);
}

static void note_call(uint64_t call, uint64_t target, void *arg)
{
	uint64_t *calls = arg;

	calls[0] = call;
	calls[1] = target;
}

static void test_direct_calls(void **state)
{
	uint64_t calls[2] = { 0 };

	(void)state;
	assert_true(code_each_direct_call(CODE(0xff, 0xd0, RET), note_call, calls));
	assert_int_equal(calls[0], 0);
	assert_true(code_each_direct_call(CODE(0x55, 0xe8, 0x10, 0, 0, 0, RET), note_call, calls));
	assert_int_equal(calls[0], AT + 1);
	assert_int_equal(calls[1], AT + 0x16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_jump_behind_it),
		cmocka_unit_test(test_an_index),
		cmocka_unit_test(test_a_move_between),
		cmocka_unit_test(test_a_change_between),
		cmocka_unit_test(test_a_jump_to_the_point),
		cmocka_unit_test(test_other_instructions),
		cmocka_unit_test(test_direct_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

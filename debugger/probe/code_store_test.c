#include "debugger/probe/code_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { AT = 0x1000, TABLE = 0x5000, R15 = 15 };

#define CODE(...)                                                                                  \
	&(const struct code_bytes)                                                                 \
	{                                                                                          \
		AT, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })     \
	}

#define CALL_NEXT   0xe8, 0, 0, 0, 0
#define TEST_RAX    0x48, 0x85, 0xc0
#define JE_FAR      0x74, 0x40
#define MOV_RAX_R15 0x49, 0x89, 0xc7
#define LEA_RAX(at)                                                                                \
	0x48, 0x8d, 0x05, ((TABLE - AT - (at)-7) & 0xff), (TABLE - AT - (at)-7) >> 8, 0, 0
#define STORE     0x49, 0x89, 0x47, 0x08 /* mov %rax, 8(%r15) */
#define STORE_RSP 0x48, 0x89, 0x44, 0x24, 0x08
#define XOR_R15   0x45, 0x31, 0xff
#define XOR_RCX   0x31, 0xc9
#define RET       0xc3

struct found {
	size_t n;
	struct code_store last;
};

static void note(const struct code_store *x, void *arg)
{
	struct found *f = arg;

	f->n++;
	f->last = *x;
}

static struct found find(const struct code_bytes *code)
{
	struct found f = { 0 };

	assert_true(code_each_store(code, note, &f));
	return f;
}

static void test_what_a_call_returned(void **state)
{
	(void)state;
	struct found f = find(CODE(CALL_NEXT, TEST_RAX, JE_FAR, MOV_RAX_R15, LEA_RAX(13), STORE,
	                           XOR_RCX, 0x74, 0, RET));

	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.stored, TABLE);
	assert_int_equal(f.last.instruction, AT + 20);
	assert_int_equal(f.last.base, R15);
	assert_int_equal(f.last.displacement, 8);
	/* the jump behind it */
	assert_int_equal(f.last.address, AT + 26);
	assert_false(f.last.slow);
}

static void test_no_cheap_place(void **state)
{
	(void)state;
	struct found f =
		find(CODE(CALL_NEXT, MOV_RAX_R15, LEA_RAX(8), STORE, XOR_R15, 0x74, 0, RET));

	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.address, AT + 19);
	assert_true(f.last.slow);
}

static void test_other_objects(void **state)
{
	(void)state;
	/* on the stack; of no call; of a call before another one; another value */
	assert_int_equal(find(CODE(CALL_NEXT, LEA_RAX(5), STORE_RSP, RET)).n, 0);
	assert_int_equal(find(CODE(LEA_RAX(0), STORE, RET)).n, 0);
	assert_int_equal(find(CODE(CALL_NEXT, MOV_RAX_R15, XOR_R15, LEA_RAX(11), STORE, RET)).n, 0);
	assert_int_equal(find(CODE(CALL_NEXT, MOV_RAX_R15, LEA_RAX(8), CALL_NEXT, STORE, RET)).n,
	                 0);
	/* it is kept over a call */
	assert_int_equal(find(CODE(CALL_NEXT, MOV_RAX_R15, CALL_NEXT, LEA_RAX(13), STORE, RET)).n,
	                 1);
}

static void test_jumps(void **state)
{
	(void)state;
	/* to the store; to behind it; another block */
	assert_int_equal(find(CODE(CALL_NEXT, MOV_RAX_R15, 0x74, 7, LEA_RAX(10), STORE, RET)).n, 0);
	assert_int_equal(find(CODE(CALL_NEXT, MOV_RAX_R15, 0x74, 11, LEA_RAX(10), STORE, RET)).n,
	                 0);
	assert_int_equal(find(CODE(CALL_NEXT, MOV_RAX_R15, 0xeb, 12, LEA_RAX(10), STORE, RET)).n,
	                 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_call_returned),
		cmocka_unit_test(test_no_cheap_place),
		cmocka_unit_test(test_other_objects),
		cmocka_unit_test(test_jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

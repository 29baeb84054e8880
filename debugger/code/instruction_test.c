/* Tests of instructions as text. */
#include "debugger/code/instruction.h"

#include <elf.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct {
	const char *bytes;
	size_t len;
	const char *att, *intel;
	uint64_t target; /* 0: none */
	bool is_branch;
	enum instruction_flow flow;
} rows[] = {
	{ "\x55", 1, "pushq %rbp", "push rbp", 0, false, FLOW_NEXT },
	{ "\x48\x89\xe5", 3, "movq %rsp, %rbp", "mov rbp, rsp", 0, false, FLOW_NEXT },
	{ "\xe8\x0b\x00\x00\x00", 5, "callq 0x1010", "call 0x1010", 0x1010, true, FLOW_CALL },
	{ "\x74\xfe", 2, "je 0x1000", "je 0x1000", 0x1000, true, FLOW_BRANCH },
	{ "\x48\x8b\x05\x09\x00\x00\x00", 7, "movq 9(%rip), %rax", "mov rax, qword ptr [rip + 9]",
	  0x1010, false, FLOW_NEXT },
	{ "\xff\x15\x0a\x00\x00\x00", 6, "callq *0xa(%rip)", "call qword ptr [rip + 0xa]", 0x1010,
	  false, FLOW_CALL },
	{ "\xff\xe0", 2, "jmpq *%rax", "jmp rax", 0, false, FLOW_JUMP },
	{ "\xeb\xfe", 2, "jmp 0x1000", "jmp 0x1000", 0x1000, true, FLOW_JUMP },
	{ "\x0f\x0b", 2, "ud2", "ud2", 0, false, FLOW_END },
	{ "\xcc", 1, "int3", "int3", 0, false, FLOW_END },
	{ "\xb8\x01\x00\x00\x00", 5, "movl $1, %eax", "mov eax, 1", 0, false, FLOW_NEXT },
	{ "\xc3", 1, "retq", "ret", 0, false, FLOW_END },
};

static void read(enum instruction_syntax syntax, const char *bytes, size_t len,
                 struct instruction *ret)
{
	struct instruction_reader *r CLEANUP(instruction_reader_close) = NULL;

	assert_null(instruction_reader_open(EM_X86_64, syntax, &r));
	instruction_read(r, 0x1000, (const uint8_t *)bytes, len, ret);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct instruction in;

		read(SYNTAX_INTEL, rows[i].bytes, rows[i].len, &in);
		assert_string_equal(in.text, rows[i].intel);
		read(SYNTAX_ATT, rows[i].bytes, rows[i].len, &in);
		assert_string_equal(in.text, rows[i].att);
		assert_int_equal(in.size, rows[i].len);
		assert_false(in.bad);
		assert_int_equal(in.has_target, rows[i].target != 0);
		assert_int_equal(in.target, rows[i].target);
		assert_int_equal(in.is_branch, rows[i].is_branch);
		assert_int_equal(in.flow, rows[i].flow);
	}
}

/* No instruction, and one that is cut short. */
static void test_stores(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool stores;
	} all[] = {
		{ "\xc6\x47\x1c\x05", 4, true },              /* mov byte ptr [rdi + 0x1c], 5 */
		{ "\x48\x89\x44\x24\x08", 5, true },          /* mov qword ptr [rsp + 8], rax */
		{ "\x83\x47\x08\x01", 4, true },              /* add dword ptr [rdi + 8], 1 */
		{ "\x48\x8b\x47\x08", 4, false },             /* mov rax, qword ptr [rdi + 8] */
		{ "\x83\x7f\x08\x01", 4, false },             /* cmp dword ptr [rdi + 8], 1 */
		{ "\x48\x81\xc4\x88\x01\x00\x00", 7, false }, /* add rsp, 0x188 */
		{ "\xe9\x10\x00\x00\x00", 5, false },         /* jmp */
		{ "\xc3", 1, false },                         /* ret */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct instruction in;

		read(SYNTAX_INTEL, all[i].bytes, all[i].len, &in);
		assert_false(in.bad);
		assert_int_equal(in.stores, all[i].stores);
	}
}

static void test_table_of_jumps(void **state)
{
	enum { RAX = 0, RCX = 2, R15 = 15 };
	struct instruction in;

	(void)state;
	read(SYNTAX_INTEL, "\x49\x63\x04\x8f", 4, &in); /* movsxd rax, [r15 + rcx * 4] */
	assert_int_equal(in.move, MOVE_ENTRY);
	assert_int_equal(in.to, RAX);
	assert_int_equal(in.memory.base, R15);
	read(SYNTAX_INTEL, "\x49\x63\x44\x8f\x04", 5, &in); /* movsxd rax, [r15 + rcx * 4 + 4] */
	assert_int_not_equal(in.move, MOVE_ENTRY);
	read(SYNTAX_INTEL, "\x4c\x01\xf8", 3, &in); /* add rax, r15 */
	assert_int_equal(in.move, MOVE_SUM);
	assert_int_equal(in.to, RAX);
	assert_int_equal(in.from, R15);
	read(SYNTAX_INTEL, "\xff\xe1", 2, &in); /* jmp rcx */
	assert_int_equal(in.from, RCX);
	read(SYNTAX_INTEL, "\xff\xd1", 2, &in); /* call rcx */
	assert_int_equal(in.from, RCX);
	read(SYNTAX_INTEL, "\xff\x20", 2, &in); /* jmp [rax] */
	assert_int_not_equal(in.from, RAX);
	read(SYNTAX_INTEL, "\x41\x5f", 2, &in); /* pop r15 */
	assert_true(in.is_pop);
	assert_int_equal(in.changes & 1 << R15, 1 << R15);
	read(SYNTAX_INTEL, "\x41\x57", 2, &in); /* push r15 */
	assert_false(in.is_pop);
}

static void test_bad(void **state)
{
	struct instruction in;

	(void)state;
	read(SYNTAX_ATT, "\x06\x90", 2, &in);
	assert_true(in.bad);
	assert_int_equal(in.size, 1);
	assert_string_equal(in.text, ".byte 0x06");
	read(SYNTAX_ATT, "\xe8\x0b", 2, &in);
	assert_true(in.bad);
}

static void test_machine(void **state)
{
	struct instruction_reader *r;
	struct error *err CLEANUP(error_freep) =
		instruction_reader_open(EM_AARCH64, SYNTAX_ATT, &r);

	(void)state;
	assert_non_null(err);
	assert_int_equal(err->kind, ERR_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),           cmocka_unit_test(test_stores),
		cmocka_unit_test(test_table_of_jumps), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of the operands that describe a probe's arguments. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/arch/arch.h"
#include "debugger/elf/usdt_operand.h"

static struct usdt_operand operands[USDT_MAX_OPERANDS];

static const struct usdt_operand *parse(const char *text)
{
	memset(operands, 0xff, sizeof(operands));
	assert_int_equal(usdt_operand_parse(EM_X86_64, text, operands), 1);
	return operands;
}

static const char *register_name(unsigned number)
{
	const struct arch *arch = arch_for_machine(EM_X86_64);

	assert_true(number < arch->nregs);
	return arch->regs[number].name;
}

static void constants(void **state)
{
	static const struct {
		const char *text;
		int64_t number;
		bool is_signed;
	} rows[] = {
		{ "8@$5", 5, false },
		{ "-4@$-5", -5, true },
		{ "4@$0x10", 16, false },
		{ "8@$0xffffffffffffffff", -1, false },
		{ "-8@$-9223372036854775808", INT64_MIN, true },
		{ "1@$0", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct usdt_operand *o = parse(rows[i].text);

		assert_int_equal(o->kind, USDT_OPERAND_CONSTANT);
		assert_int_equal(o->number, rows[i].number);
		assert_int_equal(o->is_signed, rows[i].is_signed);
	}
}

static void registers(void **state)
{
	static const struct {
		const char *text, *name;
		unsigned size, shift;
	} rows[] = {
		{ "8@%rdi", "rdi", 8, 0 },  { "-4@%esi", "rsi", 4, 0 }, { "2@%ax", "rax", 2, 0 },
		{ "1@%sil", "rsi", 1, 0 },  { "-1@%bh", "rbx", 1, 8 },  { "4@%r8d", "r8", 4, 0 },
		{ "8@%r15", "r15", 8, 0 },  { "2@%r12w", "r12", 2, 0 }, { "1@%r10b", "r10", 1, 0 },
		{ "-4@%rcx", "rcx", 4, 0 }, { "1@%edx", "rdx", 1, 0 },  { "8@%rbp", "rbp", 8, 0 },
		{ "8@%rsp", "rsp", 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct usdt_operand *o = parse(rows[i].text);

		assert_int_equal(o->kind, USDT_OPERAND_REGISTER);
		assert_true(o->has_base && !o->has_index);
		assert_string_equal(register_name(o->base), rows[i].name);
		assert_int_equal(o->size, rows[i].size);
		assert_int_equal(o->is_signed, rows[i].text[0] == '-');
		assert_int_equal(o->shift, rows[i].shift);
	}
}

static void memory(void **state)
{
	static const struct {
		const char *text;
		int64_t number;
		const char *base, *index; /* NULL: none */
		unsigned scale;
	} rows[] = {
		{ "-4@-8(%rbp)", -8, "rbp", NULL, 0 },
		{ "8@(%rax)", 0, "rax", NULL, 0 },
		{ "4@16(%rsp,%rax,8)", 16, "rsp", "rax", 8 },
		{ "4@(%rsp,%rax)", 0, "rsp", "rax", 1 },
		{ "2@0x20(,%r9,4)", 32, NULL, "r9", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct usdt_operand *o = parse(rows[i].text);

		assert_int_equal(o->kind, USDT_OPERAND_MEMORY);
		assert_int_equal(o->number, rows[i].number);
		assert_int_equal(o->has_base, rows[i].base != NULL);
		assert_int_equal(o->has_index, rows[i].index != NULL);
		if (rows[i].base)
			assert_string_equal(register_name(o->base), rows[i].base);
		if (rows[i].index)
			assert_string_equal(register_name(o->index), rows[i].index);
		assert_int_equal(o->scale, rows[i].scale);
	}
}

static void others_are_unknown(void **state)
{
	static const char *const rows[] = {
		"%rdi", /* no size */
		"8@",   /* no place */
		"@%rdi",
		"3@%rdi",
		"0@%rdi",
		"16@%rdi",
		"-9223372036854775808@%rdi",
		"18446744073709551615@%rdi",
		"8f@%rdi",
		"8@%xmm0",
		"8@%rip",
		"8@%",
		"8@%rdix",
		"8@%r8d", /* larger than the register */
		"8@$",
		"8@$symbol",
		"8@$5x",
		"8@$18446744073709551616",
		"8@$-9223372036854775809",
		"8@$0x",
		"8@$--5",
		"8@symbol(%rip)",
		"8@symbol+4(%rip)",
		"8@8(%rip)",
		"8@%fs:8(%rax)",
		"8@16",
		"8@()",
		"8@(,)",
		"8@(%rax",
		"8@(%rax,)",
		"8@(%rax,%rbx,3)",
		"8@(%rax,%rbx,8",
		"8@(%rax,%rbx,4294967297)",
		"8@(%eax)",
		"8@(%rax)x",
		"8@0x1111111111111111111111111111111111111111(%rax)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct usdt_operand *o = parse(rows[i]);

		if (o->kind != USDT_OPERAND_UNKNOWN)
			fail_msg("%s was taken", rows[i]);
		assert_int_equal(o->size, 0);
	}
}

static void several(void **state)
{
	(void)state;
	assert_int_equal(usdt_operand_parse(EM_X86_64, "", operands), 0);
	assert_int_equal(usdt_operand_parse(EM_X86_64, "  ", operands), 0);
	assert_int_equal(usdt_operand_parse(EM_X86_64, " 8@%rdi  8@x -4@$1 ", operands), 3);
	assert_int_equal(operands[0].kind, USDT_OPERAND_REGISTER);
	assert_int_equal(operands[1].kind, USDT_OPERAND_UNKNOWN);
	assert_int_equal(operands[2].kind, USDT_OPERAND_CONSTANT);
	assert_int_equal(usdt_operand_parse(EM_X86_64,
	                                    "1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 "
	                                    "1@$11 1@$12 1@$13 1@$14",
	                                    operands),
	                 14);
	assert_int_equal(operands[USDT_MAX_OPERANDS - 1].number, USDT_MAX_OPERANDS);
}

static void other_machines_are_unknown(void **state)
{
	(void)state;
	assert_int_equal(usdt_operand_parse(EM_AARCH64, "8@x0 4@$1", operands), 2);
	assert_int_equal(operands[0].kind, USDT_OPERAND_UNKNOWN);
	assert_int_equal(operands[1].kind, USDT_OPERAND_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants), cmocka_unit_test(registers),
		cmocka_unit_test(memory),    cmocka_unit_test(others_are_unknown),
		cmocka_unit_test(several),   cmocka_unit_test(other_machines_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

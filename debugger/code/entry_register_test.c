/* Tests of the first argument at places of a function, on code by hand. */
#include "debugger/code/entry_register.h"

#include <elf.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LOW UINT64_C(0x1000)
#define KEPT(code_, pc_)                                                                           \
	entry_register_is_kept(EM_X86_64, LOW, (const uint8_t *)(code_), sizeof(code_) - 1,        \
	                       LOW + (pc_))

/* push %rbx; mov 8(%rsi),%rdx; cmp %rcx,%rax; ret: as optimised code begins. */
static void kept(void **state)
{
	(void)state;
	assert_true(KEPT("\x53\x48\x8b\x56\x08\x48\x39\xc8\xc3", 0));
	assert_true(KEPT("\x53\x48\x8b\x56\x08\x48\x39\xc8\xc3", 5));
	assert_true(KEPT("\x53\x48\x8b\x56\x08\x48\x39\xc8\xc3", 8));
	/* Read, and written through: mov %rdi,%rbx; movq $0,8(%rdi); ret. */
	assert_true(KEPT("\x48\x89\xfb\x48\xc7\x47\x08\x00\x00\x00\x00\xc3", 11));
	/* Behind the place it may be written: nop; xor %edi,%edi; ret. */
	assert_true(KEPT("\x90\x31\xff\xc3", 1));
}

static void not_kept(void **state)
{
	(void)state;
	/* Written: xor %edi,%edi; mov %rax,%rdi; xchg %rax,%rdi; rep stosb; movsb; pop %rdi. */
	assert_false(KEPT("\x90\x31\xff\xc3", 3));
	assert_false(KEPT("\x48\x89\xc7\xc3", 3));
	assert_false(KEPT("\x48\x97\xc3", 2));
	assert_false(KEPT("\xf3\xaa\xc3", 2));
	assert_false(KEPT("\xa4\xc3", 1));
	assert_false(KEPT("\x5f\xc3", 1));
	/* call; je over a nop. */
	assert_false(KEPT("\xe8\x00\x00\x00\x00\xc3", 5));
	assert_false(KEPT("\x74\x01\x90\xc3", 3));
	/* A loop to the place: nop; nop; xor %edi,%edi; jmp to the second nop. */
	assert_false(KEPT("\x90\x90\x31\xff\xeb\xfb", 1));
	/* A table of jumps: nop; jmp *%rax. */
	assert_false(KEPT("\x90\xff\xe0", 1));
	/* Outside of the function; another machine. */
	assert_false(KEPT("\x90\xc3", 2));
	assert_false(
		entry_register_is_kept(EM_AARCH64, LOW, (const uint8_t *)"\x90\xc3", 2, LOW + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept),
		cmocka_unit_test(not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

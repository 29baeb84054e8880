/* Tests of debugger/arch: registers, the system call in them, and thread-local storage. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/user.h>

#include <cmocka.h>

#include "debugger/arch/arch.h"

/* Words of struct user_regs_struct. */
enum { RAX = 10, RDI = 14, ORIG_RAX = 15, USER_WORDS = 27 };
enum { READ = 0, FUTEX = 202, ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

static struct regs stopped(struct arena *a, int64_t number, int64_t result)
{
	uint64_t words[USER_WORDS] = { 0 };

	words[ORIG_RAX] = (uint64_t)number;
	words[RAX] = (uint64_t)result;
	words[RDI] = 7;
	return arch_regs_from_user(arch_for_machine(EM_X86_64), a, words);
}

static void test_interrupted(void **state)
{
	SCRATCH(a);
	static const int errors[] = { EINTR, ERESTARTSYS, 513, 514, ERESTART_RESTARTBLOCK };

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct regs regs = stopped(&a, READ, -errors[i]);

		assert_true(regs.in_syscall);
		assert_int_equal(regs.syscall, READ);
		assert_int_equal(regs.syscall_args[0], 7);
	}
}

static void test_not_in_one(void **state)
{
	SCRATCH(a);

	(void)state;
	/*
	 * The call has finished; has failed; stopped in user code with such a value in a register.
	 */
	assert_false(stopped(&a, READ, 8).in_syscall);
	assert_false(stopped(&a, READ, -EAGAIN).in_syscall);
	assert_false(stopped(&a, READ, -517).in_syscall);
	assert_false(stopped(&a, -1, -EINTR).in_syscall);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(arch_syscall(arch_for_machine(EM_X86_64), READ)->name, "read");
	assert_true(arch_syscall(arch_for_machine(EM_X86_64), READ)->takes_fd);
	assert_true(arch_syscall(arch_for_machine(EM_X86_64), FUTEX)->takes_futex);
	assert_int_equal(arch_syscall_named(arch_for_machine(EM_X86_64), "futex")->number, FUTEX);
	assert_null(arch_syscall(arch_for_machine(EM_X86_64), 100000));
	assert_null(arch_syscall_named(arch_for_machine(EM_X86_64), "none"));
}

/* A machine may keep the thread pointer in a register set of its own. */
static void test_thread_pointer(void **state)
{
	SCRATCH(a);
	struct arch arch = *arch_for_machine(EM_X86_64);
	uint64_t words[USER_WORDS] = { 0 }, set[] = { 1, 2 };

	(void)state;
	arch.thread_pointer.regset = NT_ARM_TLS;
	arch.thread_pointer.offset = sizeof(set[0]);
	words[1] = 3;
	struct regs regs = arch_regs_from_user(&arch, &a, words);
	assert_int_equal(regs.thread_pointer, 0);
	arch_regs_add_thread_pointer(&arch, set, sizeof(set) - 1, &regs);
	assert_int_equal(regs.thread_pointer, 0);
	arch_regs_add_thread_pointer(&arch, set, sizeof(set), &regs);
	assert_int_equal(regs.thread_pointer, 2);
}

/* Every register has its own number and its own word in the set. */
static void test_registers(void **state)
{
	SCRATCH(a);
	const struct arch *arch = arch_for_machine(EM_X86_64);
	uint64_t words[USER_WORDS];

	(void)state;
	assert_int_equal(arch->regset.user_regs_size, sizeof(words));
	for (size_t i = 0; i < USER_WORDS; i++)
		words[i] = 1000 + i;
	words[ORIG_RAX] = UINT64_MAX;
	struct regs regs = arch_regs_from_user(arch, &a, words);
	assert_int_equal(regs.r[0], 1000 + RAX);
	assert_int_equal(regs.r[arch->pc], 1016);
	assert_int_equal(regs.r[arch->sp], 1019);
	assert_int_equal(regs.r[arch->fp], 1004);
	assert_int_equal(regs.thread_pointer, 1021);
	for (size_t i = 0; i < arch->nregs; i++) {
		assert_non_null(arch->regs[i].name);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(regs.r[i], regs.r[j]);
	}
	assert_string_equal(arch->regs[arch->sp].name, "rsp");
	assert_int_equal(arch->breakpoint.insn[0], 0xcc);
	assert_int_equal(arch->breakpoint.pc, arch->breakpoint.size);
	assert_int_equal(arch->resume_offset, offsetof(struct user_regs_struct, eflags));
	assert_int_equal(arch->breakpoint.trap_size, 2); /* ud2: AMD64 manual, volume 3 */
	assert_int_equal(arch->breakpoint.trap[0], 0x0f);
}

static void test_machines(void **state)
{
	SCRATCH(a);
	const struct arch *arch = NULL;

	(void)state;
	struct error *err = arch_find(EM_X86_64, "core.1", &arch);
	assert_null(err);
	assert_string_equal(arch->name, "x86-64");
	err = arch_find(EM_AARCH64, "core.1", &arch);
	assert_int_equal(err->kind, ERR_UNSUPPORTED);
	assert_non_null(strstr(err->message, "core.1: aarch64: not supported yet"));
	assert_non_null(strstr(err->message, "docs/extending.md"));
	error_free(err);
	err = arch_find(EM_SPARC, "core.1", &arch);
	assert_non_null(strstr(err->message, "another machine (ELF machine 2)"));
	error_free(err);
	assert_string_equal(arch->name, "x86-64");
	assert_non_null(strstr(arch_supported(&a), "x86-64"));
}

/*
 * The address equals p_vaddr modulo the alignment and is as near to the thread pointer as possible.
 */
static void test_thread_locals(void **state)
{
	/* From the aarch64 ELF ABI: the thread control block has 16 bytes. */
	static const struct arch above = { .thread_pointer.layout = ARCH_TLS_ABOVE,
		                           .thread_pointer.tcb_size = 16 };
	const struct arch *below = arch_for_machine(EM_X86_64);

	(void)state;
	assert_int_equal(arch_tls_block(&above, 0x10000, 5, 0x2000, 8), 0x10010);
	assert_int_equal(arch_tls_block(&above, 0x10000, 5, 0x2000, 64), 0x10040);
	assert_int_equal(arch_tls_block(&above, 0x10000, 5, 0x2020, 64), 0x10020);
	assert_int_equal(arch_tls_block(&above, 0x10000, 5, 0x2008, 64), 0x10048);
	assert_int_equal(arch_tls_at_offset(&above, 0x10000, 0x40), 0x10040);
	assert_int_equal(arch_tls_block(below, 0x10000, 8, 0x2000, 8), 0xfff8);
	assert_int_equal(arch_tls_block(below, 0x10000, 5, 0x2000, 64), 0xffc0);
	assert_int_equal(arch_tls_block(below, 0x10000, 5, 0x2020, 64), 0xffe0);
	assert_int_equal(arch_tls_at_offset(below, 0x10000, 0x40), 0xffc0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupted),    cmocka_unit_test(test_not_in_one),
		cmocka_unit_test(test_names),          cmocka_unit_test(test_registers),
		cmocka_unit_test(test_thread_pointer), cmocka_unit_test(test_machines),
		cmocka_unit_test(test_thread_locals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

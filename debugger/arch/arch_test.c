/* What a thread's registers say about the system call it is in. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/arch/arch.h"

/* Words of struct user_regs_struct. */
enum { RAX = 10, RDI = 14, ORIG_RAX = 15, USER_WORDS = 27 };
enum { READ = 0, FUTEX = 202, ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516 };

static struct regs stopped(int64_t number, int64_t result)
{
	uint64_t words[USER_WORDS] = { 0 };
	struct regs regs;

	words[ORIG_RAX] = (uint64_t)number;
	words[RAX] = (uint64_t)result;
	words[RDI] = 7;
	arch_x86_64.regs_from_user(words, &regs);
	return regs;
}

static void test_interrupted(void **state)
{
	(void)state;
	static const int errors[] = { EINTR, ERESTARTSYS, 513, 514, ERESTART_RESTARTBLOCK };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct regs regs = stopped(READ, -errors[i]);

		assert_true(regs.in_syscall);
		assert_int_equal(regs.syscall, READ);
		assert_int_equal(regs.syscall_args[0], 7);
	}
}

static void test_not_in_one(void **state)
{
	(void)state;
	/* Finished, failed, and stopped while it computed with such a number in a register. */
	assert_false(stopped(READ, 8).in_syscall);
	assert_false(stopped(READ, -EAGAIN).in_syscall);
	assert_false(stopped(READ, -517).in_syscall);
	assert_false(stopped(-1, -EINTR).in_syscall);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(arch_syscall(&arch_x86_64, READ)->name, "read");
	assert_true(arch_syscall(&arch_x86_64, READ)->takes_fd);
	assert_true(arch_syscall(&arch_x86_64, FUTEX)->takes_futex);
	assert_int_equal(arch_syscall_named(&arch_x86_64, "futex")->number, FUTEX);
	assert_null(arch_syscall(&arch_x86_64, 100000));
	assert_null(arch_syscall_named(&arch_x86_64, "none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_not_in_one),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

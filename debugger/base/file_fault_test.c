/* A file that is truncated while it is mapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/base/file_fault.h"

enum { PAGES = 4 };

static void the_rest_is_zeros(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/file_fault_XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(PAGES * page)), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	const volatile char *bytes = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	file_fault_install();
	assert_int_equal(bytes[0], 'x');
	assert_null(file_fault_check());

	assert_int_equal(ftruncate(fd, 1), 0);
	assert_int_equal(bytes[2 * page], 0);
	assert_int_equal(bytes[3 * page], 0);
	assert_int_equal(file_fault_count(), 1);
	/* Once more, before the part that is replaced already. */
	assert_int_equal(bytes[page], 0);
	assert_int_equal(file_fault_count(), 2);
	assert_int_equal(bytes[0], 'x');

	struct error *err = file_fault_check();
	assert_int_equal(err->kind, ERR_CORRUPT);
	assert_non_null(strstr(err->message, path));
	error_free(err);
	munmap((void *)(uintptr_t)bytes, PAGES * page);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_is_zeros),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

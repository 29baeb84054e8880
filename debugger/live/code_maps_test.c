/* Tests of code_maps.c, on the mappings of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "debugger/live/code_maps.h"

typedef bool (*key_function)(pid_t, uint64_t *);

static uint64_t key(key_function function)
{
	uint64_t ret = 0;

	assert_true(function(getpid(), &ret));
	return ret;
}

static void check(key_function function)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t before = key(function);

	assert_true(fd >= 0);
	assert_int_equal(key(function), before);
	/* Data of a file, and code of none, as a compiler makes it while the program runs. */
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	void *made = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(made, MAP_FAILED);
	assert_int_equal(key(function), before);
	void *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_not_equal(key(function), before);
	munmap(code, size);
	assert_int_equal(key(function), before);
	munmap(made, size);
	munmap(data, size);
	close(fd);
}

static void test_of_kernel(void **state)
{
	(void)state;
	check(code_maps_key);
}

static void test_of_text(void **state)
{
	(void)state;
	check(code_maps_key_of_text);
}

static void test_gone(void **state)
{
	uint64_t ret;

	(void)state;
	assert_false(code_maps_key(0x7fffffff, &ret));
	assert_false(code_maps_key_of_text(0x7fffffff, &ret));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_kernel),
		cmocka_unit_test(test_of_text),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

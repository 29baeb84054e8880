/* Tests that own_build() matches the build-id in the file. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/elf/elf_image.h"
#include "debugger/elf/own_build.h"

static void it_is_what_the_file_says(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct elf_source from = { .read = elf_read_fd, .arg = &fd };
	struct elf_image image = { 0 };
	struct arena a = { 0 };
	uint64_t first;

	(void)state;
	assert_true(fd >= 0);
	assert_true(elf_image_read(&a, &from, EM_X86_64, &image));
	assert_true(image.build_id_len >= sizeof(first));
	memcpy(&first, image.build_id, sizeof(first));
	assert_int_not_equal(first, 0);
	assert_int_equal(own_build(), first);
	arena_free(&a);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_the_file_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

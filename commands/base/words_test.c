#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/base/words.h"

static void test_sizes(void **state)
{
	static const struct {
		const char *word;
		uint64_t size;
	} samples[] = {
		{ "0", 0 },          { "65536", 65536 },          { "64K", 65536 },
		{ "16M", 16 << 20 }, { "4G", UINT64_C(4) << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		uint64_t size;

		assert_null(words_size(samples[i].word, UINT64_C(1) << 40, &size));
		assert_int_equal(size, samples[i].size);
	}
}

static void test_no_sizes(void **state)
{
	static const char *const samples[] = { "",   "M",  "-1",  "1.5M", "16MB",        "16 M",
		                               "5T", "K1", "17M", "1G",   "17179869184G" };

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		uint64_t size;
		struct error *err CLEANUP(error_freep) = words_size(samples[i], 16 << 20, &size);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_no_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

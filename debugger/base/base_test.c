/* Tests of debugger/base: arenas, vectors, maps, strings, errors, files, logging, progress. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/map.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"

static void test_arena_gives_zeroed_aligned_memory(void **state)
{
	SCRATCH(a);

	(void)state;
	for (size_t size = 1; size < 3000; size += 7) {
		arena_strdup(&a, "what is not aligned");
		unsigned char *p = arena_alloc(&a, size);
		assert_int_equal((uintptr_t)p % _Alignof(uint64_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, size);
	}
}

static void test_arena_keeps_small_objects_after_a_big_one(void **state)
{
	SCRATCH(a);
	char *small = arena_strdup(&a, "small");
	char *big = arena_alloc(&a, 1 << 20);

	(void)state;
	memset(big, 'x', 1 << 20);
	assert_string_equal(small, "small");
	assert_string_equal(arena_printf(&a, "%s %d", small, 7), "small 7");
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&a, "ab", 10), "ab");
	assert_memory_equal(arena_memdup(&a, "12345", 5), "12345", 5);
	arena_free(&a);
	assert_int_equal(a.total, 0);
	assert_string_equal(arena_strdup(&a, "again"), "again");
}

static void test_arena_reset_gives_the_same_memory_zeroed(void **state)
{
	enum { OBJECTS = 200000, SIZE = 64 }; /* more than fits into small chunks */
	struct arena a = { 0 };
	char *big = NULL;

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < OBJECTS; i++) {
			unsigned char *p = arena_alloc(&a, SIZE);

			for (size_t j = 0; j < SIZE; j++)
				assert_int_equal(p[j], 0);
			memset(p, 0xab, SIZE);
		}
		big = arena_alloc(&a, 16 << 20);
		assert_int_equal(big[0] | big[(16 << 20) - 1], 0);
		memset(big, 1, 16 << 20);
		assert_true(a.total >= OBJECTS * SIZE);
		arena_reset(&a);
		assert_null(a.chunks);
		assert_int_equal(a.total, 0);
	}
	arena_free(&a);
	assert_null(a.spare);
}

static void test_numbers_as_text(void **state)
{
	static const uint64_t numbers[] = { 0, 9, 10, 4096, UINT64_MAX, UINT64_C(1) << 63 };
	SCRATCH(a);

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		STR(s);
		STR(expected);

		str_append_uint(&s, numbers[i]);
		str_printf(&expected, "%" PRIu64, numbers[i]);
		assert_string_equal(s.data, expected.data);
		assert_string_equal(arena_uint(&a, numbers[i]),
		                    arena_printf(&a, "%" PRIu64, numbers[i]));
	}
}

/* Tests every byte at every position of two words. */
static void test_plain_is_what_cleaning_keeps(void **state)
{
	char text[17] = "0123456789abcdef";

	(void)state;
	for (size_t at = 0; at < 16; at++) {
		for (unsigned byte = 1; byte < 256; byte++) {
			STR(clean);
			char before = text[at];

			text[at] = (char)byte;
			str_append_clean(&clean, text, 16);
			bool same = clean.len == 16 && memcmp(clean.data, text, 16) == 0;
			assert_int_equal(str_is_plain(text, 16), same);
			assert_int_equal(same, byte >= 0x20 && byte < 0x7f);
			text[at] = before;
		}
	}
}

static void test_progress_is_shown_late_and_erased(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	progress("off", 1, 2);
	progress_enable(f, 3600 * 1000);
	progress("early", 1, 2);
	progress_end();
	fflush(f);
	assert_int_equal(len, 0);
	progress_enable(f, 0);
	progress("reading", 250, 1000);
	progress("reading", 251, 1000); /* too early: not shown */
	progress_end();
	progress_end();
	fflush(f);
	assert_string_equal(text, "\rreading: 250 of 1000 (25%)\033[K\r\033[K");
	progress_enable(f, 0);
	progress("counting", UINT64_MAX, 0);
	fflush(f);
	assert_non_null(strstr(text, "\rcounting: 18446744073709551615\033[K"));
	progress_enable(NULL, 0);
	fclose(f);
	free(text);
}

static void test_arena_lets_one_array_grow(void **state)
{
	enum { TIMES = 20000 };
	SCRATCH(a);
	size_t room;

	(void)state;
	for (int huge = 0; huge < 2; huge++) {
		a.huge = huge;
		for (size_t n = 0; n < 40; n++) {
			uint64_t *p = arena_open(&a, sizeof(*p), &room);
			size_t total = a.total;

			assert_true(room >= sizeof(*p));
			for (uint64_t i = 0; i < n * TIMES / 40; i++) {
				if (i == room / sizeof(*p))
					p = arena_reopen(&a, i * sizeof(*p), 2 * i * sizeof(*p),
					                 &room);
				p[i] = i;
			}
			arena_close(&a, n * TIMES / 40 * sizeof(*p));
			assert_true(a.total >= total + n * TIMES / 40 * sizeof(*p));
			unsigned char *behind = arena_alloc(&a, 100);
			for (size_t i = 0; i < 100; i++)
				assert_int_equal(behind[i], 0);
			memset(behind, 0xff, 100);
			for (uint64_t i = 0; i < n * TIMES / 40; i++)
				assert_int_equal(p[i], i);
		}
	}
}

static void test_vec_grows_and_moves_to_an_arena(void **state)
{
	SCRATCH(a);
	VEC(int) v = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		*vec_push(&v) = i;
	assert_int_equal(v.n, 1000);
	int *moved = vec_to_arena(&v, &a);
	assert_null(v.data);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(moved[i], i);
}

static void test_vec_of_nothing_moves_too(void **state)
{
	SCRATCH(a);
	VEC(int) v = { 0 };

	(void)state;
	assert_non_null(vec_to_arena(&v, &a));
	vec_free(&v);
}

/* Grows to megabytes, from an empty vector and from a reserved one. */
static void test_large_vecs_keep_what_they_have(void **state)
{
	enum { MANY = 3 << 20, RESERVED = 1 << 20 };

	(void)state;
	for (int reserved = 0; reserved < 2; reserved++) {
		VEC(int) v = { 0 };

		if (reserved)
			vec_reserve(&v, RESERVED);
		assert_true(v.capacity >= (reserved ? RESERVED : 0));
		const int *before = v.data;
		vec_reserve(&v, reserved ? RESERVED : 0);
		assert_ptr_equal(v.data, before);
		for (int i = 0; i < MANY; i++)
			*vec_push(&v) = i;
		assert_int_equal(v.n, MANY);
		for (int i = 0; i < MANY; i++)
			assert_true(v.data[i] == i);
		vec_free(&v);
	}
}

static void test_huge_arenas_hand_out_zeros(void **state)
{
	enum { SIZE = 100 * 1000, TIMES = 50 };
	struct arena a CLEANUP(arena_free) = { .huge = true };
	static const unsigned char zeros[SIZE];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < TIMES; i++) {
			unsigned char *p = arena_alloc(&a, SIZE);

			assert_memory_equal(p, zeros, SIZE);
			memset(p, 0xff, SIZE);
		}
		round ? arena_free(&a) : arena_reset(&a);
		assert_true(a.huge && a.total == 0);
	}
}

/*
 * Files of cache records contain such keys: if a value here changes, increment RECORDS_FORMAT. No
 * key is 0.
 */
static void test_map_keys_of_bytes(void **state)
{
	static const unsigned char zero[] = { 0x1d, 0x7c, 0x4a, 0x7f, 0xb9, 0x79, 0x37, 0x9e };

	(void)state;
	assert_true(map_key_of("", 0) == UINT64_C(0xdf442d22110c749b));
	assert_true(map_key_of("foobar", 6) == UINT64_C(0x414ed4c44507905d));
	assert_true(map_key_of("core::option::Option<u8>", 24) == UINT64_C(0x7654ad0ec0fff46c));
	assert_true(map_key_of("foobar\0", 7) != map_key_of("foobar", 6));
	assert_true(map_key_of("a name of some length", 21) !=
	            map_key_of("a name of some length", 20));
	assert_true(map_key_of("eight by", 8) != map_key_of("eight b", 7));
	assert_true(map_key_on(1, "foobar", 6) != map_key_on(2, "foobar", 6));
	assert_true(map_key_on(0, "foobar", 6) == map_key_of("foobar", 6));
	/* The plain hash of these bytes is 0. */
	assert_true(map_key_of(zero, sizeof(zero)) == 1);
}

/* Pairs of objects in two arrays: many of them differ in the same bits. */
static void test_map_keys_of_pairs(void **state)
{
	struct map seen CLEANUP(map_free) = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 64; i++) {
		for (uint64_t j = 0; j < 64; j++)
			assert_true(map_put(
				&seen,
				map_key_of_pair(0x55bfbd735600 + i * 16, 0x7f0012340000 + j * 16),
				NULL));
	}
}

/* A find of 0 wrote its value into an empty slot, which other keys then had. */
static void test_map_has_the_key_0(void **state)
{
	struct map m CLEANUP(map_free) = { 0 };
	int zero, one;

	(void)state;
	assert_false(map_has(&m, 0));
	assert_true(map_put(&m, 1, &one));
	assert_false(map_has(&m, 0));
	assert_null(map_get(&m, 0));
	assert_true(map_put(&m, 0, &zero));
	assert_false(map_put(&m, 0, &zero));
	assert_true(map_has(&m, 0));
	assert_ptr_equal(map_get(&m, 0), &zero);
	assert_ptr_equal(map_get(&m, 1), &one);
	for (uint64_t key = 2; key < 1000; key++)
		assert_null(map_get(&m, key << 12));
	map_clear(&m);
	assert_false(map_has(&m, 0));
}

static void test_map_finds_what_was_put(void **state)
{
	struct map m CLEANUP(map_free) = { 0 };
	static int values[5000];

	(void)state;
	assert_null(map_get(&m, 1));
	assert_false(map_has(&m, 1));
	for (uintptr_t i = 0; i < 5000; i++)
		assert_true(map_put(&m, 0x7f0000000000 + i * 64, &values[i]));
	assert_false(map_put(&m, 0x7f0000000000, &values[1]));
	assert_ptr_equal(map_get(&m, 0x7f0000000000), &values[1]);
	for (uintptr_t i = 1; i < 5000; i++)
		assert_ptr_equal(map_get(&m, 0x7f0000000000 + i * 64), &values[i]);
	assert_false(map_has(&m, 0x7f0000000000 + 32));
	assert_int_equal(m.n, 5000);
	map_put(&m, 77, NULL);
	assert_null(map_get(&m, 77));
	assert_true(map_has(&m, 77));

	size_t capacity = m.capacity;
	map_clear(&m);
	assert_false(map_has(&m, 77));
	assert_int_equal(m.n, 0);
	assert_int_equal(m.capacity, capacity);
	assert_true(map_put(&m, 77, &values[0]));
}

static void test_str_appends_and_truncates(void **state)
{
	STR(s);

	(void)state;
	assert_string_equal(str_text(&s), "");
	for (int i = 0; i < 100; i++)
		str_printf(&s, "%d,", i);
	assert_int_equal(s.len, 290);
	str_truncate(&s, 4);
	assert_string_equal(str_text(&s), "0,1,");
	str_truncate(&s, 100);
	str_append(&s, "x");
	str_append_len(&s, "yz", 1);
	assert_string_equal(str_text(&s), "0,1,xy");
}

/* Expected results for bytes that a hostile program could choose. */
static const struct {
	const char *in;
	size_t len;
	const char *out;
} clean_cases[] = {
	{ "plain", 5, "plain" },
	{ "a\nb\tc", 5, "a?b?c" },
	{ "\x1b[31mred", 8, "?[31mred" },
	{ "\x7f", 1, "?" },
	{ "a\0b", 3, "a?b" },
	{ "gr\xc3\xbc\xc3\x9f", 6, "gr\xc3\xbc\xc3\x9f" },
	{ "\xe2\x82\xac \xf0\x9f\xa6\x80", 8, "\xe2\x82\xac \xf0\x9f\xa6\x80" },
	{ "\xff", 1, "\xef\xbf\xbd" },
	{ "\x80", 1, "\xef\xbf\xbd" },
	{ "\xc3", 1, "\xef\xbf\xbd" },                                 /* cut short */
	{ "\xc3(", 2, "\xef\xbf\xbd(" },                               /* wrong second byte */
	{ "\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd" },                 /* overlong */
	{ "\xe0\x80\xaf", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* overlong */
	{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* surrogate */
	{ "\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* too big */
	{ "\xc2\x9b"
	  "2J",
	  4, "\\u{9b}2J" }, /* C1: CSI */
	{ "a\xe2\x80\xae"
	  "b",
	  5, "a\\u{202e}b" },
	{ "\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf", 9, "\\u{200b}\\u{2028}\\u{feff}" },
	{ "\xc2\xad\xcd\x8f", 4, "\\u{ad}\\u{34f}" },
	{ "\xe2\x9d\xa4\xef\xb8\x8f", 6, "\xe2\x9d\xa4\\u{fe0f}" },
	{ "\xf3\xa0\x81\xa1", 4, "\\u{e0061}" },                       /* a tag */
	{ "\xe2\x80\x90\xe2\x80\xaf", 6, "\xe2\x80\x90\xe2\x80\xaf" }, /* a hyphen, a blank */
};

static void test_clean_text_is_utf8_without_controls(void **state)
{
	SCRATCH(a);

	(void)state;
	for (size_t i = 0; i < sizeof(clean_cases) / sizeof(*clean_cases); i++) {
		STR(s);
		str_append_clean(&s, clean_cases[i].in, clean_cases[i].len);
		assert_string_equal(str_text(&s), clean_cases[i].out);
	}
	assert_string_equal(str_clean(&a, "name\0rest", 9), "name");
	assert_string_equal(str_clean(&a, "0123456789", 4), "0123");
	assert_string_equal(str_clean(&a, "", 0), "");
}

static struct error *fails(void)
{
	return error_fault(0x1234);
}

static struct error *passes_on(bool *reached)
{
	TRY(NULL);
	*reached = true;
	TRY(fails());
	*reached = false;
	return NULL;
}

static void test_error_carries_kind_and_context(void **state)
{
	bool reached = false;
	struct error *err CLEANUP(error_freep) = error_wrap(passes_on(&reached), "task %d", 7);

	(void)state;
	assert_true(reached);
	assert_int_equal(err->kind, ERR_FAULT);
	assert_int_equal(err->addr, 0x1234);
	assert_string_equal(err->message, "task 7: 0x1234 is not readable");
	assert_null(error_wrap(NULL, "nothing"));
	error_free(NULL);
}

static void test_error_os_says_what_the_system_says(void **state)
{
	struct error *err CLEANUP(error_freep) = error_os(2, "opening %s", "x");

	(void)state;
	assert_int_equal(err->kind, ERR_OS);
	assert_int_equal(err->errnum, 2);
	assert_string_equal(err->message, "opening x: No such file or directory");
}

static void test_interrupt_lasts_until_cleared(void **state)
{
	(void)state;
	assert_null(interrupt_check());
	interrupt_request();
	struct error *err CLEANUP(error_freep) = interrupt_check();
	assert_int_equal(err->kind, ERR_INTERRUPTED);
	interrupt_clear();
	assert_null(interrupt_check());
}

/* A FIFO must not be opened even briefly: its writer would continue, and then get SIGPIPE. */
static void test_only_regular_files_are_opened(void **state)
{
	char path[] = "/tmp/asyncdbg-test.XXXXXX", fifo[64];
	int fd = mkstemp(path);

	(void)state;
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	int same = file_open_regular(path);
	assert_true(same >= 0);
	close(same);
	errno = 0;
	assert_int_equal(file_open_regular(fifo), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(file_open_regular("/dev/null"), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(file_open_regular("/tmp"), -1);
	assert_int_equal(errno, EINVAL);
	struct error *err CLEANUP(error_freep) = file_open(fifo, &same);
	assert_int_equal(err->kind, ERR_USAGE);
	unlink(path);
	assert_int_equal(file_open_regular(path), -1);
	assert_int_equal(errno, ENOENT);
	unlink(fifo);
	close(fd);
}

static void test_log_topics_match_whole_words(void **state)
{
	(void)state;
	assert_false(log_enabled("target"));
	log_enable("dwarf,target");
	assert_true(log_enabled("target"));
	assert_true(log_enabled("dwarf"));
	assert_false(log_enabled("arg"));
	assert_false(log_enabled("tar"));
	log_enable("all");
	assert_true(log_enabled("anything"));
}

static void test_files_are_read_up_to_a_limit(void **state)
{
	char path[] = "/tmp/asyncdbg-test.XXXXXX";
	int fd CLEANUP(file_close) = mkstemp(path);
	uint8_t *data CLEANUP(file_bytes_free) = NULL;
	int folder CLEANUP(file_close) = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t size;

	(void)state;
	assert_int_equal(write(fd, "whole", 5), 5);
	assert_null(file_read(fd, path, 5, &data, &size));
	assert_int_equal(size, 5);
	assert_memory_equal(data, "whole", 5);
	struct error *err = file_read(fd, path, 4, &data, &size);
	assert_int_equal(err->kind, ERR_USAGE);
	error_free(err);
	err = file_read(folder, "/tmp", 5, &data, &size);
	assert_int_equal(err->kind, ERR_USAGE);
	error_free(err);
	unlink(path);
}

static void test_large_files_are_read_in_parts(void **state)
{
	enum { SIZE = (5 << 20) + 123 };
	uint32_t *whole = malloc(SIZE + sizeof(*whole));
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(whole);
	assert_non_null(f);
	for (uint32_t i = 0; i <= SIZE / sizeof(*whole); i++)
		whole[i] = i * UINT32_C(0x9e3779b1);
	for (size_t size = SIZE; size > 1 << 20; size -= (1 << 20) + 1) {
		uint8_t *data CLEANUP(file_bytes_free) = NULL;
		size_t got;

		rewind(f);
		assert_int_equal(fwrite(whole, 1, size, f), size);
		assert_int_equal(fflush(f), 0);
		assert_int_equal(ftruncate(fileno(f), (off_t)size), 0);
		assert_null(file_read(fileno(f), "it", SIZE, &data, &got));
		assert_int_equal(got, size);
		assert_memory_equal(data, whole, size);
	}
	fclose(f);
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_gives_zeroed_aligned_memory),
		cmocka_unit_test(test_arena_keeps_small_objects_after_a_big_one),
		cmocka_unit_test(test_arena_reset_gives_the_same_memory_zeroed),
		cmocka_unit_test(test_numbers_as_text),
		cmocka_unit_test(test_plain_is_what_cleaning_keeps),
		cmocka_unit_test(test_progress_is_shown_late_and_erased),
		cmocka_unit_test(test_arena_lets_one_array_grow),
		cmocka_unit_test(test_vec_grows_and_moves_to_an_arena),
		cmocka_unit_test(test_vec_of_nothing_moves_too),
		cmocka_unit_test(test_large_vecs_keep_what_they_have),
		cmocka_unit_test(test_huge_arenas_hand_out_zeros),
		cmocka_unit_test(test_map_keys_of_bytes),
		cmocka_unit_test(test_map_keys_of_pairs),
		cmocka_unit_test(test_map_has_the_key_0),
		cmocka_unit_test(test_map_finds_what_was_put),
		cmocka_unit_test(test_str_appends_and_truncates),
		cmocka_unit_test(test_clean_text_is_utf8_without_controls),
		cmocka_unit_test(test_error_carries_kind_and_context),
		cmocka_unit_test(test_error_os_says_what_the_system_says),
		cmocka_unit_test(test_interrupt_lasts_until_cleared),
		cmocka_unit_test(test_files_are_read_up_to_a_limit),
		cmocka_unit_test(test_large_files_are_read_in_parts),
		cmocka_unit_test(test_only_regular_files_are_opened),
		cmocka_unit_test(test_log_topics_match_whole_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

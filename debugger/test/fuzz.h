/*
 * For fuzzers: what every parser's output must hold, and files made of an input. A fuzzer is a
 * NAME_fuzz.c with LLVMFuzzerTestOneInput(); testdata/fuzz/run.sh fuzzes with it, and tests run it
 * on the inputs that were kept (testdata/fuzz/replay.c).
 */
#ifndef DEBUGGER_TEST_FUZZ_H
#define DEBUGGER_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debugger/base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* Of libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Ends the process as a sanitizer would: what was printed is wrong. */
static inline void fuzz_fail(const char *what, const char *text)
{
	fprintf(stderr, "fuzzer: %s: %s\n", what, text);
	abort();
}

/* Text for terminals: valid UTF-8, no control characters but line ends and tabs. */
static inline void fuzz_check_text(const char *text, size_t len)
{
	STR(clean);

	for (size_t at = 0, end; at < len; at = end + 1) {
		for (end = at; end < len && text[end] != '\n' && text[end] != '\t';)
			end++;
		str_truncate(&clean, 0);
		str_append_clean(&clean, text + at, end - at);
		if (clean.len != end - at ||
		    (clean.len && memcmp(clean.data, text + at, clean.len)))
			fuzz_fail("not clean text", text);
	}
}

/* One name or phrase: the same without any control character. NULL is allowed. */
static inline void fuzz_check_line(const char *text)
{
	if (text && strpbrk(text, "\n\t"))
		fuzz_fail("a control character", text);
	if (text)
		fuzz_check_text(text, strlen(text));
}

/* A file in memory with these bytes; its path goes to path. Close the descriptor. */
enum { FUZZ_PATH = 64 };
static inline int fuzz_file(const void *data, size_t size, char path[FUZZ_PATH])
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		fuzz_fail("no file", "memfd_create");
	lseek(fd, 0, SEEK_SET);
	snprintf(path, FUZZ_PATH, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

/* splitmix64: numbers that follow from a seed. */
static inline uint64_t fuzz_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif

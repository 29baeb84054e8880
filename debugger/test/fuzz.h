/*
 * Helpers for fuzzers: checks that the output of every parser must pass, and files made of the
 * input. A fuzzer is a NAME_fuzz.c with LLVMFuzzerTestOneInput(). testdata/fuzz/run.sh runs it;
 * tests replay the saved inputs (testdata/fuzz/replay.c).
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
/* Defined by libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Aborts, as a sanitizer would: the output is wrong. */
static inline void fuzz_fail(const char *what, const char *text)
{
	fprintf(stderr, "fuzzer: %s: %s\n", what, text);
	abort();
}

/* Checks text for terminals: valid UTF-8, no control characters but newline and tab. */
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

/* Checks one name or phrase: the same, without newline and tab. NULL is allowed. */
static inline void fuzz_check_line(const char *text)
{
	if (text && strpbrk(text, "\n\t"))
		fuzz_fail("a control character", text);
	if (text)
		fuzz_check_text(text, strlen(text));
}

/*
 * Takes two bytes from the head of an input: the size of its first part, of which the rest may have
 * less. False: the input is shorter than that.
 */
static inline bool fuzz_split(const uint8_t **data, size_t *size, size_t *first)
{
	uint16_t head;

	if (*size < sizeof(head))
		return false;
	memcpy(&head, *data, sizeof(head));
	*data += sizeof(head);
	*size -= sizeof(head);
	*first = head < *size ? head : *size;
	return true;
}

/*
 * Creates a file in memory with these bytes and stores its path. The caller closes the descriptor.
 */
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

/* splitmix64: pseudo-random numbers from a seed. */
static inline uint64_t fuzz_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif

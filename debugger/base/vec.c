#include "debugger/base/vec.h"

#include <stdint.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/*
 * Resizes a large array in huge pages, with one page fault for 512 pages. glibc has mapped it by
 * itself, so that it grows without a second copy.
 */
static void *resize_huge(void *data, size_t wanted)
{
	size_t rounded = (wanted + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	unsigned char *grown = realloc(data, rounded);

	if (!grown)
		return NULL;
	size_t before = (HUGE_PAGE - (uintptr_t)grown % HUGE_PAGE) % HUGE_PAGE;
	madvise(grown + before, rounded - HUGE_PAGE, MADV_HUGEPAGE);
	return grown;
}

void *vec_resize_(void *data, size_t *capacity, size_t element, size_t wanted)
{
	size_t bytes;

	if (__builtin_mul_overflow(wanted, element, &bytes) || bytes > SIZE_MAX / 2)
		out_of_memory();
	void *grown = bytes >= HUGE_PAGE ? resize_huge(data, bytes) : realloc(data, bytes);
	if (!grown)
		out_of_memory();
	*capacity = wanted;
	return grown;
}

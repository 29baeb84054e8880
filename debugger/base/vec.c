#include "debugger/base/vec.h"

#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/* Resizes a large array in huge pages, with one page fault for 512 pages. */
static void *resize_huge(void *data, size_t size, size_t wanted)
{
	size_t rounded = (wanted + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *grown = aligned_alloc(HUGE_PAGE, rounded);

	if (!grown)
		return NULL;
	madvise(grown, rounded, MADV_HUGEPAGE);
	if (size)
		memcpy(grown, data, size);
	free(data);
	return grown;
}

void *vec_resize_(void *data, size_t *capacity, size_t element, size_t wanted)
{
	size_t bytes;

	if (__builtin_mul_overflow(wanted, element, &bytes) || bytes > SIZE_MAX / 2)
		out_of_memory();
	void *grown = bytes >= HUGE_PAGE ? resize_huge(data, *capacity * element, bytes)
	                                 : realloc(data, bytes);
	if (!grown)
		out_of_memory();
	*capacity = wanted;
	return grown;
}

/* A library with a thread-local, see threads.c. */
#include <stdint.h>

void *library_local(void);

static __thread char before[100] = "so that the offset is not 0";
__thread uint64_t local_of_library = UINT64_C(0x99aabbccddeeff00);

void *library_local(void)
{
	before[0]++;
	return &local_of_library;
}

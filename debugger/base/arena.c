#include "debugger/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
/* Not inlined: gcc 12 -O1 takes the call for a read of memory that nobody has set. */
__attribute__((noinline)) static void poison(void *p, size_t size)
{
	__asan_poison_memory_region(p, size);
}
#define POISON(p, n)   poison((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
enum { REDZONE = 16 };
#else
#define POISON(p, n)   ((void)0)
#define UNPOISON(p, n) ((void)0)
enum { REDZONE = 0 };
#endif

enum { CHUNK_SIZE = 64 * 1024, ALIGN = alignof(max_align_t) };

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	alignas(ALIGN) unsigned char data[];
};

void out_of_memory(void)
{
	fputs("asyncdbg: out of memory\n", stderr);
	abort();
}

static struct arena_chunk *add_chunk(struct arena *a, size_t size)
{
	size_t space = size > CHUNK_SIZE / 4 ? size : CHUNK_SIZE;
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + space);

	if (!chunk)
		out_of_memory();
	chunk->used = 0;
	chunk->size = space;
	POISON(chunk->data, space);
	/* A big object must not retire a chunk that still has room. */
	if (a->chunks && space == size) {
		chunk->next = a->chunks->next;
		a->chunks->next = chunk;
	} else {
		chunk->next = a->chunks;
		a->chunks = chunk;
	}
	return chunk;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		out_of_memory();

	size_t need = (size + REDZONE + ALIGN - 1) / ALIGN * ALIGN;
	struct arena_chunk *chunk = a->chunks;

	if (!chunk || chunk->size - chunk->used < need)
		chunk = add_chunk(a, need);
	void *p = chunk->data + chunk->used;
	chunk->used += need;
	a->total += need;
	UNPOISON(p, size);
	return memset(p, 0, size);
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		out_of_memory();
	return arena_alloc(a, total);
}

void *arena_memdup(struct arena *a, const void *data, size_t size)
{
	void *p = arena_alloc(a, size);

	return size ? memcpy(p, data, size) : p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	len = strnlen(s, len);
	char *p = arena_alloc(a, len + 1);
	return memcpy(p, s, len);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list args, again;
	char text[256];

	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	char *p = arena_alloc(a, (size_t)len + 1);
	if ((size_t)len < sizeof(text))
		memcpy(p, text, (size_t)len + 1);
	else
		vsnprintf(p, (size_t)len + 1, format, again);
	va_end(again);
	return p;
}

void arena_free(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		UNPOISON(a->chunks->data, a->chunks->size);
		free(a->chunks);
		a->chunks = next;
	}
	a->total = 0;
}

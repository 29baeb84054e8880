#include "debugger/base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debugger/base/digits.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
/* Not inlined: gcc 12 -O1 warns that the call reads uninitialised memory. */
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

enum {
	CHUNK_SIZE = 64 * 1024,
	HUGE_CHUNK = 16 << 20, /* only the used part takes memory */
	HUGE_AFTER = 4 << 20, /* total above which chunks are huge; leaves half a page on average */
	ALIGN = 8,
#if defined(__SANITIZE_ADDRESS__)
	TEXT_ALIGN = ALIGN, /* ASan has one shadow byte for eight bytes */
#else
	TEXT_ALIGN = 1,
#endif
};

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	size_t mapped;                       /* size of the mapping; 0: from malloc() */
	bool clean;                          /* unused bytes are zero */
	alignas(ALIGN) unsigned char data[]; /* malloc() and mmap() align the rest */
};

void out_of_memory(void)
{
	fputs("asyncdbg: out of memory\n", stderr);
	abort();
}

void *alloc_zeroed(size_t size)
{
	void *p = malloc(size);

	if (!p)
		out_of_memory();
	explicit_bzero(p, size); /* compilers turn malloc() and memset() into calloc() */
	return p;
}

/*
 * Creates a chunk. A large arena grows further, so its chunks are mapped in huge pages, with one
 * fault for 512 pages. The kernel clears them, so they need not be cleared again.
 */
static struct arena_chunk *arena_new_chunk(size_t space, bool huge)
{
	size_t size = sizeof(struct arena_chunk) + space;
	struct arena_chunk *chunk;

	if (!huge) {
		chunk = malloc(size);
		if (!chunk)
			out_of_memory();
		*chunk = (struct arena_chunk){ .size = space };
		return chunk;
	}
	chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		out_of_memory();
	madvise(chunk, size, MADV_HUGEPAGE);
	chunk->mapped = size;
	chunk->clean = true;
	chunk->size = space;
	return chunk;
}

static struct arena_chunk *take_chunk(struct arena *a, size_t size)
{
	struct arena_chunk **at = &a->spare, *chunk;
	bool huge = a->huge || a->total >= HUGE_AFTER;
	size_t space = huge ? HUGE_CHUNK - sizeof(*chunk) : CHUNK_SIZE;
	size_t shared = huge ? space : space / 4; /* larger objects get a chunk of their own */

	while (*at && (*at)->size < size)
		at = &(*at)->next;
	chunk = *at;
	if (chunk)
		*at = chunk->next;
	else
		chunk = arena_new_chunk(size > shared ? size : space, huge && size <= shared);
	POISON(chunk->data, chunk->size);
	return chunk;
}

static struct arena_chunk *add_chunk(struct arena *a, size_t size)
{
	struct arena_chunk *chunk = take_chunk(a, size);

	/*
	 * Keep the chunk with more free room in front, so that a big object does not end its use.
	 */
	if (a->chunks && chunk->size - size < a->chunks->size - a->chunks->used) {
		chunk->next = a->chunks->next;
		a->chunks->next = chunk;
	} else {
		chunk->next = a->chunks;
		a->chunks = chunk;
	}
	return chunk;
}

/* The offset of the next free byte with that alignment. */
static size_t arena_next_place(const struct arena_chunk *chunk, size_t align)
{
	return (chunk->used + align - 1) / align * align;
}

/* Finds or creates a chunk with room for need bytes at offset *at. */
static struct arena_chunk *find_chunk(struct arena *a, size_t need, size_t align, size_t *at)
{
	struct arena_chunk *chunk = a->chunks;

	*at = chunk ? arena_next_place(chunk, align) : 0;
	if (!chunk || *at > chunk->size || chunk->size - *at < need) {
		chunk = add_chunk(a, need);
		*at = 0;
	}
	return chunk;
}

/* Allocates size bytes, which are not cleared; *clean: they are zero. */
static void *arena_take(struct arena *a, size_t size, size_t align, bool *clean)
{
	size_t need = size + REDZONE, at;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	struct arena_chunk *chunk = find_chunk(a, need, align, &at);
	void *p = chunk->data + at;
	a->total += at + need - chunk->used;
	chunk->used = at + need;
	UNPOISON(p, size);
	*clean = chunk->clean;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	bool clean;
	void *p = arena_take(a, size, ALIGN, &clean);

	return clean ? p : memset(p, 0, size);
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
	bool clean;
	void *p = arena_take(a, size, ALIGN, &clean);

	return size ? memcpy(p, data, size) : p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	bool clean;

	len = strnlen(s, len);
	char *p = arena_take(a, len + 1, TEXT_ALIGN, &clean);
	p[len] = '\0';
	return memcpy(p, s, len);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_uint(struct arena *a, uint64_t number)
{
	char digits[DIGITS_MAX];
	const char *first = digits_of(digits, number);

	return arena_strndup(a, first, (size_t)(digits + DIGITS_MAX - first));
}

char *arena_vprintf(struct arena *a, const char *format, va_list args)
{
	va_list again;
	char text[256];

	va_copy(again, args);
	int len = vsnprintf(text, sizeof(text), format, args);
	bool clean;
	char *p = arena_take(a, (size_t)len + 1, TEXT_ALIGN, &clean);
	if ((size_t)len < sizeof(text))
		memcpy(p, text, (size_t)len + 1);
	else
		vsnprintf(p, (size_t)len + 1, format, again);
	va_end(again);
	return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *p = arena_vprintf(a, format, args);
	va_end(args);
	return p;
}

void *arena_open(struct arena *a, size_t size, size_t *room)
{
	size_t at;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	a->open = find_chunk(a, size + REDZONE, ALIGN, &at);
	*room = a->open->size - at - REDZONE;
	UNPOISON(a->open->data + at, *room);
	return a->open->data + at;
}

void arena_close(struct arena *a, size_t used)
{
	struct arena_chunk *chunk = a->open;
	size_t at = arena_next_place(chunk, ALIGN), end = used ? at + used + REDZONE : chunk->used;

	POISON(chunk->data + at + used, chunk->size - at - used);
	a->total += end - chunk->used;
	chunk->used = end;
	a->open = NULL;
}

static void arena_free_chunks(struct arena_chunk *chunk)
{
	while (chunk) {
		struct arena_chunk *next = chunk->next;

		UNPOISON(chunk->data, chunk->size);
		if (chunk->mapped)
			munmap(chunk, chunk->mapped);
		else
			free(chunk);
		chunk = next;
	}
}

/*
 * Releases the chunk that an open object has left when it grew. A chunk that is empty now is freed,
 * or each growth would leave a large one behind.
 */
static void arena_leave(struct arena *a, struct arena_chunk *chunk)
{
	struct arena_chunk **at = &a->chunks;

	chunk->clean = false;
	POISON(chunk->data + chunk->used, chunk->size - chunk->used);
	if (chunk->used > 0)
		return;
	while (*at != chunk)
		at = &(*at)->next;
	*at = chunk->next;
	chunk->next = NULL;
	arena_free_chunks(chunk);
}

void *arena_reopen(struct arena *a, size_t used, size_t size, size_t *room)
{
	struct arena_chunk *before = a->open;
	const void *data = before->data + arena_next_place(before, ALIGN);
	void *p = arena_open(a, size, room);

	memcpy(p, data, used);
	arena_leave(a, before);
	return p;
}

void arena_reset(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *chunk = a->chunks;

		a->chunks = chunk->next;
		UNPOISON(chunk->data, chunk->size);
		chunk->clean = false;
		chunk->used = 0;
		chunk->next = a->spare;
		a->spare = chunk;
	}
	a->total = 0;
}

void arena_free(struct arena *a)
{
	arena_free_chunks(a->chunks);
	arena_free_chunks(a->spare);
	*a = (struct arena){ .huge = a->huge };
}

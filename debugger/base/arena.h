/*
 * Arenas: many allocations with one lifetime, freed together. Running out of memory ends the
 * program.
 */
#ifndef DEBUGGER_BASE_ARENA_H
#define DEBUGGER_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"

struct arena_chunk;
struct arena {
	struct arena_chunk *chunks; /* newest first */
	struct arena_chunk *open;   /* the chunk of arena_open(); NULL none */
	struct arena_chunk *spare;  /* chunks kept by arena_reset() */
	size_t total;               /* bytes handed out */
	bool huge;                  /* set before first use if it will grow to megabytes */
};

/*
 * Returns size zeroed bytes, aligned to 8 bytes: enough for any type but long double and vectors.
 * They live until arena_free(). Never NULL.
 */
void *arena_alloc(struct arena *a, size_t size);
/* Allocates count * size bytes; an overflow ends the program. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
void *arena_memdup(struct arena *a, const void *data, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
/* The number in decimal. */
char *arena_uint(struct arena *a, uint64_t number);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/*
 * Room for an object that grows at the end of the arena: at least size bytes, which are not
 * cleared; *room is the actual size. Nothing else may be allocated until arena_close().
 */
void *arena_open(struct arena *a, size_t size, size_t *room);
/* Grows the open object, of which used bytes are written, to size bytes or more. It may move. */
void *arena_reopen(struct arena *a, size_t used, size_t size, size_t *room);
/* Ends the open object; its first used bytes stay allocated. */
void arena_close(struct arena *a, size_t used);

/* Drops all objects but keeps the memory for later allocations. */
void arena_reset(struct arena *a);
/* Frees everything; the arena is empty and usable afterwards. */
void arena_free(struct arena *a);

#define NEW(a, type)              ((type *)arena_alloc((a), sizeof(type)))
#define NEW_ARRAY(a, type, count) ((type *)arena_calloc((a), (count), sizeof(type)))

/* An arena that lives as long as the enclosing block. */
#define SCRATCH(name) struct arena name CLEANUP(arena_free) = { 0 }

/*
 * Allocates zeroed memory, to be freed with free(). Unlike calloc(), it writes the zeros: memory
 * that is read before it is written is mapped twice, and the second mapping interrupts the other
 * CPUs (TLB shootdown).
 */
void *alloc_zeroed(size_t size);

_Noreturn void out_of_memory(void);

#endif

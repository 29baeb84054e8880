/* Arenas: many allocations, one lifetime, one free. Running out of memory ends the program. */
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
	struct arena_chunk *open;   /* of arena_open(), NULL none */
	struct arena_chunk *spare;  /* of arena_reset() */
	size_t total;               /* bytes handed out */
	bool huge;                  /* to be set at first: it will take megabytes */
};

/*
 * size zeroed bytes, aligned to 8 bytes: for any object but a long double or a vector. They live
 * until arena_free(). Never NULL.
 */
void *arena_alloc(struct arena *a, size_t size);
/* count * size with the overflow checked. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
void *arena_memdup(struct arena *a, const void *data, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
/* A number in decimal. */
char *arena_uint(struct arena *a, uint64_t number);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/*
 * For what grows at the end of the arena: a place of size bytes or more, *room of them, which are
 * not cleared. Until arena_close() nothing else may be allocated.
 */
void *arena_open(struct arena *a, size_t size, size_t *room);
/* Of the open place used bytes are written: they move to one that has size bytes or more. */
void *arena_reopen(struct arena *a, size_t used, size_t size, size_t *room);
/* So many bytes stay allocated. */
void arena_close(struct arena *a, size_t used);

/* Forgets everything but keeps the memory for what is allocated next. */
void arena_reset(struct arena *a);
/* Frees everything; the arena is empty and usable afterwards. */
void arena_free(struct arena *a);

#define NEW(a, type)              ((type *)arena_alloc((a), sizeof(type)))
#define NEW_ARRAY(a, type, count) ((type *)arena_calloc((a), (count), sizeof(type)))

/* An arena that lives as long as the enclosing block. */
#define SCRATCH(name) struct arena name CLEANUP(arena_free) = { 0 }

/*
 * Zeros, for free(), that are really written, unlike calloc()'s: memory that is read before it is
 * written is mapped twice, and the other processors are told.
 */
void *alloc_zeroed(size_t size);

_Noreturn void out_of_memory(void);

#endif

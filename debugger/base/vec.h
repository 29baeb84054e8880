/*
 * Growable arrays. VEC(int) v = { 0 }; *vec_push(&v) = 1; v.data[i] for i < v.n; vec_free(&v).
 * Elements move when the vector grows: do not keep pointers into it while pushing.
 */
#ifndef DEBUGGER_BASE_VEC_H
#define DEBUGGER_BASE_VEC_H

#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t n, capacity;                                                                \
	}

/* Grows data to that many elements, more than there are now, and updates capacity. */
void *vec_resize_(void *data, size_t *capacity, size_t element, size_t wanted);

/* Makes room for at least one more element and updates capacity. */
static inline void *vec_grow_(void *data, size_t *capacity, size_t element)
{
	return vec_resize_(data, capacity, element, *capacity ? *capacity * 2 : 8);
}

/* A pointer to one new zeroed element at the end. */
#define vec_push(v)                                                                                \
	((v)->n == (v)->capacity                                                                   \
	         ? (void)((v)->data = vec_grow_((v)->data, &(v)->capacity, sizeof(*(v)->data)))    \
	         : (void)0,                                                                        \
	 (__typeof__((v)->data))memset(&(v)->data[(v)->n++], 0, sizeof(*(v)->data)))

/* Reserves room for count elements in total. */
#define vec_reserve(v, count)                                                                      \
	((v)->capacity < (count) ? (void)((v)->data = vec_resize_((v)->data, &(v)->capacity,       \
	                                                          sizeof(*(v)->data), (count)))    \
	                         : (void)0)

#define vec_free(v)                                                                                \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->n = (v)->capacity = 0;                                                        \
	} while (0)

/* Copies the elements into an arena and frees the vector. */
#define vec_to_arena(v, a)                                                                         \
	({                                                                                         \
		__typeof__((v)->data) moved_ =                                                     \
			arena_memdup((a), (v)->data, (v)->n * sizeof(*(v)->data));                 \
		vec_free(v);                                                                       \
		moved_;                                                                            \
	})

#endif

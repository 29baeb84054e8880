/* Builds the list of places for whatis.h: each place is one thing that contains the address. */
#ifndef RUNTIMES_QUERY_WHATIS_PLACE_H
#define RUNTIMES_QUERY_WHATIS_PLACE_H

#include "debugger/base/vec.h"
#include "dwarf/values/value.h"
#include "runtimes/model/model.h"

struct collector;

/* The largest number of nested members that a place names. */
enum { PLACE_MAX_STEPS = 24 };

struct whatis {
	struct collector *c;
	uint64_t addr;
	VEC(struct place) places; /* outermost first */
};

/* Appends an innermost place; cleans the phrase. The result is valid until the next call. */
struct place *place_add(struct whatis *a, const char *what, uint64_t start, const char *phrase);

/* Does the address lie in [start, start + size)? */
bool place_covers(struct whatis *a, uint64_t start, uint64_t size);

/* The member of v at the address, "buf.inner.len", at most `steps` deep; NULL if there is none. */
const char *place_member(struct whatis *a, struct value v, int steps);

/* The place inside v as a suffix for a phrase: ", +24 in it: buf.inner.len". */
const char *place_inside(struct whatis *a, struct value v, int steps);

/* Adds places from the memory map: module and function, thread's stack and frame, heap. */
void place_memory(struct whatis *a);

#endif

/* One answer to "what is at this address?" in the making: its places and how they are worded. */
#ifndef RUNTIMES_QUERY_WHATIS_PLACE_H
#define RUNTIMES_QUERY_WHATIS_PLACE_H

#include "debugger/base/vec.h"
#include "dwarf/values/value.h"
#include "runtimes/model/model.h"

struct collector;

/* Members one inside the other that a place names at most. */
enum { PLACE_MAX_STEPS = 24 };

struct whatis {
	struct collector *c;
	uint64_t addr;
	VEC(struct place) places; /* from the outside in */
};

/* A new innermost place; its phrase is cleaned. Valid until the next one. */
struct place *place_add(struct whatis *a, const char *what, uint64_t start, const char *phrase);

/* Does the address lie in [start, start + size)? */
bool place_covers(struct whatis *a, uint64_t start, uint64_t size);

/* "buf.inner.len" for the address inside v, at most that many steps; NULL when there is none. */
const char *place_member(struct whatis *a, struct value v, int steps);

/* The same for the end of a phrase: ", +24 in it: buf.inner.len". */
const char *place_inside(struct whatis *a, struct value v, int steps);

/* Adds what the map of memory says: module and function, thread's stack and frame, heap. */
void place_memory(struct whatis *a);

#endif

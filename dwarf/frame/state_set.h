/* Sets of the states of a coroutine, however many it has. */
#ifndef DWARF_FRAME_STATE_SET_H
#define DWARF_FRAME_STATE_SET_H

#include "debugger/base/arena.h"

/* The numbers of states: bit i % 64 of words[i / 64]. { 0 } is the empty set. */
struct state_set {
	uint64_t *words;
	size_t n;
};

/* Words come from the arena; a copy of a set shares them until one of both changes. */
void state_set_add(struct state_set *s, struct arena *a, size_t state);
void state_set_unite(struct state_set *s, struct arena *a, const struct state_set *with);
/* Leaves those that are in the other set, too; or those that are not. */
void state_set_keep(struct state_set *s, struct arena *a, const struct state_set *in);
void state_set_remove(struct state_set *s, struct arena *a, const struct state_set *in);
bool state_set_has(const struct state_set *s, size_t state);
bool state_set_is_empty(const struct state_set *s);
/* Whether all states of s are in the other set. */
bool state_set_is_within(const struct state_set *s, const struct state_set *other);
/* The word of 64 states from 64 * i on. */
uint64_t state_set_word(const struct state_set *s, size_t i);

#endif

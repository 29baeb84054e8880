/*
 * Groups of places that are one: a chain that was cut stands for all chains that go on from its
 * last frame. Chains of a snapshot are whole, and those that a probe copied may be cut: two tasks
 * at one await would be at two places.
 */
#ifndef RUNTIMES_PLACES_PLACE_GROUPS_H
#define RUNTIMES_PLACES_PLACE_GROUPS_H

#include "debugger/base/map.h"
#include "runtimes/places/place.h"

/* A set of groups; all zeros at first. Its places must live as long. */
struct place_groups {
	struct map seen;  /* place -> NULL */
	struct map texts; /* key of frames and leaf -> the first place with them */
	struct map cuts;  /* key of frames -> the first place that was cut there */
};

/* Adds a place; NULL: none. within: places of other values are never one with it. */
void place_groups_add(struct place_groups *g, const struct trace_place *place, uint64_t within);
/* The place that stands for one that was added, by all that were added so far; NULL for NULL. */
const struct trace_place *place_groups_find(const struct place_groups *g,
                                            const struct trace_place *place, uint64_t within);
void place_groups_free(struct place_groups *g);
/* A key of frames, to which another one is added; files of one name have two keys. */
uint64_t place_groups_key_on(uint64_t key, const struct trace_frame *f);

#endif

/*
 * Pieces of an object that the kernel copies: as few as possible, as each takes a read, and as
 * short as possible, as a copy has little room.
 */
#ifndef RUNTIMES_PLACES_PIECES_H
#define RUNTIMES_PLACES_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/probe/probe.h"

/* All zeros: none. */
struct pieces {
	uint32_t n;
	struct probe_piece data[PROBE_MAX_PIECES];
};

enum { PIECES_NOT_COPIED = UINT32_MAX };

/* Whether bytes are near enough to the beginning of an object to be copied: in 2 GiB. */
bool pieces_is_reachable(uint64_t offset, unsigned size);
/* Whether len bytes from low on have size bytes at an offset; neither sum need fit in 64 bits. */
bool pieces_has(uint64_t low, uint64_t len, uint64_t offset, unsigned size);
/*
 * Adds size bytes at an offset in the object, if all that is copied, with other bytes, is shorter
 * than PROBE_MAX_COPY then; otherwise nothing changes.
 */
void pieces_add(struct pieces *p, uint32_t other, uint64_t offset, unsigned size);
/* Bytes that they take in a copy. */
uint32_t pieces_total(const struct pieces *p);
/* Offset in a copy of size bytes of the object; PIECES_NOT_COPIED. */
uint32_t pieces_find(const struct pieces *p, uint64_t offset, unsigned size);

#endif

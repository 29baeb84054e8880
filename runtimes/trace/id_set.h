/*
 * A set of the ids of tasks. Runtimes count them up from 1, so that a bit for each is far less than
 * a table of them: ten million tasks take 1.3 MB.
 */
#ifndef RUNTIMES_TRACE_ID_SET_H
#define RUNTIMES_TRACE_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/map.h"

/* All zeros is the empty set. */
struct id_set {
	struct map pages; /* id / ID_SET_PAGE + 1 -> bits */
	size_t npages;
	struct arena arena; /* of the pages */
};

enum {
	ID_SET_PAGE = 4096 * 8,     /* ids in a page */
	ID_SET_MAX_PAGES = 1 << 16, /* 256 MB; ids beyond count as members */
};

/* Returns true if the id was not in the set yet. */
bool id_set_add(struct id_set *set, uint64_t id);
void id_set_free(struct id_set *set);

#endif

/*
 * Merges texts that differ in their variable parts only (debugger/base/marked.h): "sleep future,
 * sleeping 3 seconds" and "... 18 seconds" have one pattern with a number from 3 to 18. Texts
 * without a list of parts have themselves as their patterns.
 */
#ifndef RUNTIMES_ANALYSIS_GROUP_RANGE_H
#define RUNTIMES_ANALYSIS_GROUP_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { GROUP_SLOTS = 8 };

/* A variable part of a text, borrowed from the text. */
struct group_slot {
	uint64_t whole;    /* integer part of a number, at most UINT64_MAX, */
	uint32_t fraction; /* and fraction in billionths; for an address, the port */
	const char *text;  /* as written */
	size_t len;
	size_t host; /* length of an address without its port; 0: it is no address */
};

struct group_text {
	struct str pattern; /* contains a mark for each part */
	struct group_slot slots[GROUP_SLOTS];
	size_t nslots; /* at most GROUP_SLOTS; further ones are in the pattern only */
};

/* The range of texts that have one pattern. */
struct group_range {
	const char *pattern; /* NULL: there is no text */
	const char *first;   /* the first text */
	bool varies;         /* some text differs from first */
	size_t nslots;
	struct group_slot *min, *max; /* nslots each */
};

/*
 * Reads a text, which is borrowed, and the list of its parts. *ret may be reused. text may be NULL:
 * there is no pattern.
 */
void group_text_read(struct group_text *ret, const char *text, const char *parts);
void group_text_free(struct group_text *t);

/* Starts a range with one text. Its memory is in arena a. */
void group_range_init(struct group_range *r, struct arena *a, const struct group_text *t,
                      const char *text);
/* Extends the range by a text of the same pattern. */
void group_range_add(struct group_range *r, const struct group_text *t, const char *text);
/*
 * The text for the whole range, in arena a: "sleep future, sleeping 3-18 seconds". The text itself
 * when all are equal; NULL when there is none.
 */
const char *group_range_text(struct arena *a, const struct group_range *r);

#endif

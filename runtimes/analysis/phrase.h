/*
 * Merges similar phrases: "sleep future, sleeping 3 seconds" and "... 18 seconds" have one pattern
 * with a number from 3 to 18. The variable parts are numbers (times, ids, queue lengths, addresses,
 * ports) and lists of numbers in parentheses. Words, and numbers within names such as "u32" or
 * "{closure#0}", are fixed.
 */
#ifndef RUNTIMES_ANALYSIS_PHRASE_H
#define RUNTIMES_ANALYSIS_PHRASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { PHRASE_SLOTS = 8 };

/* The text of a variable part of a phrase, borrowed from the phrase. */
struct phrase_slot {
	uint64_t whole;    /* integer part of a number, at most UINT64_MAX, */
	uint32_t fraction; /* and fraction in billionths; for an address, the port */
	const char *text;  /* as written */
	size_t len;
	size_t host; /* length of an address without its port; 0: it is no address */
};

struct phrase {
	struct str pattern; /* contains a control character for each slot */
	struct phrase_slot slots[PHRASE_SLOTS];
	size_t nslots;    /* at most PHRASE_SLOTS; further ones are in the pattern only */
	const char *rest; /* during parsing: the text that is not yet parsed */
};

/* The range of phrases that have one pattern. */
struct phrase_range {
	const char *pattern; /* NULL: there is no phrase */
	const char *first;   /* the first phrase */
	bool varies;         /* some phrase differs from first */
	size_t nslots;
	struct phrase_slot *min, *max; /* nslots each */
};

/* Parses text, which is borrowed. *ret may be reused. text may be NULL: there is no pattern. */
void phrase_parse(struct phrase *ret, const char *text);
void phrase_free(struct phrase *p);

/* Starts a range with one phrase. Its memory is in arena a. */
void phrase_range_init(struct phrase_range *r, struct arena *a, const struct phrase *p,
                       const char *text);
/* Extends the range by a phrase of the same pattern. */
void phrase_range_add(struct phrase_range *r, const struct phrase *p, const char *text);
/*
 * The text for the whole range, in arena a: "sleep future, sleeping 3-18 seconds". The phrase
 * itself when all are equal; NULL when there is none.
 */
const char *phrase_range_text(struct arena *a, const struct phrase_range *r);

#endif

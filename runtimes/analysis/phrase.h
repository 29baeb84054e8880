/*
 * What many phrases of a kind have in common: "sleep future, sleeping 3 seconds" and the same with
 * 18 are one pattern, whose number lies between 3 and 18. Numbers vary (times, ids, lengths of
 * queues, addresses, ports), and lists of them in parentheses do; words do not, nor do numbers
 * within names: "u32", "{closure#0}".
 */
#ifndef RUNTIMES_ANALYSIS_PHRASE_H
#define RUNTIMES_ANALYSIS_PHRASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { PHRASE_SLOTS = 8 };

/* What stands in a phrase where the pattern varies: borrowed from the phrase. */
struct phrase_slot {
	uint64_t whole;    /* of a number, before the point; UINT64_MAX where it is larger, */
	uint32_t fraction; /* and billionths behind it; of an address, the port */
	const char *text;  /* as written */
	size_t len;
	size_t host; /* of an address, without its port: how much of text that is; 0: it is none */
};

struct phrase {
	struct str pattern; /* with a control character for each slot */
	struct phrase_slot slots[PHRASE_SLOTS];
	size_t nslots;    /* those beyond PHRASE_SLOTS are in the pattern only */
	const char *rest; /* while a phrase is split: what is not yet in the pattern */
};

/* Many phrases of one pattern. */
struct phrase_range {
	const char *pattern; /* NULL: no phrase at all */
	const char *first;   /* of the phrases */
	bool varies;         /* not every phrase is first, word for word */
	size_t nslots;
	struct phrase_slot *min, *max; /* nslots each */
};

/* Splits text, which is borrowed; ret is used again and again. text may be NULL: no pattern. */
void phrase_parse(struct phrase *ret, const char *text);
void phrase_free(struct phrase *p);

/* Begins a range with a phrase; what it keeps is in arena a. */
void phrase_range_init(struct phrase_range *r, struct arena *a, const struct phrase *p,
                       const char *text);
/* Widens it by a phrase of the same pattern. */
void phrase_range_add(struct phrase_range *r, const struct phrase *p, const char *text);
/*
 * The phrase that stands for all of them, in arena a: "sleep future, sleeping 3-18 seconds". As it
 * was where all are the same, NULL where there is none.
 */
const char *phrase_range_text(struct arena *a, const struct phrase_range *r);

#endif

/*
 * Internal to the text format: chains of frames that many tasks share, and counts of these tasks.
 */
#ifndef COMMANDS_OUT_OUT_TEXT_CHAIN_H
#define COMMANDS_OUT_OUT_TEXT_CHAIN_H

#include "commands/out/out_text.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group.h"

/* Appends "99,998 idle, 2 running", or only the name when all have one state. */
void text_append_states(struct arena *a, struct str *s, const struct group_count *c);

/* A frame as text, with and without its await location. */
struct element {
	const char *whole, *brief;
	bool has_place, own; /* own: in the user's own code */
};

struct elements {
	VEC(struct element) list;
};

void text_chain_free(struct elements *e);

/* Collects the frames from first to the last node folded onto its line, and returns that node. */
const struct group_node *text_chain_elements(const struct text *t, struct arena *a,
                                             const struct group_node *first, struct elements *ret);

/* Degrees of shortening a chain to fit on a line. */
enum cut {
	CUT_NONE,
	CUT_PLACES, /* locations only for the user's own code */
	CUT_MIDDLE, /* and only the first frame, the user's own one and the last */
	CUT_OWN,    /* and no locations */
};

/* Formats the chain, in arena a. */
const char *text_chain_text(const struct text *t, struct arena *a, const struct elements *e,
                            enum cut cut);
/* Appends the chain to the line, cut to that width. */
void text_append_chain(struct text *t, struct arena *a, const struct elements *e, size_t width);

#endif

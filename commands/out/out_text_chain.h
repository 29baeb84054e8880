/* Within the text format: frames that many tasks have in common, and how many these are. */
#ifndef COMMANDS_OUT_OUT_TEXT_CHAIN_H
#define COMMANDS_OUT_OUT_TEXT_CHAIN_H

#include "commands/out/out_text.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group.h"

/* Appends "99,998 idle, 2 running"; where all are of one state, its name only. */
void text_append_states(struct arena *a, struct str *s, const struct group_count *c);

/* A frame as text, with and without the place it awaits at. */
struct element {
	const char *whole, *brief;
	bool has_place, own; /* in the user's own code */
};

struct elements {
	VEC(struct element) list;
};

void text_chain_free(struct elements *e);

/* From first to the last node that is folded onto its line, which is returned. */
const struct group_node *text_chain_elements(const struct text *t, struct arena *a,
                                             const struct group_node *first, struct elements *ret);

/* How much of a chain a line has. */
enum cut {
	CUT_NONE,
	CUT_PLACES, /* the place in the user's own code only */
	CUT_MIDDLE, /* and only the first frame, that one and the last */
	CUT_OWN,    /* and no place at all */
};

/* In arena a. */
const char *text_chain_text(const struct text *t, struct arena *a, const struct elements *e,
                            enum cut cut);
/* Appends the chain to the line, cut to that width. */
void text_append_chain(struct text *t, struct arena *a, const struct elements *e, size_t width);

#endif

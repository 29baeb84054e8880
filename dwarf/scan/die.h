/*
 * One DIE read by its offset, at any place of a unit: a cursor over its attributes, and behind
 * them the offset of its first child or next sibling.
 */
#ifndef DWARF_SCAN_DIE_H
#define DWARF_SCAN_DIE_H

#include "dwarf/scan/form.h"

struct abbrev_entry;

struct die {
	const struct dwarf_sections *s;
	struct unit *u;
	uint64_t offset; /* in .debug_info */
	uint16_t tag;    /* 0: an end of siblings */
	bool has_children;
	const struct abbrev_entry *entry;
	const struct attribute *next, *end; /* the attributes not read yet */
	struct reader values;
};

/* False when no DIE of the unit can start there. Reads the unit's abbreviations on first use. */
bool die_read(const struct dwarf_sections *s, struct unit *u, uint64_t offset, struct die *ret);
/* The next attribute and its value; false behind the last one, and where the unit is cut short. */
bool die_next(struct die *d, struct attribute *at, struct attribute_value *ret);
/* Skips what is left of its attributes; the offset of what follows, 0 when the unit ends. */
uint64_t die_end(struct die *d);

/*
 * The DIE's first child, or the next one beside it. False when there is none, and where the unit is
 * cut short. d is used up; ret may be d.
 */
bool die_child(struct die *d, struct die *ret);
bool die_sibling(struct die *d, struct die *ret);

/* All DIEs below one, in their order. */
struct die_walk {
	const struct dwarf_sections *s;
	struct unit *u;
	uint64_t at; /* what comes next; behind the last one, what follows them; 0: cut short */
	uint64_t depth;
};
/* d is used up. */
struct die_walk die_walk(struct die *d);
/* The next one of that tag; what lies between is stepped over. False behind the last one. */
bool die_walk_next(struct die_walk *w, unsigned tag, struct die *ret);

#endif

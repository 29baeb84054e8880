/*
 * Reads one DIE at any offset of a unit: a cursor over its attributes, followed by the offset of
 * its first child or next sibling.
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
/*
 * Reads the next attribute and its value; false after the last one, and when the unit is truncated.
 */
bool die_next(struct die *d, struct attribute *at, struct attribute_value *ret);
/* Skips the remaining attributes. Returns the offset of what follows, 0 when the unit ends. */
uint64_t die_end(struct die *d);

/*
 * Reads the DIE's first child, or its next sibling. False when there is none, and when the unit is
 * truncated. d is invalid afterwards; ret may be d.
 */
bool die_child(struct die *d, struct die *ret);
bool die_sibling(struct die *d, struct die *ret);

/* Walks all DIEs below one, in the order of the file. */
struct die_walk {
	const struct dwarf_sections *s;
	struct unit *u;
	uint64_t at; /* next offset; at the end, of what follows them; 0: truncated */
	uint64_t depth;
};
/* d is invalid afterwards. */
struct die_walk die_walk(struct die *d);
/* Finds the next DIE of that tag; false after the last one. */
bool die_walk_next(struct die_walk *w, unsigned tag, struct die *ret);

#endif

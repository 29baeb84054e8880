/*
 * Private to scan.c: makes the note of one DIE from its values. DIEs of a fixed shape are read at
 * the shape's offsets, others value by value.
 */
#ifndef DWARF_SCAN_SCAN_RECORD_H
#define DWARF_SCAN_SCAN_RECORD_H

#include "debugger/base/vec.h"
#include "dwarf/scan/abbrev.h"
#include "dwarf/scan/scan.h"

/*
 * Notes of scopes. The list grows in place in the arena and stays there: the notes are most of the
 * memory that scans keep.
 */
struct scope_notes {
	struct scope_note *data;
	size_t n, capacity;
	struct arena *arena; /* open, see arena_open() */
};

/* The notes of one unit, each list in the order of DIEs. */
struct notes {
	struct scope_notes scopes;
	VEC(struct unit_function) functions;
	VEC(uint32_t) variables;
};

/* A pass over a unit's DIEs. */
struct pass {
	const struct dwarf_sections *s;
	struct unit *u;
	const struct abbrev_table *abbrevs;
	unsigned wanted_tag; /* stop at the first DIE of this tag; 0: record scopes */
	bool found;
	struct notes *out; /* NULL when searching for a tag */
};

/*
 * Records a DIE. r is after its code, and is moved to the end of its values. parent: see struct
 * scope_note.
 */
void scan_record_scope(struct pass *p, struct reader *r, const uint8_t *die,
                       const struct abbrev *ab, uint32_t parent);
/*
 * Records a DIE with a code of one byte and an abbreviation that has a shape. *block is the size of
 * its block's content. False when the DIE deviates from the shape: nothing is recorded. At least
 * MAX_SHAPE bytes must be readable at die.
 */
bool scan_record_if_fixed(struct pass *p, const uint8_t *die, uint32_t parent, size_t *block);
/* Moves r to the end of the DIE's values. */
void scan_record_skip_values(struct pass *p, struct reader *r, const struct abbrev *ab);

/*
 * Classifies a variable by the block of its DW_AT_location: SCOPE_ADDRESS or SCOPE_TLS, with its
 * address or offset in *low; 0 when it is neither.
 */
uint16_t scan_record_location(const struct dwarf_sections *s, const struct unit *u,
                              struct section block, uint64_t *low);

#endif

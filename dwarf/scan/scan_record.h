/*
 * Inside of scan.c: from the values of one DIE to its note. DIEs that have their shape are read
 * where it says that the values lie, the others value by value.
 */
#ifndef DWARF_SCAN_SCAN_RECORD_H
#define DWARF_SCAN_SCAN_RECORD_H

#include "debugger/base/vec.h"
#include "dwarf/scan/abbrev.h"
#include "dwarf/scan/scan.h"

/* Where they grow they stay: they are the most of what scans keep. */
struct scope_notes {
	struct scope_note *data;
	size_t n, capacity;
	struct arena *arena; /* open, see arena_open() */
};

/* Of one unit, each in the order of the DIEs. */
struct notes {
	struct scope_notes scopes;
	VEC(struct unit_function) functions;
	VEC(struct unit_result) results;
	VEC(uint32_t) voids;
	VEC(uint32_t) variables;
};

/* One pass over a unit's DIEs. */
struct pass {
	const struct dwarf_sections *s;
	struct unit *u;
	const struct abbrev_table *abbrevs;
	unsigned wanted_tag; /* stop at the first of these; 0: note scopes */
	bool found;
	struct notes *out; /* NULL when a tag is wanted */
};

/*
 * Notes a DIE; r is behind its code, and then behind its values. parent: as struct scope_note has
 * it.
 */
void scan_record_scope(struct pass *p, struct reader *r, const uint8_t *die,
                       const struct abbrev *ab, uint32_t parent);
/*
 * The same of one whose code is one byte, and whose abbreviation has a shape; *block is how far its
 * block moves what is behind. False when it has not its shape: nothing is noted. Behind it there
 * are MAX_SHAPE bytes.
 */
bool scan_record_if_fixed(struct pass *p, const uint8_t *die, uint32_t parent, size_t *block);
/* Moves r behind the DIE's values. */
void scan_record_skip_values(struct pass *p, struct reader *r, const struct abbrev *ab);

/*
 * SCOPE_ADDRESS or SCOPE_TLS of a variable, and where it is, by the block of its DW_AT_location; 0
 * when it is not of that kind.
 */
uint16_t scan_record_location(const struct dwarf_sections *s, const struct unit *u,
                              struct section block, uint64_t *low);

#endif

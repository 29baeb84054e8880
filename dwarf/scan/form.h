/*
 * Attributes of DIEs as .debug_abbrev declares them, and their values by form (DWARF 5, 7.5.3 to
 * 7.5.6). Values are read leniently: an index that leads nowhere gives 0 or NULL, an unknown form
 * makes the reader bad.
 */
#ifndef DWARF_SCAN_FORM_H
#define DWARF_SCAN_FORM_H

#include "dwarf/scan/reader.h"
#include "dwarf/scan/scan.h"

struct attribute {
	uint16_t name, form; /* both 0: the end of a list */
	int16_t size;        /* of an abbrev_index: form_size() */
	int64_t implicit;    /* of DW_FORM_implicit_const */
};

/* What one attribute of a DIE said. */
struct attribute_value {
	uint64_t number; /* a reference: an offset in .debug_info */
	const char *string;
	struct section block;
};

/* The next pair of an abbreviation's list. */
struct attribute form_read_attribute(struct reader *abbrev);
/* Bytes of a form, -1 when they vary. */
int form_size(unsigned form, const struct unit *u);
bool form_is_address(unsigned form);
/* Reads one value and moves r behind it. */
void form_read(const struct dwarf_sections *s, const struct unit *u, struct reader *r,
               const struct attribute *at, struct attribute_value *ret);
/* .debug_addr's word at an index counted from the unit's base. */
uint64_t form_address_at(const struct dwarf_sections *s, const struct unit *u, uint64_t index);

#endif

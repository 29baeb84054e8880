/*
 * Attributes of DIEs as .debug_abbrev declares them, and their values by form (DWARF 5, 7.5.3 to
 * 7.5.6). Reading is lenient: an index out of range yields 0 or NULL. An unknown form makes the
 * reader bad.
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

/* The value of one attribute. */
struct attribute_value {
	uint64_t number; /* for a reference, an offset in .debug_info */
	const char *string;
	struct section block;
};

/* Reads the next attribute of an abbreviation's list. */
struct attribute form_read_attribute(struct reader *abbrev);
/* Size of a form in bytes, -1 when it varies. */
int form_size(unsigned form, const struct unit *u);
bool form_is_address(unsigned form);
/* Reads one value and advances r. */
void form_read(const struct dwarf_sections *s, const struct unit *u, struct reader *r,
               const struct attribute *at, struct attribute_value *ret);
/* The address in .debug_addr at an index that counts from the unit's base. */
uint64_t form_address_at(const struct dwarf_sections *s, const struct unit *u, uint64_t index);

#endif

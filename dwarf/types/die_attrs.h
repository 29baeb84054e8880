/*
 * The attributes of one DIE that matter for types, variables and functions, read in one pass. An
 * attribute in a form that DWARF does not allow for it (7.5.4) counts as absent.
 */
#ifndef DWARF_TYPES_DIE_ATTRS_H
#define DWARF_TYPES_DIE_ATTRS_H

#include "dwarf/module/debuginfo.h"
#include "dwarf/scan/die.h"

/*
 * An attribute's number. The producer may write it signed or unsigned, in as few bytes as hold it;
 * the type decides how to read it.
 */
struct die_attrs_number {
	uint64_t value;
	unsigned form; /* DW_FORM_...; 0: absent */
};

/* Absent attributes are NULL or 0. */
struct die_attrs {
	const char *name;     /* borrowed from the section */
	uint64_t type, discr; /* DIEs, as are the two below */
	uint64_t origin;      /* DW_AT_abstract_origin, or DW_AT_specification */
	uint64_t containing;  /* DW_AT_containing_type */
	struct die_attrs_number size, align, encoding, offset, count, upper, file, line, access;
	struct die_attrs_number value; /* DW_AT_discr_value or DW_AT_const_value */
	bool value_is_wide; /* that is a number of 16 bytes, and more than 64 bits of it are used */
	bool declaration;
};

/* The DIE at an offset of .debug_info; false when there is none. */
bool die_attrs_open(struct dwarf_module *dm, uint64_t offset, struct die *ret);
/* Reads all attributes of a DIE. None may have been read before. */
void die_attrs_read(struct die *d, struct die_attrs *ret);
/* Fills in a missing name and type from the DIE's abstract origin or specification. */
void die_attrs_complete(struct dwarf_module *dm, struct die_attrs *attrs);

#endif

/*
 * What one DIE says, of all that matters about types, variables and functions: its attributes read
 * in one pass. What is written in another form than DWARF has for it (7.5.4) is taken as not said.
 */
#ifndef DWARF_TYPES_DIE_ATTRS_H
#define DWARF_TYPES_DIE_ATTRS_H

#include "dwarf/module/debuginfo.h"
#include "dwarf/scan/die.h"

/* A number may be written signed or unsigned, in as few bytes as hold it; the type says which. */
struct die_attrs_number {
	uint64_t value;
	unsigned form; /* DW_FORM_...; 0: it is not said */
};

/* NULL and 0 where it says nothing. */
struct die_attrs {
	const char *name;     /* borrowed from the section */
	uint64_t type, discr; /* DIEs, as are: */
	uint64_t origin;      /* DW_AT_abstract_origin, or DW_AT_specification */
	uint64_t containing;  /* DW_AT_containing_type */
	struct die_attrs_number size, align, encoding, offset, count, upper, file, line;
	struct die_attrs_number value; /* DW_AT_discr_value or DW_AT_const_value */
	bool declaration;
};

/* The DIE at an offset of .debug_info; false when there is none. */
bool die_attrs_open(struct dwarf_module *dm, uint64_t offset, struct die *ret);
/* Reads the attributes of a DIE of which none was read. */
void die_attrs_read(struct die *d, struct die_attrs *ret);
/* A concrete copy takes a name and a type that it does not have from what it is a copy of. */
void die_attrs_complete(struct dwarf_module *dm, struct die_attrs *said);

#endif

/*
 * Evaluates a location description of a variable (DWARF 5, 2.6) in a frame: where the variable is,
 * or its bytes where it is in no memory, or why it has no value.
 */
#ifndef DWARF_FRAME_LOCATION_VALUE_H
#define DWARF_FRAME_LOCATION_VALUE_H

#include <elfutils/libdw.h>

#include "dwarf/unwind/unwind.h"

enum { LOCATION_MAX_BYTES = 1 << 16 /* of a value in pieces or registers */ };

/* The frame in which an expression is evaluated. */
struct location_frame {
	struct target *target;
	const struct frame *frame;
	const struct frame *caller; /* the next outer frame; NULL: there is none */
	uint64_t cfa;               /* 0: unknown */
	uint64_t bias;              /* run-time = link-time + bias */
	Dwarf_Attribute *base;      /* DW_AT_frame_base of the function; NULL: it has none */
	uint64_t pc;                /* link-time address of the instruction */
};

/* The value found: exactly one of the three. */
struct location_value {
	bool in_memory;
	uint64_t addr; /* in_memory */
	const uint8_t
		*bytes;      /* size of them, in the arena; NULL: it is in memory or has no value */
	const char *problem; /* why it has no value; a constant or in the arena */
};

/*
 * attr: DW_AT_location or DW_AT_const_value. size: of the variable's type, in bytes. Never fails: a
 * location that cannot be evaluated is a problem.
 */
struct location_value location_value_read(const struct location_frame *f, Dwarf_Attribute *attr,
                                          uint64_t size, struct arena *a);

/*
 * Evaluates the operations of an expression. attr: the attribute that has them, for operations with
 * a block of their own.
 */
struct location_value location_value_run(const struct location_frame *f, Dwarf_Attribute *attr,
                                         const Dwarf_Op *ops, size_t n, uint64_t size,
                                         struct arena *a);

#endif

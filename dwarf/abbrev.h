/*
 * A unit's abbreviations made into programs: what to do with the bytes of a DIE, so that the
 * scanner asks no form twice. Attributes that nobody wants are steps over bytes, neighbours of
 * fixed size together one step.
 */
#ifndef DWARF_ABBREV_H
#define DWARF_ABBREV_H

#include "dwarf/form.h"

enum op_kind {
	OP_SKIP, /* n bytes */
	OP_ULEB, /* one number, or a signed one: they end alike */
	OP_CSTR,
	OP_BLOCK, /* with its length as a ULEB, or in n bytes */
	OP_BLOCK_FIXED,
	OP_NAME, /* DW_AT_name: the offset of a string in .debug_str, 4 bytes */
	OP_TYPE, /* DW_AT_type of a function, as DW_FORM_ref4 */
	OP_READ, /* the value of attributes[n] */
};

struct op {
	uint32_t kind : 4;
	uint32_t n : 28;
};

struct abbrev {
	uint32_t ops; /* index of the first */
	uint16_t nops;
	uint16_t tag;       /* 0: no such code */
	int32_t fixed_size; /* all bytes, when it is a single OP_SKIP; else -1 */
	uint16_t flags;     /* SCOPE_...: what the list of attributes alone says */
	bool has_children;
	bool wanted; /* becomes a scope */
};

struct abbrev_table {
	struct abbrev *by_code;
	size_t n;
	const struct op *ops;
	const struct attribute *attributes;
};

/* The unit's abbreviations; everything in the arena. */
struct abbrev_table abbrev_read_table(const struct dwarf_sections *s, const struct unit *u,
                                      struct arena *a);

/* What a code declares, for reading single DIEs. */
struct abbrev_entry {
	uint32_t first; /* index of its first attribute */
	uint16_t n;
	uint16_t tag; /* 0: no such code */
	bool has_children;
};

struct abbrev_index {
	struct abbrev_entry *by_code;
	size_t n; /* one more than the highest code */
	struct attribute *attributes;
};

/* The unit's abbreviations as they are declared. Freed with abbrev_index_free(), which takes NULL.
 */
struct abbrev_index *abbrev_index_new(const struct dwarf_sections *s, const struct unit *u);
void abbrev_index_free(struct abbrev_index *index);

#endif

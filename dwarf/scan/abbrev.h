/*
 * Compiles a unit's abbreviations into programs that tell the scanner how to process the bytes of a
 * DIE, so that it need not interpret each form again. Unwanted attributes become byte skips;
 * adjacent ones of fixed size are merged into one skip.
 */
#ifndef DWARF_SCAN_ABBREV_H
#define DWARF_SCAN_ABBREV_H

#include "dwarf/scan/form.h"

enum op_kind {
	OP_SKIP, /* n bytes */
	OP_ULEB, /* a LEB128 number, signed or unsigned: they end alike */
	OP_CSTR,
	OP_BLOCK, /* its length is a ULEB, or has n bytes in OP_BLOCK_FIXED */
	OP_BLOCK_FIXED,
	OP_NAME, /* DW_AT_name: the offset of a string in .debug_str, 4 bytes */
	OP_READ, /* the value of attributes[n] */
};

struct op {
	uint32_t kind : 4;
	uint32_t n : 28;
};

enum {
	NOWHERE = UINT8_MAX,
	MAX_SHAPE = 512, /* a DIE of a fixed shape has fewer bytes, its code included */
};

/* Places where DIEs of an abbreviation are skipped: they become no scope. */
enum { SKIP_OUTSIDE = 1 << 0, SKIP_IN_FUNCTION = 1 << 1 };

/*
 * Actions of a pass on a DIE, by the first byte of its abbreviation code. A value combines a class
 * and the size of the DIE, which includes its code but not the content of its block. scan_loop.c
 * has a label for each value. The branch predictor can then predict from earlier DIEs where the
 * next DIE begins, and execution continues there speculatively. A length that is looked up and
 * added would stall it and take twice as long.
 */
enum move {
	MOVE_SIZES = 48,               /* no DIE of a class has as many bytes */
	MOVE_FIXED = 0 * MOVE_SIZES,   /* skipped: all values have fixed sizes */
	MOVE_NUMBERS = 1 * MOVE_SIZES, /* skipped: there are LEB128 numbers */
	MOVE_BLOCK = 2 * MOVE_SIZES,   /* skipped: there is a block, perhaps numbers too */
	MOVE_NOTE = 3 * MOVE_SIZES,    /* becomes a scope */
	NMOVES = 4 * MOVE_SIZES,
	/* No DIE has 0 bytes, so that size 0 is free for these: */
	MOVE_OTHER = MOVE_FIXED,     /* the code is undefined, or has no shape */
	MOVE_END = MOVE_NUMBERS,     /* the end of siblings */
	MOVE_LONG_CODE = MOVE_BLOCK, /* of two bytes or more */
};

/*
 * Data to skip a DIE of a fixed shape. Most DIEs are skipped, and the position of each depends on
 * the one before. The steps of a unit therefore lie side by side, apart from the rest.
 */
struct step {
	uint8_t size;     /* of all values without the block's content; NOWHERE: no shape */
	uint8_t block_at; /* offset of its length, which is one byte */
	uint8_t leb_at[2], leb_mask[2]; /* after the block; the mask is 0 if there is none */
	uint8_t skip;                   /* SKIP_... */
	bool has_children;
};

/*
 * The fixed offsets of values that nearly all DIEs of an abbreviation have. Offsets count from the
 * end of the code, and assume that each LEB128 number has one byte. One value may be a block, an
 * expression: values after it are shifted by the size of the block's content, which the offsets
 * leave out. An offset is NOWHERE when there is no such value.
 */
struct shape {
	struct step step;
	uint8_t name_at;         /* see OP_NAME */
	uint8_t low_at, high_at; /* of a function: 8 bytes, and high_size bytes */
	uint8_t high_size;
	bool high_is_offset;
	bool has_location; /* of a variable: the block */
};

struct abbrev {
	uint32_t ops; /* index of the first */
	uint16_t nops;
	uint16_t tag;   /* 0: no such code */
	uint16_t flags; /* SCOPE_..., as far as the abbreviation determines them */
	bool has_children;
	bool wanted; /* becomes a scope */
	struct shape shape;
};

struct abbrev_table {
	struct abbrev *by_code;
	struct step *steps;       /* by code; at least 256 of them */
	uint8_t moves[2][1 << 8]; /* [0] outside functions, [1] inside; by the code's first byte */
	size_t n;
	const struct op *ops;
	const struct attribute *attributes;
};

/* Compiles the unit's abbreviations; allocates in the arena. */
struct abbrev_table abbrev_read_table(const struct dwarf_sections *s, const struct unit *u,
                                      struct arena *a);

/* Caches the last table: units of one object file share theirs. Initialise with { 0 }. */
struct abbrev_cache {
	struct arena arena;
	struct abbrev_table table;
	struct unit of; /* the unit that the table was read for */
};
const struct abbrev_table *abbrev_table_of(struct abbrev_cache *cache,
                                           const struct dwarf_sections *s, const struct unit *u);
void abbrev_cache_free(struct abbrev_cache *cache);

/*
 * The shape of DIEs with these attributes. There is none if struct shape has no field for a value
 * that the scanner reads.
 */
struct shape fixed_abbrev_of(const struct unit *u, const struct abbrev *ab,
                             const struct attribute *attributes, size_t n);

/* Does a number after the block have more than the one byte that the shape assumes? */
static inline bool numbers_are_long(const struct step *s, const uint8_t *behind_block)
{
	return (behind_block[s->leb_at[0]] & s->leb_mask[0]) ||
	       (behind_block[s->leb_at[1]] & s->leb_mask[1]);
}

/*
 * Returns the end of the DIE's values at p, or NULL if they do not have the fixed shape. *block is
 * the size of the block's content.
 */
static inline const uint8_t *step_over(const struct step *s, const uint8_t *p, size_t *block)
{
	*block = s->block_at == NOWHERE ? 0 : p[s->block_at];
	const uint8_t *behind = p + *block;

	if (*block >= 0x80 || numbers_are_long(s, behind))
		return NULL;
	return behind + s->size;
}

/* The declaration of one code, for reading single DIEs. */
struct abbrev_entry {
	uint32_t first; /* index of its first attribute */
	uint16_t n;
	uint16_t tag; /* 0: no such code */
	bool has_children;
	struct step step;
};

struct abbrev_index {
	struct abbrev_entry *by_code;
	size_t n; /* one more than the highest code */
	struct attribute *attributes;
};

/*
 * Reads the unit's abbreviations without compiling them. Free with abbrev_index_free(), which
 * accepts NULL.
 */
struct abbrev_index *abbrev_index_new(const struct dwarf_sections *s, const struct unit *u);
void abbrev_index_free(struct abbrev_index *index);

#endif

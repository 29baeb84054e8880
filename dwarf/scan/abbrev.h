/*
 * A unit's abbreviations made into programs: what to do with the bytes of a DIE, so that the
 * scanner asks no form twice. Attributes that nobody wants are steps over bytes, neighbours of
 * fixed size together one step.
 */
#ifndef DWARF_SCAN_ABBREV_H
#define DWARF_SCAN_ABBREV_H

#include "dwarf/scan/form.h"

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

enum {
	NOWHERE = UINT8_MAX,
	MAX_SHAPE = 512, /* a DIE that has its shape, with its code, has fewer bytes */
};

/* Where DIEs that have a shape become no scope. */
enum { SKIP_OUTSIDE = 1 << 0, SKIP_IN_FUNCTION = 1 << 1 };

/*
 * What a pass does with a DIE, by the first byte of its code: one number for a class and the bytes
 * that the DIE has, its code among them, its block not. scan_loop.c has a place in its code for
 * each, so that the processor guesses from the DIEs before where the next one begins, and goes on
 * there; it would have to wait for a length that is looked up and added, twice as long.
 */
enum move {
	MOVE_SIZES = 48,               /* no DIE of a class has as many bytes */
	MOVE_FIXED = 0 * MOVE_SIZES,   /* stepped over: all values have fixed sizes */
	MOVE_NUMBERS = 1 * MOVE_SIZES, /* stepped over: there are LEB128 numbers */
	MOVE_BLOCK = 2 * MOVE_SIZES,   /* stepped over: there is a block, and may be numbers */
	MOVE_NOTE = 3 * MOVE_SIZES,    /* becomes a scope */
	NMOVES = 4 * MOVE_SIZES,
	/* No DIE has 0 bytes: */
	MOVE_OTHER = MOVE_FIXED,     /* there is no such code, or it has no shape */
	MOVE_END = MOVE_NUMBERS,     /* the end of siblings */
	MOVE_LONG_CODE = MOVE_BLOCK, /* of two bytes or more */
};

/*
 * All that is needed to step over a DIE that has its shape. Most DIEs are stepped over, and each
 * tells where the next one is: the steps of a unit lie side by side, apart from the rest.
 */
struct step {
	uint8_t size; /* of all values but the bytes of the block; NOWHERE: they have no shape */
	uint8_t block_at;               /* its length, in one byte */
	uint8_t leb_at[2], leb_mask[2]; /* behind the block; the mask is 0 where there is none */
	uint8_t skip;                   /* SKIP_... */
	bool has_children;
};

/*
 * Where the values of nearly all DIEs of an abbreviation lie: at fixed places, counted from behind
 * its code, as long as each LEB128 number has one byte. One value may be a block, an expression:
 * what comes behind it lies farther by as many bytes as the block has, which these places leave
 * out. Places are NOWHERE where there is no such value.
 */
struct shape {
	struct step step;
	uint8_t name_at;         /* as OP_NAME has it */
	uint8_t type_at;         /* as OP_TYPE has it */
	uint8_t low_at, high_at; /* of a function: 8 bytes, and as many as form_size() */
	uint8_t high_size;
	bool high_is_offset;
	bool has_location; /* of a variable: the block */
};

struct abbrev {
	uint32_t ops; /* index of the first */
	uint16_t nops;
	uint16_t tag;   /* 0: no such code */
	uint16_t flags; /* SCOPE_...: what the list of attributes alone says */
	bool has_children;
	bool wanted; /* becomes a scope */
	struct shape shape;
};

struct abbrev_table {
	struct abbrev *by_code;
	struct step *steps;       /* by code as well; as many as a byte has values, or more */
	uint8_t moves[2][1 << 8]; /* outside of functions and inside, by the code's first byte */
	size_t n;
	const struct op *ops;
	const struct attribute *attributes;
};

/* The unit's abbreviations; everything in the arena. */
struct abbrev_table abbrev_read_table(const struct dwarf_sections *s, const struct unit *u,
                                      struct arena *a);

/* The table that was read last: units of one object file share theirs. Starts as { 0 }. */
struct abbrev_cache {
	struct arena arena;
	struct abbrev_table table;
	struct unit of; /* what the table depends on */
};
const struct abbrev_table *abbrev_table_of(struct abbrev_cache *cache,
                                           const struct dwarf_sections *s, const struct unit *u);
void abbrev_cache_free(struct abbrev_cache *cache);

/*
 * The shape of DIEs with these attributes; only of those with values to be read that stand in
 * struct shape themselves.
 */
struct shape fixed_abbrev_of(const struct unit *u, const struct abbrev *ab,
                             const struct attribute *attributes, size_t n);

/* Has one of the numbers behind the block more bytes than its shape has for it? */
static inline bool numbers_are_long(const struct step *s, const uint8_t *behind_block)
{
	return (behind_block[s->leb_at[0]] & s->leb_mask[0]) ||
	       (behind_block[s->leb_at[1]] & s->leb_mask[1]);
}

/* Behind the DIE's values at p, if they have their shape; *block is how far they moved. */
static inline const uint8_t *step_over(const struct step *s, const uint8_t *p, size_t *block)
{
	*block = s->block_at == NOWHERE ? 0 : p[s->block_at];
	const uint8_t *behind = p + *block;

	if (*block >= 0x80 || numbers_are_long(s, behind))
		return NULL;
	return behind + s->size;
}

/* What a code declares, for reading single DIEs. */
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

/* The unit's abbreviations as they are declared. Freed with abbrev_index_free(), which takes NULL.
 */
struct abbrev_index *abbrev_index_new(const struct dwarf_sections *s, const struct unit *u);
void abbrev_index_free(struct abbrev_index *index);

#endif

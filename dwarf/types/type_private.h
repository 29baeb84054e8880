/*
 * Private to type.c, type_read.c, type_records.c and wide.c: struct type, and the functions that
 * fill it.
 */
#ifndef DWARF_TYPES_TYPE_PRIVATE_H
#define DWARF_TYPES_TYPE_PRIVATE_H

#include "dwarf/records/records.h"
#include "dwarf/types/type.h"

enum {
	MAX_MEMBERS = 1 << 16,
	MAX_NESTED = 256, /* arrays of arrays */
};

/* Details that only enums have. */
struct type_choices {
	const struct member *discr;
	const struct variant *variants;
	const struct enumerator *enumerators;
	const char *comp_dir; /* of a coroutine */
	uint32_t nvariants, nenumerators;
};

struct type_params {
	const struct type_param *list;
	size_t n;
};

/* Details, read on first use: most types need none. */
struct type_details {
	const struct member *members;
	const struct type_choices *choices; /* never NULL once read */
	const struct type_params *params;   /* rarely needed: NULL until queried */
	uint32_t nmembers;
	uint32_t single; /* 1-based index of the only member that has a size; 0: none */
	bool single_known;
	bool params_queried : 1;  /* queried while records were stored */
	bool params_recorded : 1; /* already written to the records */
};

/*
 * A query in a large program sees a hundred thousand types, most of them once, as types of members.
 * Each therefore starts with its place alone and fills in the rest on demand.
 */
struct type {
	struct dwarf_module *dm;
	uint64_t place;   /* the DIE passed to type_at(); the fields below are read from it */
	uint64_t die;     /* as place; for an alias or a completed declaration, of the type that it
	                     stands for */
	const char *name; /* qualified once name_known; before that the DIE's own name */
	uint64_t size;
	uint64_t target_die;
	union {
		uint64_t count;               /* of an array, which has no details */
		struct type_details *details; /* of all other types; NULL until queried */
	};
	struct type_memo memo;
	uint32_t align;
	uint8_t kind; /* enum type_kind */
	bool shell_read : 1;
	bool shell_known : 1; /* read, and more than the short name was queried */
	bool name_known : 1;
	bool is_scope : 1;    /* its name is the last part of a path of scopes */
	bool declaration : 1; /* still to be completed from another unit */
	bool found : 1;       /* .debug_info has a DIE there */
	bool coroutine : 1;
	bool wide_known : 1;
	unsigned char wide : 3;      /* enum wide_kind, if wide_known */
	unsigned char tail_text : 2; /* enum tail_text, of an array that wide.c has made */
	bool queried : 1, details_queried : 1;   /* queried while records were stored */
	bool recorded : 1, details_recorded : 1; /* already written to the records */
};

/* Types in the order in which type_at() first returned them. */
enum { TYPES_IN_BLOCK = 64 };
struct type_block {
	struct type types[TYPES_IN_BLOCK];
	size_t n;
	struct type_block *next;
};

/* ---- type_read.c: types from .debug_info ---- */

/*
 * Fills in kind, sizes and the DIE's own name, or nothing. An alias takes over the type that it
 * stands for.
 */
void type_read_shell(struct type *t);
/* Fills details, which must be empty, with choices set to an empty struct. */
void type_read_details(struct type *t, struct type_details *d);
/* Fills the template parameters of a type. */
void type_read_params(struct type *t, struct type_params *ret);

/* Size of an array in bytes; 0 if its element is unknown or the size overflows. */
uint64_t type_array_size(const struct type *t);

/* ---- type_records.c: types from records ---- */

/* Fills a type of which only dm and place are set. False: there is no record, or it is invalid. */
bool type_known_shell(struct type *t);
/* Fill the members, variants and enumerators, and the template parameters. False: as above. */
bool type_known_details(struct type *t, struct type_details *d);
bool type_known_params(struct type *t, struct type_params *ret);

/* ---- type.c ---- */

/* Types are logically immutable. This gives write access to fill in lazy fields. */
struct type *type_unlock(const struct type *t);

/* Makes t a copy of real, the type that t stands for. */
void type_become(struct type *t, const struct type *real);
/* The last part of the type's name, or the whole; NULL when it has none. */
const char *type_short_name(const struct type *t);

#endif

/* Inside of type.c, type_read.c and type_records.c: a type, and who fills it. */
#ifndef DWARF_TYPES_TYPE_PRIVATE_H
#define DWARF_TYPES_TYPE_PRIVATE_H

#include "dwarf/records/records.h"
#include "dwarf/types/type.h"

enum {
	MAX_MEMBERS = 1 << 16,
	MAX_NESTED = 256, /* arrays of arrays */
};

/* What only an enum has. */
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

/* What is read when somebody asks for more than the type itself. */
struct type_details {
	const struct member *members;
	const struct type_choices *choices; /* never NULL once read */
	const struct type_params *params;   /* few are asked for: NULL until then */
	uint32_t nmembers;
	uint32_t single; /* number from 1 of the only member that has a size; 0: there is none */
	bool single_known;
	bool params_asked : 1; /* while answers are kept as records */
	bool params_told : 1;  /* records say so already */
};

/*
 * A large program's answer meets a hundred thousand types, most of them once, as those of members:
 * each begins with its place alone, and fills in what is asked for.
 */
struct type {
	struct dwarf_module *dm;
	uint64_t place; /* what type_at() was asked for; the rest is from here: */
	uint64_t die; /* the same, but of an alias or a completed declaration what it stands for */
	const char *name; /* qualified once name_known; before, what its DIE alone says */
	uint64_t size;
	uint64_t target_die;
	union {
		uint64_t count;               /* of an array, which has no details */
		struct type_details *details; /* of all others; NULL until asked for */
	};
	struct type_memo memo;
	uint32_t align;
	uint8_t kind; /* enum type_kind */
	bool shell_read : 1;
	bool shell_known : 1; /* read, and somebody asked for more than the short name */
	bool name_known : 1;
	bool is_scope : 1;    /* its name is the end of a path of scopes */
	bool declaration : 1; /* still to be completed from another unit */
	bool found : 1;       /* .debug_info has a DIE there */
	bool coroutine : 1;
	bool dyn_known : 1, is_dyn : 1;
	bool asked : 1, details_asked : 1; /* while answers are kept as records */
	bool told : 1, details_told : 1;   /* records say so already */
};

/* Types in the order in which type_at() met them. */
enum { TYPES_IN_BLOCK = 64 };
struct type_block {
	struct type types[TYPES_IN_BLOCK];
	size_t n;
	struct type_block *next;
};

/* ---- type_read.c: what .debug_info says ---- */

/* Fills in kind, sizes and the DIE's own name, or nothing; an alias becomes what it stands for. */
void type_read_shell(struct type *t);
/* Fills details, which are empty but for their choices: none. */
void type_read_details(struct type *t, struct type_details *d);
/* Fills its template parameters. */
void type_read_params(struct type *t, struct type_params *ret);

/* Bytes of an array's elements; 0 where its element is not known, or they are too many. */
uint64_t type_array_size(const struct type *t);

/* ---- type_records.c: what records say ---- */

/* Fills a type of which only dm and place are set; false: nothing is known, or nothing sound. */
bool type_known_shell(struct type *t);
/* The same of members, variants and enumerators, and of template parameters. */
bool type_known_details(struct type *t, struct type_details *d);
bool type_known_params(struct type *t, struct type_params *ret);

/* ---- type.c ---- */

/* What stands for another is all that this one is. */
void type_become(struct type *t, const struct type *real);
/* The last part of its name, or the whole; NULL when it has none. */
const char *type_short_name(const struct type *t);

#endif

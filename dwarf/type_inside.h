/* Inside of type.c and type_facts.c: a type, and how facts remember it. */
#ifndef DWARF_TYPE_INSIDE_H
#define DWARF_TYPE_INSIDE_H

#include "dwarf/facts.h"
#include "dwarf/type.h"

enum { MAX_MEMBERS = 1 << 16 };

struct type {
	struct dwarf_module *dm;
	uint64_t die;
	enum type_kind kind;
	const char *name;
	uint64_t size, align;
	uint64_t target_die;
	uint64_t count;
	bool declaration; /* still to be completed from another unit */
	bool details_read;
	bool kept, details_kept; /* as a fact */
	bool is_coroutine;
	const char *comp_dir; /* of a coroutine */
	bool single_known, dyn_known, is_dyn;
	const struct member *single; /* the only one that has a size */
	struct type_memo memo;
	const struct member *members;
	size_t nmembers;
	const struct member *discr;
	const struct variant *variants;
	size_t nvariants;
	const struct enumerator *enumerators;
	size_t nenumerators;
	const struct type_param *params;
	size_t nparams;
};

/* Fills a new type, of which only dm and die are set, by what is known; false: nothing is. */
bool type_known_shell(struct type *t);
/* Keeps what is known without its details of the type at die: of itself, or what die stands for. */
void type_keep(struct type *t, uint64_t die);
/* The same of members, variants, enumerators and parameters. */
bool type_known_details(struct type *t);
void type_keep_details(struct type *t);

#endif

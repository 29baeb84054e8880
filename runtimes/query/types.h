/* The types of a program, for the commands `types` and `type`: from its debug info alone. */
#ifndef RUNTIMES_QUERY_TYPES_H
#define RUNTIMES_QUERY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

struct inspector;

/* All texts are sanitised and in the arena of the call. */

struct type_row {
	const char *name; /* qualified, with generics */
	uint64_t size;
	const char *module; /* base name of its ELF file */
};

struct type_list {
	struct type_row *rows; /* by name, then by module */
	size_t n;
	size_t total; /* of the types that match; rows are the first ones */
	bool more;    /* the search stopped at TYPES_MAX matches */
};

struct type_part {
	const char *name; /* "0" for the first of a tuple */
	const char *type; /* NULL: unknown */
	uint64_t offset, size;
};

struct type_case {
	const char *name;
	bool has_number;  /* false: any number that no other variant has */
	int64_t number;   /* its discriminant */
	const char *file; /* of a state of a coroutine: where it awaits; NULL: unknown */
	unsigned line;
	struct type_part *parts;
	size_t nparts;
};

struct type_info {
	struct type_row row;
	const char *kind; /* "struct", "enum", "union", "coroutine", ... */
	uint64_t align;
	struct type_part *parts; /* its members; of an enum none */
	size_t nparts;
	struct type_case *cases; /* variants, states of a coroutine */
	size_t ncases;
};

enum {
	TYPES_MAX = 1 << 17, /* matches that are collected */
	TYPES_PARTS = 4096,  /* members or variants that are listed of one type */
};

/*
 * The types whose qualified names match an extended regular expression, the first limit of them.
 * ERR_USAGE: it is no such expression. ERR_NO_DEBUGINFO: the program has none.
 */
struct error *types_find(struct inspector *in, const char *regex, size_t limit, struct arena *a,
                         struct type_list *ret) MUST_CHECK;

/*
 * The type of that name: whole with generics, else without those or without its first components,
 * or that of an async function; ERR_USAGE where none has it, or several.
 */
struct error *types_describe(struct inspector *in, const char *name, struct arena *a,
                             struct type_info *ret) MUST_CHECK;

#endif

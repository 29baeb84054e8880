/*
 * Steps of a walk through values: which values a value leads to, and where they are. The order of a
 * walk, its limits and what it leaves out are its own (docs/internals/values.md).
 */
#ifndef DWARF_VALUES_VISIT_H
#define DWARF_VALUES_VISIT_H

#include "dwarf/values/entries.h"

/* How a value leads to others. */
enum visit_rule {
	VISIT_NOTHING,  /* a number or a function */
	VISIT_ELEMENTS, /* an array, a Vec, a Box<[T]> or a &mut [T] */
	VISIT_ENTRIES,  /* a collection of entries.h */
	VISIT_WIDE,     /* a pointer to a trait object, or to a struct with an unsized tail */
	VISIT_POINTER,  /* any other pointer */
	VISIT_MEMBERS,  /* a struct, or the active variant of an enum */
	VISIT_OPAQUE,   /* a union, or a type that the debug info does not have */
};

/* The facts about a type that a step needs. They take comparing names: type_class.h caches them. */
struct visit_type {
	enum visit_rule rule;
	const struct type *element; /* of VISIT_ELEMENTS */
	enum entries_kind entries;  /* of VISIT_ENTRIES */
};
struct visit_type visit_type_of(const struct type *t);

/* A value that another leads to. */
struct visited {
	struct value v;
	enum visit_rule rule;        /* that led to it */
	const struct member *member; /* of VISIT_MEMBERS */
	uint64_t index;              /* of VISIT_ELEMENTS and VISIT_ENTRIES */
	const char *part; /* "0": the key of a map's entry, "1": its value; NULL: neither */
};

/* Returns false to end the step. */
typedef bool visit_fn(const struct visited *at, void *arg);

struct visit {
	struct target *target;
	struct show_cache *cache; /* for VISIT_ENTRIES */
	visit_fn *each;
	/* Called before the first of VISIT_ELEMENTS, unless NULL; returns false to end the step. */
	bool (*elements)(const struct slice *slice, void *arg);
	void *arg;
	/*
	 * Follows a VISIT_WIDE pointer. ret->type NULL: no debug info tells the type of the object.
	 * *exact false: that type is a guess, or of a struct whose tail is an object of unknown
	 * type.
	 */
	struct error *(*follow)(void *context, struct value v, struct value *ret, bool *exact);
	void *context;
	uint64_t first, end; /* elements and entries before first, and from end on, are left out */

	/* Results. */
	uint64_t n, count;   /* elements or entries: how many were passed, of how many */
	struct value behind; /* the target of a pointer; addr 0: it is null */
	bool exact;
};

/*
 * Calls w->each for every value that v leads to: each part that has a size, each element, and what
 * a pointer points to unless that is null or of unknown type. type: that of v.
 */
struct error *visit_step(struct visit *w, struct value v, const struct visit_type *type) MUST_CHECK;
/* The step of VISIT_MEMBERS alone. */
struct error *visit_members(struct target *t, struct value v, visit_fn *each, void *arg) MUST_CHECK;

#endif

/*
 * The parts of a value, one level at a time: members of a struct, elements of a collection, what a
 * pointer leads to. For a reader who opens one value after the other, without limit of depth.
 *
 * Pointers, smart pointers, cells and locks are looked through, as show_value() does: a reference
 * to a struct has the members of the struct. Nothing is cached: the target must still be readable.
 */
#ifndef DWARF_VALUES_PARTS_H
#define DWARF_VALUES_PARTS_H

#include "dwarf/values/show.h"

struct part {
	const char *name; /* sanitised: "uri", "0", "[3]"; of a map the text of the key */
	struct value v;   /* type NULL: the debug info does not have it */
	bool redacted;    /* its name is secret: neither its text nor its parts may be shown */
};

/* How many parts there are. */
struct parts_count {
	uint64_t named;   /* members */
	uint64_t indexed; /* elements; at most one of both is not 0 */
};

enum {
	PARTS_MAX = 4096,     /* parts that one call lists */
	PARTS_WALK = 1 << 20, /* entries of a map or list that are passed to come to the first */
};

/* Context in which parts are found and named. */
struct parts_context {
	struct target *target;
	struct debuginfo *di;
	struct show_cache *cache;
	const struct secrets *secrets; /* NULL: nothing is redacted */
};

/* A value without parts, such as a number or a text, has none, and is no error. */
struct error *parts_count(const struct parts_context *c, struct value v, struct parts_count *ret)
	MUST_CHECK;
/*
 * Lists at most count parts from the one at index first on, in arena a. The errors of
 * value_variant() and of reading memory.
 */
struct error *parts_list(const struct parts_context *c, struct value v, uint64_t first,
                         uint64_t count, struct arena *a, struct part **ret, size_t *nret)
	MUST_CHECK;

/* The text of a part, in arena a: that of show_value(), or why there is none. */
const char *parts_text(const struct parts_context *c, const struct part *p, struct arena *a);
/* The run-time address of the code that a function pointer leads to; false: it is none. */
bool parts_code(const struct parts_context *c, struct value v, uint64_t *ret);

#endif

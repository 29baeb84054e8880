#include "runtimes/future/needs_drop.h"

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"

enum { MAX_DEPTH = 8, MAX_PARTS = 1 << 14 };

static bool crate_has_glue(const struct type *where, const struct type *t)
{
	return lookup_has_instance(type_module(where), type_die(where), DROP_GLUE, type_name(t));
}

/* Whether the compiler generated drop glue for t. Needed only to detect an impl of Drop on t. */
static bool needs_drop_has_glue(struct inspector *in, const struct type *t)
{
	enum { YES = 1, NO };
	static char known[] = { 0, YES, NO };
	const char *answer = map_get(&in->drops, (uintptr_t)t);

	if (answer)
		return *answer == YES;
	bool found = crate_has_glue(t, t);
	if (!found) {
		/* In debug builds a crate uses the glue that the type's own crate already has. */
		const struct type *home = lookup_type(type_module(t), type_name(t), 0);

		found = home && home != t && crate_has_glue(home, t);
	}
	map_put(&in->drops, (uintptr_t)t, &known[found ? YES : NO]);
	return found;
}

/* State of one query. parts limits it: in corrupt debug info types can be recursive. */
struct drop_question {
	struct inspector *in;
	unsigned parts; /* number of types that were checked */
};

static bool part_has_drop(struct drop_question *q, const struct type *t, int depth);

static bool members_have_drop(struct drop_question *q, const struct type *t, int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (!members[i].type || part_has_drop(q, members[i].type, depth + 1))
			return true;
	}
	return false;
}

static bool variants_have_drop(struct drop_question *q, const struct type *t, int depth)
{
	size_t n;
	const struct variant *variants = type_variants(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (variants[i].payload && members_have_drop(q, variants[i].payload, depth))
			return true;
	}
	return false;
}

/*
 * Whether t may have its own impl of Drop. Tuples and closures have none. Types of core and alloc
 * need drop only through a pointer that they own, and part_has_drop() finds that pointer.
 */
static bool needs_drop_is_own_type(const struct type *t)
{
	const char *name = type_name(t);

	return name[0] != '(' && !str_begins(name, "core::") && !str_begins(name, "alloc::") &&
	       qualified_last(name)[0] != '{';
}

static bool part_has_drop(struct drop_question *q, const struct type *t, int depth)
{
	const char *name = type_name(t);

	if (depth > MAX_DEPTH || ++q->parts > MAX_PARTS)
		return true;
	switch (type_kind(t)) {
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_INT:
	case TYPE_UINT:
	case TYPE_FLOAT:
	case TYPE_CENUM:
	case TYPE_FUNCTION:
		return false;
	case TYPE_POINTER:
		return str_begins(name, "alloc::boxed::Box<");
	case TYPE_ARRAY:
		return !type_target(t) || part_has_drop(q, type_target(t), depth + 1);
	case TYPE_STRUCT:
		if (name[0] == '&' || name[0] == '*' ||
		    str_begins(name, "core::marker::PhantomData"))
			return false;
		return str_begins(name, "core::ptr::") || str_begins(name, "alloc::boxed::Box<") ||
		       members_have_drop(q, t, depth) ||
		       (needs_drop_is_own_type(t) && needs_drop_has_glue(q->in, t));
	case TYPE_ENUM:
		return type_is_coroutine(t) || variants_have_drop(q, t, depth) ||
		       (needs_drop_is_own_type(t) && needs_drop_has_glue(q->in, t));
	default:
		return true;
	}
}

bool needs_drop(struct inspector *in, const struct type *t)
{
	struct drop_question q = { .in = in };

	return part_has_drop(&q, t, 0);
}

bool needs_drop_itself(struct inspector *in, const struct type *t)
{
	return needs_drop_is_own_type(t) && !type_is_coroutine(t) && needs_drop_has_glue(in, t);
}

/* Checks whether memory looks like a value of a type (plausible.h). */
#include "runtimes/common/plausible.h"

#include <string.h>

enum {
	MAX_DEPTH = 24,
	MAX_VALUES = 1 << 16, /* values checked for one place; a crafted type may be endless */
	MAX_COUNT = 1 << 30,
};

struct plausible_check {
	struct target *t;
	unsigned values;
	unsigned self_references; /* number of references that fit */
};

static bool plausible(struct plausible_check *c, struct value v, int depth);

static bool readable(struct target *t, uint64_t addr)
{
	char byte;
	size_t n = 0;

	error_free(target_read_some(t, addr, &byte, 1, &n));
	return n == 1;
}

static bool plausible_read_word(struct target *t, uint64_t addr, uint64_t size, uint64_t *ret)
{
	struct error *err = target_read_uint(t, addr, size, ret);

	error_free(err);
	return !err;
}

static bool pointer_is_plausible(struct target *t, struct value v)
{
	const char *name = type_name(v.type);
	const struct type *target = type_target(v.type);
	uint64_t addr;

	if (!plausible_read_word(t, v.addr, 8, &addr))
		return false;
	if (name[0] == '*') /* raw pointers may be null or dangle */
		return true;
	if (target && type_kind(target) == TYPE_FUNCTION)
		return module_at(t, addr) != NULL;
	return addr != 0 && (!target || type_size(target) == 0 || readable(t, addr));
}

/*
 * A reference-counted value that is alive has non-zero counts. They come first (alloc::sync's
 * ArcInner, alloc::rc's RcInner, before 1.84 RcBox).
 */
static bool counted_is_plausible(struct target *t, struct value v)
{
	uint64_t inner, strong, weak;

	return plausible_read_word(t, v.addr, 8, &inner) && inner && inner % 8 == 0 &&
	       plausible_read_word(t, inner, 8, &strong) &&
	       plausible_read_word(t, inner + 8, 8, &weak) && strong >= 1 && strong < MAX_COUNT &&
	       weak >= 1 && weak < MAX_COUNT;
}

static bool dyn_is_plausible(struct target *t, struct value v)
{
	uint64_t data, vtable;

	return plausible_read_word(t, v.addr + type_member(v.type, "pointer")->offset, 8, &data) &&
	       data &&
	       plausible_read_word(t, v.addr + type_member(v.type, "vtable")->offset, 8, &vtable) &&
	       module_at(t, vtable);
}

static bool members_are_plausible(struct plausible_check *c, struct value v, int depth)
{
	size_t n;
	const struct member *members = type_members(v.type, &n);

	for (size_t i = 0; i < n; i++) {
		if (members[i].type && type_size(members[i].type) &&
		    !plausible(c, (struct value){ members[i].type, v.addr + members[i].offset },
		               depth + 1))
			return false;
	}
	return true;
}

static bool enum_is_plausible(struct plausible_check *c, struct value v, int depth)
{
	const struct variant *active;
	struct error *err = value_variant(c->t, v, &active);

	error_free(err);
	if (err)
		return false;
	struct value payload = value_payload(v, active);
	if (!type_is_coroutine(v.type))
		return members_are_plausible(c, payload, depth);
	/* LLVM merges the DWARF entries of locals of one name: only the awaitee is reliable. */
	const struct member *awaitee = type_member(payload.type, "__awaitee");
	return !awaitee ||
	       plausible(c, (struct value){ awaitee->type, payload.addr + awaitee->offset },
	                 depth + 1);
}

static bool plausible(struct plausible_check *c, struct value v, int depth)
{
	struct target *t = c->t;
	uint64_t number;

	if (depth > MAX_DEPTH || ++c->values > MAX_VALUES)
		return true;
	switch (type_kind(v.type)) {
	case TYPE_BOOL:
		return plausible_read_word(t, v.addr, 1, &number) && number <= 1;
	case TYPE_CHAR:
		return plausible_read_word(t, v.addr, 4, &number) && number <= 0x10ffff;
	case TYPE_POINTER:
		return pointer_is_plausible(t, v);
	case TYPE_CENUM: {
		const char *name = NULL;
		struct error *err = value_enum_name(t, v, &name);

		error_free(err);
		return !err && name;
	}
	case TYPE_ENUM:
		return enum_is_plausible(c, v, depth);
	case TYPE_STRUCT:
		if (type_is(v.type, "alloc::sync::Arc") || type_is(v.type, "alloc::rc::Rc"))
			return counted_is_plausible(t, v);
		if (type_wide(v.type).has_vtable)
			return dyn_is_plausible(t, v);
		return members_are_plausible(c, v, depth);
	default: /* any bits are a valid number; a union may be uninitialised */
		return true;
	}
}

bool plausible_value(struct target *t, struct value v)
{
	struct plausible_check c = { .t = t };

	return plausible(&c, v, 0);
}

/* Does the type have a part of the type with that name at offset, in any variant? */
static bool plausible_has_type_at(struct plausible_check *c, const struct type *t, uint64_t offset,
                                  const char *name, int depth)
{
	const struct member *members;
	size_t n;

	if (offset == 0 && strcmp(type_name(t), name) == 0)
		return true;
	if (depth > MAX_DEPTH || ++c->values > MAX_VALUES || offset >= type_size(t))
		return false;
	if (type_kind(t) == TYPE_ENUM) {
		const struct variant *variants = type_variants(t, &n);

		for (size_t i = 0; i < n; i++) {
			if (variants[i].payload && offset >= variants[i].offset &&
			    plausible_has_type_at(c, variants[i].payload,
			                          offset - variants[i].offset, name, depth + 1))
				return true;
		}
		return false;
	}
	members = type_members(t, &n);
	for (size_t i = 0; i < n; i++) {
		if (members[i].type && offset >= members[i].offset &&
		    plausible_has_type_at(c, members[i].type, offset - members[i].offset, name,
		                          depth + 1))
			return true;
	}
	return false;
}

static bool references_fit(struct plausible_check *c, struct value root, struct value v, int depth)
{
	const struct type *target;
	const struct member *members;
	uint64_t addr;
	size_t n;

	if (depth > MAX_DEPTH || ++c->values > MAX_VALUES)
		return true;
	if (type_kind(v.type) == TYPE_POINTER) {
		target = type_target(v.type);
		if (type_name(v.type)[0] != '&' || !target ||
		    !plausible_read_word(c->t, v.addr, 8, &addr))
			return true;
		if (addr < root.addr || addr - root.addr >= type_size(root.type))
			return true;
		c->self_references++;
		return plausible_has_type_at(c, root.type, addr - root.addr, type_name(target), 0);
	}
	if (type_kind(v.type) == TYPE_ENUM) {
		const struct variant *active;
		struct error *err = value_variant(c->t, v, &active);

		error_free(err);
		if (err)
			return true;
		v = value_payload(v, active);
	}
	members = type_members(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		if (members[i].type && type_size(members[i].type) &&
		    !references_fit(c, root,
		                    (struct value){ members[i].type, v.addr + members[i].offset },
		                    depth + 1))
			return false;
	}
	return true;
}

enum self_reference plausible_self_references(struct target *t, struct value v)
{
	struct plausible_check c = { .t = t };

	if (!references_fit(&c, v, v, 0))
		return SELF_REFERENCE_WRONG;
	return c.self_references ? SELF_REFERENCE_RIGHT : SELF_REFERENCE_NONE;
}

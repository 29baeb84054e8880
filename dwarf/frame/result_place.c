#include "dwarf/frame/result_place.h"

#include <stddef.h>

enum { WORD = 8, MAX_DEPTH = 32 };

/* How the compiler passes a type. */
enum result_place_shape {
	SHAPE_UNKNOWN,
	SHAPE_NOTHING, /* no size */
	SHAPE_SCALAR,
	SHAPE_PAIR,  /* of scalars */
	SHAPE_BYTES, /* anything else */
};

struct scalar {
	uint64_t offset, size;
	bool is_float;
	enum type_kind kind; /* two of different kinds count as one in some versions alone */
};

struct layout {
	enum result_place_shape shape;
	struct scalar scalars[2];
};

/* The members of a struct or a variant that have a size, of which two are enough. */
struct result_place_sized {
	struct member members[2];
	size_t n; /* may be more than two */
};

static struct layout result_place_layout_of(const struct type *t, int depth);

static void result_place_add_sized(const struct type *t, struct result_place_sized *ret)
{
	size_t n = 0;
	const struct member *m = t ? type_members(t, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (!type_size(m[i].type))
			continue;
		if (ret->n < 2)
			ret->members[ret->n] = m[i];
		ret->n++;
	}
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return align ? (n + align - 1) / align * align : n;
}

/* A pair is one only if it lies as the compiler lays pairs out. */
static struct layout pair(uint64_t size, const struct scalar *a, const struct scalar *b)
{
	const struct scalar *first = a->offset <= b->offset ? a : b;
	const struct scalar *second = first == a ? b : a;
	uint64_t align = first->size > second->size ? first->size : second->size;

	if (first->offset || second->offset != align_up(first->size, second->size) ||
	    size != align_up(second->offset + second->size, align))
		return (struct layout){ .shape = SHAPE_BYTES };
	return (struct layout){ SHAPE_PAIR, { *first, *second } };
}

/* The layout of a struct, or of the only variant with values. */
static struct layout
result_place_layout_of_members(uint64_t size, const struct result_place_sized *sized, int depth)
{
	struct layout l[2];

	if (sized->n == 0)
		return (struct layout){ .shape = size ? SHAPE_BYTES : SHAPE_NOTHING };
	if (sized->n > 2)
		return (struct layout){ .shape = SHAPE_BYTES };
	for (size_t i = 0; i < sized->n; i++) {
		l[i] = result_place_layout_of(sized->members[i].type, depth + 1);
		if (l[i].shape == SHAPE_UNKNOWN)
			return l[i];
		for (size_t j = 0; j < 2; j++)
			l[i].scalars[j].offset += sized->members[i].offset;
	}
	if (sized->n == 2)
		return l[0].shape == SHAPE_SCALAR && l[1].shape == SHAPE_SCALAR
		               ? pair(size, &l[0].scalars[0], &l[1].scalars[0])
		               : (struct layout){ .shape = SHAPE_BYTES };
	return sized->members[0].offset == 0 && type_size(sized->members[0].type) == size
	               ? l[0]
	               : (struct layout){ .shape = SHAPE_BYTES };
}

/* The tag lies where a variant has no value: its only scalars are those of that variant. */
static struct layout layout_of_niche(const struct type *t, int depth)
{
	const struct type *whole = NULL;
	struct result_place_sized sized = { 0 };
	size_t n;
	const struct variant *v = type_variants(t, &n);

	for (size_t i = 0; i < n; i++) {
		struct result_place_sized other = { 0 };

		if (v[i].is_default && !whole) {
			whole = v[i].payload;
			continue;
		}
		result_place_add_sized(v[i].payload, &other);
		if (other.n)
			return (struct layout){ .shape = SHAPE_BYTES };
	}
	result_place_add_sized(whole, &sized);
	return result_place_layout_of_members(type_size(t), &sized, depth);
}

static struct layout layout_of_tagged(const struct type *t, const struct member *tag, int depth)
{
	const struct scalar first = { tag->offset, type_size(tag->type), false, TYPE_UINT };
	struct scalar common = { 0 };
	size_t n;
	const struct variant *v = type_variants(t, &n);

	if (first.size == type_size(t))
		return (struct layout){ SHAPE_SCALAR, { first } };
	for (size_t i = 0; i < n; i++) {
		struct result_place_sized sized = { 0 };

		result_place_add_sized(v[i].payload, &sized);
		if (!sized.n)
			continue;
		const struct layout l =
			sized.n == 1 ? result_place_layout_of(sized.members[0].type, depth + 1)
				     : (struct layout){ .shape = SHAPE_BYTES };
		if (l.shape != SHAPE_SCALAR)
			return (struct layout){ .shape = l.shape == SHAPE_UNKNOWN ? l.shape
				                                                  : SHAPE_BYTES };
		struct scalar value = l.scalars[0];
		value.offset += sized.members[0].offset + v[i].offset;
		if (common.size && (common.size != value.size || common.offset != value.offset))
			return (struct layout){ .shape = SHAPE_BYTES };
		if (common.size && common.kind != value.kind)
			return (struct layout){ .shape = SHAPE_UNKNOWN };
		common = value;
	}
	return common.size ? pair(type_size(t), &first, &common)
	                   : (struct layout){ .shape = SHAPE_BYTES };
}

static struct layout layout_of_enum(const struct type *t, int depth)
{
	const struct member *tag = type_discr(t);
	bool niche = false;
	size_t n;
	const struct variant *v = type_variants(t, &n);

	if (type_is_coroutine(t))
		return (struct layout){ .shape = SHAPE_BYTES };
	if (!tag && n != 1)
		return (struct layout){ .shape = SHAPE_UNKNOWN };
	for (size_t i = 0; i < n; i++)
		niche |= v[i].is_default;
	if (niche || !tag) {
		struct result_place_sized sized = { 0 };

		if (niche)
			return layout_of_niche(t, depth);
		result_place_add_sized(v[0].payload, &sized);
		return result_place_layout_of_members(type_size(t), &sized, depth);
	}
	return layout_of_tagged(t, tag, depth);
}

static struct layout result_place_layout_of(const struct type *t, int depth)
{
	uint64_t size = type_size(t);
	enum type_kind kind = type_kind(t);
	struct result_place_sized sized = { 0 };

	if (depth > MAX_DEPTH || kind == TYPE_OPAQUE || kind == TYPE_FUNCTION)
		return (struct layout){ .shape = SHAPE_UNKNOWN };
	if (!size)
		return (struct layout){ .shape = SHAPE_NOTHING };
	switch (kind) {
	case TYPE_ARRAY:
		return (struct layout){ .shape = SHAPE_BYTES };
	case TYPE_STRUCT:
		result_place_add_sized(t, &sized);
		return result_place_layout_of_members(size, &sized, depth);
	case TYPE_UNION:
		result_place_add_sized(t, &sized);
		return sized.n == 1 ? result_place_layout_of_members(size, &sized, depth)
		                    : (struct layout){ .shape = SHAPE_UNKNOWN };
	case TYPE_ENUM:
		return layout_of_enum(t, depth);
	default:
		return (struct layout){ SHAPE_SCALAR, { { 0, size, kind == TYPE_FLOAT, kind } } };
	}
}

/* ---- places ---- */

static void add_part(struct result_place *ret, uint64_t offset, uint64_t size)
{
	ret->parts[ret->nparts].offset = offset;
	ret->parts[ret->nparts++].size = size;
}

static void place_scalars(const struct layout *l, size_t n, struct result_place *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (l->scalars[i].is_float || l->scalars[i].size > WORD)
			return;
	}
	ret->kind = RESULT_REGISTERS;
	for (size_t i = 0; i < n; i++)
		add_part(ret, l->scalars[i].offset, l->scalars[i].size);
}

static void place_bytes(uint64_t size, struct result_place *ret)
{
	const uint64_t two = UINT64_C(2) * WORD;

	if (size > two) {
		ret->kind = RESULT_MEMORY;
		return;
	}
	ret->kind = size > WORD ? RESULT_EITHER : RESULT_REGISTERS;
	for (uint64_t at = 0; at < size; at += WORD)
		add_part(ret, at, size - at < WORD ? size - at : WORD);
}

void result_place(const struct type *t, struct result_place *ret)
{
	const struct layout l = result_place_layout_of(t, 0);

	*ret = (struct result_place){ 0 };
	switch (l.shape) {
	case SHAPE_NOTHING:
		ret->kind = RESULT_NOTHING;
		break;
	case SHAPE_SCALAR:
		place_scalars(&l, 1, ret);
		break;
	case SHAPE_PAIR:
		place_scalars(&l, 2, ret);
		break;
	case SHAPE_BYTES:
		place_bytes(type_size(t), ret);
		break;
	default:
		break;
	}
}

/* DWARF numbers: rax and rdx; x0 and x1. */
unsigned result_place_register(unsigned n)
{
	return n;
}

/* Reads variants, numbers, slices and strings at typed places (value.h). */
#include "dwarf/values/value.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/values/unwrap_newtype.h"
#include "dwarf/values/wide_value.h"

enum { MAX_NEWTYPES = 32, MAX_UNINHABITED = 3, MAX_PARTS = 1 << 12 };

/* DWARF is not trusted either: an integer of 3 bytes means a corrupt file. */
static bool value_is_word_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* high: the upper half of one of 16 bytes, u128; else 0. */
static struct error *value_read_discr(struct target *t, struct value v, const struct member *discr,
                                      uint64_t *ret, uint64_t *high)
{
	uint64_t size = type_size(discr->type), addr = v.addr + discr->offset;

	*high = 0;
	if (size == 2 * sizeof(*ret)) {
		TRY(target_read_uint(t, addr + sizeof(*ret), sizeof(*high), high));
		return target_read_uint(t, addr, sizeof(*ret), ret);
	}
	if (!value_is_word_size(size))
		return error_new(ERR_LAYOUT, "%s has a discriminant of %" PRIu64 " bytes",
		                 type_name(v.type), size);
	return target_read_uint(t, addr, size, ret);
}

/*
 * Is the type uninhabited: an enum without variants (Infallible), "!", or a type that contains one?
 * *left: remaining number of parts to look at, because in a broken file structs can contain each
 * other.
 */
static bool is_uninhabited(const struct type *t, int depth, unsigned *left)
{
	size_t n;

	type_variants(t, &n);
	if ((type_kind(t) == TYPE_ENUM && n == 0 && type_size(t) == 0) ||
	    strcmp(type_name(t), "!") == 0)
		return true;
	if (type_kind(t) != TYPE_STRUCT || depth == MAX_UNINHABITED)
		return false;
	const struct member *members = type_members(t, &n);
	for (size_t i = 0; i < n && *left; i++) {
		(*left)--;
		if (members[i].type && is_uninhabited(members[i].type, depth + 1, left))
			return true;
	}
	return false;
}

static bool has_no_value(const struct type *t)
{
	unsigned left = MAX_PARTS;

	return is_uninhabited(t, 0, &left);
}

/* Without a discriminant only one variant is possible: Ok of Result<T, Infallible>. */
static struct error *only_variant(struct value v, const struct variant **ret)
{
	const struct variant *variants, *only = NULL;
	size_t n;

	variants = type_variants(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		if (!variants[i].payload || (n > 1 && has_no_value(variants[i].payload)))
			continue;
		if (only)
			return error_new(ERR_LAYOUT, "%s has no discriminant", type_name(v.type));
		only = &variants[i];
	}
	if (!only)
		return error_new(ERR_LAYOUT, "%s has no variants", type_name(v.type));
	*ret = only;
	return NULL;
}

struct error *value_variant(struct target *t, struct value v, const struct variant **ret)
{
	const struct member *discr = type_discr(v.type);
	const struct variant *fallback = NULL, *variants;
	uint64_t number, high;
	size_t n, fallbacks = 0;

	variants = type_variants(v.type, &n);
	if (!discr)
		return only_variant(v, ret);
	TRY(value_read_discr(t, v, discr, &number, &high));
	/* The variants of a coroutine are numbered from 0, in order, and may be many. */
	if (!high && number < n && variants[number].discr == number &&
	    !variants[number].is_default && variants[number].payload) {
		*ret = &variants[number];
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (variants[i].is_default) {
			fallback = &variants[i];
			fallbacks++;
		} else if (!high && variants[i].discr == number && variants[i].payload) {
			*ret = &variants[i];
			return NULL;
		}
	}
	if (fallbacks > 1)
		return error_new(ERR_LAYOUT, "%s has %zu variants for any other discriminant",
		                 type_name(v.type), fallbacks);
	if (!fallback || !fallback->payload)
		return error_new(ERR_CORRUPT, "%s at 0x%" PRIx64 " has no variant %" PRIu64,
		                 type_name(v.type), v.addr, number);
	*ret = fallback;
	return NULL;
}

struct value value_payload(struct value v, const struct variant *variant)
{
	return (struct value){ variant->payload, v.addr + variant->offset };
}

struct error *value_enum_name(struct target *t, struct value v, const char **ret)
{
	if (type_kind(v.type) == TYPE_ENUM) {
		const struct variant *variant;

		TRY(value_variant(t, v, &variant));
		*ret = variant->name;
		return NULL;
	}
	size_t n;
	uint64_t number;
	const struct enumerator *e = type_enumerators(v.type, &n);

	if (!value_is_word_size(type_size(v.type)))
		return error_new(ERR_LAYOUT, "%s is not an enum", type_name(v.type));
	TRY(target_read_uint(t, v.addr, type_size(v.type), &number));
	*ret = NULL;
	for (size_t i = 0; i < n; i++) {
		if (e[i].value == number)
			*ret = e[i].name;
	}
	return NULL;
}

/* The scalar inside wrappers: its offset in a value of type t, and its size. */
static struct error *find_scalar(const struct type *t, uint64_t *offset, uint64_t *size)
{
	const char *name = type_name(t);

	*offset = 0;
	for (int i = 0; i < MAX_NEWTYPES; i++) {
		struct unwrapped_newtype p;

		switch (type_kind(t)) {
		case TYPE_BOOL:
		case TYPE_CHAR:
		case TYPE_INT:
		case TYPE_UINT:
		case TYPE_POINTER:
		case TYPE_CENUM:
			*size = type_size(t);
			return value_is_word_size(*size)
			               ? NULL
			               : error_new(ERR_LAYOUT, "%s is no 64-bit scalar", name);
		default:
			p = unwrap_newtype(t);
			if (!p.member)
				return error_new(ERR_LAYOUT, "%s is not a scalar", name);
			t = p.member->type;
			*offset += p.member->offset;
		}
	}
	return error_new(ERR_LAYOUT, "%s is nested too deep", name);
}

struct error *value_uint(struct target *t, struct value v, uint64_t *ret)
{
	uint64_t offset = 0, size = 0;
	struct type_memo *memo;

	type_kind(v.type); /* completes it, and its memo */
	memo = type_memo(v.type);
	if (memo->scalar_size)
		return target_read_uint(t, v.addr + memo->scalar_offset, memo->scalar_size, ret);
	TRY(find_scalar(v.type, &offset, &size));
	if (offset <= UINT32_MAX) {
		memo->scalar_offset = (uint32_t)offset;
		memo->scalar_size = (uint8_t)size;
	}
	return target_read_uint(t, v.addr + offset, size, ret);
}

/* Descends through single-member structs to the one that has a member of that name. */
static bool value_find_member(struct value v, const char *name, struct value *ret,
                              const struct type **holder)
{
	for (int i = 0; i < MAX_NEWTYPES && v.type; i++) {
		const struct member *m = type_member(v.type, name);

		if (m) {
			*ret = (struct value){ m->type, v.addr + m->offset };
			*holder = v.type;
			return true;
		}
		m = unwrap_newtype(v.type).member;
		if (!m)
			return false;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return false;
}

/* The pointer in a Vec's buffer; its position differs between compilers. */
static struct value buffer_pointer(struct value buffer)
{
	for (int i = 0; i < MAX_NEWTYPES && type_kind(buffer.type) != TYPE_POINTER; i++) {
		const struct member *m = type_member(buffer.type, "inner");

		m = m ? m : type_member(buffer.type, "ptr");
		m = m ? m : type_single_member(buffer.type);
		if (!m)
			break;
		buffer = (struct value){ m->type, buffer.addr + m->offset };
	}
	return buffer;
}

/*
 * The tail of the struct behind a wide pointer, as an array: the elements of Arc<[T]> follow the
 * counts in an ArcInner<[T]>. holder: the wide pointer.
 */
static struct error *slice_in_struct(struct target *t, struct value v, struct slice *ret)
{
	const char *name = type_name(v.type);
	bool found;

	TRY(wide_value_behind(t, v, &v, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "%s is null", name);
	for (int i = 0; i < MAX_NEWTYPES && v.type; i++) {
		if (type_kind(v.type) == TYPE_ARRAY && type_target(v.type)) {
			*ret = (struct slice){ type_target(v.type), v.addr, type_count(v.type) };
			return NULL;
		}
		const struct member *m = unwrap_newtype(v.type).member;
		if (!m)
			break;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return error_new(ERR_LAYOUT, "%s is not a slice", name);
}

struct error *value_slice(struct target *t, struct value v, struct slice *ret)
{
	const struct type *holder;
	struct value data, count;
	struct slice slice = { 0 };

	if (value_find_member(v, "data_ptr", &data, &holder) &&
	    type_wide_kind(holder) == WIDE_STRUCT) {
		data.addr -= type_wide(holder).data;
		return slice_in_struct(t, (struct value){ holder, data.addr }, ret);
	}
	if (value_find_member(v, "data_ptr", &data, &holder) &&
	    value_find_member(v, "length", &count, &holder)) {
		slice.element = type_target(data.type);
	} else if (value_find_member(v, "buf", &data, &holder) &&
	           value_find_member(v, "len", &count, &holder) && !type_member(holder, "head")) {
		/*
		 * The buffer of a Vec is type-erased in newer std: T is the template parameter of
		 * Vec.
		 */
		slice.element = type_param(holder, "T");
		data = buffer_pointer(data);
	} else { /* a VecDeque has a head and may start in the middle of its buffer */
		return error_new(ERR_LAYOUT, "%s is not a slice", type_name(v.type));
	}
	TRY(value_uint(t, data, &slice.addr));
	TRY(value_uint(t, count, &slice.count));
	if (!slice.element)
		return error_new(ERR_LAYOUT, "%s: element type unknown", type_name(v.type));
	*ret = slice;
	return NULL;
}

static bool is_any_pointer(const struct type *t)
{
	return type_kind(t) == TYPE_POINTER || type_wide_kind(t) == WIDE_STRUCT;
}

/* The target of a pointer of either kind; its address is 0 when the pointer is null. */
static struct error *read_pointer(struct target *t, struct value v, struct value *ret)
{
	bool found;

	*ret = (struct value){ 0 };
	if (type_wide_kind(v.type) == WIDE_STRUCT)
		return wide_value_behind(t, v, ret, &found);
	ret->type = type_target(v.type);
	return target_read_uint(t, v.addr, 8, &ret->addr);
}

/*
 * The name of the value is `data` in alloc::sync::ArcInner and `value` in alloc::rc's RcBox, later
 * RcInner.
 */
struct error *value_shared(struct target *t, struct value v, struct value *ret)
{
	const char *name = type_name(v.type);
	const struct member *m;
	struct value inner;

	for (int i = 0; i < MAX_NEWTYPES && !is_any_pointer(v.type); i++) {
		m = type_single_member(v.type);
		if (!m)
			return error_new(ERR_LAYOUT, "%s is not an Arc", name);
		v = (struct value){ m->type, v.addr + m->offset };
	}
	if (!is_any_pointer(v.type))
		return error_new(ERR_LAYOUT, "%s is not an Arc", name);
	TRY(read_pointer(t, v, &inner));
	if (inner.addr == 0)
		return error_new(ERR_CORRUPT, "%s is null", name);
	m = inner.type ? type_member(inner.type, "data") : NULL;
	m = m || !inner.type ? m : type_member(inner.type, "value");
	if (!m || !m->type)
		return error_new(ERR_LAYOUT, "%s is not an Arc", name);
	*ret = (struct value){ m->type, inner.addr + m->offset };
	return NULL;
}

struct error *value_string(struct target *t, struct arena *a, struct value v, size_t max,
                           const char **ret)
{
	struct slice slice;
	STR(text);
	SCRATCH(tmp);
	const struct type *holder;
	struct value inner;

	if (value_find_member(v, "vec", &inner, &holder))
		v = inner;
	TRY(value_slice(t, v, &slice));
	if (slice.count > max)
		slice.count = max;
	char *bytes = arena_alloc(&tmp, slice.count + 1);
	TRY(target_read(t, slice.addr, bytes, slice.count));
	str_append_clean(&text, bytes, slice.count);
	*ret = arena_strdup(a, str_text(&text));
	return NULL;
}

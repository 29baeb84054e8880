#include "dwarf/value.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/peel.h"

enum { MAX_PEEL = 32 };

/* What DWARF says is input too: an integer of 3 bytes is a corrupt file. */
static bool is_word_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static struct error *read_discr(struct target *t, struct value v, const struct member *discr,
                                uint64_t *ret)
{
	uint64_t size = type_size(discr->type);

	if (!is_word_size(size))
		return error_new(ERR_LAYOUT, "%s has a discriminant of %" PRIu64 " bytes",
		                 type_name(v.type), size);
	return target_read_uint(t, v.addr + discr->offset, size, ret);
}

struct error *value_variant(struct target *t, struct value v, const struct variant **ret)
{
	const struct member *discr = type_discr(v.type);
	const struct variant *fallback = NULL, *variants;
	uint64_t number;
	size_t n;

	variants = type_variants(v.type, &n);
	if (!discr) { /* one variant only, nothing to tell apart */
		if (n != 1)
			return error_new(ERR_LAYOUT, "%s has no discriminant", type_name(v.type));
		*ret = &variants[0];
		return NULL;
	}
	TRY(read_discr(t, v, discr, &number));
	for (size_t i = 0; i < n; i++) {
		if (variants[i].is_default)
			fallback = &variants[i];
		else if (variants[i].discr == number && variants[i].payload) {
			*ret = &variants[i];
			return NULL;
		}
	}
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

	if (!is_word_size(type_size(v.type)))
		return error_new(ERR_LAYOUT, "%s is no enum", type_name(v.type));
	TRY(target_read_uint(t, v.addr, type_size(v.type), &number));
	*ret = NULL;
	for (size_t i = 0; i < n; i++) {
		if (e[i].value == number)
			*ret = e[i].name;
	}
	return NULL;
}

struct error *value_uint(struct target *t, struct value v, uint64_t *ret)
{
	const char *asked = type_name(v.type);

	for (int i = 0; i < MAX_PEEL; i++) {
		struct peeled p;

		switch (type_kind(v.type)) {
		case TYPE_BOOL:
		case TYPE_CHAR:
		case TYPE_INT:
		case TYPE_UINT:
		case TYPE_POINTER:
		case TYPE_CENUM:
			if (!is_word_size(type_size(v.type)))
				return error_new(ERR_LAYOUT, "%s is no 64-bit scalar", asked);
			return target_read_uint(t, v.addr, type_size(v.type), ret);
		default:
			p = peel(v.type);
			if (!p.member)
				return error_new(ERR_LAYOUT, "%s is no scalar", asked);
			v = (struct value){ p.member->type, v.addr + p.member->offset };
		}
	}
	return error_new(ERR_LAYOUT, "%s is nested too deep", asked);
}

/* Descends through one-member structs to a member of that name. */
static bool find_member(struct value v, const char *name, struct value *ret)
{
	for (int i = 0; i < MAX_PEEL && v.type; i++) {
		const struct member *m = type_member(v.type, name);

		if (m) {
			*ret = (struct value){ m->type, v.addr + m->offset };
			return true;
		}
		m = peel(v.type).member;
		if (!m)
			return false;
		v = (struct value){ m->type, v.addr + m->offset };
	}
	return false;
}

struct error *value_slice(struct target *t, struct value v, struct slice *ret)
{
	struct value data, count;
	struct slice slice = { 0 };

	if (find_member(v, "data_ptr", &data) && find_member(v, "length", &count)) {
		slice.element = type_target(data.type);
	} else if (find_member(v, "len", &count) && find_member(v, "buf", &data)) {
		/* Vec's buffer is type-erased in newer std: T is its template parameter. */
		slice.element = type_param(v.type, "T");
		while (data.type && type_kind(data.type) != TYPE_POINTER) {
			const struct member *m = type_member(data.type, "inner");

			m = m ? m : type_member(data.type, "ptr");
			m = m ? m : type_single_member(data.type);
			if (!m)
				break;
			data = (struct value){ m->type, data.addr + m->offset };
		}
	} else {
		return error_new(ERR_LAYOUT, "%s is no slice", type_name(v.type));
	}
	TRY(value_uint(t, data, &slice.addr));
	TRY(value_uint(t, count, &slice.count));
	if (!slice.element)
		return error_new(ERR_LAYOUT, "%s: element type unknown", type_name(v.type));
	*ret = slice;
	return NULL;
}

struct error *value_string(struct target *t, struct arena *a, struct value v, size_t max,
                           const char **ret)
{
	struct slice slice;
	STR(text);
	SCRATCH(tmp);
	struct value inner;

	if (find_member(v, "vec", &inner))
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

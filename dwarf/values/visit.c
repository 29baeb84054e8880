#include "dwarf/values/visit.h"

#include <string.h>

/* The element of Vec<T>, Box<[T]>, &mut [T], [T; N]; NULL when t is none of them. */
static const struct type *visit_element(const struct type *t)
{
	const struct member *m;
	const char *name;

	if (type_is(t, "core::pin::Pin") && (m = type_single_member(t)))
		t = m->type;
	name = type_name(t);
	if (type_kind(t) == TYPE_ARRAY)
		return type_target(t);
	if (type_is(t, "alloc::vec::Vec"))
		return type_param(t, "T");
	if (strncmp(name, "&mut [", 6) != 0 && strncmp(name, "alloc::boxed::Box<[", 19) != 0)
		return NULL;
	m = type_member(t, "data_ptr");
	return m ? type_target(m->type) : NULL;
}

static enum visit_rule visit_rule(const struct type *t)
{
	switch (type_kind(t)) {
	case TYPE_POINTER:
		return VISIT_POINTER;
	case TYPE_STRUCT:
	case TYPE_ENUM:
		return VISIT_MEMBERS;
	case TYPE_OPAQUE:
	case TYPE_UNION:
		return VISIT_OPAQUE;
	default:
		return VISIT_NOTHING;
	}
}

struct visit_type visit_type_of(const struct type *t)
{
	struct visit_type ret = { .element = visit_element(t), .entries = entries_kind(t) };
	enum wide_kind wide = type_wide_kind(t);

	ret.rule = ret.element                               ? VISIT_ELEMENTS
	           : ret.entries                             ? VISIT_ENTRIES
	           : wide == WIDE_DYN || wide == WIDE_STRUCT ? VISIT_WIDE
	                                                     : visit_rule(t);
	return ret;
}

struct error *visit_members(struct target *t, struct value v, visit_fn *each, void *arg)
{
	struct visited at = { .rule = VISIT_MEMBERS };
	const struct variant *active;
	const struct member *members;
	size_t n;

	if (type_kind(v.type) == TYPE_ENUM) {
		TRY(value_variant(t, v, &active));
		v = value_payload(v, active);
		if (!v.type)
			return NULL;
	}
	members = type_members(v.type, &n);
	for (size_t i = 0; i < n; i++) {
		at.member = &members[i];
		at.v = (struct value){ members[i].type, v.addr + members[i].offset };
		if (at.v.type && type_size(at.v.type) && !each(&at, arg))
			break;
	}
	return NULL;
}

static struct error *visit_elements(struct visit *w, struct value v)
{
	struct slice slice = { type_target(v.type), v.addr, type_count(v.type) };
	struct visited at = { .rule = VISIT_ELEMENTS };

	if (type_kind(v.type) != TYPE_ARRAY)
		TRY(value_slice(w->target, v, &slice));
	w->count = slice.count;
	if (!slice.element || (w->elements && !w->elements(&slice, w->arg)))
		return NULL;
	for (w->n = w->first; w->n < w->count && w->n < w->end; w->n++) {
		at.index = w->n;
		at.v = (struct value){ slice.element,
			               slice.addr + at.index * type_size(slice.element) };
		if (!w->each(&at, w->arg))
			break;
	}
	return NULL;
}

static bool visit_entry(const struct entry *entry, void *arg)
{
	struct visit *w = arg;
	struct visited at = { .rule = VISIT_ENTRIES, .index = w->n++ };

	if (at.index < w->first)
		return true;
	at.v = entry->key;
	at.part = entry->value.type ? "0" : NULL;
	if (at.v.type && !w->each(&at, w->arg))
		return false;
	at.v = entry->value;
	at.part = "1";
	if (at.v.type && !w->each(&at, w->arg))
		return false;
	return w->n < w->end;
}

static struct error *visit_target(struct visit *w, struct value v)
{
	w->behind.type = type_target(v.type);
	w->exact = true;
	return target_read_uint(w->target, v.addr, 8, &w->behind.addr);
}

struct error *visit_step(struct visit *w, struct value v, const struct visit_type *type)
{
	switch (type->rule) {
	case VISIT_ELEMENTS:
		return visit_elements(w, v);
	case VISIT_ENTRIES:
		return entries_walk(w->target, w->cache, v, type->entries, visit_entry, w,
		                    &w->count);
	case VISIT_WIDE:
		TRY(w->follow(w->context, v, &w->behind, &w->exact));
		break;
	case VISIT_POINTER:
		TRY(visit_target(w, v));
		break;
	case VISIT_MEMBERS:
		return visit_members(w->target, v, w->each, w->arg);
	case VISIT_OPAQUE:
	case VISIT_NOTHING:
		return NULL;
	}
	if (w->behind.type && w->behind.addr)
		w->each(&(struct visited){ .v = w->behind, .rule = type->rule }, w->arg);
	return NULL;
}

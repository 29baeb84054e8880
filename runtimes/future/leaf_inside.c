/* Resources inside other resources: the socket of an encrypted stream. */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/behind_wide.h"
#include "runtimes/common/type_class.h"
#include "runtimes/future/leaf.h"

enum {
	MAX_DEPTH = 12,
	MAX_VISITED = 256, /* values visited for one resource */
};

struct leaf_inside_search {
	struct collector *c;
	struct value *found;
	size_t visited;
};

static bool leaf_inside_look(struct leaf_inside_search *s, struct value v, int depth);

static bool look_at_members(struct leaf_inside_search *s, struct value v, const struct type *t,
                            int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (members[i].type && type_size(members[i].type) &&
		    leaf_inside_look(s,
		                     (struct value){ members[i].type, v.addr + members[i].offset },
		                     depth))
			return true;
	}
	return false;
}

static bool look_behind(struct leaf_inside_search *s, struct value v, int depth)
{
	const char *name = type_name(v.type);
	struct value to = { type_target(v.type), 0 };

	if (!to.type || (name[0] != '&' && !str_begins(name, "alloc::boxed::Box<")))
		return false;
	struct error *err = target_read_uint(s->c->in->target, v.addr, 8, &to.addr);
	bool ok = !err && to.addr;
	error_free(err);
	return ok && leaf_inside_look(s, to, depth);
}

static bool look_at_enum(struct leaf_inside_search *s, struct value v, int depth)
{
	const struct variant *active;
	struct error *err = value_variant(s->c->in->target, v, &active);
	bool ok = !err && active->payload;

	error_free(err);
	return ok && look_at_members(s, value_payload(v, active), active->payload, depth);
}

static bool leaf_inside_look(struct leaf_inside_search *s, struct value v, int depth)
{
	struct value object;

	if (++depth > MAX_DEPTH || ++s->visited > MAX_VISITED)
		return false;
	if (type_class_of(v.type)->rows.resource) {
		*s->found = v;
		return true;
	}
	switch (type_kind(v.type)) {
	case TYPE_POINTER:
		return look_behind(s, v, depth);
	case TYPE_ENUM:
		return !type_is_coroutine(v.type) && look_at_enum(s, v, depth);
	case TYPE_STRUCT:
		if (type_wide_kind(v.type) == WIDE_STRUCT || type_is_dyn(v.type))
			return leaf_dyn(s->c, v, &object) && leaf_inside_look(s, object, depth);
		return look_at_members(s, v, v.type, depth);
	default:
		return false;
	}
}

bool leaf_dyn(struct collector *c, struct value v, struct value *ret)
{
	bool exact;

	*ret = (struct value){ 0 };
	if (type_wide_kind(v.type) == WIDE_NONE || type_is_slice(v.type))
		return false;
	struct error *err = behind_wide(c, v, 0, ret, &exact);
	bool known = !err && ret->type && exact && ret->addr;

	error_free(err);
	return known;
}

bool leaf_find_inside(const struct leaf *l, struct value v, struct value *ret)
{
	struct leaf_inside_search s = { l->d->c, ret, 0 };

	return leaf_inside_look(&s, v, 0);
}

struct error *leaf_decode_inside(const struct leaf *l, struct value inner, struct leaf *ret,
                                 const char **marked)
{
	const struct leaf_row *row = type_class_of(inner.type)->rows.resource;

	*ret = *l;
	ret->v = inner;
	ret->w = NEW(l->d->c->a, struct wait);
	ret->w->kind = row->kind;
	ret->w->object = inner.addr;
	ret->in_use = ret->vacant = false;
	ret->marked = marked;
	*marked = "";
	return row->decode(ret);
}

static void leaf_inside_copy(const struct leaf *l, const struct wait_detail *from)
{
	switch (from->kind) {
	case DETAIL_INT:
		wait_int(l, from->key, from->number);
		break;
	case DETAIL_BOOL:
		wait_bool(l, from->key, from->number != 0);
		break;
	case DETAIL_STRING:
		wait_string(l, from->key, from->string);
		break;
	case DETAIL_LIST:
		wait_list(l, from->key, from->list, from->nlist);
		break;
	}
}

void leaf_copy_details(const struct leaf *l, const struct wait *from, const char *const *keys)
{
	for (size_t i = 0; i < from->ndetails; i++) {
		bool wanted = !keys;

		for (size_t k = 0; !wanted && keys[k]; k++)
			wanted = strcmp(keys[k], from->details[i].key) == 0;
		if (wanted)
			leaf_inside_copy(l, &from->details[i]);
	}
}

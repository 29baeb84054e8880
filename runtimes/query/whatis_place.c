#include "runtimes/query/whatis_place.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/common/inspector.h"

struct place *place_add(struct whatis *a, const char *what, uint64_t start, const char *phrase)
{
	struct place *p = vec_push(&a->places);

	p->what = what;
	p->addr = start;
	p->phrase = inspector_clean_name(a->c->a, phrase);
	return p;
}

bool place_covers(struct whatis *a, uint64_t start, uint64_t size)
{
	return a->addr >= start && a->addr - start < size;
}

static void whatis_place_add_step(struct str *path, const char *name)
{
	str_printf(path, "%s%s", path->len ? "." : "", name);
}

static bool step_struct(struct whatis *a, struct value *v, struct str *path)
{
	uint64_t offset = a->addr - v->addr;
	size_t n;
	const struct member *members = type_members(v->type, &n);

	for (size_t i = 0; i < n; i++) {
		const struct member *m = &members[i];

		if (!m->type || offset < m->offset || offset - m->offset >= type_size(m->type))
			continue;
		/* Steps into a wrapper without naming its only member. */
		if (m == type_single_member(v->type)) {
			*v = (struct value){ m->type, v->addr + m->offset };
			return true;
		}
		const char *name = m->name ? m->name : "?";
		bool tuple = strncmp(name, "__", 2) == 0 && name[2] >= '0' && name[2] <= '9';

		whatis_place_add_step(path, tuple ? name + 2 : name);
		*v = (struct value){ m->type, v->addr + m->offset };
		return true;
	}
	return false;
}

/* Steps into the active variant. The variant of a coroutine is its state and is not named. */
static bool step_enum(struct whatis *a, struct value *v, struct str *path)
{
	const struct member *discr = type_discr(v->type);
	bool coroutine = type_is_coroutine(v->type);
	const struct variant *variant;
	size_t before = path->len;
	struct error *err = value_variant(a->c->in->target, *v, &variant);

	if (err) {
		error_free(err);
		return false;
	}
	struct value payload = value_payload(*v, variant);
	if (!coroutine)
		whatis_place_add_step(path, variant->name ? variant->name : "?");
	if (payload.type && type_kind(payload.type) == TYPE_STRUCT &&
	    step_struct(a, &payload, path)) {
		*v = payload;
		return true;
	}
	str_truncate(path, before);
	if (!discr || !place_covers(a, v->addr + discr->offset, type_size(discr->type)))
		return false;
	whatis_place_add_step(path, coroutine ? "its state" : "discriminant");
	*v = (struct value){ discr->type, v->addr + discr->offset };
	return true;
}

static bool step_array(struct whatis *a, struct value *v, struct str *path)
{
	const struct type *element = type_target(v->type);
	uint64_t size = element ? type_size(element) : 0;

	if (size == 0)
		return false;
	uint64_t index = (a->addr - v->addr) / size;
	str_printf(path, "[%" PRIu64 "]", index);
	*v = (struct value){ element, v->addr + index * size };
	return true;
}

/* Steps from a value to the part that contains the address; false: there is no smaller part. */
static bool step(struct whatis *a, struct value *v, struct str *path)
{
	switch (type_kind(v->type)) {
	case TYPE_STRUCT:
		return step_struct(a, v, path);
	case TYPE_ENUM:
		return step_enum(a, v, path);
	case TYPE_ARRAY:
		return step_array(a, v, path);
	default:
		return false;
	}
}

const char *place_member(struct whatis *a, struct value v, int steps)
{
	STR(path);

	for (int i = 0; i < steps && v.type && step(a, &v, &path); i++)
		;
	return path.len ? inspector_clean_name(a->c->a, str_text(&path)) : NULL;
}

const char *place_inside(struct whatis *a, struct value v, int steps)
{
	const char *path = place_member(a, v, steps);
	const char *offset =
		a->addr == v.addr ? ""
				  : arena_printf(a->c->a, ", +%" PRIu64 " in it", a->addr - v.addr);

	return path ? arena_printf(a->c->a, "%s: %s", offset, path) : offset;
}

/* Caches of the inspector and of the collector, and the states that runtimes keep in them. */
#include "runtimes/common/inspector.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"

const char *inspector_slice_text(struct collector *c, struct value place)
{
	enum { MAX_TEXT = 1 << 12 };
	char text[MAX_TEXT];
	struct slice slice;
	struct error *err = value_slice(c->in->target, place, &slice);
	bool found = !err && slice.count > 0 && slice.count <= MAX_TEXT;

	if (found)
		err = target_read(c->in->target, slice.addr, text, slice.count);
	found &= !err;
	error_free(err);
	size_t len = found ? strnlen(text, slice.count) : 0;

	return len ? str_clean(c->a, text, len) : NULL;
}

const char *inspector_clean_name(struct arena *a, const char *name)
{
	return name ? str_clean(a, name, strlen(name)) : NULL;
}

void inspector_note(struct inspector *in, const char *text)
{
	*vec_push(&in->notes) = text;
}

/* A resolved path, with its type and expression. */
struct inspector_known_path {
	const struct type *from;
	const char *expr;
	const struct path *path;
	const char *problem; /* why it did not resolve */
};

static const struct inspector_known_path *known_path(struct inspector *in, const struct type *from,
                                                     const char *expr)
{
	uint64_t key = map_key_of_pair((uintptr_t)from, (uintptr_t)expr);
	struct inspector_known_path *known = map_get(&in->paths, key | 1);

	/* Two pairs may share a key; the cache then has the most recent one. */
	if (!known || known->from != from || known->expr != expr) {
		struct inspector_known_path found = { .from = from, .expr = expr };
		struct error *err = path_resolve(&in->arena, from, expr, &found.path);

		if (err)
			found.problem = arena_strdup(&in->arena, err->message);
		error_free(err);
		known = arena_memdup(&in->arena, &found, sizeof(found));
		map_put(&in->paths, key | 1, known);
	}
	return known;
}

struct error *inspector_path(struct inspector *in, const struct type *from, const char *expr,
                             const struct path **ret)
{
	const struct inspector_known_path *known = known_path(in, from, expr);

	*ret = known->path;
	return known->path ? NULL : error_new(ERR_LAYOUT, "%s", known->problem);
}

const struct path *inspector_optional_path(struct inspector *in, const struct type *from,
                                           const char *expr)
{
	return known_path(in, from, expr)->path;
}

struct error *inspector_eval(struct inspector *in, struct value from, const char *expr,
                             struct value *ret, bool *found)
{
	const struct path *p;

	*found = false;
	TRY(inspector_path(in, from.type, expr, &p));
	return path_eval(in->target, p, from, ret, found);
}

struct known_vtable {
	const struct type *type;
	bool exact;
};

const struct type *collector_vtable(struct collector *c, uint64_t addr, unsigned slot, bool *exact)
{
	struct known_vtable *known;

	/*
	 * The low three bits of the key are the slot. An unaligned address is not a vtable; do not
	 * cache it.
	 */
	if (addr == 0 || addr % 8 || slot >= 8)
		return lookup_vtable(c->in->di, addr, slot, exact);
	known = map_get(&c->vtables, addr + slot);
	if (!known) {
		known = NEW(&c->scratch, struct known_vtable);
		known->type = lookup_vtable(c->in->di, addr, slot, &known->exact);
		map_put(&c->vtables, addr + slot, known);
	}
	*exact = known->exact;
	return known->type;
}

struct source inspector_location(const struct inspector *in, struct arena *a,
                                 struct dwarf_module *dm, const char *file)
{
	bool several = false;
	const char *dir = dm && file[0] != '/' ? debuginfo_dir_of(dm, file, &several) : NULL;
	struct source ret = source_path_of(in->di, a, file, dir);

	if (several)
		ret.text = arena_printf(a, ".../%s", ret.text);
	return ret;
}

struct dwarf_module *inspector_module_at(const struct inspector *in, uint64_t address)
{
	const struct module *m = module_at(in->target, address);

	return m ? debuginfo_module(in->di, m) : NULL;
}

/* ---- states of runtimes ---- */

static void *state_in(void *const *states, const struct inspector *in, const char *name)
{
	const struct runtime *const *list = runtimes_in(in->di);

	for (size_t i = 0; states && list[i]; i++) {
		if (list[i]->name == name)
			return states[i];
	}
	return NULL;
}

void *inspector_state(const struct inspector *in, const char *name)
{
	return state_in(in->states, in, name);
}

void *collector_state(const struct collector *c, const char *name)
{
	return state_in(c->states, c->in, name);
}

static void **new_states(struct arena *a, const struct inspector *in, bool of_inspector)
{
	const struct runtime *const *list = runtimes_in(in->di);
	size_t n = 0;

	while (list[n])
		n++;
	void **states = NEW_ARRAY(a, void *, n + 1);
	for (size_t i = 0; i < n; i++)
		states[i] = arena_calloc(
			a, 1, of_inspector ? list[i]->inspector_size : list[i]->collector_size);
	return states;
}

void inspector_open_states(struct inspector *in)
{
	in->states = new_states(&in->arena, in, true);
}

void collector_open_states(struct collector *c)
{
	c->states = new_states(&c->scratch, c->in, false);
}

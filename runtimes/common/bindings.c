/* Resolves the rows of bindings and reads values through them (bindings.h). */
#include "runtimes/common/bindings.h"

#include <string.h>

#include "debugger/base/log.h"

static const struct type *slice_element(struct arena *a, const struct type *slice)
{
	const struct path *data;
	struct error *err = path_resolve(a, slice, "data_ptr", &data);

	if (err) {
		error_free(err);
		return NULL;
	}
	const struct type *pointer = path_type(data);
	return type_kind(pointer) == TYPE_POINTER ? type_target(pointer) : NULL;
}

/* The row whose key the root names, n when none; *elements: the root is "KEY[]". */
static size_t root_row(const struct bindings *l, size_t before, const char *root, bool *elements)
{
	size_t len = strlen(root);

	*elements = len > 2 && strcmp(root + len - 2, "[]") == 0;
	len -= *elements ? 2 : 0;
	for (size_t i = 0; i < before; i++) {
		if (strncmp(l->rows[i].key, root, len) == 0 && l->rows[i].key[len] == '\0')
			return i;
	}
	return l->n;
}

static const struct type *bindings_root_type(struct arena *a, struct dwarf_module *dm,
                                             const struct type *given, const struct bindings *l,
                                             size_t row)
{
	const char *root = l->rows[row].root;
	bool elements;

	if (strcmp(root, "given") == 0)
		return given;
	if (strncmp(root, "type:", 5) == 0)
		return lookup_type(dm, root + 5, given ? type_die(given) : 0);
	size_t at = root_row(l, row, root, &elements);
	const struct type *t = at < l->n ? bindings_type(l, at) : NULL;
	return t && elements ? slice_element(a, t) : t;
}

static void resolve_row(struct arena *a, struct dwarf_module *dm, const struct type *given,
                        struct bindings *l, size_t row)
{
	struct bindings_slot *slot = &l->slots[row];
	const struct binding_row *r = &l->rows[row];
	CLEANUP(error_freep) struct error *err = NULL;

	slot->root = bindings_root_type(a, dm, given, l, row);
	if (slot->root)
		err = path_resolve(a, slot->root, r->path, &slot->path);
	if (!slot->root)
		slot->tried = arena_printf(a, "its root '%s' was not found", r->root);
	else if (err)
		slot->tried = arena_strdup(a, err->message);
	slot->fixed = slot->path && path_offset(slot->path, &slot->offset);
	slot->status = slot->path ? ROW_OK : r->optional ? ROW_ABSENT : ROW_BROKEN;
	LOG("layout", "%s: %s", r->key, slot->path ? path_matched(slot->path) : slot->tried);
}

void bindings_resolve(struct arena *a, struct dwarf_module *dm, const struct type *given,
                      const struct binding_row *rows, size_t n, struct bindings *ret)
{
	*ret = (struct bindings){ .rows = rows, .n = n };
	ret->slots = NEW_ARRAY(a, struct bindings_slot, n);
	for (size_t i = 0; i < n; i++)
		resolve_row(a, dm, given, ret, i);
}

bool bindings_has(const struct bindings *l, size_t row)
{
	return l->slots[row].path != NULL;
}

const struct type *bindings_type(const struct bindings *l, size_t row)
{
	return l->slots[row].path ? path_type(l->slots[row].path) : NULL;
}

/* error_wrap() for functions that are called a million times and rarely fail. */
static struct error *bindings_about(struct error *err, const struct bindings *l, size_t row)
{
	return err ? error_wrap(err, "%s", l->rows[row].key) : NULL;
}

struct error *bindings_eval(struct target *t, const struct bindings *l, size_t row,
                            struct value from, struct value *ret, bool *found)
{
	const struct bindings_slot *slot = &l->slots[row];

	*found = slot->path != NULL;
	if (slot->fixed)
		*ret = (struct value){ path_type(slot->path), from.addr + slot->offset };
	else if (slot->path)
		return bindings_about(path_eval(t, slot->path, from, ret, found), l, row);
	return NULL;
}

struct error *bindings_uint(struct target *t, const struct bindings *l, size_t row,
                            struct value from, uint64_t *ret, bool *found)
{
	struct value place;

	TRY(bindings_eval(t, l, row, from, &place, found));
	return *found ? bindings_about(value_uint(t, place, ret), l, row) : NULL;
}

struct error *bindings_word(struct target *t, const struct bindings *l, size_t row,
                            struct value from, uint64_t *ret, bool *found)
{
	struct value place;

	TRY(bindings_eval(t, l, row, from, &place, found));
	return *found ? bindings_about(target_read_uint(t, place.addr, 8, ret), l, row) : NULL;
}

struct error *bindings_slice(struct target *t, const struct bindings *l, size_t row,
                             struct value from, struct slice *ret, bool *found)
{
	struct value place;

	TRY(bindings_eval(t, l, row, from, &place, found));
	return *found ? error_wrap(value_slice(t, place, ret), "%s", l->rows[row].key) : NULL;
}

void bindings_describe(const struct bindings *l, struct arena *a, const char *module,
                       struct layout_info *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct bindings_slot *slot = &l->slots[i];

		out[i] = (struct layout_info){
			.module = module,
			.key = l->rows[i].key,
			.path = l->rows[i].path,
			.status = slot->status,
			.matched = slot->path ? arena_strdup(a, path_matched(slot->path)) : NULL,
			.plan = slot->path ? path_plan(a, slot->path) : NULL,
			.tried = slot->tried ? arena_strdup(a, slot->tried) : NULL,
		};
	}
}

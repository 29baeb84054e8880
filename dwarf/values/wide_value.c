#include "dwarf/values/wide_value.h"

#include <inttypes.h>

#include "dwarf/lookup/lookup.h"

enum { VTABLE_SIZE = 8, VTABLE_ALIGN = 16 }; /* drop_in_place, size, align, then the methods */
enum { FIRST_METHOD = 3, MAX_ALIGN = 1 << 29 };

static struct error *read_vtable(struct target *t, struct wide_value *w)
{
	TRY(target_read_uint(t, w->meta + VTABLE_SIZE, 8, &w->size));
	TRY(target_read_uint(t, w->meta + VTABLE_ALIGN, 8, &w->align));
	if (w->align == 0 || w->align > MAX_ALIGN || (w->align & (w->align - 1)) ||
	    w->size > INT64_MAX)
		return error_new(ERR_CORRUPT, "0x%" PRIx64 " is not a vtable", w->meta);
	return NULL;
}

struct error *wide_value_read(struct target *t, struct value v, struct wide_value *ret)
{
	*ret = (struct wide_value){ .wide = type_wide(v.type) };
	if (ret->wide.kind == WIDE_NONE)
		return error_new(ERR_LAYOUT, "%s is not a wide pointer", type_name(v.type));
	TRY(target_read_uint(t, v.addr + ret->wide.data, 8, &ret->data));
	TRY(target_read_uint(t, v.addr + ret->wide.meta, 8, &ret->meta));
	return ret->wide.has_vtable ? read_vtable(t, ret) : NULL;
}

struct error *wide_value_struct(const struct wide_value *w, const struct type *object,
                                struct value *ret)
{
	struct object_layout layout = { object, w->size, w->align };
	const struct type *pointee = w->wide.pointee, *type = NULL;

	if (pointee && w->wide.kind == WIDE_STRUCT)
		type = w->wide.has_vtable ? type_with_object(pointee, &layout)
		                          : type_with_slice(pointee, w->meta);
	if (!type)
		return error_new(ERR_LAYOUT, "where the unsized tail of %s starts is not known",
		                 pointee ? type_name(pointee) : "a struct");
	*ret = (struct value){ type, w->data };
	return NULL;
}

struct error *wide_value_behind(struct target *t, struct value v, struct value *ret, bool *found)
{
	const struct type *object = NULL;
	struct wide_value w;
	bool exact = false;

	*found = false;
	TRY(wide_value_read(t, v, &w));
	if (w.data == 0)
		return NULL;
	if (w.wide.has_vtable)
		object = lookup_vtable(type_module(v.type)->di, w.meta, FIRST_METHOD, &exact);
	object = exact ? object : NULL;
	if (w.wide.kind == WIDE_DYN)
		*ret = (struct value){ object, w.data };
	else
		TRY(wide_value_struct(&w, object, ret));
	*found = ret->type != NULL;
	return NULL;
}

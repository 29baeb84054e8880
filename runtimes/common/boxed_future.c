#include "runtimes/common/boxed_future.h"

#include "debugger/base/str.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/names/demangle.h"
#include "dwarf/types/type.h"
#include "dwarf/values/wide_value.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/type_class.h"

const struct type *boxed_future(const struct type *future)
{
	const struct member *pointer;
	const struct type *inner;

	if (!name_is_pinned_box(type_name(future)))
		return NULL;
	pointer = type_member(future, "pointer");
	pointer = pointer ? pointer : type_member(future, "__pointer");
	inner = pointer ? type_target(pointer->type) : NULL;
	return inner && type_size(inner) && !str_begins(type_name(inner), "dyn ") ? inner : NULL;
}

/* A trait object, or a struct with one as its tail. */
static struct error *follow_wide(struct inspector *in, struct boxed_place *p)
{
	enum { POLL_SLOT = 3 }; /* drop, size, align, then Future's only method */
	struct wide_value w;
	bool exact = false;

	TRY(wide_value_read(in->target, p->v, &w));
	if (!w.wide.has_vtable)
		return wide_value_struct(&w, NULL, &p->v);
	TRY(target_read_uint(in->target, w.meta, 8, &p->glue));
	const struct type *type = lookup_vtable(in->di, w.meta, POLL_SLOT, &exact);
	if (!type || !exact)
		return error_new(
			ERR_STATE,
			"its future is a trait object whose type the debug info does not say");
	if (w.wide.kind == WIDE_STRUCT) {
		p->glue = 0; /* the glue is that of the tail alone */
		return wide_value_struct(&w, type, &p->v);
	}
	p->v = (struct value){ type, w.data };
	return NULL;
}

static struct error *follow_box(struct inspector *in, const struct type_class *class,
                                struct boxed_place *p)
{
	uint64_t addr;

	p->glue = 0;
	if (!p->may_read)
		return error_new(ERR_STATE, "its boxed future is missing");
	if (class->step == STEP_DYN || class->step == STEP_WIDE) {
		TRY(follow_wide(in, p));
	} else {
		TRY(target_read_uint(in->target, p->v.addr, 8, &addr));
		p->v = (struct value){ class->next, addr };
	}
	p->base = p->v;
	return p->v.type && p->v.addr ? NULL
	                              : error_new(ERR_STATE, "the box of its future is empty");
}

struct error *boxed_future_follow(struct inspector *in, struct boxed_place *p)
{
	enum { HOPS = 16 };

	for (int hop = 0; hop < HOPS; hop++) {
		const struct type_class *class = type_class_of(p->v.type);
		/*
		 * An Instrumented is ready when its inner future is, unlike other types that hold a
		 * future.
		 */
		const struct member *m =
			class->forms.instrumented ? type_member(p->v.type, "inner") : NULL;

		if (class->step == STEP_MEMBER)
			p->v = (struct value){ class->next, p->v.addr + class->offset };
		else if (m)
			p->v = (struct value){ m->type, p->v.addr + m->offset };
		else if (class->step != STEP_NONE && class->forms.box)
			TRY(follow_box(in, class, p));
		else
			return NULL;
		if (!p->v.type)
			return error_new(ERR_STATE, "the type of its future is not known");
	}
	return error_new(ERR_STATE, "its future is nested in too many boxes");
}

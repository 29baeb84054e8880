#include "runtimes/common/behind_wide.h"

#include "dwarf/values/wide_value.h"
#include "runtimes/common/type_class.h"

static struct error *behind_dyn(struct collector *c, struct value v, unsigned slot,
                                struct value *ret, bool *exact)
{
	const struct type_class *class = type_class_of(v.type);
	struct target *t = c->in->target;
	uint64_t vtable;

	TRY(target_read_uint(t, v.addr + class->offset, 8, &ret->addr));
	TRY(target_read_uint(t, v.addr + class->vtable, 8, &vtable));
	ret->type = collector_vtable(c, vtable, slot, exact);
	return NULL;
}

struct error *behind_wide(struct collector *c, struct value v, unsigned slot, struct value *ret,
                          bool *exact)
{
	const struct type *object = NULL;
	struct wide_value w;

	*exact = false;
	*ret = (struct value){ 0 };
	if (type_class_of(v.type)->step == STEP_DYN)
		return behind_dyn(c, v, slot, ret, exact);
	TRY(wide_value_read(c->in->target, v, &w));
	if (w.wide.has_vtable)
		object = collector_vtable(c, w.meta, slot, exact);
	*exact = !w.wide.has_vtable || (object && *exact);
	return wide_value_struct(&w, *exact ? object : NULL, ret);
}

static struct error *behind_wide_follow(void *collector, struct value v, struct value *ret,
                                        bool *exact)
{
	return behind_wide(collector, v, 0, ret, exact);
}

struct visit behind_wide_visit(struct collector *c, visit_fn *each, void *arg)
{
	return (struct visit){ .target = c->in->target,
		               .cache = &c->in->show,
		               .each = each,
		               .arg = arg,
		               .follow = behind_wide_follow,
		               .context = c,
		               .end = UINT64_MAX };
}

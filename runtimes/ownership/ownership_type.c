/* Whether values of a type may hold something; computed once per type. */
#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "dwarf/values/entries.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/type_predicate.h"
#include "runtimes/future/combinator.h"
#include "runtimes/ownership/ownership_pooled.h"

enum { MAX_DEPTH = 48 };

static const struct special_row *ownership_type_find_in(const struct special_row *row,
                                                        const char *name)
{
	for (; row && row->type; row++) {
		if (qualified_is(name, row->type))
			return row;
	}
	return NULL;
}

enum ownership_special ownership_special(const struct type *t)
{
	static const struct special_row table[] = {
		{ "alloc::sync::Arc", SPECIAL_SHARED },
		{ "alloc::rc::Rc", SPECIAL_SHARED },
		{ 0 },
	};
	const struct special_row *row = ownership_type_find_in(table, type_name(t));

	for (const struct crate_types *const *crate = crates_of(t); *crate && !row; crate++)
		row = ownership_type_find_in((*crate)->specials, type_name(t));
	if (row)
		return row->special;
	if (futures_unordered_is_type(t))
		return SPECIAL_SET;
	if (entries_kind(t) != ENTRIES_NONE)
		return SPECIAL_ENTRIES;
	return type_kind(t) == TYPE_UNION ? SPECIAL_HIDDEN : SPECIAL_NONE;
}

const struct type *ownership_shared_type(const struct type *t)
{
	return type_param(t, "T");
}

bool ownership_is_box(const struct type *t)
{
	return str_begins(type_name(t), "alloc::boxed::Box<");
}

/* The question of one search: whether what others wait for may be inside, or a descriptor. */
struct ownership_type_inquiry {
	struct type_predicate predicate;
	bool descriptors;
};

static ask_fn ownership_type_ask, ownership_type_ask_parts;

static bool ask_params(struct ownership_type_inquiry *q, const struct type *t, int depth)
{
	size_t n;
	const struct type_param *params = type_params(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (params[i].type && ownership_type_ask(q, params[i].type, depth))
			return true;
	}
	return false;
}

static bool ask_pointer(struct ownership_type_inquiry *q, const struct type *t, int depth)
{
	const struct type *target = type_target(t);
	const struct ownership_row *row;

	if (!target)
		return false;
	if (ownership_is_box(t))
		return ownership_type_ask(q, target, depth);
	row = type_name(t)[0] == '&' ? type_class_of(target)->rows.holding : NULL;
	return row && row->shared && !q->descriptors;
}

/* Only the vtable tells what a trait object holds, also one at the end of a struct. */
static bool ask_wide(struct ownership_type_inquiry *q, const struct type *t, int depth)
{
	struct wide wide = type_wide(t);

	return ownership_is_box(t) &&
	       (wide.has_vtable || !wide.pointee || ownership_type_ask(q, wide.pointee, depth));
}

static bool ask_kind(struct ownership_type_inquiry *q, const struct type *t, int depth)
{
	const struct type_class *type_class = type_class_of(t);

	switch (type_kind(t)) {
	case TYPE_POINTER:
		return ask_pointer(q, t, depth);
	case TYPE_ARRAY:
		return type_target(t) && ownership_type_ask(q, type_target(t), depth);
	case TYPE_STRUCT:
		if (type_class->step == STEP_DYN || type_class->step == STEP_WIDE)
			return ask_wide(q, t, depth);
		if (type_class->visit.element)
			return type_name(t)[0] != '&' &&
			       ownership_type_ask(q, type_class->visit.element, depth);
		return type_predicate_any_part(t, ownership_type_ask, q, depth);
	case TYPE_ENUM:
		return type_predicate_any_part(t, ownership_type_ask, q, depth);
	default:
		return false;
	}
}

static bool ask_special(struct ownership_type_inquiry *q, const struct type *t, int depth)
{
	const struct type *shared;

	switch (type_class_of(t)->special) {
	case SPECIAL_ACQUIRE:
		return !q->descriptors;
	case SPECIAL_MEMBERS:
		return ask_kind(q, t, depth);
	case SPECIAL_SHARED:
		shared = ownership_shared_type(t);
		return shared && ownership_type_ask(q, shared, depth);
	default:
		return ask_params(q, t, depth);
	}
}

/* Does the runtime's own data begin behind this type? Coroutines are no boundary here. */
static bool is_boundary(const struct type *t)
{
	const struct type_class *type_class = type_class_of(t);

	return type_class->forms.boundary && !type_class->forms.coroutine &&
	       type_class->special == SPECIAL_NONE;
}

static bool ownership_type_ask_parts(void *arg, const struct type *t, int depth)
{
	struct ownership_type_inquiry *q = arg;
	const struct type_class *type_class = type_class_of(t);

	if (q->descriptors && type_class->rows.holding && type_class->rows.holding->queue)
		return ask_params(q, t, depth); /* the messages are behind raw pointers */
	return type_class->special ? ask_special(q, t, depth) : ask_kind(q, t, depth);
}

/*
 * Whether a row, or the lack of one, decides for the type. A guard leads to descriptors only by
 * what it gives access to, and a receiving end by its messages.
 */
static enum type_answer answer_by_row(const struct ownership_type_inquiry *q, const struct type *t)
{
	const struct ownership_row *row = type_class_of(t)->rows.holding;

	if (!row)
		return is_boundary(t) ? NO : UNDECIDED;
	if ((row->role == HOLDING_DESCRIPTOR) == q->descriptors)
		return YES;
	return !q->descriptors || row->content || row->queue ? UNDECIDED : NO;
}

static bool ownership_type_ask(void *arg, const struct type *t, int depth)
{
	struct ownership_type_inquiry *q = arg;
	struct type_class *type_class = type_class_of(t);
	unsigned char *known =
		q->descriptors ? &type_class->answers.has_fd : &type_class->answers.holds;

	if (*known == UNDECIDED) {
		*known = (unsigned char)answer_by_row(q, t);
		if (*known == UNDECIDED && !q->descriptors && ownership_pooled(t))
			*known = YES;
		else if (*known == UNDECIDED && depth > MAX_DEPTH)
			/*
			 * The result is not cached: the types that led here are walked, and this
			 * type is queried again by itself.
			 */
			return true;
	}
	return type_predicate_once(&q->predicate, known, ownership_type_ask_parts, q, t, depth);
}

static bool ownership_type_is_inside(const struct type *t, bool descriptors)
{
	struct ownership_type_inquiry q = { .descriptors = descriptors };

	return type_predicate_end(&q.predicate, ownership_type_ask(&q, t, 0));
}

bool ownership_is_inside(const struct type *t)
{
	return ownership_type_is_inside(t, false);
}

bool ownership_has_descriptor(const struct type *t)
{
	return ownership_type_is_inside(t, true);
}

bool ownership_is_sought(const struct collector *c, const struct type *t)
{
	return ((c->want & WANT_HOLDINGS) && ownership_is_inside(t)) ||
	       ((c->want & WANT_DESCRIPTORS) && ownership_has_descriptor(t));
}

void ownership_classify(const struct type *t, struct type_class *f)
{
	f->rows.holding = ownership_find_row(t);
	f->special = (unsigned char)ownership_special(t);
}

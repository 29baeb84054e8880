#include "runtimes/common/may_poll.h"

#include "dwarf/types/wide.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/type_predicate.h"

enum { MAX_DEPTH = 1 << 10 /* of types in types; what is deeper may be anything */ };

static ask_fn may_poll_ask, may_poll_ask_parts;

static bool may_poll_ask_entries(struct type_predicate *q, const struct type *t, int depth)
{
	static const char *const params[] = { "T", "K", "V" };

	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
		const struct type *part = type_param(t, params[i]);

		if (part && type_size(part) && may_poll_ask(q, part, depth))
			return true;
	}
	return false;
}

static bool may_poll_ask_parts(void *asker, const struct type *t, int depth)
{
	const struct type_class *class = type_class_of(t);

	switch (class->visit.rule) {
	case VISIT_ELEMENTS:
		return may_poll_ask(asker, class->visit.element, depth);
	case VISIT_ENTRIES:
		return may_poll_ask_entries(asker, t, depth);
	case VISIT_POINTER:
		return type_target(t) && may_poll_ask(asker, type_target(t), depth);
	case VISIT_WIDE:
		return class->forms.erased ||
		       (type_wide(t).pointee && may_poll_ask(asker, type_wide(t).pointee, depth));
	case VISIT_MEMBERS:
		return type_predicate_any_part(t, may_poll_ask, asker, depth);
	default:
		return false;
	}
}

static bool may_poll_ask(void *asker, const struct type *t, int depth)
{
	struct type_predicate *q = asker;
	struct type_class *class = type_class_of(t);

	if (class->forms.coroutine || class->rows.leaf || class->rows.resource ||
	    class->forms.waker)
		return true;
	if (class->forms.boundary)
		return false;
	if (depth > MAX_DEPTH) {
		q->cut = true;
		return true;
	}
	return type_predicate_once(q, &class->answers.may_poll, may_poll_ask_parts, q, t, depth);
}

bool may_poll(const struct type *t)
{
	struct type_predicate q = { 0 };

	return type_predicate_end(&q, may_poll_ask(&q, t, 0));
}

#include "runtimes/inspect/polling_code.h"

#include <string.h>

#include "debugger/base/str.h"
#include "debugger/target/module.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/wide.h"
#include "runtimes/common/type_class.h"
#include "runtimes/common/type_predicate.h"
#include "runtimes/future/future.h"
#include "runtimes/future/leaf.h"
#include "runtimes/inspect/may_run_tasks.h"
#include "runtimes/thread/block_on.h"

enum {
	MAX_DEPTH = 1 << 10, /* of types in types; what is deeper may be a future */
	MAX_REFERENCES = 4,
};

/* Functions that only call a closure, as on every thread outward of the program's own code. */
static const char *const no_evidence[] = {
	"std::thread::", "std::rt::", "std::sys::",     "std::panic",
	"core::",        "alloc::",   "<alloc::boxed::"
};

/* Smart pointers: a first argument of these types is not taken as the self struct. */
static const char *const wrappers[] = { "core::pin::Pin<", "alloc::boxed::Box<",
	                                "alloc::sync::Arc<", "alloc::rc::Rc<" };

static bool is_erased_future(const struct type *t)
{
	return type_wide(t).has_vtable && strstr(type_name(t), "dyn core::future::future::Future<");
}

/* ---- types whose values own boxed futures or coroutines ---- */

static ask_fn polling_code_ask_future, polling_code_ask_parts;

static bool polling_code_ask_entries(struct type_predicate *q, const struct type *t, int depth)
{
	static const char *const params[] = { "T", "K", "V" };

	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
		const struct type *part = type_param(t, params[i]);

		if (part && polling_code_ask_future(q, part, depth))
			return true;
	}
	return false;
}

static bool polling_code_ask_parts(void *asker, const struct type *t, int depth)
{
	const struct type_class *class = type_class_of(t);

	switch (class->visit.rule) {
	case VISIT_ELEMENTS:
		return polling_code_ask_future(asker, class->visit.element, depth);
	case VISIT_ENTRIES:
		return polling_code_ask_entries(asker, t, depth);
	case VISIT_POINTER: /* also raw pointers, as in Arc<T> and sets: *const ArcInner<T> */
		return type_target(t) && polling_code_ask_future(asker, type_target(t), depth);
	case VISIT_WIDE:
		return type_wide(t).pointee &&
		       polling_code_ask_future(asker, type_wide(t).pointee, depth);
	case VISIT_MEMBERS:
		return type_predicate_any_part(t, polling_code_ask_future, asker, depth);
	default:
		return false;
	}
}

/* Futures of a known runtime are not in question. */
static bool polling_code_ask_future(void *asker, const struct type *t, int depth)
{
	struct type_predicate *q = asker;
	struct type_class *class = type_class_of(t);

	if (class->forms.coroutine || is_erased_future(t))
		return true;
	if (type_name(t)[0] == '&' || (class->forms.boundary && depth))
		return false;
	if (depth > MAX_DEPTH) {
		q->cut = true;
		return true;
	}
	return type_predicate_once(q, &class->answers.owns_future, polling_code_ask_parts, q, t,
	                           depth);
}

static bool has_future(const struct type *t)
{
	struct type_predicate q = { 0 };

	return type_predicate_end(&q, polling_code_ask_future(&q, t, 0));
}

/* ---- functions ---- */

/* The struct that a function's first argument is or points to; NULL: none, or a closure. */
static const struct type *self_type(const struct location *l)
{
	const struct type *t = l->function ? function_first_argument(l->function) : NULL;

	if (t && type_kind(t) == TYPE_POINTER)
		t = type_target(t);
	if (!t || type_kind(t) != TYPE_STRUCT || qualified_last(type_name(t))[0] == '{')
		return NULL;
	return str_begins_with_any(type_name(t), wrappers) ? NULL : t;
}

bool polling_code_waits(const struct location *l)
{
	const struct type *self = self_type(l);
	size_t n = 0;
	const struct type_param *params = self ? type_params(self, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (params[i].type && has_future(params[i].type))
			return true;
	}
	return false;
}

bool polling_code_owns_futures(const struct location *l)
{
	const struct type *self = self_type(l);

	return self && has_future(self);
}

bool polling_code_polls(const struct collector *c, const struct location *l)
{
	static const char poll[] = " Future>::poll";
	size_t len = strlen(l->name);

	if (coroutine_kind(l->name) != FUTURE_OTHER)
		return true;
	if (l->function && function_has_context(l->function))
		return may_run_tasks(c->in, l->function);
	/* Without type information, by the function's name. */
	return len >= sizeof(poll) && strcmp(l->name + len - sizeof(poll) + 1, poll) == 0;
}

bool polling_code_counts(const struct collector *c, const struct location *l)
{
	if (!l->name || str_begins_with_any(l->name, no_evidence))
		return false;
	for (const struct runtime *const *r = runtimes_in(c->in->di); *r; r++) {
		if (str_begins(l->name, (*r)->path))
			return false;
	}
	return true;
}

/* Whether level `level` of a frame is the mark or outward of it. */
static bool is_outside(const struct mark *m, size_t frame, size_t level)
{
	return frame > m->frame || (frame == m->frame && level >= m->level);
}

/* Whether a function without a name may be one of Rust: that of a C library polls nothing. */
static bool polling_code_may_be_any(const struct collector *c, const struct thread_stack *stack,
                                    size_t frame)
{
	const struct module *m = module_at(c->in->target, stack->stack.frames[frame].lookup_pc);

	return !m || !debuginfo_is_system(m);
}

bool polling_code_within(const struct collector *c, const struct thread_stack *stack,
                         const struct mark *m)
{
	for (size_t i = 0; i <= m->frame; i++) {
		if (stack->nfunctions[i] == 0 && polling_code_may_be_any(c, stack, i))
			return true;
		for (size_t j = 0; j < stack->nfunctions[i] && !is_outside(m, i, j); j++) {
			const struct location *l = &stack->functions[i][j];

			if (l->name ? polling_code_counts(c, l) && polling_code_polls(c, l)
			            : polling_code_may_be_any(c, stack, i))
				return true;
		}
	}
	return false;
}

/* The type that a poll function polls: its first argument, behind Pin and references. */
static const struct type *polled_type(const struct location *l)
{
	const struct type *t = l->function ? function_first_argument(l->function) : NULL;

	for (int i = 0; t && i < MAX_REFERENCES; i++) {
		const struct type_class *class = type_class_of(t);

		if (!class->forms.borrowed || !class->behind)
			break;
		t = class->behind;
	}
	return t;
}

/*
 * Whether the function is the executor's own, or one whose parts are seen inward of it: a wrapper
 * of the executor's closure, or a combinator.
 */
static bool polls_own(const struct collector *c, const struct location *l, const struct type *self)
{
	const struct type *f = l->function ? function_param(l->function, "F") : NULL;
	const struct type_class *class = self ? type_class_of(self) : NULL;

	if (block_on_is_executor(c, l->name) || (f && block_on_is_executor(c, type_name(f))))
		return true;
	return class && class->rows.combinator && !class->task_set && !class->driver;
}

/* Frames seen inward of the innermost coroutine so far, in the order of calls. */
struct inward {
	bool leaf;  /* a future whose row tells what it waits for: what it calls is its own */
	bool other; /* something else polls, or may */
};

static void polling_code_look_at(const struct collector *c, const struct location *l,
                                 struct inward *seen)
{
	const struct type *self;

	if (coroutine_is_poll(l)) {
		*seen = (struct inward){ 0 };
	} else if (!seen->leaf && polling_code_counts(c, l) && polling_code_polls(c, l)) {
		self = polled_type(l);
		seen->leaf = self && leaf_is_known(self);
		seen->other |= !seen->leaf && !polls_own(c, l, self);
	}
}

bool polling_code_is_executor(const struct collector *c, const struct thread_stack *stack,
                              const struct mark *m)
{
	struct inward seen = { 0 };

	for (size_t i = m->frame + 1; i-- > 0;) {
		size_t n = stack->nfunctions[i];

		if (!seen.leaf && (n == 0 || !stack->functions[i][0].name))
			seen.other |= polling_code_may_be_any(c, stack, i);
		for (size_t j = n; j-- > 0;) {
			if (!is_outside(m, i, j))
				polling_code_look_at(c, &stack->functions[i][j], &seen);
		}
	}
	return !seen.other;
}

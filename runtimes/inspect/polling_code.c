#include "runtimes/inspect/polling_code.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/qualified.h"
#include "runtimes/future/future.h"
#include "runtimes/inspect/may_run_tasks.h"

enum {
	/* Limits of the search for a boxed future: */
	MAX_DEPTH = 12,  /* nested types */
	MAX_TYPES = 512, /* types in total */
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
	return type_is_dyn(t) && strstr(type_name(t), "dyn core::future::future::Future<");
}

/* State of a search of a type for boxed futures and coroutines that its values own. */
struct look {
	unsigned types; /* number of types that were searched */
};

static bool has_future(struct look *l, const struct type *t, int depth);

static bool member_has_future(struct look *l, const struct type *t, int depth)
{
	size_t n;
	const struct member *members = type_members(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (members[i].type && has_future(l, members[i].type, depth + 1))
			return true;
	}
	return false;
}

static bool has_future(struct look *l, const struct type *t, int depth)
{
	const struct variant *variants;
	size_t n;

	if (depth > MAX_DEPTH || ++l->types > MAX_TYPES)
		return false;
	if (type_is_coroutine(t) || is_erased_future(t))
		return true;
	switch (type_kind(t)) {
	case TYPE_POINTER: /* also raw pointers, as in Arc<T> and sets: *const ArcInner<T> */
		return type_name(t)[0] != '&' && type_target(t) &&
		       has_future(l, type_target(t), depth + 1);
	case TYPE_STRUCT:
		return member_has_future(l, t, depth);
	case TYPE_ENUM:
		variants = type_variants(t, &n);
		for (size_t i = 0; i < n; i++) {
			if (variants[i].payload && member_has_future(l, variants[i].payload, depth))
				return true;
		}
		return false;
	default:
		return false;
	}
}

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
	struct look look = { 0 };
	size_t n = 0;
	const struct type_param *params = self ? type_params(self, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (params[i].type && has_future(&look, params[i].type, 0))
			return true;
	}
	return false;
}

bool polling_code_owns_futures(const struct location *l)
{
	const struct type *self = self_type(l);
	struct look look = { 0 };

	return self && has_future(&look, self, 0);
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

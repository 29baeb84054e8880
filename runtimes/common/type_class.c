/* Computes the class of a type (type_class.h). */
#include "runtimes/common/type_class.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/wide.h"
#include "dwarf/values/entries.h"
#include "runtimes/common/runtime.h"

/* Wrappers whose poll polls their content directly; they are not frames of their own. */
static const struct {
	const char *type, *member; /* NULL: the only one that has a size */
} transparent[] = {
	{ "core::pin::Pin", NULL },
	{ "core::mem::manually_drop::ManuallyDrop", NULL },
	{ "core::mem::maybe_dangling::MaybeDangling", NULL },
	{ "core::mem::maybe_uninit::MaybeUninit", NULL },
	{ "core::cell::UnsafeCell", NULL },
	/* rustc up to 1.66 wraps coroutines in it */
	{ "core::future::from_generator::GenFuture", NULL },
	{ "futures_util::stream::futures_ordered::OrderWrapper", "data" },
};

static const struct member *look_through(const struct type *t)
{
	const char *name = type_name(t);

	for (size_t i = 0; i < sizeof(transparent) / sizeof(transparent[0]); i++) {
		if (qualified_is(name, transparent[i].type))
			return transparent[i].member ? type_member(t, transparent[i].member)
			                             : type_single_member(t);
	}
	return NULL;
}

static void find_step(const struct type *t, struct type_class *f)
{
	const struct member *m;

	if (type_is_dyn(t)) {
		f->step = STEP_DYN;
		f->offset = type_member(t, "pointer")->offset;
		f->vtable = type_member(t, "vtable")->offset;
	} else if (type_wide_kind(t) == WIDE_STRUCT) {
		f->step = STEP_WIDE;
	} else if (type_kind(t) == TYPE_POINTER) {
		f->step = STEP_POINTER;
		f->next = type_target(t);
	} else if ((m = look_through(t))) {
		f->step = STEP_MEMBER;
		f->next = m->type;
		f->offset = m->offset;
	}
}

/* Classifies a pointer by its name, also inside a Pin. */
static void find_pointer(const struct type *t, struct type_class *f)
{
	const struct member *pin = type_is(t, "core::pin::Pin") ? type_single_member(t) : NULL;
	const char *name;

	if (pin) {
		t = pin->type;
		f->pin_offset = pin->offset;
	}
	name = type_name(t);
	f->borrowed = name[0] == '&';
	f->box = strncmp(name, "alloc::boxed::Box<", 18) == 0;
	if (type_kind(t) == TYPE_POINTER && (f->box || strncmp(name, "&mut ", 5) == 0))
		f->behind = type_target(t);
}

const struct type *type_class_container_element(const struct type *t)
{
	const struct member *m;
	const char *name;

	if (type_is(t, "core::pin::Pin") && (m = type_single_member(t)))
		t = m->type;
	name = type_name(t);
	if (type_kind(t) == TYPE_ARRAY)
		return type_target(t);
	if (type_is(t, "alloc::vec::Vec"))
		return type_param(t, "T");
	if (strncmp(name, "&mut [", 6) != 0 && strncmp(name, "alloc::boxed::Box<[", 19) != 0)
		return NULL;
	m = type_member(t, "data_ptr");
	return m ? type_target(m->type) : NULL;
}

static enum reach_rule reach_rule(const struct type *t, const struct type_class *f)
{
	if (f->element)
		return REACH_ELEMENTS;
	if (f->entries)
		return REACH_ENTRIES;
	if (f->step == STEP_DYN || f->step == STEP_WIDE)
		return REACH_DYN;
	switch (type_kind(t)) {
	case TYPE_POINTER:
		return REACH_POINTER;
	case TYPE_STRUCT:
	case TYPE_ENUM:
		return REACH_MEMBERS;
	case TYPE_OPAQUE:
	case TYPE_UNION:
		return REACH_OPAQUE;
	default:
		return REACH_NOTHING;
	}
}

static struct type_class *learn(const struct type *t)
{
	struct arena *a = &type_module(t)->di->arena;
	struct type_class *f = NEW(a, struct type_class);
	const struct tables *tables = runtime_tables_of(t);
	const char *name = type_name(t);

	f->name = str_is_plain(name, strlen(name)) ? name : str_clean(a, name, strlen(name));
	find_step(t, f);
	find_pointer(t, f);
	f->element = type_class_container_element(t);
	f->entries = (unsigned char)entries_kind(t);
	f->reach = reach_rule(t, f);
	f->slice = type_is_slice(t);
	f->erased = type_wide(t).has_vtable;
	f->coroutine = type_is_coroutine(t);
	f->waker = type_is(t, "core::task::wake::Waker");
	f->instrumented = type_is(t, "tracing::instrument::Instrumented");
	f->shared = type_is(t, "futures_util::future::future::shared::Shared");
	for (size_t i = 0; tables && tables->registered->classifiers[i]; i++)
		tables->registered->classifiers[i](t, f);
	return f;
}

struct type_class *type_class_of(const struct type *t)
{
	struct type_memo *memo;

	type_kind(t); /* completes it, and its memo */
	memo = type_memo(t);
	if (!memo->above)
		memo->above = learn(t);
	return memo->above;
}

const char *type_class_function(const struct type *t)
{
	struct arena *a = &type_module(t)->di->arena;
	struct type_class *f = type_class_of(t);

	if (!f->function) {
		const char *function = name_without_generics(a, type_name(t));

		f->function = str_clean(a, function, strlen(function));
	}
	return f->function;
}

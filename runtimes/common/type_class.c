/* Computes the class of a type (type_class.h). */
#include "runtimes/common/type_class.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/types/wide.h"
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

static const struct member *type_class_look_through(const struct type *t)
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
	} else if ((m = type_class_look_through(t))) {
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
	f->forms.borrowed = name[0] == '&';
	f->forms.box = strncmp(name, "alloc::boxed::Box<", 18) == 0;
	if (type_kind(t) == TYPE_POINTER && (f->forms.box || strncmp(name, "&mut ", 5) == 0))
		f->behind = type_target(t);
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
	f->visit = visit_type_of(t);
	f->forms.slice = type_is_slice(t);
	f->forms.erased = type_wide(t).has_vtable;
	f->forms.coroutine = type_is_coroutine(t);
	f->forms.waker = type_is(t, "core::task::wake::Waker");
	f->forms.instrumented = type_is(t, "tracing::instrument::Instrumented");
	f->forms.shared = type_is(t, "futures_util::future::future::shared::Shared");
	for (size_t i = 0; tables && tables->registered->classifiers[i]; i++)
		tables->registered->classifiers[i](t, f);
	return f;
}

struct type_class *type_class_of(const struct type *t)
{
	struct type_memo *memo = type_memo(t);

	if (memo->above) /* only a complete type has it */
		return memo->above;
	type_kind(t); /* completes it, and its memo */
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

#include "dwarf/test/module.h"

#include "runtimes/common/type_class.h"
#include "runtimes/future/combinator.h"

static const struct type *member_type(const struct type *t, const char *name)
{
	const struct member *m = type_member(t, name);

	if (!m)
		fail_msg("%s has no %s", type_name(t), name);
	return m->type;
}

static void kept_with_the_type(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Root");
	const struct type_class *type_class = type_class_of(t);

	assert_ptr_equal(type_class, type_class_of(t));
	assert_ptr_not_equal(type_class, type_class_of(must_find(f, "shapes::Node")));
	assert_string_equal(type_class->name, "shapes::Root");
	assert_int_equal(type_class->step, STEP_NONE);
	assert_int_equal(type_class->visit.rule, VISIT_MEMBERS);
	assert_null(type_class->rows.leaf);
	assert_null(type_class->rows.resource);
	assert_false(type_class->forms.coroutine || type_class->forms.borrowed ||
	             type_class->forms.box || type_class->forms.boundary);
}

static void names_without_generics(void **state)
{
	struct fixture *f = *state;
	const struct type *t = must_find(f, "shapes::Holder<u64>");

	assert_string_equal(type_class_of(t)->name, "shapes::Holder<u64>");
	assert_string_equal(type_class_function(t), "shapes::Holder");
	assert_ptr_equal(type_class_function(t), type_class_function(t));
}

static void how_to_look_through(void **state)
{
	struct fixture *f = *state;
	const struct type *root = must_find(f, "shapes::Root");
	const struct type *named = must_find(f, "shapes::Named");
	const struct type_class *list = type_class_of(member_type(root, "list"));
	const struct type_class *uninit = type_class_of(member_type(named, "uninit"));
	const struct type_class *items = type_class_of(member_type(root, "items"));
	const struct type *pin = must_find(f, "core::pin::Pin<alloc::boxed::Box<(dyn "
	                                      "core::future::future::Future<Output=u32> + "
	                                      "core::marker::Send), alloc::alloc::Global>>");
	const struct type *dyn = type_single_member(pin)->type;

	assert_int_equal(list->step, STEP_POINTER);
	assert_ptr_equal(list->next, must_find(f, "shapes::Node"));
	assert_null(list->behind); /* a raw pointer owns nothing */
	assert_int_equal(uninit->step, STEP_MEMBER);
	assert_int_equal(type_class_of(pin)->step, STEP_MEMBER);
	assert_ptr_equal(type_class_of(pin)->next, dyn);
	assert_true(type_class_of(pin)->forms.box);
	assert_int_equal(type_class_of(dyn)->step, STEP_DYN);
	assert_int_equal(type_class_of(dyn)->vtable, 8);
	assert_true(type_class_of(dyn)->forms.box);
	assert_int_equal(type_class_of(dyn)->visit.rule, VISIT_WIDE);
	assert_int_equal(items->visit.rule, VISIT_ELEMENTS);
	assert_string_equal(type_name(items->visit.element), "shapes::Inner");
	assert_true(items->forms.slice);
}

static void what_is_a_future(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *type;
		bool coroutine, future;
	} types[] = {
		{ "shapes::Ready", false, true },
		{ "shapes::leaf::{async_fn_env#0}", true, true },
		{ "shapes::Inner", false, false },
		{ "shapes::Loop", false, false },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct type *t = must_find(f, types[i].type);

		/* The second call returns the cached result. */
		for (int round = 0; round < 2; round++) {
			assert_int_equal(type_class_of(t)->forms.coroutine, types[i].coroutine);
			assert_int_equal(future_is_type(NULL, t), types[i].future);
		}
		assert_int_equal(type_class_of(t)->answers.is_future, types[i].future ? YES : NO);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_with_the_type),
		cmocka_unit_test(names_without_generics),
		cmocka_unit_test(how_to_look_through),
		cmocka_unit_test(what_is_a_future),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}

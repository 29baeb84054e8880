/* Tests of fold.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "dwarf/names/fold.h"

#define ALPHABET "Abcdefghijklmnopqrstuvwxyz"
#define LONG     ALPHABET ALPHABET ALPHABET ALPHABET

static void assert_folds(const char *name, const char *expected)
{
	SCRATCH(a);

	assert_string_equal(name_fold(&a, name), expected);
}

static void folds_the_innermost_first(void **state)
{
	(void)state;
	assert_folds("Then<Map<A, B>, Ready<C>>", "Then<Map<A, B>, Ready<C>>");
	assert_folds("Then<Map<A<" LONG ">, B<" LONG ">>, Ready<C>>",
	             "Then<Map<A<..>, B<..>>, Ready<C>>");
	assert_folds("Then<Map<" LONG ", " LONG ">, Ready<C>>, X", "Then<Map<..>, Ready<..>>, X");
	assert_folds("Box<dyn Fn(A<" LONG LONG ">) -> B<C>> + Send",
	             "Box<dyn Fn(A<..>) -> B<..>> + Send");
	assert_folds("A<" LONG LONG ">: fd 3, 1.2.3.4:5 -> 1.2.3.4:6",
	             "A<..>: fd 3, 1.2.3.4:5 -> 1.2.3.4:6");
	assert_folds("A<" LONG "><" LONG ">", "A<..><..>");
	assert_folds(LONG LONG "<A>", LONG LONG "<..>");
}

/* A name may have FOLD_LENGTH characters, and so may what is left of one. */
static void folds_no_more_than_it_must(void **state)
{
	char pad[FOLD_LENGTH + 1];
	SCRATCH(a);

	(void)state;
	memset(pad, 'x', sizeof(pad));
	pad[FOLD_LENGTH - strlen("<A>")] = '\0';
	const char *name = arena_printf(&a, "%s<A>", pad);
	assert_folds(name, name);
	pad[FOLD_LENGTH - strlen("A<B<..>>")] = '\0';
	assert_folds(arena_printf(&a, "A<%sB<C<D<E>>>>", pad), arena_printf(&a, "A<%sB<..>>", pad));
}

static void leaves_alone_what_has_no_brackets(void **state)
{
	(void)state;
	assert_folds("", "");
	assert_folds(LONG LONG, LONG LONG);
	assert_folds(LONG LONG "<A", LONG LONG "<A");
	assert_folds(LONG LONG "A>", LONG LONG "A>");
	assert_folds(LONG LONG "A>B", LONG LONG "A>B");
	assert_folds(LONG LONG "><", LONG LONG "><");
	assert_folds("->" LONG LONG, "->" LONG LONG);
}

/* The deepest possible name takes no more work than its depth times its length. */
static void deep_names_end(void **state)
{
	enum { DEEP = 500 };
	STR(name);
	SCRATCH(a);

	(void)state;
	for (int i = 0; i < DEEP; i++)
		str_append(&name, "A<");
	for (int i = 0; i < DEEP; i++)
		str_append(&name, ">");
	assert_true(strlen(name_fold(&a, str_text(&name))) <= FOLD_LENGTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folds_the_innermost_first),
		cmocka_unit_test(folds_no_more_than_it_must),
		cmocka_unit_test(leaves_alone_what_has_no_brackets),
		cmocka_unit_test(deep_names_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

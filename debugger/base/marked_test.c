/* Tests of texts whose variable parts are marked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/marked.h"

static void expect(const char *marked, const char *text, const char *parts)
{
	SCRATCH(a);
	const char *got, *list;

	got = marked_finish(&a, marked, &list);
	assert_string_equal(got, text);
	assert_string_equal(list ? list : "none", parts);
}

static void test_formats(void **state)
{
	(void)state;
	SCRATCH(a);

	const char *s = marked_printf(&a, "%d of %zu, 0x%lx, %s %5.2u%%", -1, (size_t)2, 3L,
	                              "x " MARKED_PLURAL("s"), 4);
	expect(s, "-1 of 2, 0x3, x s    04%", "n0+2 n6+1 n9+3 s16+1 n18+5");
	/* Numbers in words are names. */
	s = marked_printf(&a, "u%d Suspend%u %ums {%s}", 8, 0, 5, "closure#1");
	expect(s, "u8 Suspend0 5ms {closure#1}", "none");
}

static void test_marks(void **state)
{
	(void)state;

	expect("", "", "none");
	expect(MARKED_NUMBER("") "a", "a", "n0+0");
	expect("a " MARKED_LIST("(tasks " MARKED_NUMBER("7") ", 8)") " b " MARKED_ADDRESS("[::1]"),
	       "a (tasks 7, 8) b [::1]", "l2+12 a17+5");
	expect("\n" MARKED_NUMBER("1"), "?1", "n1+1");
	/* Marks that belong to no part, as a hostile program may have them in its names. */
	expect("a" MARKED_CLOSE "b" MARKED_BEGIN_LIST "c", "abc", "none");
}

/* The numbers of an error are marked, through all its contexts; its message has no marks. */
static void test_errors(void **state)
{
	(void)state;
	CLEANUP(error_freep) struct error *err = error_fault(0x7f00);

	err = error_wrap(err, "task %u", 5U);
	assert_string_equal(err->message, "task 5: 0x7f00 is not readable");
	expect(err->marked, err->message, "n5+1 n8+6");
	error_free(err);
	err = error_os(2, "%s", MARKED_NUMBER("7"));
	assert_string_equal(err->message, "7: No such file or directory");
	expect(err->marked, err->message, "n0+1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

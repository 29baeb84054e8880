/* Tests of impl_header.c. */
#include "dwarf/names/impl_header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define AS         "$u20$as$u20$core..future..future..Future$GT$"
#define FOR        "_$LT$impl$u20$core..future..future..Future$u20$for$u20$"
#define AS_STREAM  "$u20$as$u20$futures_core..stream..Stream$GT$"
#define FOR_STREAM "_$LT$impl$u20$futures_core..stream..Stream$u20$for$u20$"

/* Reads the header of one component, with its length computed here. */
static struct poll_header read_component(const char *before, const char *component, char *space,
                                         size_t size)
{
	int n = snprintf(space, size, "_ZN%s%zu%s", before, strlen(component), component);

	assert_true(n > 0 && (size_t)n < size);
	return impl_header_read(space, (size_t)n);
}

static void test_forms(void **state)
{
	static const struct {
		const char *before, *component, *path;
		enum poll_form form;
	} rows[] = {
		{ "", "_$LT$app..Foo" AS, "app..Foo", POLL_FORM_PLAIN },
		{ "", "_$LT$app..a..b_2..Foo_" AS, "app..a..b_2..Foo_", POLL_FORM_PLAIN },
		{ "", "_$LT$app..Foo$LT$T$GT$" AS, "app..Foo", POLL_FORM_OPEN },
		{ "", "_$LT$app..Foo$LT$Fut$C$F2$GT$" AS, "app..Foo", POLL_FORM_OPEN },
		{ "3app3run", FOR "app..Foo$LT$T$GT$$GT$", "app..Foo", POLL_FORM_OPEN },
		{ "3app", FOR "app..Foo$GT$", "app..Foo", POLL_FORM_PLAIN },
		{ "",
		  "_$LT$app..Flat$LT$F$C$$LT$F$u20$as$u20$core..future..future..Future$GT$..Output"
		  "$GT$" AS,
		  "app..Flat", POLL_FORM_OPEN },
		{ "", "_$LT$app..Foo$LT$S$GT$" AS_STREAM, "app..Foo", POLL_FORM_OPEN },
		{ "3app", FOR_STREAM "app..Foo$GT$", "app..Foo", POLL_FORM_PLAIN },
		/* Some instances only. */
		{ "", "_$LT$app..Foo$LT$u8$GT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$T$C$app..Bar$GT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$App..Bar$GT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$$LP$A$C$B$RP$$GT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$alloc..boxed..Box$LT$T$GT$$GT$" AS, "app..Foo",
		  POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$_$GT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$T$GT$$GT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$" AS, "app..Foo", POLL_FORM_CLOSED },
		{ "", "_$LT$app..Foo$LT$T" AS, "app..Foo", POLL_FORM_CLOSED },
		/* No plain path. */
		{ "", "_$LT$$RF$mut$u20$F" AS, NULL, POLL_FORM_VAGUE },
		{ "", "_$LT$T" AS, NULL, POLL_FORM_VAGUE },
		{ "", "_$LT$app..Foo.." AS, NULL, POLL_FORM_VAGUE },
		{ "", "_$LT$app..run.._$u7b$$u7b$closure$u7d$$u7d$..Foo" AS, NULL,
		  POLL_FORM_VAGUE },
		{ "", "_$LT$app..Foo$u20$Bar" AS, NULL, POLL_FORM_VAGUE },
		/* Of another trait, or of none. */
		{ "", "_$LT$app..Foo$u20$as$u20$app..Future$GT$", NULL, POLL_FORM_VAGUE },
		{ "3app", "_$LT$impl$u20$app..Foo$GT$", NULL, POLL_FORM_VAGUE },
		{ "3app", "Foo", NULL, POLL_FORM_VAGUE },
		{ "", "_$LT$", NULL, POLL_FORM_VAGUE },
		{ "", AS, NULL, POLL_FORM_VAGUE },
		{ "", "_$LT$" AS, NULL, POLL_FORM_VAGUE },
		{ "", FOR, NULL, POLL_FORM_VAGUE },
		{ "", FOR "$GT$", NULL, POLL_FORM_VAGUE },
		/* Wrong lengths. */
		{ "99", "_$LT$app..Foo" AS, NULL, POLL_FORM_VAGUE },
		{ "99999999999999999999999999999", "_$LT$app..Foo" AS, NULL, POLL_FORM_VAGUE },
	};
	char space[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct poll_header h =
			read_component(rows[i].before, rows[i].component, space, sizeof(space));

		assert_int_equal(h.form, rows[i].form);
		if (!rows[i].path) {
			assert_null(h.path);
			continue;
		}
		assert_int_equal(h.path_len, strlen(rows[i].path));
		assert_memory_equal(h.path, rows[i].path, h.path_len);
	}
}

/*
 * Symbols that are truncated anywhere, in memory that ends there: nothing is read beyond the end,
 * and no header is accepted.
 */
static void test_cut(void **state)
{
	static const char whole[] = "_ZN3app66_$LT$app..Foo$LT$T$GT$" AS;

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		char *cut = malloc(len ? len : 1);

		assert_non_null(cut);
		memcpy(cut, whole, len);
		assert_int_equal(impl_header_read(cut, len).form, POLL_FORM_VAGUE);
		free(cut);
	}
	assert_int_equal(impl_header_read(whole, sizeof(whole) - 1).form, POLL_FORM_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

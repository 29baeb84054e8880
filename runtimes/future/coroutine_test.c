/* Tests of the names of functions in impls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/names/demangle.h"
#include "runtimes/future/future.h"

#define CLOSURE "28_$u7b$$u7b$closure$u7d$$u7d$"
#define HASH    "17h0123456789abcdefE"

static const struct row {
	const char *name, *linkage;
	const char *whole, *shown, *function; /* expected */
} rows[] = {
	{ "app::{impl#0}::serve::{async_fn#0}<u8>", "_ZN3app6Server5serve" CLOSURE HASH,
	  "app::Server::serve::{async_fn#0}", "async fn app::Server::serve", "app::Server::serve" },
	{ "app::{impl#0}::serve::{async_fn#0}::{async_block#1}",
	  "_ZN3app6Server5serve" CLOSURE CLOSURE HASH, "app::Server::serve::{async_block#1}",
	  "async block app::Server::serve::{async_block#1}",
	  "app::Server::serve::{async_block#1}" },
	{ "app::{impl#1}::serve::{async_fn#0}",
	  "_ZN39_$LT$app..Server$u20$as$u20$app..Tr$GT$5serve" CLOSURE HASH,
	  "<app::Server as app::Tr>::serve::{async_fn#0}",
	  "async fn <app::Server as app::Tr>::serve", "<app::Server as app::Tr>::serve" },
	/* Nothing tells the type, or there is none. */
	{ "app::{impl#0}::serve::{async_fn#0}", NULL, "app::{impl#0}::serve::{async_fn#0}",
	  "async fn app::{impl#0}::serve", "app::{impl#0}::serve" },
	{ "app::serve::{async_fn#0}<u8>", "_ZN3app5serve" CLOSURE HASH,
	  "app::serve::{async_fn#0}<u8>", "async fn app::serve", "app::serve" },
	{ "app::run<u8>", "_ZN3app3run" HASH, "app::run<u8>", "app::run<u8>", "app::run" },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const struct location l = { .name = row->name, .linkage = row->linkage };
		SCRATCH(a);
		const char *whole = coroutine_whole_name(&a, &l);

		assert_string_equal(whole, row->whole);
		assert_string_equal(name_short(&a, whole), row->shown);
		assert_string_equal(coroutine_function_name(&a, &l), row->function);
	}
	assert_null(coroutine_whole_name(NULL, &(struct location){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

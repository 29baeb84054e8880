/* Tests of source.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/source.h"

#define REGISTRY "/root/.cargo/registry/src/example.org-0123456789abcdef"
#define TOKIO    REGISTRY "/tokio-1.54.1"
#define REDIS    REGISTRY "/mini-redis-0.4.1"
#define CHECKOUT "/root/.cargo/git/checkouts/mini-redis-0825f59fc9ebe0b6/90b23a9"

static const struct {
	const char *file, *comp_dir, *own, *expected;
	bool library;
} files[] = {
	/* Programs that are developed in place. */
	{ "src/main.rs", "/home/me/app", NULL, "src/main.rs", false },
	{ "/home/me/app/src/net/tcp.rs", "/home/me/app", NULL, "src/net/tcp.rs", false },
	{ "/home/me/app/src/net/tcp.rs", "/home/me/app//", NULL, "src/net/tcp.rs", false },
	{ "src/main.rs", NULL, NULL, "src/main.rs", false },
	{ "/home/me/app2/src/main.rs", "/home/me/app", NULL, "app2/src/main.rs", true },
	{ "/home/me/app/src/main.rs", NULL, NULL, "app/src/main.rs", true },
	{ "/home/me/src/app/src/main.rs", NULL, NULL, "app/src/main.rs", true },
	/* The path identifies the crate. */
	{ "src/net/tcp/listener.rs", TOKIO, NULL, "tokio-1.54.1/src/net/tcp/listener.rs", true },
	{ TOKIO "/src/lib.rs", "/home/me/app", NULL, "tokio-1.54.1/src/lib.rs", true },
	{ "/cargo/registry/tokio-1.54.1/src/lib.rs", "/build", NULL, "tokio-1.54.1/src/lib.rs",
	  true },
	{ "/home/me/app/vendor/tokio/src/lib.rs", "/home/me/app", NULL, "tokio/src/lib.rs", true },
	{ "vendor/tokio/src/lib.rs", "/home/me/app", NULL, "tokio/src/lib.rs", true },
	{ CHECKOUT "/src/lib.rs", "/home/me/app", NULL, "mini-redis-90b23a9/src/lib.rs", true },
	{ "/root/.cargo/git/checkouts/x/90b23a9/src/lib.rs", NULL, NULL, "x-90b23a9/src/lib.rs",
	  true },
	{ "/rustc/59807616e1/library/core/src/future/poll_fn.rs", "/rustc/59807616e1", NULL,
	  "library/core/src/future/poll_fn.rs", true },
	{ "library/core/src/future/poll_fn.rs", "/rustc/59807616e1", NULL,
	  "library/core/src/future/poll_fn.rs", true },
	{ "/u/lib/rustlib/src/rust/library/std/src/rt.rs", "/home/me/app", NULL,
	  "library/std/src/rt.rs", true },
	{ "/usr/src/rustc-1.63.0/library/core/src/ops/function.rs", "/home/me/app", NULL,
	  "library/core/src/ops/function.rs", true },
	{ "/rust/deps/hashbrown-0.15.2/src/raw.rs", "/home/me/app", NULL,
	  "hashbrown-0.15.2/src/raw.rs", true },
	{ "/usr/include/x86_64-linux-gnu/bits/stdio2.h", "/home/me", NULL, ".../bits/stdio2.h",
	  true },
	/* Code built by `cargo install` is the program's own if its package is known. */
	{ REDIS "/src/server.rs", REDIS, REDIS, "mini-redis-0.4.1/src/server.rs", false },
	{ "src/server.rs", REDIS, REDIS, "mini-redis-0.4.1/src/server.rs", false },
	{ REDIS "/src/server.rs", REDIS, NULL, "mini-redis-0.4.1/src/server.rs", true },
	{ TOKIO "/src/lib.rs", REDIS, REDIS, "tokio-1.54.1/src/lib.rs", true },
	{ REGISTRY "/mini-redis-0.4.10/src/lib.rs", REDIS, REDIS, "mini-redis-0.4.10/src/lib.rs",
	  true },
	{ REDIS "/vendor/x/src/lib.rs", REDIS, REDIS, "mini-redis-0.4.1/vendor/x/src/lib.rs",
	  true },
	{ CHECKOUT "/cli/src/main.rs", CHECKOUT "/cli", CHECKOUT,
	  "mini-redis-90b23a9/cli/src/main.rs", false },
	{ CHECKOUT "/core/src/lib.rs", CHECKOUT "/core", CHECKOUT,
	  "mini-redis-90b23a9/core/src/lib.rs", false },
	/* Paths that no compiler writes. */
	{ "/main.rs", NULL, NULL, "/main.rs", false },
	{ "/src/main.rs", NULL, NULL, "/src/main.rs", false },
	{ "/registry/", NULL, NULL, "/registry/", false },
	{ "/registry/x", NULL, NULL, "/registry/x", false },
	{ "/git/checkouts//x/y", NULL, NULL, ".../x/y", true },
	{ "", NULL, NULL, "", false },
	{ "/", "/", NULL, "/", false },
	{ "src/\033.rs", NULL, NULL, "src/?.rs", false },
	{ "/registry/a\033/b.rs", NULL, NULL, "a?/b.rs", true },
};

static void files_for_reading(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		SCRATCH(a);
		struct source s =
			source_of(&a, files[i].file, files[i].comp_dir, files[i].own, NULL);

		assert_string_equal(s.text, files[i].expected);
		if (*files[i].file == '/')
			assert_string_equal(s.path,
			                    str_clean(&a, files[i].file, strlen(files[i].file)));
		if (s.library != files[i].library)
			fail_msg("%s: library %d", files[i].file, s.library);
	}
}

/* One file has one name, whichever unit names it, and two files have two. */
static void files_of_crates(void **state)
{
	static const char text[] = "/w/app\n/w/c1\n/w/app/in\n/w/a/core\n/w/b/core\n";
	static const struct {
		const char *file, *comp_dir, *expected;
	} rows[] = {
		{ "src/main.rs", "/w/app", "src/main.rs" },
		{ "/w/app/src/main.rs", "/w/c1", "src/main.rs" },
		{ "src/lib.rs", "/w/c1", "c1/src/lib.rs" },
		{ "/w/c1/src/lib.rs", "/w/app", "c1/src/lib.rs" },
		{ "/w/c1/benches/a/b.rs", "/w/app", "c1/benches/a/b.rs" },
		{ "src/lib.rs", "/w/app/in", "in/src/lib.rs" },
		{ "in/src/lib.rs", "/w/app", "in/src/lib.rs" },
		{ "src/lib.rs", "/w/a/core", "a/core/src/lib.rs" },
		{ "src/lib.rs", "/w/b/core", "b/core/src/lib.rs" },
		{ "src/lib.rs", "/w/other", "src/lib.rs" },
	};
	SCRATCH(a);
	const struct source_dirs dirs = source_dirs_read(&a, text);

	(void)state;
	assert_int_equal(dirs.n, 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct source s = source_of(&a, rows[i].file, rows[i].comp_dir, NULL, &dirs);

		assert_string_equal(s.text, rows[i].expected);
		assert_false(s.library);
	}
	assert_string_equal(source_of(&a, "src/lib.rs", "/w/c1/", NULL, &dirs).path,
	                    "/w/c1/src/lib.rs");
	assert_string_equal(source_of(&a, "/w/c1/src/lib.rs", "/w/app", NULL, &dirs).path,
	                    "/w/c1/src/lib.rs");
	/* Nobody knows whose file that is. */
	assert_string_equal(source_of(&a, "src/lib.rs", NULL, NULL, &dirs).path, "src/lib.rs");
	/* No crate has the short names where it is unknown which has main(). */
	const struct source_dirs equal = source_dirs_read(&a, "\n/w/app\n/w/c1\n");
	assert_string_equal(source_of(&a, "src/main.rs", "/w/app", NULL, &equal).text,
	                    "app/src/main.rs");
	/* A library may be compiled in the folder of the program; a program in C has only
	 * libraries. */
	const struct source_dirs twice = source_dirs_read(&a, "/w/app\n/w/app\n/y/x/app\n");
	assert_int_equal(twice.n, 2);
	assert_string_equal(source_of(&a, "src/lib.rs", "/y/x/app", NULL, &twice).text,
	                    "x/app/src/lib.rs");
	const struct source_dirs only = source_dirs_read(&a, "\n/w/c1\n");
	assert_string_equal(source_of(&a, "src/lib.rs", "/w/c1", NULL, &only).text, "src/lib.rs");
	assert_int_equal(source_dirs_read(&a, NULL).n, 0);
	assert_int_equal(source_dirs_read(&a, "\n").n, 0);
}

static void packages(void **state)
{
	SCRATCH(a);

	(void)state;
	assert_string_equal(source_package(&a, REDIS), REDIS);
	assert_string_equal(source_package(&a, REDIS "/src/main.rs"), REDIS);
	assert_string_equal(source_package(&a, CHECKOUT "/cli"), CHECKOUT);
	assert_string_equal(source_package(&a, "/rustc/59807616e1"), "/rustc/59807616e1");
	assert_null(source_package(&a, "/home/me/app"));
	assert_null(source_package(&a, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_for_reading),
		cmocka_unit_test(files_of_crates),
		cmocka_unit_test(packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

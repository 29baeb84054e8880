/* Tests of where source files are looked for, and of what is read of them. */
#include "dwarf/code/source_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A directory of the test, in which it works. */
static char root[] = "/tmp/asyncdbg-source-XXXXXX";

static void write_file(const char *path, const char *text, size_t len)
{
	char part[256];

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(part, 0700);
	}
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
}

static void put(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

/* The first line of the file that is found, or the error. */
static const char *find(struct source_files *s, const char *file, const char *comp_dir)
{
	static char answer[1024];
	const struct source_text *t;
	SCRATCH(tmp);
	struct error *err CLEANUP(error_freep) = source_files_open(s, file, comp_dir, &t);

	snprintf(answer, sizeof(answer), "%s", err ? err->message : source_text_line(t, 1, &tmp));
	return answer;
}

static void assert_says(const char *answer, const char *part)
{
	if (!strstr(answer, part))
		fail_msg("\"%s\" has no \"%s\"", answer, part);
}

static void test_maps(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };

	(void)state;
	put("here/src/main.rs", "mapped\n");
	put("other/src/main.rs", "other\n");
	assert_says(find(&s, "src/main.rs", "/build"),
	            "/build/src/main.rs, src/main.rs; \"set source-map /build=DIRECTORY\"");
	assert_null(source_files_add_map(&s, "/build=here"));
	assert_string_equal(find(&s, "src/main.rs", "/build"), "mapped");
	assert_string_equal(find(&s, "/build/src/main.rs", "/build/"), "mapped");
	/* Whole components. */
	assert_says(find(&s, "/building/src/main.rs", "/elsewhere"), "not found: tried");
	/* A later map of the same directory, and none. */
	assert_null(source_files_add_map(&s, "/build//=other"));
	assert_string_equal(find(&s, "src/main.rs", "/build"), "other");
	assert_null(source_files_add_map(&s, "/=/nowhere"));
	assert_string_equal(find(&s, "src/main.rs", "/build"), "other");
	assert_null(source_files_add_map(&s, "/build="));
	assert_says(find(&s, "src/main.rs", "/build"), "tried /nowhere/build/src/main.rs, ");
}

/* Debug info has a file relative to the directory of its unit, or whole: a map is of both. */
static void test_relative_map(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };

	(void)state;
	put("there/main.rs", "relative\n");
	assert_null(source_files_add_map(&s, "tool/src=there"));
	assert_string_equal(find(&s, "tool/src/main.rs", "/build"), "relative");
	assert_string_equal(find(&s, "./tool/src/main.rs", "/build"), "relative");
	assert_string_equal(find(&s, "/build/tool/src/main.rs", "/build"), "relative");
	assert_string_equal(find(&s, "/build/tool/src/main.rs", "/build/"), "relative");
	assert_string_equal(find(&s, "tool/src/main.rs", NULL), "relative");
	assert_says(find(&s, "/build/tool/src/main.rs", "/other"), "not found: tried");
}

static void test_no_map(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };
	static const char *const bad[] = { "", "x", "=x", "=" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error *err CLEANUP(error_freep) = source_files_add_map(&s, bad[i]);

		assert_non_null(err);
		assert_int_equal(err->kind, ERR_USAGE);
	}
}

static void test_own(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };
	const struct source_text *t;

	(void)state;
	put("app/src/lib.rs", "own\n");
	/* Where the debug info says, and relative to the working directory. */
	assert_string_equal(find(&s, "app/src/lib.rs", root), "own");
	assert_null(source_files_open(&s, "./app/src/lib.rs", root, &t));
	assert_false(t->moved);
	assert_null(source_files_open(&s, "/ci/app/src/lib.rs", "/ci", &t));
	assert_true(t->moved);
	assert_string_equal(t->path, "app/src/lib.rs");
	/* A dependency's file is none of the working directory. */
	put("src/lib.rs", "mine\n");
	assert_says(find(&s, "src/lib.rs", "/x/registry/src/index-01/dep-1.0.0"),
	            "cargo/registry/src/*/dep-1.0.0/src/lib.rs; \"cargo fetch\"");
}

static void test_dependencies(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };

	(void)state;
	put("cargo/registry/src/a-1/other-1.0.0/src/lib.rs", "other\n");
	put("cargo/registry/src/b-2/tokio-1.54.1/src/lib.rs", "tokio\n");
	put("cargo/git/checkouts/redis-01/9b9b/src/lib.rs", "redis\n");
	assert_string_equal(find(&s, "/root/.cargo/registry/src/c-3/tokio-1.54.1/src/lib.rs", NULL),
	                    "tokio");
	assert_string_equal(find(&s, "src/lib.rs", "/root/.cargo/registry/src/c-3/tokio-1.54.1"),
	                    "tokio");
	/* Of a build with trimmed paths. */
	assert_string_equal(find(&s, "/cargo/registry/tokio-1.54.1/src/lib.rs", "/src"), "tokio");
	assert_string_equal(
		find(&s, "/home/me/.cargo/git/checkouts/redis-01/9b9b/src/lib.rs", NULL), "redis");
	assert_says(find(&s, "/x/registry/src/c-3/tokio-1.54.2/src/lib.rs", NULL), "cargo fetch");
}

#define COMMIT "59807616e1fa2540724bfbac14d7976d7e4a3860"

static void test_std(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };
	const char file[] = "/rustc/" COMMIT "/library/core/src/lib.rs";

	(void)state;
	put("rustup/toolchains/old/lib/rustlib/multirust-channel-manifest.toml",
	    "version = \"1.94.0 (0123456789 2026-03-01)\"\n");
	put("rustup/toolchains/old/lib/rustlib/src/rust/library/core/src/lib.rs", "old\n");
	assert_says(find(&s, file, NULL), "rustup component add rust-src");
	put("rustup/toolchains/new/lib/rustlib/multirust-channel-manifest.toml",
	    "version = \"1.95.0 (59807616e 2026-04-14)\"\n");
	put("rustup/toolchains/new/lib/rustlib/src/rust/library/core/src/lib.rs", "new\n");
	assert_string_equal(find(&s, file, NULL), "new");
	assert_string_equal(find(&s, "library/core/src/lib.rs", "/rustc/" COMMIT), "new");
	assert_says(find(&s, "/rustc/5980/library/core/src/lib.rs", NULL), "not found: tried");
}

static void test_hostile(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };

	(void)state;
	assert_int_equal(mkfifo("fifo.rs", 0600), 0);
	assert_says(find(&s, "fifo.rs", NULL), "fifo.rs is not a regular file");
	assert_says(find(&s, "/dev/zero", NULL), "/dev/zero is not a regular file");
	assert_says(find(&s, root, NULL), "is not a regular file");
	put("empty.rs", "");
	assert_says(find(&s, "empty.rs", NULL), "empty.rs is empty");
	put("large.rs", "x");
	assert_int_equal(truncate("large.rs", SOURCE_MAX_BYTES + 1), 0);
	assert_says(find(&s, "large.rs", NULL), "large.rs is too large");
	assert_says(find(&s, "", NULL), "not found: tried");
}

static void test_lines(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };
	static const char text[] = "one\r\n\ttwo\tx\n\n\x1b[31m\0\xff\nlast";
	const struct source_text *t;
	SCRATCH(tmp);

	(void)state;
	write_file("lines.rs", text, sizeof(text) - 1);
	assert_null(source_files_open(&s, "lines.rs", NULL, &t));
	assert_int_equal(t->nlines, 5);
	assert_null(source_text_line(t, 0, &tmp));
	assert_string_equal(source_text_line(t, 1, &tmp), "one");
	assert_string_equal(source_text_line(t, 2, &tmp), "        two     x");
	assert_string_equal(source_text_line(t, 3, &tmp), "");
	assert_string_equal(source_text_line(t, 4, &tmp), "?[31m?\xef\xbf\xbd");
	assert_string_equal(source_text_line(t, 5, &tmp), "last");
	assert_null(source_text_line(t, 6, &tmp));
	assert_true(source_files_is_news(&s, t));
	assert_false(source_files_is_news(&s, t));
	/* A file that has changed is read anew. */
	put("lines.rs", "changed, and of another length, too\n\n\n\n\n\n");
	assert_null(source_files_open(&s, "lines.rs", NULL, &t));
	assert_int_equal(t->nlines, 6);
	assert_true(source_files_is_news(&s, t));
}

static void test_long_line(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };
	char *text = malloc(3 * SOURCE_MAX_LINE);
	const struct source_text *t;
	SCRATCH(tmp);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', 3 * SOURCE_MAX_LINE);
	write_file("long.rs", text, 3 * SOURCE_MAX_LINE);
	free(text);
	assert_null(source_files_open(&s, "long.rs", NULL, &t));
	assert_int_equal(strlen(source_text_line(t, 1, &tmp)), SOURCE_MAX_LINE);
}

/* More files than are kept. */
static void test_many(void **state)
{
	struct source_files s CLEANUP(source_files_close) = { 0 };
	char name[32], content[32];

	(void)state;
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "many/%d.rs", i);
		snprintf(content, sizeof(content), "file %d", i);
		put(name, content);
		assert_string_equal(find(&s, name, NULL), content);
	}
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(root) || chdir(root) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s/cargo", root);
	setenv("CARGO_HOME", path, 1);
	snprintf(path, sizeof(path), "%s/rustup", root);
	return setenv("RUSTUP_HOME", path, 1);
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),         cmocka_unit_test(test_relative_map),
		cmocka_unit_test(test_no_map),       cmocka_unit_test(test_own),
		cmocka_unit_test(test_dependencies), cmocka_unit_test(test_std),
		cmocka_unit_test(test_hostile),      cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_line),    cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

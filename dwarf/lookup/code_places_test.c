/* Tests of the places of lines and functions, on inlined.rs, entry.rs, resumed.rs and shapes.rs. */
#include "dwarf/lookup/code_places.h"
#include "dwarf/lookup/function_names.h"
#include "dwarf/module/line_rows.h"
#include "dwarf/test/module.h"

/* The number of the first line of a source of testdata/unit that contains text. */
static unsigned line_of(const char *source, const char *text)
{
	char path[4096], line[1024];
	unsigned n = 1;

	snprintf(path, sizeof(path), "%s/testdata/unit/%s", getenv("SOURCE_DIR"), source);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	for (; fgets(line, sizeof(line), f) && !strstr(line, text); n++)
		;
	fclose(f);
	return n;
}

static struct code_places of_line(struct fixture *f, const char *file, unsigned line)
{
	struct code_places places;

	fail_on(lookup_line_places(f->di, file, line, &f->arena, &places));
	return places;
}

static struct code_places of_function(struct fixture *f, const char *path)
{
	struct code_places places;

	fail_on(lookup_function_places(f->di, path, &f->arena, &places));
	return places;
}

static void expect(const struct code_places *p, unsigned line, const char *function)
{
	assert_true(p->n > 0);
	assert_int_equal(p->line, line);
	for (size_t i = 0; i < p->n; i++) {
		assert_int_equal(p->data[i].line, line);
		if (!strstr(p->data[i].function, function))
			fail_msg("%s is not %s", p->data[i].function, function);
		assert_true(!i || p->data[i - 1].addr < p->data[i].addr);
	}
}

/* The line of a place is that of its address. */
static void expect_line_of_code(struct fixture *f, const struct code_place *p)
{
	size_t n;
	const struct location *l = lookup_locations(f->di, p->addr, &f->arena, &n);

	assert_true(n > 0);
	assert_int_equal(p->line, l[0].line);
}

static void test_files(void **state)
{
	(void)state;
	assert_true(line_rows_file_is("/src/app/main.rs", "main.rs"));
	assert_true(line_rows_file_is("/src/app/main.rs", "app/main.rs"));
	assert_true(line_rows_file_is("/src/app/main.rs", "./main.rs"));
	assert_true(line_rows_file_is("/src/app/main.rs", "/src/app/main.rs"));
	assert_true(line_rows_file_is("main.rs", "main.rs"));
	assert_false(line_rows_file_is("/src/app/main.rs", "ain.rs"));
	assert_false(line_rows_file_is("/src/app/main.rs", "p/main.rs"));
	assert_false(line_rows_file_is("/src/app/main.rs", ""));
	assert_false(line_rows_file_is("main.rs", "src/main.rs"));
}

static void test_lines(void **state)
{
	struct fixture *f = *state;
	unsigned line = line_of("shapes.rs", "pub async fn leaf(") + 1;
	struct code_places p = of_line(f, "shapes.rs", line);

	expect(&p, line, "leaf::{async_fn#0}");
	assert_int_equal(p.n, 1);
	/* The comments and attributes before a function have no code. */
	line = line_of("shapes.rs", "pub fn integers(");
	p = of_line(f, "shapes.rs", line - 1);
	assert_int_equal(p.line, line);
	assert_int_equal(p.n, 1);
	/* Its place is behind the prologue, where the first line of its body begins. */
	expect_line_of_code(f, &p.data[0]);
	assert_true(p.data[0].line > line);
	assert_true(p.data[0].addr > lookup_function(f->di, p.data[0].addr)->low);
	assert_int_equal(of_line(f, "shapes.rs", 100000).n, 0);
	assert_int_equal(of_line(f, "absent.rs", 1).n, 0);
}

static void test_functions(void **state)
{
	struct fixture *f = *state;
	struct code_places p = of_function(f, "leaf");

	expect(&p, line_of("shapes.rs", "pub async fn leaf(") + 1, "leaf::{async_fn#0}");
	assert_false(p.every_poll);
	p = of_function(f, "shapes::middle");
	expect(&p, line_of("shapes.rs", "pub async fn middle(") + 1, "middle::{async_fn#0}");
	/* All instances of a generic one. */
	p = of_function(f, "poll_task");
	expect(&p, p.line, "shapes::poll_task<");
	p = of_function(f, "boxed");
	assert_int_equal(p.n, 1);
	expect_line_of_code(f, &p.data[0]);
	assert_true(p.data[0].addr > lookup_function(f->di, p.data[0].addr)->low);
	assert_int_equal(of_function(f, "eaf").n, 0);
	assert_int_equal(of_function(f, "other::leaf").n, 0);
	assert_int_equal(of_function(f, "").n, 0);
}

static void test_inlined_functions(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/inlined.elf");
	struct code_places p = of_function(&f, "inner");
	unsigned line = line_of("inlined.rs", "pub async fn inner<") + 1;

	(void)state;
	expect(&p, line, "inner");
	for (size_t i = 0; i < p.n; i++)
		assert_true(p.data[i].inlined);
	p = of_line(&f, "src/inlined.rs", line);
	expect(&p, line, "inner");
	/* A method, by its type. */
	p = of_function(&f, "Selector::poll");
	assert_true(p.n > 0);
	expect(&p, p.line, "poll");
	fixture_close(&f);
}

/* The code of the function begins with that of an inlined one. */
static void test_inlined_at_entry(void **state)
{
	struct fixture f = fixture_open_file("testdata/unit/entry.elf");
	unsigned line = line_of("entry.rs", "pub fn entry(");
	struct code_places p = of_function(&f, "entry");

	(void)state;
	for (int i = 0; i < 2; i++) {
		expect(&p, line, "entry");
		assert_int_equal(p.n, 1);
		assert_false(p.data[0].inlined);
		/* Behind the instruction that saves a register. */
		assert_true(p.data[0].addr > lookup_function(f.di, p.data[0].addr)->low);
		assert_true(p.data[0].addr < lookup_function(f.di, p.data[0].addr)->low + 8);
		p = of_line(&f, "entry.rs", line);
	}
	p = of_function(&f, "line");
	expect(&p, line_of("entry.rs", "let start = from.at"), "line");
	assert_true(p.data[0].inlined);
	fixture_close(&f);
}

/* Maps the segments of a file where they would be loaded. */
static void map_segments(struct fixture *f, const char *path)
{
	enum { MAX_FILE = 1 << 20 };
	char whole[4096];
	unsigned char *file = arena_alloc(&f->arena, MAX_FILE);

	snprintf(whole, sizeof(whole), "%s/%s", getenv("SOURCE_DIR"), path);
	FILE *in = fopen(whole, "re");
	assert_non_null(in);
	size_t size = fread(file, 1, MAX_FILE, in);
	fclose(in);
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *segments = (const void *)(file + header->e_phoff);

	assert_in_range(size, sizeof(*header), MAX_FILE - 1);
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && segments[i].p_filesz)
			target_fake_map(f->target, segments[i].p_vaddr + BIAS,
			                file + segments[i].p_offset, segments[i].p_filesz);
	}
}

/* The part of a line behind its await is at a lower address than the code that comes to the line.
 */
static void test_await_in_a_loop(void **state)
{
	const char *path = "testdata/unit/resumed.elf";
	struct fixture f = fixture_open_file(path);
	unsigned line = line_of("resumed.rs", "sum += Nap(round).await");

	(void)state;
	map_segments(&f, path);
	struct code_places before = of_line(&f, "resumed.rs", line - 1);
	struct code_places p = of_line(&f, "resumed.rs", line);
	expect(&p, line, "rounds");
	assert_int_equal(p.n, 1);
	assert_int_equal(before.n, 1);
	assert_true(p.data[0].addr > before.data[0].addr);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_inlined_functions),
		cmocka_unit_test(test_inlined_at_entry),
		cmocka_unit_test(test_await_in_a_loop),
	};

	return cmocka_run_group_tests(tests, shapes_setup, shapes_teardown);
}

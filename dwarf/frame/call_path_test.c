/* Tests of call_path.c: on code made by hand, and on threads.c. */
#include "dwarf/frame/call_path.h"

#include "debugger/test/program.h"
#include "dwarf/module/code_map.h"
#include "dwarf/test/module.h"

enum { TEXT = 0x1000, LEN = 16, SLOT = 0x3000 };

/* Functions of LEN bytes, one behind the other, and a pointer to the first one at SLOT. */
struct code {
	uint8_t text[8 * LEN];
	struct code_function functions[8];
	struct code_pointer pointer;
	struct code_map map;
};

static uint64_t entry(size_t function)
{
	return TEXT + function * LEN;
}

/* Writes an instruction with a distance into a function; the address behind it. */
static uint64_t write_at(struct code *c, size_t function, size_t at, const char *opcode, size_t len,
                         uint64_t to)
{
	uint8_t *bytes = c->text + function * LEN + at;
	uint64_t behind = entry(function) + at + len + 4;
	int32_t distance = (int32_t)(to - behind);

	memcpy(bytes, opcode, len);
	memcpy(bytes + len, &distance, sizeof(distance));
	return behind;
}

static void make(struct code *c)
{
	*c = (struct code){ .pointer = { SLOT, TEXT } };
	memset(c->text, 0x90, sizeof(c->text));
	for (size_t i = 0; i < 8; i++)
		c->functions[i] = (struct code_function){ "f", entry(i), entry(i + 1) };
	c->map = (struct code_map){ .functions = c->functions,
		                    .n = 8,
		                    .pointers = &c->pointer,
		                    .npointers = 1,
		                    .text = c->text,
		                    .text_len = sizeof(c->text),
		                    .text_address = TEXT };
}

static void test_calls(void **state)
{
	struct call_link link;
	struct code c;

	(void)state;
	make(&c);
	uint64_t direct = write_at(&c, 1, 0, "\xe8", 1, entry(0));
	uint64_t other = write_at(&c, 1, 8, "\xe8", 1, entry(2));
	uint64_t by_slot = write_at(&c, 3, 0, "\xff\x15", 2, SLOT);
	assert_true(call_path_link(&c.map, direct, entry(0), &link));
	assert_int_equal(link.n, 0);
	assert_false(call_path_link(&c.map, direct, entry(2), &link));
	assert_false(call_path_link(&c.map, other, entry(0), &link));
	assert_true(call_path_link(&c.map, by_slot, entry(0), &link));
	/* No call lies before these. */
	assert_false(call_path_link(&c.map, direct - 1, entry(0), &link));
	assert_false(call_path_link(&c.map, entry(1), entry(0), &link));
	assert_false(call_path_link(&c.map, 1, entry(0), &link));
	assert_false(call_path_link(&c.map, 0, entry(0), &link));
	assert_false(call_path_link(&c.map, entry(9), entry(0), &link));
}

static void test_calls_through_registers(void **state)
{
	struct call_link link;
	struct code c;

	(void)state;
	make(&c);
	write_at(&c, 1, 0, "\x48\x8d\x05", 3, entry(0)); /* lea, call *%rax */
	memcpy(c.text + LEN + 8, "\xff\xd0", 2);
	assert_true(call_path_link(&c.map, entry(1) + 10, entry(0), &link));
	assert_false(call_path_link(&c.map, entry(1) + 10, entry(2), &link));
	write_at(&c, 2, 0, "\x4c\x8b\x05", 3, SLOT); /* mov, call *%r8 */
	memcpy(c.text + 2 * LEN + 8, "\x41\xff\xd0", 3);
	assert_true(call_path_link(&c.map, entry(2) + 11, entry(0), &link));
}

/* "call *" with an operand in memory, of each form, and what looks like it. */
static void test_calls_through_memory(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool indirect;
	} cases[] = {
		{ "\xff\x10", 2, true },                     /* (%rax) */
		{ "\xff\x50\x18", 3, true },                 /* 24(%rax) */
		{ "\x41\xff\x54\x24\x08", 5, true },         /* 8(%r12) */
		{ "\xff\x14\x24", 3, true },                 /* (%rsp) */
		{ "\xff\x93\x00\x01\x00\x00", 6, true },     /* 256(%rbx) */
		{ "\xff\x94\x24\x00\x01\x00\x00", 7, true }, /* 256(%rsp) */
		{ "\xff\x14\x25\x00\x10\x00\x00", 7, true }, /* 0x1000 */
		{ "\xff\xd3", 2, true },                     /* %rbx */
		{ "\xff\x60\x18", 3, false },                /* jmp */
		{ "\x48\x8b\x40\x18", 4, false },            /* mov */
	};
	struct code c;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(&c);
		memcpy(c.text + LEN, cases[i].bytes, cases[i].len);
		assert_int_equal(call_path_is_indirect(&c.map, entry(1) + cases[i].len),
		                 cases[i].indirect);
	}
	assert_false(call_path_is_indirect(&c.map, entry(1)));
	assert_false(call_path_is_indirect(&c.map, 0));
}

static void test_jumps(void **state)
{
	struct call_link link;
	struct code c;

	(void)state;
	make(&c);
	write_at(&c, 1, 2, "\xe9", 1, entry(0));
	write_at(&c, 2, 3, "\xe9", 1, entry(1));
	uint64_t after = write_at(&c, 3, 0, "\xe8", 1, entry(2));
	assert_true(call_path_link(&c.map, after, entry(0), &link));
	assert_int_equal(link.n, 2);
	assert_int_equal(link.jumps[0], entry(1) + 2);
	assert_int_equal(link.jumps[1], entry(2) + 3);
	/* A second way: which one was taken is unknown. */
	write_at(&c, 2, 10, "\xe9", 1, entry(0));
	assert_false(call_path_link(&c.map, after, entry(0), &link));
	/* Functions that jump to each other lead nowhere. */
	write_at(&c, 4, 0, "\xe9", 1, entry(5));
	write_at(&c, 5, 0, "\xe9", 1, entry(4));
	after = write_at(&c, 6, 0, "\xe8", 1, entry(4));
	assert_false(call_path_link(&c.map, after, entry(0), &link));
}

/* ---- frames ---- */

struct found {
	const struct code_map *map;
	uint64_t callee;
	size_t n, direct;
	bool by_pointer; /* so are the frames found */
};

static void count(uint64_t after, const struct call_frame *frame, void *arg)
{
	struct found *f = arg;
	struct call_link link;

	assert_true(frame->distance >= 8 && frame->distance % 8 == 0);
	assert_int_equal(frame->by_pointer, f->by_pointer);
	if (f->by_pointer)
		assert_int_equal(frame->kept, 8);
	assert_non_null(code_map_at(f->map, after - 1));
	f->n++;
	f->direct += call_path_link(f->map, after, f->callee, &link);
}

static void count_ends(uint64_t after, const struct call_frame *frame, void *arg)
{
	struct found *f = arg;

	(void)after;
	assert_int_equal(frame->distance, 0);
	f->n++;
}

static bool is_no_end(uint64_t after, void *arg)
{
	const struct found *f = arg;

	assert_non_null(code_map_at(f->map, after - 1));
	return false;
}

static uint64_t function_named(const struct code_map *m, const char *part)
{
	for (size_t i = 0; i < m->n; i++) {
		if (strstr(m->functions[i].name, part))
			return m->functions[i].low;
	}
	fail_msg("no function %s", part);
	return 0;
}

/* Of threads.c: worker() calls middle(), and that calls innermost(). */
static void test_frames(void **state)
{
	static const char *const parts[] = { "nothing", "middle", "worker", NULL };
	static const char *const one[] = { "worker", NULL };
	const char *directory = program_directory();
	char path[2 * PROGRAM_PATH];
	struct code_map map;

	(void)state;
	snprintf(path, sizeof(path), "%s/threads", directory);
	if (!program_build(directory, "threads", "threads.c", "")) {
		program_remove_directory(directory);
		skip();
	}
	struct fixture f = fixture_open(open(path, O_RDONLY | O_CLOEXEC), 0, 0x100000);
	f.dm->module->fd = open(path, O_RDONLY | O_CLOEXEC);
	fail_on(code_map_read(f.dm, &f.arena, &map));
	struct found found = { .map = &map, .callee = function_named(&map, "innermost") };
	struct call_path_search search = { .targets = &found.callee, .n = 1, .parts = parts };
	call_path_frames(f.target, &map, &search, count, &found);
	assert_int_equal(found.n, 2);
	assert_int_equal(found.direct, 1);
	search.end = "middle";
	call_path_frames(f.target, &map, &search, count_ends, &found);
	assert_int_equal(found.n, 3);
	search.ends = is_no_end;
	call_path_frames(f.target, &map, &search, count_ends, &found);
	assert_int_equal(found.n, 3);
	search.end = NULL;
	found.n = 0;
	search.parts = one;
	call_path_frames(f.target, &map, &search, count, &found);
	search.parts = parts;
	search.n = 0;
	call_path_frames(f.target, &map, &search, count, &found);
	assert_int_equal(found.n, 0);
	close(f.dm->module->fd);
	f.dm->module->fd = -1;
	fixture_close(&f);
	program_remove_directory(directory);
}

/* Calls are followed through functions whose frames are found by the frame pointer, which they
 * push. */
static void test_frames_by_pointer(void **state)
{
	static const char *const parts[] = { "nothing", "middle", "worker", NULL };
	const char *directory = program_directory();
	char path[2 * PROGRAM_PATH];
	struct code_map map;

	(void)state;
	snprintf(path, sizeof(path), "%s/threads", directory);
	if (!program_build(directory, "threads", "threads.c", "-fno-omit-frame-pointer")) {
		program_remove_directory(directory);
		skip();
	}
	struct fixture f = fixture_open(open(path, O_RDONLY | O_CLOEXEC), 0, 0x100000);
	f.dm->module->fd = open(path, O_RDONLY | O_CLOEXEC);
	fail_on(code_map_read(f.dm, &f.arena, &map));
	struct found found = { .map = &map,
		               .callee = function_named(&map, "innermost"),
		               .by_pointer = true };
	struct call_path_search search = { .targets = &found.callee, .n = 1, .parts = parts };
	call_path_frames(f.target, &map, &search, count, &found);
	assert_int_equal(found.n, 2);
	close(f.dm->module->fd);
	f.dm->module->fd = -1;
	fixture_close(&f);
	program_remove_directory(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_through_registers),
		cmocka_unit_test(test_calls_through_memory),
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_frames_by_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

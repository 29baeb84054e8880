/* Limits of the scan for tasks, in made-up memory: what it says when it cannot see everything. */
#include "runtimes/async_executor/executor.h"
#include "runtimes/test/futures.h"

enum {
	LIMIT = 1 << 20, /* of tasks in slabs, and of words that may be tasks */
	REFERENCE = 1 << ASYNC_EXECUTOR_REF_SHIFT,
	COUNTS = FUTURES_OTHER, /* of the Arc of a State */
	STATE = COUNTS + 16,
	NO_TASK = 1,       /* data of a waker: not the address of one */
	MANY = 0x40000000, /* entries of a slab, or words */
};

/* As executor_plan.c has them. */
static const struct binding_row rows[ASYNC_EXECUTOR_NROWS] = {
	[ASYNC_EXECUTOR_RUN] = { "task.run", "given", "ticks" },
	[ASYNC_EXECUTOR_OFFSET_S] = { "task.schedule", "given", "none", .optional = true },
	[ASYNC_EXECUTOR_OFFSET_F] = { "task.future", "given", "none", .optional = true },
	[ASYNC_EXECUTOR_ACTIVE] = { "executor.active", "given", "active.data.entries" },
	[ASYNC_EXECUTOR_LENGTH] = { "executor.length", "given", "active.data.len" },
	[ASYNC_EXECUTOR_WAKER] = { "executor.waker", "type:slab::Entry<core::task::wake::Waker>",
	                           "Occupied.0.waker.data" },
	[ASYNC_EXECUTOR_HEAD] = { "executor.head", "given", "none", .optional = true },
	[ASYNC_EXECUTOR_TAIL] = { "executor.tail", "given", "none", .optional = true },
};

struct scanned {
	struct futures f;
	struct async_executor_copy copy;
	struct async_executor_plan plan; /* of the only vtable */
	uint64_t vtable;
};

/* A program with one type of tasks. */
static void scanned_open(struct scanned *s)
{
	static const char state_path[] = "state", vtable_path[] = "vtable";
	uint64_t low, high;

	assert_int_equal(setenv("ASYNCDBG_SCAN", "1024,60000", 1), 0);
	*s = (struct scanned){ .f = futures_open_file("testdata/unit/executor.elf") };
	struct inspector *in = s->f.in;
	struct dwarf_module *dm = s->f.fixture.dm;

	debuginfo_constants(dm, &low, &high);
	s->vtable = (low + dm->module->bias + 7) / 8 * 8;
	s->copy.dm = dm;
	s->copy.state = must_find(&s->f.fixture, "async_executor::State");
	bindings_resolve(&in->arena, dm, s->copy.state, rows, ASYNC_EXECUTOR_NROWS,
	                 &s->copy.layout);
	s->plan.header = must_find(&s->f.fixture, "executor::Header");
	fail_on(inspector_path(in, s->plan.header, state_path, &s->plan.state));
	fail_on(inspector_path(in, s->plan.header, vtable_path, &s->plan.vtable));
	assert_true(path_offset(s->plan.vtable, &s->plan.table));
	s->plan.offset_s = type_size(s->plan.header);
	map_put(&s->copy.plans, s->vtable, &s->plan);
	s->copy.tables[s->copy.ntables++] = s->plan.table;
	async_executor_of(in)->copies = &s->copy;
}

/* A task at the root of memory whose schedule function refers to a State. */
static void add_task(struct scanned *s)
{
	static const char path[] = "state";
	struct value header = { s->plan.header, FUTURES_ROOT };

	s->plan.schedule = must_find(&s->f.fixture, "async_executor::Schedule");
	fail_on(inspector_path(s->f.in, s->plan.schedule, path, &s->plan.executor));
	futures_poke(&s->f, header, "state", REFERENCE);
	futures_poke(&s->f, header, "vtable", s->vtable);
	futures_poke(&s->f, (struct value){ s->plan.schedule, FUTURES_ROOT + s->plan.offset_s },
	             "state", COUNTS);
	target_fake_poke(s->f.fixture.target, COUNTS, &(uint64_t){ 1 }, 8);
}

/* The State's slab has so many wakers of what is no task of its own: no longer, or not yet. */
static void fill_slab(struct scanned *s, size_t n)
{
	struct value state = futures_value(&s->f, "async_executor::State", STATE);
	struct value entry =
		futures_value(&s->f, "slab::Entry<core::task::wake::Waker>", FUTURES_OTHER + 0x800);
	struct value waker = futures_member(futures_variant(&s->f, entry, "Occupied"), "__0.waker");
	const size_t size = type_size(entry.type);
	char *entries = calloc(n, size);

	assert_non_null(entries);
	futures_poke(&s->f, waker, "data", NO_TASK);
	futures_poke(&s->f, waker, "vtable", FUTURES_OTHER);
	fail_on(target_read(s->f.fixture.target, entry.addr, entries, size));
	for (size_t i = 1; i < n; i++)
		memcpy(entries + i * size, entries, size);
	target_fake_map(s->f.fixture.target, MANY, entries, n * size);
	free(entries);
	futures_poke(&s->f, state, "active.data.value.entries.buf.inner.ptr.pointer.pointer", MANY);
	futures_poke(&s->f, state, "active.data.value.entries.len", n);
}

static void scanned_run(struct scanned *s)
{
	fail_on(async_executor_scan(s->f.in));
	async_executor_note(s->f.c);
}

static void expect_complete(const struct scanned *s)
{
	const struct snapshot *out = s->f.c->out;

	if (!out->complete)
		fail_msg("%s", out->nnotes ? out->notes[0] : "no note");
	assert_int_equal(out->nnotes, 0);
	assert_null(out->unscanned);
}

static void expect_note(const struct scanned *s, const char *text)
{
	const struct snapshot *out = s->f.c->out;

	assert_false(out->complete);
	assert_int_equal(out->nnotes, 1);
	assert_string_equal(out->notes[0], text);
	assert_string_equal(out->unscanned, text);
}

static void scanned_close(struct scanned *s)
{
	futures_close(&s->f);
}

/*
 * A task in motion leads to a State none of whose tasks is one any more: it is no executor. After
 * the limit nothing is known of the next State.
 */
static void test_half_spawned(void **state)
{
	static const struct {
		size_t n;
		bool complete;
	} cases[] = { { 1, true }, { LIMIT - 1, true }, { LIMIT, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scanned s;

		scanned_open(&s);
		add_task(&s);
		fill_slab(&s, cases[i].n);
		scanned_run(&s);
		assert_int_equal(async_executor_of(s.f.in)->roots.n, 0);
		if (cases[i].complete)
			expect_complete(&s);
		else
			expect_note(&s, "executors of async-executor may be missing: too many of "
			                "its tasks were seen half spawned or ended");
		scanned_close(&s);
	}
}

/* Words that may be tasks, as in a program that keeps more addresses of a vtable than any has
 * tasks. */
static void test_too_many(void **state)
{
	(void)state;
	for (size_t over = 0; over <= 1; over++) {
		const size_t n = LIMIT + over;
		uint64_t *words = calloc(n, sizeof(*words));
		struct scanned s;

		assert_non_null(words);
		scanned_open(&s);
		for (size_t i = 0; i < n; i++)
			words[i] = s.vtable;
		target_fake_map(s.f.fixture.target, MANY, words, n * sizeof(*words));
		free(words);
		scanned_run(&s);
		if (over)
			expect_note(&s, "memory contains too much that looks like tasks: tasks of "
			                "async-executor may be missing");
		else
			expect_complete(&s);
		scanned_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_spawned),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Lists the tasks of a pool in made-up memory, also in hostile memory. */
#include "runtimes/futures_executor/local_pool.h"
#include "runtimes/test/futures.h"

#define TASK "futures_util::stream::futures_unordered::task::Task<futures_util::LocalFutureObj>"

enum { NNODES = 3, NEW_TASKS = FUTURES_OTHER + 0x400, RC = FUTURES_OTHER + 0x800 };

/* A pool with three tasks in its set, the second of which was woken, and no new ones. */
struct pool {
	struct futures f;
	struct local_pool_thread thread;
	struct value incoming; /* the Vec */
};

static uint64_t node_address(unsigned i)
{
	return FUTURES_OTHER + 0x80 * (uint64_t)i;
}

static struct value node(struct pool *p, unsigned i)
{
	return futures_value(&p->f, TASK, node_address(i));
}

/* Makes an Option<LocalFutureObj> a Some: the pointer to a function is not null. */
static void fill(struct pool *p, struct value option)
{
	const struct variant *some = type_variant(option.type, "Some");
	struct value payload = { some->payload, option.addr + some->offset };

	futures_poke(&p->f, payload, "__0.drop_fn", 1);
}

static void pool_open(struct pool *p)
{
	*p = (struct pool){ .f = futures_open() };
	struct value pool = futures_value(&p->f, "futures_util::LocalPool", FUTURES_ROOT);
	struct value pointer = futures_member(pool, "incoming.ptr.pointer");

	futures_poke(&p->f, pool, "pool.head_all", node_address(0));
	futures_poke(&p->f, pool, "incoming", RC);
	p->incoming = futures_member((struct value){ type_target(pointer.type), RC },
	                             "value.value.value");
	futures_poke(&p->f, p->incoming, "buf.inner.ptr", NEW_TASKS);
	for (unsigned i = 0; i < NNODES; i++) {
		fill(p, futures_member(node(p, i), "future.value"));
		futures_poke(&p->f, node(p, i), "len_all", i ? 0 : NNODES);
		futures_poke(&p->f, node(p, i), "next_all",
		             i + 1 < NNODES ? node_address(i + 1) : 0);
		futures_poke(&p->f, node(p, i), "queued", i == 1);
	}
	p->thread.copy = local_pool_copy_of(p->f.in, pool.type);
	p->thread.pool = pool;
	p->thread.info = collector_add_runtime(p->f.c, &local_pool_table);
}

/* How many tasks are listed, and the one note; NULL: the list is complete. */
static void expect_tasks(struct pool *p, size_t n, const char *note)
{
	const struct snapshot *s = p->f.c->out;

	local_pool_list_tasks(p->f.c, &p->thread);
	assert_int_equal(p->f.c->listed.n, n);
	assert_int_equal(p->thread.info->ntasks, n);
	assert_int_equal(s->complete, note == NULL);
	assert_int_equal(s->nnotes, note != NULL);
	if (note && !strstr(s->notes[0], note))
		fail_msg("%s", s->notes[0]);
	futures_close(&p->f);
}

static void test_tasks_of_the_set(void **state)
{
	struct pool p;
	(void)state;

	pool_open(&p);
	local_pool_list_tasks(p.f.c, &p.thread);
	assert_int_equal(p.f.c->listed.n, NNODES);
	for (unsigned i = 0; i < NNODES; i++) {
		const struct task *task = p.f.c->listed.data[i];

		assert_string_equal(task->id, task_key(p.f.c->a, local_pool_name, task->addr));
		assert_int_equal(task->state, i == 1 ? TASK_SCHEDULED : TASK_IDLE);
		assert_int_equal(task->addr, node_address(i));
		assert_ptr_equal(map_get(&p.f.c->tasks, node_address(i)), task);
	}
	assert_true(p.f.c->out->complete);
	futures_close(&p.f);
}

static void test_new_tasks(void **state)
{
	struct pool p;
	(void)state;

	pool_open(&p);
	futures_poke(&p.f, p.incoming, "len", 2);
	for (unsigned i = 0; i < 2; i++) {
		struct value object = { p.thread.copy->object,
			                NEW_TASKS + i * type_size(p.thread.copy->object) };

		futures_poke(&p.f, object, "future.pointer", FUTURES_OTHER);
	}
	local_pool_list_tasks(p.f.c, &p.thread);
	assert_int_equal(p.f.c->listed.n, NNODES + 2);
	assert_int_equal(p.f.c->listed.data[NNODES]->addr, NEW_TASKS);
	assert_int_equal(p.f.c->listed.data[NNODES]->state, TASK_SCHEDULED);
	assert_int_equal(p.thread.info->inject_len, 2);
	assert_int_equal(p.thread.info->expected_tasks, NNODES + 2);
	futures_close(&p.f);
}

static void test_empty_set(void **state)
{
	struct pool p;
	(void)state;

	pool_open(&p);
	futures_poke(&p.f, p.thread.pool, "pool.head_all", 0);
	expect_tasks(&p, 0, NULL);
}

static void test_ended_task(void **state)
{
	struct pool p;
	(void)state;

	pool_open(&p);
	futures_poke(&p.f,
	             futures_value(&p.f, "futures_util::LocalFutureObj",
	                           futures_member(node(&p, 1), "future.value").addr),
	             "drop_fn", 0);
	expect_tasks(&p, NNODES - 1, NULL);
}

/* What is read before a bad node stays. */
static void test_broken_lists(void **state)
{
	static const struct {
		unsigned node;
		const char *member;
		uint64_t number;
		size_t listed;
		const char *note;
	} cases[] = {
		{ 0, "len_all", 4, 3, "its list has 3 of 4 tasks" },
		{ 1, "next_all", 0, 2, "its list has 2 of 3 tasks" },
		{ 2, "next_all", FUTURES_OTHER, 3, "is circular" },
		{ 1, "next_all", FUTURES_HOLE, 2, "some tasks are missing" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pool p;

		pool_open(&p);
		futures_poke(&p.f, node(&p, cases[i].node), cases[i].member, cases[i].number);
		expect_tasks(&p, cases[i].listed, cases[i].note);
	}
}

static void test_impossible_new_tasks(void **state)
{
	struct pool p;
	(void)state;

	pool_open(&p);
	futures_poke(&p.f, p.incoming, "len", UINT64_C(1) << 40);
	expect_tasks(&p, NNODES, "new tasks");
	pool_open(&p);
	futures_poke(&p.f, p.incoming, "len", 1);
	expect_tasks(&p, NNODES, "is not a new task");
	pool_open(&p);
	futures_poke(&p.f, p.incoming, "len", 2);
	futures_poke(&p.f, p.incoming, "buf.inner.ptr", FUTURES_HOLE);
	expect_tasks(&p, NNODES, "some tasks are missing");
}

/* A vtable that nothing describes is reported of the task; the others are not affected. */
static void test_unknown_vtable(void **state)
{
	struct pool p;
	(void)state;

	pool_open(&p);
	local_pool_walk(p.f.c)->threads = &p.thread;
	local_pool_list_tasks(p.f.c, &p.thread);
	local_pool_decode(p.f.c, p.f.c->listed.data[0]);
	assert_non_null(p.f.c->listed.data[0]->problem);
	assert_null(p.f.c->listed.data[0]->root);
	assert_false(p.f.c->out->complete);
	futures_close(&p.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks_of_the_set),
		cmocka_unit_test(test_new_tasks),
		cmocka_unit_test(test_empty_set),
		cmocka_unit_test(test_ended_task),
		cmocka_unit_test(test_broken_lists),
		cmocka_unit_test(test_impossible_new_tasks),
		cmocka_unit_test(test_unknown_vtable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Lists the tasks of runtimes that no thread is inside, in made-up memory. */
#include "runtimes/compio/compio.h"
#include "runtimes/test/futures.h"

enum {
	REFERENCE = 1 << ASYNC_EXECUTOR_REF_SHIFT,
	TASK_SIZE = 0x40,
	MAX_TASKS = FUTURES_SIZE / TASK_SIZE,
	VTABLES = FUTURES_ROOT + FUTURES_SIZE, /* where nothing is read */
	QUEUES = 0x5550000,
	MAX_LEFT = 64, /* runtimes, of which the last has all others' tasks */
};

/* Tasks that a scan of memory found, and copies of compio. */
struct left {
	struct futures f;
	struct fixture library; /* its types: those of another module */
	struct async_executor_copy tasks;
	struct compio_copy copy, other; /* other: in library */
	struct async_executor_plan plans[MAX_TASKS];
	size_t n;
};

static void left_open(struct left *l)
{
	*l = (struct left){ .f = futures_open_file("testdata/unit/compio.elf") };
	l->tasks.dm = l->copy.dm = l->f.fixture.dm;
	l->tasks.ntables = 1; /* the first word */
	l->copy.version = "0.15.0";
	async_executor_of(l->f.in)->copies = &l->tasks;
	compio_of(l->f.in)->copies = &l->copy;
}

/* Another copy, in a library that the program has loaded. */
static void open_library(struct left *l)
{
	l->library = fixture_open_file("testdata/unit/compio.elf");
	l->other = (struct compio_copy){ .dm = l->library.dm, .version = "0.12.0" };
	l->copy.next = &l->other;
}

static void left_close(struct left *l)
{
	if (l->library.dm)
		fixture_close(&l->library);
	futures_close(&l->f);
}

/* A task with that schedule function of a module, whose member has the address of a queue. */
static uint64_t add_in(struct left *l, struct fixture *module, const char *schedule,
                       const char *member, uint64_t queue)
{
	static const char state[] = "state";
	struct async_executor_plan *plan = &l->plans[l->n];
	uint64_t addr = FUTURES_ROOT + l->n * TASK_SIZE, vtable = VTABLES + 8 * l->n++;
	struct value header = futures_value(&l->f, "compio_runtime::Header", addr);

	plan->header = header.type;
	plan->schedule = must_find(module, schedule);
	plan->future = must_find(&l->f.fixture, "compio_runtime::Future");
	plan->offset_s = type_size(plan->header);
	plan->offset_f = plan->offset_s + type_size(plan->schedule);
	assert_true(plan->offset_f + type_size(plan->future) <= TASK_SIZE);
	fail_on(inspector_path(l->f.in, plan->header, state, &plan->state));
	map_put(&l->tasks.plans, vtable, plan);
	futures_poke(&l->f, header, "vtable", vtable);
	futures_poke(&l->f, header, "state", REFERENCE);
	futures_poke(&l->f, (struct value){ plan->schedule, addr + plan->offset_s }, member, queue);
	*vec_push(&async_executor_of(l->f.in)->loose) = (struct unlisted_tasks){ &l->tasks, addr };
	return addr;
}

static uint64_t add(struct left *l, const char *schedule, const char *member, uint64_t queue)
{
	return add_in(l, &l->f.fixture, schedule, member, queue);
}

static uint64_t add_compio(struct left *l, uint64_t queue)
{
	return add(l, "compio_runtime::OfRuntime", "runnables", queue);
}

/* The runtime of that index has a queue there, and so many tasks. */
static void expect_runtime(struct left *l, size_t index, uint64_t queue, size_t ntasks)
{
	const struct snapshot *s = l->f.c->out;
	const struct runtime_info *info = l->f.c->runtimes.data[index].info;
	STR(note);

	assert_string_equal(info->flavor, "compio");
	assert_string_equal(info->found_by, "a scan of memory");
	assert_int_equal(info->completeness, COMPLETENESS_SCANNED);
	assert_int_equal(info->addr, queue);
	assert_int_equal(info->ntasks, ntasks);
	assert_false(s->complete);
	str_printf(&note,
	           "no thread is known to be inside runtime %zu (compio): a scan of memory found "
	           "%zu of its tasks and may have missed some",
	           index, ntasks);
	assert_string_equal(s->notes[index], str_text(&note));
}

static void expect_version(struct left *l, size_t index, const char *version)
{
	const struct runtime_info *info = l->f.c->runtimes.data[index].info;

	if (version)
		assert_string_equal(info->version, version);
	else
		assert_null(info->version);
}

static void expect_task(struct left *l, uint64_t addr, unsigned runtime)
{
	const struct task *task = map_get(&l->f.c->tasks, addr);

	assert_non_null(task);
	assert_int_equal(task->runtime, runtime);
	assert_int_equal(task->state, TASK_IDLE);
}

/* Each version has its queue elsewhere; those of one queue are of one runtime. */
static void test_queues(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	uint64_t scheduler =
		add(&l, "compio_runtime::OfScheduler", "task_queue.local_queue", QUEUES);
	uint64_t runtime = add_compio(&l, QUEUES + 8);
	uint64_t old = add(&l, "compio_runtime::OfOldRuntime", "local_runnables", QUEUES + 16);
	uint64_t same = add_compio(&l, QUEUES);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 3);
	expect_runtime(&l, 0, QUEUES, 2);
	expect_runtime(&l, 1, QUEUES + 8, 1);
	expect_runtime(&l, 2, QUEUES + 16, 1);
	expect_task(&l, scheduler, 0);
	expect_task(&l, same, 0);
	expect_task(&l, runtime, 1);
	expect_task(&l, old, 2);
	left_close(&l);
}

/* A path to the queue is not needed where another task tells its address. */
static void test_found_queue(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	uint64_t found = add(&l, "compio_runtime::OfUnknown", "queue", QUEUES);
	uint64_t known = add_compio(&l, QUEUES);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 1);
	expect_runtime(&l, 0, QUEUES, 2);
	expect_version(&l, 0, "0.15.0");
	expect_task(&l, found, 0);
	expect_task(&l, known, 0);
	left_close(&l);
}

/* async-executor lists those of others, and nobody those that have ended. */
static void test_others(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	add(&l, "another::Schedule", "runnables", QUEUES);
	uint64_t ended = add_compio(&l, QUEUES);
	futures_poke(&l.f, futures_value(&l.f, "compio_runtime::Header", ended), "state",
	             REFERENCE | ASYNC_EXECUTOR_COMPLETED);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 0);
	assert_int_equal(l.f.c->listed.n, 0);
	assert_true(l.f.c->out->complete);
	left_close(&l);
}

/* A task in a list stays in its runtime. */
static void test_listed(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	uint64_t listed = add_compio(&l, QUEUES), left = add_compio(&l, QUEUES);
	struct async_executor_header h = { .addr = listed,
		                           .state = REFERENCE,
		                           .plan = &l.plans[0] };
	struct runtime_info *info = collector_add_runtime(l.f.c, &compio_table);
	async_executor_add_task(l.f.c, info, &h);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 2);
	assert_int_equal(info->ntasks, 1);
	expect_task(&l, listed, 0);
	expect_task(&l, left, 1);
	left_close(&l);
}

/* Tasks whose queue is not known share a runtime, and take none of another one. */
static void test_unknown_queue(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	uint64_t first = add(&l, "compio_runtime::OfUnknown", "queue", QUEUES + 8);
	uint64_t known = add_compio(&l, QUEUES);
	uint64_t second = add(&l, "compio_runtime::OfUnknown", "queue", QUEUES + 16);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 2);
	expect_runtime(&l, 0, QUEUES, 1);
	expect_runtime(&l, 1, 0, 2);
	expect_task(&l, known, 0);
	expect_task(&l, first, 1);
	expect_task(&l, second, 1);
	left_close(&l);
}

/* Without known queues each copy has its own tasks, and no runtime those of both. */
static void test_two_copies(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	open_library(&l);
	uint64_t first = add(&l, "compio_runtime::OfUnknown", "queue", QUEUES);
	uint64_t second = add_in(&l, &l.library, "compio_runtime::OfUnknown", "queue", QUEUES + 8);
	uint64_t third = add(&l, "compio_runtime::OfUnknown", "queue", QUEUES + 16);
	uint64_t known =
		add_in(&l, &l.library, "compio_runtime::OfRuntime", "runnables", QUEUES + 24);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 3);
	expect_runtime(&l, 0, QUEUES + 24, 1);
	expect_runtime(&l, 1, 0, 2);
	expect_runtime(&l, 2, 0, 1);
	expect_version(&l, 0, "0.12.0");
	expect_version(&l, 1, "0.15.0");
	expect_version(&l, 2, "0.12.0");
	expect_task(&l, known, 0);
	expect_task(&l, first, 1);
	expect_task(&l, third, 1);
	expect_task(&l, second, 2);
	left_close(&l);
}

/* Tasks of a module without a copy may be of either one: of which is not claimed. */
static void test_neither_copy(void **state)
{
	struct fixture plugin;
	struct left l;
	(void)state;

	left_open(&l);
	open_library(&l);
	plugin = fixture_open_file("testdata/unit/compio.elf");
	uint64_t first = add(&l, "compio_runtime::OfUnknown", "queue", QUEUES);
	uint64_t either = add_in(&l, &plugin, "compio_runtime::OfUnknown", "queue", QUEUES + 8);
	uint64_t known = add_in(&l, &plugin, "compio_runtime::OfRuntime", "runnables", QUEUES + 16);
	uint64_t same =
		add_in(&l, &l.library, "compio_runtime::OfRuntime", "runnables", QUEUES + 16);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, 3);
	expect_runtime(&l, 0, QUEUES + 16, 2);
	expect_version(&l, 0, "0.12.0");
	expect_task(&l, known, 0);
	expect_task(&l, same, 0);
	expect_task(&l, first, 1);
	expect_version(&l, 1, "0.15.0");
	expect_task(&l, either, 2);
	expect_version(&l, 2, NULL);
	fixture_close(&plugin);
	left_close(&l);
}

/* What is left of tasks that have ended is counted, whether its memory was freed or not. */
static void test_rejected(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	add_compio(&l, QUEUES);
	uint64_t ended = add_compio(&l, QUEUES);
	futures_poke(&l.f, futures_value(&l.f, "compio_runtime::Header", ended), "state",
	             REFERENCE | ASYNC_EXECUTOR_COMPLETED);
	uint64_t freed = add_compio(&l, QUEUES);
	futures_poke(&l.f, futures_value(&l.f, "compio_runtime::Header", freed), "state", 0);
	async_executor_of(l.f.in)->loose.n--;
	*vec_push(&async_executor_of(l.f.in)->ended) = (struct unlisted_tasks){ &l.tasks, freed };
	compio_list_left(l.f.c);
	expect_runtime(&l, 0, QUEUES, 1);
	assert_int_equal(l.f.c->runtimes.data[0].info->rejected, 2);
	left_close(&l);
}

static void test_many(void **state)
{
	struct left l;
	(void)state;

	left_open(&l);
	for (size_t i = 0; i < MAX_TASKS; i++)
		add_compio(&l, QUEUES + 8 * i);
	compio_list_left(l.f.c);
	assert_int_equal(l.f.c->runtimes.n, MAX_LEFT);
	assert_int_equal(l.f.c->listed.n, MAX_TASKS);
	expect_runtime(&l, 0, QUEUES, 1);
	expect_runtime(&l, MAX_LEFT - 1, 0, MAX_TASKS - (MAX_LEFT - 1));
	left_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queues),        cmocka_unit_test(test_found_queue),
		cmocka_unit_test(test_others),        cmocka_unit_test(test_listed),
		cmocka_unit_test(test_unknown_queue), cmocka_unit_test(test_two_copies),
		cmocka_unit_test(test_neither_copy),  cmocka_unit_test(test_many),
		cmocka_unit_test(test_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Reads headers of tasks, lists of tasks and cells from made-up memory, also from hostile memory.
 */
#include "runtimes/test/futures.h"
#include "runtimes/tokio/tokio.h"

#define TASK   "tokio::runtime::task::"
#define HANDLE "tokio::runtime::scheduler::multi_thread::Handle"
#define FUTURE "tokio::sync::oneshot::Receiver"

enum { VTABLE = FUTURES_OTHER + 0x800, HANDLE_AT = FUTURES_OTHER + 0x900, NTASKS = 3, LIST = 7 };

/* A process with one copy of tokio. */
struct process {
	struct futures f;
	struct tokio *k;
	const struct type *cell;
	uint64_t poll; /* address of the tasks' poll function */
	struct runtime_info info;
	struct tokio_runtime runtime;
};

static uint64_t poll_address(struct process *p)
{
	Dwfl_Module *module = p->f.fixture.target->modules.main->dwfl;
	int n = dwfl_module_getsymtab(module);
	GElf_Sym symbol;

	for (int i = 0; i < n; i++) {
		const char *name = dwfl_module_getsym(module, i, &symbol, NULL);

		if (name && strstr(name, "3raw4poll"))
			return symbol.st_value + BIAS;
	}
	fail_msg("no poll function");
	return 0;
}

static struct value vtable(struct process *p)
{
	return futures_value(&p->f, TASK "core::Vtable", VTABLE);
}

static uint64_t task_address(unsigned i)
{
	return FUTURES_ROOT + 0x100 * (uint64_t)i;
}

static void poke_links(struct process *p, unsigned task, uint64_t prev, uint64_t next)
{
	struct value trailer = futures_value(&p->f, TASK "core::Trailer",
	                                     task_address(task) + offset_of(p->cell, "trailer"));

	futures_poke(&p->f, trailer, "owned.prev", prev);
	futures_poke(&p->f, trailer, "owned.next", next);
}

static struct value header(struct process *p, unsigned task)
{
	return futures_value(&p->f, TASK "core::Header", task_address(task));
}

/* Three tasks, 1 to 3, in a list of the runtime. */
static void process_open(struct process *p)
{
	*p = (struct process){ .f = futures_open() };
	p->k = tokio_of(p->f.in)->copies;
	assert_non_null(p->k);
	p->cell =
		must_find(&p->f.fixture, TASK "core::Cell<" FUTURE ", &tokio::runtime::scheduler::"
	                                      "ArcInner<" HANDLE ">>");
	p->poll = poll_address(p);
	const struct member *core = type_member(p->cell, "core");
	futures_poke(&p->f, vtable(p), "poll", p->poll);
	futures_poke(&p->f, vtable(p), "trailer_offset", offset_of(p->cell, "trailer"));
	futures_poke(&p->f, vtable(p), "scheduler_offset",
	             core->offset + offset_of(core->type, "scheduler"));
	uint64_t id = core->offset + offset_of(core->type, "task_id");
	futures_poke(&p->f, vtable(p), "id_offset", id);
	for (unsigned i = 0; i < NTASKS; i++) {
		uint64_t number = i + 1;

		futures_poke(&p->f, header(p, i), "state.val", 1 << TOKIO_REF_SHIFT);
		futures_poke(&p->f, header(p, i), "vtable", VTABLE);
		futures_poke(&p->f, header(p, i), "owner_id", LIST);
		target_fake_poke(p->f.fixture.target, task_address(i) + id, &number, 8);
		poke_links(p, i, i ? task_address(i - 1) : 0,
		           i + 1 < NTASKS ? task_address(i + 1) : 0);
	}
	p->runtime = (struct tokio_runtime){
		.tokio = p->k, .flavor = &tokio_flavors[0], .owned_id = LIST, .info = &p->info
	};
	tokio_forget_vtables(p->k);
}

static void process_close(struct process *p)
{
	futures_close(&p->f);
}

static void test_states(void **state)
{
	static const struct {
		uint64_t word;
		enum task_state state;
	} cases[] = {
		{ 0, TASK_IDLE },
		{ TOKIO_NOTIFIED, TASK_SCHEDULED },
		{ TOKIO_RUNNING | TOKIO_NOTIFIED, TASK_RUNNING },
		{ TOKIO_CANCELLED | TOKIO_NOTIFIED, TASK_CANCELLED },
		{ TOKIO_CANCELLED | TOKIO_RUNNING, TASK_RUNNING },
		{ TOKIO_COMPLETE | TOKIO_CANCELLED, TASK_COMPLETE },
		{ TOKIO_JOIN_INTEREST, TASK_IDLE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(tokio_task_state(cases[i].word | 3 << TOKIO_REF_SHIFT),
		                 cases[i].state);
}

static void test_header(void **state)
{
	struct process p;
	struct tokio_header h;

	(void)state;
	process_open(&p);
	/* The second time the vtable comes from the cache. */
	for (int i = 0; i < 2; i++) {
		fail_on(tokio_read_header(p.f.fixture.target, p.k, task_address(1), &h));
		assert_int_equal(h.id, 2);
		assert_int_equal(h.poll, p.poll);
		assert_int_equal(h.trailer, task_address(1) + offset_of(p.cell, "trailer"));
		assert_non_null(h.known);
	}
	process_close(&p);
}

/* Memory that is no header: each case changes one word of a good one. */
static void test_no_header(void **state)
{
	enum { STATE, VTABLE_OF, VTABLE_MEMBER, WITHOUT_SCHEDULER };
	static const struct {
		int what;
		const char *member;
		uint64_t number;
		const char *problem;
	} cases[] = {
		{ STATE, "state.val", 0, "bad state" },
		/* no reference is left */
		{ STATE, "state.val", TOKIO_JOIN_INTEREST | TOKIO_NOTIFIED, "bad state" },
		{ STATE, "state.val", 1 << TOKIO_REF_SHIFT | TOKIO_RUNNING | TOKIO_COMPLETE,
		  "bad state" },
		{ VTABLE_OF, "vtable", 0, "leads nowhere" },
		{ VTABLE_OF, "vtable", FUTURES_HOLE, "not readable" },
		/* it points at zeros */
		{ VTABLE_OF, "vtable", FUTURES_OTHER + 0xc00, "bad vtable" },
		{ VTABLE_MEMBER, "poll", FUTURES_ROOT, "poll is no code" },
		/* in the header */
		{ WITHOUT_SCHEDULER, "id_offset", 8, "bad vtable" },
		{ VTABLE_MEMBER, "id_offset", 1 << 20, "bad vtable" },
		{ VTABLE_MEMBER, "trailer_offset", 0, "bad vtable" },
		{ VTABLE_MEMBER, "trailer_offset", UINT64_MAX, "bad vtable" },
		{ VTABLE_MEMBER, "scheduler_offset", 1 << 20, "bad vtable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process p;
		struct tokio_header h;

		process_open(&p);
		if (cases[i].what == WITHOUT_SCHEDULER)
			futures_poke(&p.f, vtable(&p), "scheduler_offset", 0);
		futures_poke(&p.f, cases[i].what >= VTABLE_MEMBER ? vtable(&p) : header(&p, 0),
		             cases[i].member, cases[i].number);
		struct error *err = tokio_read_header(p.f.fixture.target, p.k, task_address(0), &h);
		if (!err || !strstr(err->message, cases[i].problem))
			fail_msg("%s %" PRIx64 ": %s", cases[i].member, cases[i].number,
			         err ? err->message : "no error");
		error_free(err);
		process_close(&p);
	}
}

static void test_no_address(void **state)
{
	struct process p;
	struct tokio_header h;
	struct target *t;

	(void)state;
	process_open(&p);
	t = p.f.fixture.target;
	expect_error(tokio_read_header(t, p.k, 0, &h), ERR_CORRUPT, "not aligned");
	expect_error(tokio_read_header(t, p.k, task_address(0) + 4, &h), ERR_CORRUPT,
	             "not aligned");
	struct error *err = tokio_read_header(t, p.k, FUTURES_HOLE, &h);
	assert_non_null(err);
	error_free(err);
	process_close(&p);
}

/* The ids in the order of the list, and the one note; NULL: the list is complete. */
static void expect_tasks(struct process *p, const char *ids, const char *note)
{
	const struct snapshot *s = p->f.c->out;
	char listed[64] = "";

	for (size_t i = 0; i < p->f.c->listed.n; i++)
		strncat(listed, p->f.c->listed.data[i]->id, 20);
	assert_string_equal(listed, ids);
	assert_int_equal(p->info.ntasks, strlen(ids));
	assert_int_equal(s->complete, note == NULL);
	assert_int_equal(s->nnotes, note != NULL);
	if (note && !strstr(s->notes[0], note))
		fail_msg("%s", s->notes[0]);
}

/* A list of which one node is changed. */
static void test_list(void **state)
{
	enum { NOTHING, PREV, NEXT, OWNER, STATE };
	static const struct {
		int what;
		unsigned task;
		uint64_t number;
		const char *ids, *note;
	} cases[] = {
		{ NOTHING, 0, 0, "123", NULL },
		/* It ends early; what is behind that cannot be known. */
		{ NEXT, 1, 0, "12", NULL },
		/* What the walk from the head does not find, that from the tail does. */
		{ NEXT, 0, FUTURES_HOLE, "132", "some tasks are missing" },
		{ NEXT, 1, FUTURES_ROOT + 4, "123", "not aligned" },
		{ NEXT, 2, FUTURES_ROOT, "123", "is circular" },
		{ NEXT, 1, FUTURES_ROOT + 0x100, "123", "is circular" },
		{ PREV, 1, FUTURES_ROOT + 0x200, "132", "is inconsistent" },
		{ OWNER, 1, LIST + 1, "13", "belongs to list 8, not 7" },
		{ STATE, 1, 0, "13", "bad state" },
		{ STATE, 0, 0, "32", "bad state" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process p;
		unsigned task = cases[i].task;

		process_open(&p);
		uint64_t prev = task ? task_address(task - 1) : 0;
		uint64_t next = task + 1 < NTASKS ? task_address(task + 1) : 0;
		if (cases[i].what == PREV || cases[i].what == NEXT)
			poke_links(&p, task, cases[i].what == PREV ? cases[i].number : prev,
			           cases[i].what == NEXT ? cases[i].number : next);
		else if (cases[i].what != NOTHING)
			futures_poke(&p.f, header(&p, task),
			             cases[i].what == OWNER ? "owner_id" : "state.val",
			             cases[i].number);
		tokio_list_chain(p.f.c, &p.runtime, task_address(0), task_address(NTASKS - 1));
		expect_tasks(&p, cases[i].ids, cases[i].note);
		process_close(&p);
	}
}

/* The handle of a multi_thread runtime with these numbers of shards and tasks. */
static void use_shards(struct process *p, uint64_t shards, uint64_t count)
{
	struct value handle = futures_value(&p->f, HANDLE, HANDLE_AT);
	struct value lists = futures_member(handle, "shared.owned.list.lists");

	futures_poke(&p->f, lists, "data_ptr", FUTURES_OTHER);
	futures_poke(&p->f, lists, "length", shards);
	p->info.expected_tasks = count;
	p->info.has_expected = true;
	p->runtime.handle = handle;
}

static void poke_shard(struct process *p, unsigned shard, uint64_t head, uint64_t tail)
{
	const struct type *list = must_find(&p->f.fixture, TASK "list::List");
	struct value v = { list, FUTURES_OTHER + shard * type_size(list) };

	futures_poke(&p->f, v, "head", head);
	futures_poke(&p->f, v, "tail", tail);
}

static void test_shards(void **state)
{
	static const struct {
		uint64_t second, shards, count;
		const char *ids, *note;
	} cases[] = {
		{ FUTURES_ROOT, 4, 3, "123", NULL },
		/* A bad shard hides no other. */
		{ FUTURES_HOLE, 4, 3, "1", "some tasks are missing" },
		{ FUTURES_ROOT, 4, 9, "123", "counts 9 tasks, its lists hold 3" },
		{ FUTURES_ROOT, 1 << 30, 3, "", "1073741824 shards" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct process p;

		process_open(&p);
		use_shards(&p, cases[i].shards, cases[i].count);
		if (cases[i].second == FUTURES_ROOT) {
			poke_shard(&p, 1, FUTURES_ROOT, task_address(NTASKS - 1));
		} else {
			poke_links(&p, 0, 0, 0);
			poke_shard(&p, 1, cases[i].second, 0);
			poke_shard(&p, 2, FUTURES_ROOT, FUTURES_ROOT);
		}
		tokio_list_tasks(p.f.c, &p.runtime);
		expect_tasks(&p, cases[i].ids, cases[i].note);
		process_close(&p);
	}
}

/* A current_thread runtime, here of tokio before 1.35, has one list. */
static void test_single_list(void **state)
{
	struct process p;

	(void)state;
	process_open(&p);
	struct value handle =
		futures_value(&p.f, "tokio::runtime::scheduler::current_thread::Handle", HANDLE_AT);
	futures_poke(&p.f, handle, "shared.owned.inner.list.list.head", task_address(0));
	p.runtime.flavor = &tokio_flavors[1];
	p.runtime.handle = handle;
	tokio_list_tasks(p.f.c, &p.runtime);
	expect_tasks(&p, "123", NULL);
	process_close(&p);
}

static struct value stage(struct process *p)
{
	return futures_member((struct value){ p->cell, task_address(0) }, "core.stage");
}

static void test_cell(void **state)
{
	struct process p;

	(void)state;
	process_open(&p);
	tokio_list_chain(p.f.c, &p.runtime, task_address(0), 0);
	struct task *task = p.f.c->listed.data[0];
	futures_variant(&p.f, stage(&p), "Running");
	tokio_decode_task(p.f.c, p.k, task);
	assert_null(task->problem);
	assert_string_equal(task->type, FUTURE);
	assert_string_equal(task->root->wait->kind, "oneshot");
	futures_variant(&p.f, stage(&p), "Consumed");
	tokio_decode_task(p.f.c, p.k, task);
	assert_non_null(strstr(task->problem, "its future is gone"));
	process_close(&p);
}

/* Code that no debug info covers: the task is shown, without its future. */
static void test_unknown_poll(void **state)
{
	struct process p;
	struct target *t;

	(void)state;
	process_open(&p);
	t = p.f.fixture.target;
	futures_poke(&p.f, vtable(&p), "poll", t->modules.main->end - 1);
	tokio_list_chain(p.f.c, &p.runtime, task_address(0), 0);
	tokio_decode_task(p.f.c, p.k, p.f.c->listed.data[0]);
	assert_non_null(
		strstr(p.f.c->listed.data[0]->problem, "no debug info covers its poll function"));
	assert_null(p.f.c->listed.data[0]->root);
	process_close(&p);
}

static void test_join_handle(void **state)
{
	struct process p;

	(void)state;
	process_open(&p);
	struct value v = futures_value(&p.f, TASK "join::JoinHandle", FUTURES_OTHER);
	futures_poke(&p.f, v, "raw", task_address(1));
	futures_expect(&p.f, v, "join", "join handle of task 2 (idle)");
	futures_poke(&p.f, header(&p, 1), "state.val", 1 << TOKIO_REF_SHIFT | TOKIO_COMPLETE);
	futures_expect(&p.f, v, "join", "join handle of task 2 (complete)");
	assert_int_equal(futures_decode(&p.f, v)->wait->object, task_address(1));
	futures_poke(&p.f, header(&p, 1), "state.val", 0);
	futures_expect_problem(&p.f, v, "bad state");
	futures_poke(&p.f, v, "raw", FUTURES_HOLE);
	futures_expect_problem(&p.f, v, "not readable");
	process_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),       cmocka_unit_test(test_header),
		cmocka_unit_test(test_no_header),    cmocka_unit_test(test_no_address),
		cmocka_unit_test(test_list),         cmocka_unit_test(test_shards),
		cmocka_unit_test(test_single_list),  cmocka_unit_test(test_cell),
		cmocka_unit_test(test_unknown_poll), cmocka_unit_test(test_join_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

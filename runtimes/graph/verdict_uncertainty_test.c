/* Verdicts that are uncertain, and the doubts that they name; threads, runtimes, large graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/base/str.h"
#include "runtimes/test/graph.h"

enum { A = 0xa0, B = 0xb0, C = 0xc0 };

static void semaphore(void **state)
{
	PROGRAM(p);
	struct task *parent = add_task(&p, 1, calls(&p, "f", joins(&p, 2)));

	(void)state;
	guards(&p, parent, "semaphore", A)->permits = 2;
	add_task(&p, 2, calls(&p, "child", locks(&p, "semaphore", A, 1)));
	assert_says(&p, "?deadlock task 1, task 2");
	assert_string_equal(p.verdicts->list[0].doubts[0],
	                    "unless permits are held elsewhere or added");
}

/* One of them can go on, also if its permit may be gone. */
static void semaphore_of_several(void **state)
{
	(void)state;
	for (int uncertain = 0; uncertain < 2; uncertain++) {
		PROGRAM(p);
		struct task *parent = add_task(&p, 1, calls(&p, "f", joins(&p, 2)));
		struct task *other = add_task(&p, 3, calls(&p, "g", sleeps(&p)));

		guards(&p, parent, "semaphore", A);
		guards(&p, other, "semaphore", A)->uncertain = uncertain;
		add_task(&p, 2, calls(&p, "child", locks(&p, "semaphore", A, 1)));
		assert_says(&p, "");
	}
}

static void uncertain_guard(void **state)
{
	PROGRAM(p);
	PROGRAM(both);
	struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", B, 1)));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));

	(void)state;
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B)->uncertain = true;
	assert_says(&p, "?deadlock task 1, task 2");
	assert_string_equal(p.verdicts->list[0].doubts[0],
	                    "it may have been dropped or moved earlier");
	/* Where one holder is certain, uncertain ones do not count. */
	one = add_task(&both, 1, calls(&both, "f", locks(&both, "mutex", B, 1)));
	two = add_task(&both, 2, calls(&both, "g", locks(&both, "mutex", A, 1)));
	guards(&both, one, "mutex", A);
	guards(&both, two, "mutex", B)->uncertain = true;
	guards(&both, add_task(&both, 3, calls(&both, "h", sleeps(&both))), "mutex", B);
	assert_says(&both, "");
}

/* RFD 609: the lock was granted to a future that its task does not poll. */
static void futurelock(void **state)
{
	PROGRAM(p);
	struct future *future1 =
		held(calls(&p, "app::do_it", locks(&p, "mutex", A, 0)), BRANCH_HELD);
	struct future *root = calls(&p, "app::do_stuff", locks(&p, "mutex", A, 1), future1);

	(void)state;
	add_task(&p, 5, root);
	assert_says(&p, "futurelock task 5");
	assert_text(&p, 0,
	            "task 5 waits for Mutex 0xa0, which has been granted to a future that it holds "
	            "but does not poll: `app::do_it` at src/x.rs:12, queued behind it: task 5");
}

/* It becomes one as soon as the other task releases the lock. */
static void futurelock_to_be(void **state)
{
	PROGRAM(p);
	struct future *arm = locks(&p, "mutex", A, 1);

	(void)state;
	arm->branch = BRANCH_DISABLED;
	arm->edge = "select arm 0";
	add_task(&p, 5,
	         calls(&p, "app::do_stuff", as(locks(&p, "mutex", A, 2), "select arm 1"), arm));
	guards(&p, add_task(&p, 6, calls(&p, "g", sleeps(&p))), "mutex", A);
	assert_says(&p, "futurelock task 5");
	assert_text(
		&p, 0,
		"task 5 waits for Mutex 0xa0, queued behind a future that it holds but does not "
		"poll: `Leaf` at src/x.rs:12, place 1 in the queue, queued behind it: task 5");
}

/* A future of task 5 stands ahead of task 6, for which task 5 waits. Task 7 has the lock. */
static void futurelock_across_tasks(void **state)
{
	PROGRAM(p);
	struct future *first = held(calls(&p, "app::add", locks(&p, "mutex", A, 1)), BRANCH_HELD);

	(void)state;
	first->variable = "first";
	add_task(&p, 5, calls(&p, "app::keep", joins(&p, 6), first));
	add_task(&p, 6, calls(&p, "app::f", locks(&p, "mutex", A, 2)));
	guards(&p, add_task(&p, 7, calls(&p, "app::g", sleeps(&p))), "mutex", A);
	add_task(&p, 8, calls(&p, "app::f", locks(&p, "mutex", A, 3)));
	assert_says(&p, "futurelock task 5, task 6 <- task 8");
	assert_text(&p, 0,
	            "task 5 has an unpolled future in the queue of Mutex 0xa0 (`first` "
	            "of `app::keep`: `app::add` at src/x.rs:12, place 1 in the queue, queued "
	            "behind it: task 6, task 8) and waits for task 6 to end; task 6 waits for "
	            "Mutex 0xa0");
}

static struct future *wants_permit(struct program *p, int64_t place)
{
	return with(p, locks(p, "semaphore", A, place), "permits_missing", DETAIL_INT, place != 0);
}

/* Permits are scarce: task 6 gets one only after the future of task 5 has given its own back. */
static void futurelock_of_permits(void **state)
{
	(void)state;
	for (unsigned permits = 1; permits <= 2; permits++) {
		PROGRAM(p);
		struct future *first = held(calls(&p, "add", wants_permit(&p, 1)), BRANCH_HELD);

		add_task(&p, 5, calls(&p, "keep", joins(&p, 6), first));
		add_task(&p, 6, calls(&p, "f", wants_permit(&p, 2)));
		guards(&p, add_task(&p, 7, calls(&p, "g", sleeps(&p))), "semaphore", A)->permits =
			permits;
		assert_says(&p, permits == 1 ? "?futurelock task 5, task 6" : "");
	}
	/* It is unknown how many the holder has, or the keeper can go on. */
	for (unsigned sleeping = 0; sleeping < 2; sleeping++) {
		PROGRAM(p);
		struct future *first = held(calls(&p, "add", wants_permit(&p, 1)), BRANCH_HELD);

		add_task(&p, 5, calls(&p, "keep", sleeping ? sleeps(&p) : joins(&p, 6), first));
		add_task(&p, 6, calls(&p, "f", wants_permit(&p, 2)));
		guards(&p, add_task(&p, 7, calls(&p, "g", sleeps(&p))), "semaphore", A)->permits =
			sleeping;
		assert_says(&p, "");
	}
}

static struct future *wants_room(struct program *p, int64_t place)
{
	struct future *f = locks(p, "mpsc_send", A, place);

	with(p, f, "permits_missing", DETAIL_INT, place != 0);
	with(p, f, "queued", DETAIL_INT, 0);
	return with(p, f, "capacity", DETAIL_INT, 1);
}

/* The only slot of the channel belongs to a future that task 5 does not poll. */
static void futurelock_of_room(void **state)
{
	PROGRAM(p);
	struct future *first = held(calls(&p, "send", wants_room(&p, 0)), BRANCH_HELD);

	(void)state;
	add_task(&p, 5, calls(&p, "keep", joins(&p, 6), first));
	add_task(&p, 6, calls(&p, "f", wants_room(&p, 1)));
	holds(&p, add_task(&p, 7, calls(&p, "g", sleeps(&p))), HOLDING_RECEIVER, "mpsc", A);
	assert_says(&p, "?futurelock task 5, task 6");
}

/* An unseen holder may poll it, for example a table whose entries are untyped bytes. */
static void futurelock_or_polled_unseen(void **state)
{
	PROGRAM(p);
	struct future *future1 =
		held(calls(&p, "app::do_it", locks(&p, "mutex", A, 0)), BRANCH_HELD);

	(void)state;
	future1->note = "may be polled by code that asyncdbg cannot see";
	add_task(&p, 5, calls(&p, "app::do_stuff", locks(&p, "mutex", A, 1), future1));
	assert_says(&p, "?futurelock task 5");
}

static void futurelock_by_a_guard(void **state)
{
	PROGRAM(p);
	struct future *future1 = held(calls(&p, "app::do_it", sleeps(&p)), BRANCH_HELD);
	struct task *task =
		add_task(&p, 5, calls(&p, "app::do_stuff", locks(&p, "mutex", A, 1), future1));

	(void)state;
	guards(&p, task, "mutex", A)->future = future1;
	assert_says(&p, "futurelock task 5");
}

/* The task can go on, and will then poll or drop it. */
static void no_futurelock(void **state)
{
	PROGRAM(p);
	struct future *future1 = held(locks(&p, "mutex", A, 0), BRANCH_HELD);

	(void)state;
	add_task(&p, 5, calls(&p, "app::do_stuff", sleeps(&p), future1));
	add_task(&p, 6, calls(&p, "g", locks(&p, "mutex", A, 1)));
	assert_says(&p, "");
}

/* A boxed future that was moved to another task: both tasks show its memory. */
static void given_away(void **state)
{
	PROGRAM(p);
	struct future *there = locks(&p, "mutex", A, 0), *trace = locks(&p, "mutex", A, 0);

	(void)state;
	there->addr = trace->addr = 0x7000;
	held(trace, BRANCH_HELD)->note = "may have been moved out";
	add_task(&p, 5, calls(&p, "app::gave", locks(&p, "mutex", A, 1), trace));
	add_task(&p, 6, calls(&p, "app::got", there))->state = TASK_IDLE;
	assert_says(&p, "");
}

/* An unpolled future that may be gone proves nothing, unless the queue links it. */
static void boxed_futures_that_may_be_gone(void **state)
{
	PROGRAM(granted);
	PROGRAM(alone);
	PROGRAM(queued);

	(void)state;
	struct future *trace = held(locks(&granted, "mutex", A, 0), BRANCH_HELD);
	trace->note = "may have been moved out";
	add_task(&granted, 5, calls(&granted, "app::f", locks(&granted, "mutex", A, 1), trace));
	add_thread(&granted, THREAD_WORKER, NULL)->state = "running task 6";
	assert_says(&granted, "?futurelock task 5");
	/* No thread runs, and no other future can hold the lock. */
	trace = held(locks(&alone, "mutex", A, 0), BRANCH_HELD);
	trace->note = "may have been moved out";
	add_task(&alone, 5, calls(&alone, "app::f", locks(&alone, "mutex", A, 1), trace));
	assert_says(&alone, "~futurelock task 5");
	trace = held(locks(&queued, "mutex", A, 1), BRANCH_HELD);
	trace->note = "may have been moved out";
	add_task(&queued, 5, calls(&queued, "app::f", locks(&queued, "mutex", A, 2), trace));
	assert_says(&queued, "futurelock task 5");
}

/* The doubt of every unpolled future on the way to the one in the queue counts. */
static void doubts_inside_a_certain_future(void **state)
{
	static const char *const notes[] = { "may have been moved out",
		                             "may be polled by code that asyncdbg cannot see" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		PROGRAM(p);
		struct future *inner = calls(&p, "app::inner", locks(&p, "mutex", A, 0));

		held(inner, BRANCH_HELD)->note = i < 2 ? notes[i] : NULL;
		inner->uncertain = i == 2;
		add_task(&p, 5,
		         calls(&p, "app::f", locks(&p, "mutex", A, 1),
		               held(calls(&p, "app::outer", sleeps(&p), inner), BRANCH_HELD)));
		add_thread(&p, THREAD_WORKER, NULL)->state = "running task 6";
		assert_says(&p, "?futurelock task 5");
	}
}

/* Memory that was freed and reused is seen from two tasks, and either may poll it. */
static void traces_of_two(void **state)
{
	(void)state;
	for (unsigned last = 0; last < 2; last++) {
		PROGRAM(p);

		for (unsigned i = 0; i < 2; i++) {
			struct future *trace = held(locks(&p, "mutex", A, 0), BRANCH_HELD);
			struct future *leaf = i == last ? sleeps(&p) : locks(&p, "mutex", A, 1);

			trace->addr = 0x7000;
			trace->note = "may have been moved out";
			add_task(&p, 5 + i, calls(&p, "app::f", leaf, trace));
		}
		assert_says(&p, "");
	}
}

static void weak_senders(void **state)
{
	PROGRAM(p);
	struct future *f = with(&p, receives(&p, C, 1), "weak_senders", DETAIL_INT, 1);

	(void)state;
	holds(&p, add_task(&p, 1, calls(&p, "collect", f)), HOLDING_SENDER, "mpsc", C);
	assert_says(&p, "?lost task 1");
}

/* A channel of flume or async-channel may get another end, or be closed by an end that is there. */
static void channels_with_other_ways_out(void **state)
{
	static const struct {
		const char *key;
		int64_t number;
		const char *says;
	} cases[] = {
		{ "weak_ends", 1, "?lost task 1" },
		{ "may_close", 1, "?lost task 1" },
		{ "receivers", 2, "lost task 1" },
		{ "granted", 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		PROGRAM(p);
		struct future *f =
			with(&p, receives(&p, C, 1), cases[i].key, DETAIL_INT, cases[i].number);

		f->wait->kind = "channel_recv";
		holds(&p, add_task(&p, 1, calls(&p, "collect", f)), HOLDING_SENDER, "channel", C);
		assert_says(&p, cases[i].says);
	}
}

/* The only place where a guard was found. A running thread may hold it instead. */
static void sole_candidates(void **state)
{
	(void)state;
	for (unsigned running = 0; running < 2; running++) {
		PROGRAM(p);
		struct task *one = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", A, 1)));
		struct holding *h = guards(&p, one, "mutex", A);

		h->uncertain = h->sole = true;
		if (running)
			add_thread(&p, THREAD_WORKER, NULL)->state = "running task 6";
		assert_says(&p, running ? "?deadlock task 1" : "~deadlock task 1");
	}
}

/* Arms use a channel end that the forking frame owns. */
static void arms_that_borrow(void **state)
{
	PROGRAM(p);
	PROGRAM(moved);
	struct future *producer = as(calls(&p, "send", sleeps(&p)), "join arm 0");
	struct future *join = calls(&p, "futures_util::future::join::Join<A, B>", producer,
	                            as(calls(&p, "recv", receives(&p, C, 1)), "join arm 1"));

	(void)state;
	holds(&p, add_task(&p, 1, calls(&p, "pipe", join)), HOLDING_SENDER, "mpsc", C);
	assert_says(&p, "");
	/* An end that an arm owns is used by no other arm. */
	producer = as(calls(&moved, "send", receives(&moved, A, 1)), "join arm 0");
	struct future *consumer = as(calls(&moved, "recv", receives(&moved, C, 1)), "join arm 1");
	join = calls(&moved, "futures_util::future::join::Join<A, B>", producer, consumer,
	             as(sleeps(&moved), "join arm 2"));
	struct task *one = add_task(&moved, 1, calls(&moved, "pipe", join));
	holds(&moved, one, HOLDING_SENDER, "mpsc", C)->future = producer;
	holds(&moved, one, HOLDING_SENDER, "mpsc", A)->future = consumer;
	assert_says(&moved, "lost task 1");
}

static void lost(void **state)
{
	PROGRAM(p);
	struct task *task = add_task(&p, 1, calls(&p, "collect", receives(&p, C, 1)));

	(void)state;
	holds(&p, task, HOLDING_SENDER, "mpsc", C)->path = "sender";
	assert_says(&p, "lost task 1");
	assert_text(&p, 0,
	            "task 1 waits for the other end of mpsc channel 0xc0, and is the only owner of "
	            "that end (`sender` at src/x.rs:41)");
}

/* Both tasks own a sender that the first waits for; the second waits for a lock of the first. */
static void nobody_is_lost_alone(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "get", receives(&p, C, 2)));
	struct task *two = add_task(&p, 2, calls(&p, "get", locks(&p, "mutex", A, 1)));

	(void)state;
	holds(&p, one, HOLDING_SENDER, "mpsc", C);
	holds(&p, two, HOLDING_SENDER, "mpsc", C);
	holds(&p, one, HOLDING_LOCK, "mutex", A);
	assert_says(&p, "deadlock task 1, task 2");
}

static struct future *sends(struct program *p, uint64_t object, int64_t queued)
{
	struct future *f = locks(p, "mpsc_send", object, 1);

	with(p, f, "capacity", DETAIL_INT, 1);
	return with(p, f, "queued", DETAIL_INT, queued);
}

static void mailboxes(int64_t queued, const char *expected)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "act", sends(&p, A, queued)));
	struct task *two = add_task(&p, 2, calls(&p, "act", sends(&p, B, queued)));

	holds(&p, one, HOLDING_RECEIVER, "mpsc", B)->primitive = 0;
	holds(&p, two, HOLDING_RECEIVER, "mpsc", A)->primitive = 0;
	assert_says(&p, expected);
}

static void full_mailboxes(void **state)
{
	PROGRAM(own);

	(void)state;
	mailboxes(1, "deadlock task 1, task 2");
	/* Some task holds a permit to send. */
	mailboxes(0, "?deadlock task 1, task 2");
	struct task *alone = add_task(&own, 1, calls(&own, "act", sends(&own, A, 1)));
	holds(&own, alone, HOLDING_RECEIVER, "mpsc", A);
	assert_says(&own, "deadlock task 1");
}

static void oneshot(void **state)
{
	PROGRAM(p);
	struct future *f = with(&p, leaf(&p, "oneshot", C), "sender_alive", DETAIL_BOOL, 1);
	struct task *client, *server;

	(void)state;
	with(&p, f, "value_there", DETAIL_BOOL, 0);
	client = add_task(&p, 1, calls(&p, "ask", f));
	server = add_task(&p, 2, calls(&p, "answer", locks(&p, "mutex", A, 1)));
	guards(&p, client, "mutex", A);
	holds(&p, server, HOLDING_SENDER, "oneshot", C);
	assert_says(&p, "deadlock task 1, task 2");
}

/* A holder of a Notify may use it or not. */
static void weak_edges_close_no_cycle(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", leaf(&p, "notify", C)));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));

	(void)state;
	guards(&p, one, "mutex", A);
	holds(&p, two, HOLDING_WAKER, "notify", C);
	assert_says(&p, "");
}

static void block_on(void **state)
{
	PROGRAM(p);

	(void)state;
	add_thread(&p, THREAD_BLOCK_ON, calls(&p, "main", joins(&p, 7)))->tid = 99;
	guards(&p, NULL, "mutex", A)->future = p.threads.data[0].root;
	add_task(&p, 7, calls(&p, "f", locks(&p, "mutex", A, 1)));
	assert_says(&p, "deadlock task 7, thread #1");
	assert_text(&p, 0,
	            "task 7 waits for Mutex 0xa0; thread #1 holds Mutex 0xa0 (`guard` at "
	            "src/x.rs:41) and waits for task 7 to end");
}

static struct wait *std_mutex(struct program *p, uint64_t object)
{
	struct wait *w = NEW(&p->s.arena, struct wait);

	w->kind = w->phrase = "std_mutex";
	w->object = w->primitive = object;
	return w;
}

/*
 * A std guard held across an await: the only worker is blocked and never polls the guard's owner.
 */
static void only_worker_blocked(unsigned free_workers, const char *expected)
{
	PROGRAM(p);
	static struct runtime_info runtime = { .workers_poll = true };
	struct task *owner = add_task(&p, 1, calls(&p, "f", sleeps(&p)));
	struct task *other = add_task(&p, 2, NULL);
	struct thread_info *th = add_thread(&p, THREAD_WORKER, NULL);

	guards(&p, owner, "std_mutex", A);
	other->state = TASK_RUNNING;
	other->thread = 1;
	th->task = "2";
	th->wait = std_mutex(&p, A);
	for (unsigned i = 0; i < free_workers; i++)
		add_thread(&p, THREAD_WORKER, NULL);
	runtime.workers = 1 + free_workers;
	judge(&p);
	p.s.runtimes = &runtime;
	verdicts_free(p.verdicts);
	graph_free(p.graph);
	p.graph = graph_build(&p.s);
	p.verdicts = verdicts_find(p.graph);
	SCRATCH(tmp);
	assert_string_equal(p.verdicts->n ? verdict_text(&tmp, p.graph, &p.verdicts->list[0]) : "",
	                    expected);
}

static void std_guard_across_an_await(void **state)
{
	(void)state;
	only_worker_blocked(
		0, "task 1 holds std Mutex 0xa0 (`guard` at src/x.rs:41) and needs a worker of "
		   "runtime 0, all of which are blocked; thread #1 waits for std Mutex 0xa0");
	only_worker_blocked(1, "");
}

/* Two threads, each with a guard in its own frames. */
static void native_locks(void **state)
{
	PROGRAM(p);

	(void)state;
	add_thread(&p, THREAD_WORKER, NULL);
	add_thread(&p, THREAD_WORKER, NULL);
	add_thread(&p, THREAD_WORKER, NULL);
	p.threads.data[0].wait = std_mutex(&p, B);
	p.threads.data[1].wait = std_mutex(&p, A);
	guards(&p, NULL, "std_mutex", A)->thread = 1;
	guards(&p, NULL, "std_mutex", B)->thread = 2;
	assert_says(&p, "deadlock thread #1, thread #2");
}

static void hand_written_futures_are_doubtful(void **state)
{
	PROGRAM(p);
	PROGRAM(beside);
	struct future *inner = as(locks(&p, "mutex", B, 1), "holds");
	struct task *one = add_task(&p, 1, calls(&p, "f", inner));
	struct task *two = add_task(&p, 2, calls(&p, "g", locks(&p, "mutex", A, 1)));

	(void)state;
	guards(&p, one, "mutex", A);
	guards(&p, two, "mutex", B);
	assert_says(&p, "?deadlock task 1, task 2");
	/* A sibling that may be polled too can go on. */
	inner = as(locks(&beside, "mutex", B, 1), "holds");
	one = add_task(&beside, 1, calls(&beside, "f", inner, as(sleeps(&beside), "holds")));
	two = add_task(&beside, 2, calls(&beside, "g", locks(&beside, "mutex", A, 1)));
	guards(&beside, one, "mutex", A);
	guards(&beside, two, "mutex", B);
	assert_says(&beside, "");
}

/* A task owns the only sender of the channel that its leaf receives from. */
static void assert_says_of(const char *type, bool within, const char *expected)
{
	PROGRAM(p);
	struct future *f = receives(&p, C, 1);
	struct task *task;

	f->type = type;
	f->wait->within = within;
	task = add_task(&p, 1, calls(&p, "collect", f));
	holds(&p, task, HOLDING_SENDER, "mpsc", C)->path = "sender";
	assert_says(&p, expected);
}

/* Such a future may also poll something else, which sends. */
static void what_was_found_in_a_future_is_doubtful(void **state)
{
	(void)state;
	assert_says_of("app::Actor", true, "?lost task 1");
	assert_says_of("core::future::poll_fn::PollFn<app::run::{closure_env#0}>", false,
	               "?lost task 1");
	assert_says_of("core::future::poll_fn::PollFn<tokio::sync::mpsc::bounded::{impl#1}::recv::"
	               "{async_fn#0}::{closure_env#0}<u32>>",
	               false, "lost task 1");
	/* A future of tokio polls its members only; a member of another crate may poll anything. */
	assert_says_of("tokio::io::util::read_exact::ReadExact<tokio::net::tcp::stream::TcpStream>",
	               true, "lost task 1");
	assert_says_of("tokio::io::util::read_exact::ReadExact<app::Tls>", true, "?lost task 1");
	assert_says_of("tokio::io::util::read_exact::ReadExact<alloc::boxed::Box<(dyn app::Any)>>",
	               true, "?lost task 1");
}

/* Certain deadlocks come first, and stay certain beside uncertain ones. */
static void certain_ones_come_first(void **state)
{
	PROGRAM(p);
	struct task *one = add_task(&p, 1, calls(&p, "f", joins(&p, 2)));
	struct task *three, *four;

	(void)state;
	guards(&p, one, "semaphore", A);
	add_task(&p, 2, calls(&p, "child", locks(&p, "semaphore", A, 1)));
	three = add_task(&p, 3, calls(&p, "f", locks(&p, "mutex", C, 1)));
	four = add_task(&p, 4, calls(&p, "g", locks(&p, "mutex", B, 1)));
	guards(&p, three, "mutex", B);
	guards(&p, four, "mutex", C);
	assert_says(&p, "deadlock task 3, task 4; ?deadlock task 1, task 2");
}

enum { MANY = 100000 };

/* All tasks wait for one lock: each adds a few edges, whatever their number. */
static void many_waiters_are_linear(void **state)
{
	PROGRAM(p);
	struct task *holder = add_task(&p, 1, calls(&p, "f", locks(&p, "mutex", B, 1)));
	struct task *other = add_task(&p, 2, calls(&p, "f", joins(&p, 1)));

	(void)state;
	guards(&p, holder, "mutex", A);
	guards(&p, other, "mutex", B);
	for (uint64_t i = 0; i < MANY; i++)
		add_task(&p, 3 + i, calls(&p, "f", locks(&p, "mutex", A, (int64_t)i + 1)));
	judge(&p);
	assert_true(p.graph->nedges < 5 * MANY);
	assert_true(p.graph->nnodes < 3 * MANY);
	assert_int_equal(p.verdicts->n, 1);
	assert_int_equal(p.verdicts->list[0].nmembers, 2);
	assert_int_equal(p.verdicts->list[0].nbehind, MANY);
}

/* A cycle of all tasks of the program. */
static void a_huge_cycle(void **state)
{
	PROGRAM(p);

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		add_task(&p, 1 + i, calls(&p, "f", joins(&p, 1 + (i + 1) % MANY)));
	judge(&p);
	assert_int_equal(p.verdicts->n, 1);
	assert_int_equal(p.verdicts->list[0].nmembers, MANY);
	SCRATCH(tmp);
	assert_true(strlen(verdict_text(&tmp, p.graph, &p.verdicts->list[0])) < 4096);
}

/* A channel's senders add one edge each, not one per sender and receiver. */
static void many_senders(void **state)
{
	PROGRAM(p);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		holds(&p, add_task(&p, 1 + i, calls(&p, "f", locks(&p, "semaphore", C, 1))),
		      HOLDING_SENDER, "broadcast", A);
	for (uint64_t i = 0; i < 1000; i++) {
		struct future *f = with(&p, leaf(&p, "broadcast", A), "senders", DETAIL_INT, 1000);

		add_task(&p, 2000 + i, calls(&p, "g", with(&p, f, "lag", DETAIL_INT, 0)));
	}
	judge(&p);
	assert_true(p.graph->nedges < 10000);
}

/*
 * tokio issue 7892: a lock is granted to a future of the task, which blocks its worker on a future
 * that waits for the same lock, by block_in_place() and Handle::block_on().
 */
static void futurelock_through_a_nested_block_on(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		PROGRAM(p);
		struct future *update = calls(&p, "app::update", locks(&p, "mutex", A, 0));
		struct task *task = add_task(&p, 3, calls(&p, "app::actor", sleeps(&p)));
		struct thread_info *worker = add_thread(
			&p, THREAD_WORKER, calls(&p, "app::log", locks(&p, "mutex", A, 1)));
		struct holding *h = guards(&p, task, "mutex", A);

		h->granted = true;
		h->future = update;
		task->state = TASK_RUNNING;
		task->thread = worker->number;
		worker->task = task->id;
		/* Else the worker runs other code: the task may go on. */
		worker->waits_for_root = i == 0;
		judge(&p);
		assert_int_equal(p.verdicts->n, i == 0);
		if (i == 0)
			assert_text(&p, 0,
			            "task 3 has been granted Mutex 0xa0 for a future that it holds "
			            "but does not poll (`guard` at src/x.rs:41 in `app::update` at "
			            "src/x.rs:12, queued behind it: thread #1) and runs on thread "
			            "#1; thread #1 waits for Mutex 0xa0");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(semaphore),
		cmocka_unit_test(semaphore_of_several),
		cmocka_unit_test(uncertain_guard),
		cmocka_unit_test(futurelock),
		cmocka_unit_test(futurelock_through_a_nested_block_on),
		cmocka_unit_test(futurelock_to_be),
		cmocka_unit_test(futurelock_across_tasks),
		cmocka_unit_test(futurelock_of_permits),
		cmocka_unit_test(futurelock_of_room),
		cmocka_unit_test(futurelock_or_polled_unseen),
		cmocka_unit_test(futurelock_by_a_guard),
		cmocka_unit_test(no_futurelock),
		cmocka_unit_test(given_away),
		cmocka_unit_test(traces_of_two),
		cmocka_unit_test(boxed_futures_that_may_be_gone),
		cmocka_unit_test(doubts_inside_a_certain_future),
		cmocka_unit_test(weak_senders),
		cmocka_unit_test(channels_with_other_ways_out),
		cmocka_unit_test(sole_candidates),
		cmocka_unit_test(arms_that_borrow),
		cmocka_unit_test(lost),
		cmocka_unit_test(nobody_is_lost_alone),
		cmocka_unit_test(full_mailboxes),
		cmocka_unit_test(oneshot),
		cmocka_unit_test(weak_edges_close_no_cycle),
		cmocka_unit_test(block_on),
		cmocka_unit_test(std_guard_across_an_await),
		cmocka_unit_test(native_locks),
		cmocka_unit_test(hand_written_futures_are_doubtful),
		cmocka_unit_test(what_was_found_in_a_future_is_doubtful),
		cmocka_unit_test(certain_ones_come_first),
		cmocka_unit_test(many_waiters_are_linear),
		cmocka_unit_test(a_huge_cycle),
		cmocka_unit_test(many_senders),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

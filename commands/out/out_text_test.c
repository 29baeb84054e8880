/* Tests of the text output. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/control/stopped.h"
#include "commands/test/answer.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"

#define HEADER                                                                                     \
	"asyncdbg: live pid 28406 (tokio_tcp), /srv/tokio_tcp, build-id abcdef01…, tokio "       \
	"1.53.1, rustc 1.95.0, 1 runtime (multi_thread, 2 workers, 2 tasks), paused 0.4 ms, "      \
	"complete\n"
/* For commands that do not list tasks, of a runtime that does not count them. */
#define HEADER_UNCOUNTED                                                                           \
	"asyncdbg: live pid 28406 (tokio_tcp), /srv/tokio_tcp, build-id abcdef01…, tokio "       \
	"1.53.1, rustc 1.95.0, 1 runtime (multi_thread, 2 workers), paused 0.4 ms, complete\n"
#define BLOCK_ON                                                                                   \
	"Thread #1 (pid: 28406) block on:\n"                                                       \
	"#0 async fn tokio_tcp::main suspended at await point 1 at src/main.rs:14\n"               \
	"#1 async fn tokio::net::TcpListener::accept suspended at await point 0 at "               \
	".../tcp/listener.rs:188\n"
#define WORKERS_2_3                                                                                \
	"Async worker #2 (pid: 28407, local queue length: 3) parked\n"                             \
	"Async worker #3 (pid: 28408, local queue length: 4) running task 5\n"
#define BLOCKING  "Blocking thread #4 (pid: 28409) running task 9: app::main::{closure#0}\n"
#define RUNNING_5 "#0 async fn tokio_tcp::serve running at src/serve.rs:9\n"
#define TASK_4                                                                                     \
	"Task: 4 (idle)\n"                                                                         \
	"#0 async fn tokio_tcp::main::{async_block#0} suspended at await point 1 at "              \
	"src/main.rs:21\n"                                                                         \
	"#1 sleep future, sleeping already happened 18 seconds ago\n"

/* The answer of a command to a snapshot, compared as a whole. */
static void assert_answers(const struct command *command, const struct snapshot *snap,
                           const char *arg, const char *expected)
{
	CAUGHT(c);

	catch (&c, TEXT);
	assert_null(run_command(&c, command, snap, arg));
	assert_string_equal(c.answers, expected);
}

static void backtrace_all(void **state)
{
	SNAPSHOT(s);

	(void)state;
	assert_answers(&async_backtrace_all_command, s, NULL,
	               HEADER BLOCK_ON WORKERS_2_3 BLOCKING TASK_4
	               "Task: 5 (running on thread #3)\n" RUNNING_5);
}

static void backtrace_shows_the_running_task_below_its_worker(void **state)
{
	SNAPSHOT(s);

	(void)state;
	assert_answers(&async_backtrace_command, s, NULL,
	               HEADER_UNCOUNTED BLOCK_ON WORKERS_2_3 RUNNING_5 BLOCKING);
}

static void idle_blocking_threads_are_left_out(void **state)
{
	SNAPSHOT(s);

	(void)state;
	s->threads[3].task = s->threads[3].job = NULL;
	s->threads[3].state = "idle";
	assert_answers(&async_backtrace_command, s, NULL,
	               HEADER_UNCOUNTED BLOCK_ON WORKERS_2_3 RUNNING_5);
}

static void several_runtimes_have_headings(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->nthreads = 0;
	s->nruntimes = 2;
	s->runtimes[0].name = "front";
	s->runtimes[0].has_expected = true;
	s->runtimes[0].expected_tasks = 3;
	s->runtimes[1] = make_runtime(1, false, 1);
	s->tasks[s->ntasks++] = make_task(&s->arena, 6, 1, TASK_COMPLETE, NULL);
	catch (&c, TEXT);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, ", 2 runtimes (multi_thread, 2 workers, name \"front\", "
	                                  "2 of 3 tasks; current_thread, 1 task), "));
	assert_non_null(strstr(c.answers, "Runtime 0 (multi_thread, 2 workers, name \"front\"): "
	                                  "2 of 3 tasks\nTask: 4 (idle)\n"));
	assert_non_null(strstr(c.answers, RUNNING_5 "Runtime 1 (current_thread): 1 task\n"
	                                            "Task: 6 (complete)\n"));
}

/* Every state of a coroutine, marks, problems and a fork in one task. */
static void futures_of_all_shapes(void **state)
{
	SNAPSHOT(s);
	struct arena *a = &s->arena;
	struct future *join = make_future(a, FUTURE_OTHER, "Join", NULL);
	struct future *fresh = make_future(a, FUTURE_ASYNC_BLOCK, "a::{async_block#1}", NULL);
	struct future *done = make_future(a, FUTURE_ASYNC_CLOSURE, "a::{closure#0}", NULL);
	struct future *dead = make_await(a, "a::dead", -1, "src/a.rs", 7, make_sleep(a));
	struct future *arms[] = { fresh, done, dead };

	(void)state;
	fresh->state = FUTURE_UNRESUMED;
	fresh->dyn = fresh->uncertain = true;
	done->state = FUTURE_RETURNED;
	done->problem = "the page at 0x10 is missing";
	dead->state = FUTURE_PANICKED;
	join->children = arms;
	join->nchildren = 3;
	s->tasks[0]->root = make_await(a, "a::root", 2, "src/a.rs", 5, join);
	s->tasks[0]->problem = "its state changed meanwhile";
	s->ntasks = 1;
	s->nthreads = 0;
	s->runtimes[0].ntasks = 2;
	snapshot_number_frames(s);
	assert_answers(
		&async_backtrace_all_command, s, NULL,
		HEADER
		"Task: 4 (idle)\n"
		"#0 async fn a::root suspended at await point 2 at src/a.rs:5\n"
		"#1 future JoinType\n"
		"├─ #2 async fn a::{async_block#1} unresumed [dyn] [one of several types that "
		"share this code]\n"
		"├─ #3 async fn a::{closure#0} returned\n"
		"│     ! the page at 0x10 is missing\n"
		"└─ #4 async fn a::dead panicked\n"
		"   #5 sleep future, sleeping already happened 18 seconds ago\n"
		"   ! its state changed meanwhile\n");
}

/*
 * A select! in a join!, unpolled (BRANCH_HELD) futures at a fork and along a chain, branches that
 * are not polled; three levels of nesting.
 */
static struct future *make_tree(struct arena *a)
{
	struct future *stored = make_await(a, "a::stored", 0, "src/a.rs", 3, make_sleep(a));
	struct future *select = make_future(a, FUTURE_OTHER, "PollFn", NULL);
	struct future *join = make_future(a, FUTURE_OTHER, "Join", NULL);
	struct future *outer = make_await(a, "a::outer", 1, "src/a.rs", 30, join);
	struct future *left = make_await(a, "a::left", 0, "src/a.rs", 10, select);

	make_fork(
		a, select, 3,
		(struct future *[]){
			make_edge(make_sleep(a), "select arm 0", BRANCH_POLLED),
			make_edge(make_future(a, FUTURE_OTHER, "Recv", NULL), "select arm 1",
	                          BRANCH_DISABLED),
			make_edge(make_future(a, FUTURE_OTHER, "Kept", NULL), "held", BRANCH_HELD),
		});
	make_fork(a, join, 3,
	          (struct future *[]){
			  make_edge(left, "join arm 0", BRANCH_POLLED),
			  make_edge(make_future(a, FUTURE_OTHER, "Gone", NULL), NULL, BRANCH_GONE),
			  make_edge(make_await(a, "a::right", 0, "src/a.rs", 20, make_sleep(a)),
	                            "join arm 2", BRANCH_POLLED),
		  });
	make_fork(a, outer, 2, (struct future *[]){ join, make_edge(stored, "held", BRANCH_HELD) });
	outer->note = "span \"request\" at src/a.rs:1";
	join->problem = "a fourth arm could not be read";
	return outer;
}

static void trees(void **state)
{
	SNAPSHOT(s);

	(void)state;
	s->tasks[0]->root = make_tree(&s->arena);
	s->ntasks = 1;
	s->nthreads = 0;
	snapshot_number_frames(s);
	assert_answers(&async_backtrace_all_command, s, NULL,
	               HEADER "Task: 4 (idle)\n"
	                      "#0 async fn a::outer suspended at await point 1 at src/a.rs:30 "
	                      "[span \"request\" at src/a.rs:1]\n"
	                      "├─ #10 async fn a::stored suspended at await point 0 at src/a.rs:3 "
	                      "[held, not polled]\n"
	                      "│  #11 sleep future, sleeping already happened 18 seconds ago\n"
	                      "#1 future JoinType\n"
	                      "│  ! a fourth arm could not be read\n"
	                      "├─ #2 async fn a::left suspended at await point 0 at src/a.rs:10 "
	                      "[join arm 0]\n"
	                      "│  #3 future PollFnType\n"
	                      "│  ├─ #4 sleep future, sleeping already happened 18 seconds ago "
	                      "[select arm 0]\n"
	                      "│  ├─ #5 future RecvType [select arm 1, disabled]\n"
	                      "│  └─ #6 future KeptType [held, not polled]\n"
	                      "├─ #7 future GoneType [gone]\n"
	                      "└─ #8 async fn a::right suspended at await point 0 at src/a.rs:20 "
	                      "[join arm 2]\n"
	                      "   #9 sleep future, sleeping already happened 18 seconds ago\n");
}

static void trees_in_ascii(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->tasks[0]->root = make_tree(&s->arena);
	snapshot_number_frames(s);
	c.options.ascii = true;
	catch (&c, TEXT);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, "\n|  |- #4 sleep"));
	assert_non_null(strstr(c.answers, "\n|  `- #6 future KeptType"));
	assert_non_null(strstr(c.answers, "build-id abcdef01..., "));
	for (const char *p = c.answers; *p; p++)
		assert_true((unsigned char)*p < 0x80);
}

/* "waiting on" is never taken from a branch that is not polled. */
static void waiting_on_what_is_polled(void **state)
{
	SNAPSHOT(s);
	struct arena *a = &s->arena;
	struct future *fork = make_future(a, FUTURE_OTHER, "Fork", NULL);
	CAUGHT(c);

	(void)state;
	make_fork(a, fork, 4,
	          (struct future *[]){
			  make_edge(make_await(a, "a::done", 0, "src/a.rs", 1, make_sleep(a)),
	                            "select arm 0", BRANCH_DISABLED),
			  make_edge(make_await(a, "a::one", 0, "src/a.rs", 2,
	                                       make_future(a, FUTURE_OTHER, "One", NULL)),
	                            "select arm 1", BRANCH_POLLED),
			  make_edge(make_sleep(a), "select arm 2", BRANCH_POLLED),
			  make_edge(make_sleep(a), "held", BRANCH_HELD),
		  });
	s->tasks[0]->root = fork;
	s->tasks[1]->root = make_edge(make_future(a, FUTURE_OTHER, "Join", NULL), NULL, 0);
	make_fork(a, s->tasks[1]->root, 1,
	          (struct future *[]){ make_edge(make_sleep(a), "join arm 0", BRANCH_DONE) });
	catch (&c, TEXT);
	assert_null(run_command(&c, &tasks_command, s, NULL));
	assert_non_null(strstr(c.answers, "  src/a.rs:2   OneType (+1 more)  Fork\n"));
	assert_non_null(strstr(c.answers, " -            JoinType    "));
}

#define VARIABLES                                                                                  \
	"argument req: app::Request = Request { uri: \"/x\" }\n"                                   \
	"     n: u32 = 7\n"                                                                        \
	"     old: String = \"a\" (may have been moved out)\n"                                     \
	"     buf: [u8; 4] ! unreadable\n"

/*
 * When the phrase is about an object within the leaf, the frame shows both. The list of tasks is
 * shown only when the phrase names none.
 */
static void waiting_on_what_a_leaf_holds(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->tasks[0]->root = make_sleep(&s->arena);
	s->tasks[0]->root->wait->within = true;
	catch (&c, TEXT);
	assert_null(run_command(&c, &tasks_command, s, NULL));
	assert_null(strstr(c.answers, "SleepType"));
	s->tasks[0]->root->wait->anonymous = true;
	assert_null(run_command(&c, &tasks_command, s, NULL));
	assert_non_null(strstr(c.answers, "  SleepType: sleep future, sleeping already happened"));
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, "#0 future SleepType: sleep future, sleeping already"));
}

static void variables_when_verbose(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };
	CAUGHT(plain);
	CAUGHT(verbose);

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root);
	catch (&plain, TEXT);
	catch (&verbose, TEXT);
	assert_null(run_command(&plain, &async_backtrace_all_command, s, NULL));
	assert_null(strstr(plain.answers, "Request"));
	assert_null(
		run_in_session(&verbose, &session, &async_backtrace_all_command, s, NULL, true));
	assert_non_null(strstr(verbose.answers, ":21\n     " VARIABLES "#1 sleep"));
}

/* A frame with branches below it: the lines of its variables do not cut the trunk. */
static void variables_at_a_fork(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };
	CAUGHT(c);

	(void)state;
	s->tasks[0]->root = make_tree(&s->arena);
	make_locals(&s->arena, s->tasks[0]->root->children[0]->children[0]->children[0]);
	snapshot_number_frames(s);
	catch (&c, TEXT);
	assert_null(run_in_session(&c, &session, &async_task_command, s, "4", true));
	assert_non_null(strstr(c.answers, "\n│  │    n: u32 = 7\n│  │    old"));
	assert_non_null(strstr(c.answers, "\n│  │    PollFnType\n│  │    argument req"));
}

/* Checks the output of a command in a session, without the subject. */
static void assert_says(struct session *session, const struct command *command,
                        const struct snapshot *snap, const char *arg, const char *expected)
{
	CAUGHT(c);

	catch (&c, TEXT);
	struct error *err CLEANUP(error_freep) =
		run_in_session(&c, session, command, snap, arg, false);
	const char *answer = err ? err->message : strchr(c.answers, '\n') + 1;
	assert_string_equal(answer, expected);
	if (err)
		assert_string_equal(c.answers, "");
}

#define OUTER                                                                                      \
	"Task: 4 (idle)\n#0 async fn a::outer suspended at await point 1 at src/a.rs:30 [span "    \
	"\"request\" at src/a.rs:1]\n"
#define LEFT                                                                                       \
	"Task: 4 (idle)\n#2 async fn a::left suspended at await point 0 at src/a.rs:10 [join arm " \
	"0]\n"

static void the_focus_moves(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };

	(void)state;
	s->tasks[0]->root = make_tree(&s->arena);
	snapshot_number_frames(s);
	assert_says(&session, &task_command, s, "4", OUTER);
	assert_says(&session, &task_command, s, NULL, OUTER);
	assert_says(&session, &up_command, s, NULL, "frame #0 is the outermost");
	/* The awaited child, not the held one. */
	assert_says(&session, &down_command, s, NULL,
	            "Task: 4 (idle)\n#1 future JoinType\n"
	            "   ! a fourth arm could not be read\n");
	assert_says(&session, &down_command, s, NULL,
	            "frame #1 awaits several futures; choose one with \"down N\": 1 (#2), 2 (#7), "
	            "3 (#8)");
	assert_says(&session, &down_command, s, "4",
	            "frame #1 has no child 4; it has 1 (#2), 2 (#7), 3 (#8)");
	assert_says(&session, &down_command, s, "0",
	            "frame #1 has no child 0; it has 1 (#2), 2 (#7), 3 (#8)");
	assert_says(&session, &down_command, s, "1", LEFT);
	assert_says(&session, &frame_command, s, NULL, LEFT);
	assert_says(&session, &frame_command, s, "12", "no frame #12 in task 4; the last is #11");
	assert_says(&session, &frame_command, s, NULL, LEFT);
	assert_says(&session, &frame_command, s, "9",
	            "Task: 4 (idle)\n"
	            "#9 sleep future, sleeping already happened 18 seconds ago\n");
	assert_says(&session, &down_command, s, NULL, "frame #9 is innermost");
	assert_says(&session, &up_command, s, NULL,
	            "Task: 4 (idle)\n#8 async fn a::right suspended at await point 0 at "
	            "src/a.rs:20 [join arm 2]\n");
	assert_says(&session, &task_command, s, "77", "no task 77; the nearest is 5");
	assert_int_equal(session.frame, 8);
}

/* Without a chosen task the focus is on the task or future of the thread in focus. */
static void the_focus_follows_the_thread(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };
	CAUGHT(c);

	(void)state;
	assert_says(&session, &frame_command, s, "1",
	            "Thread #1 (pid: 28406) block on:\n#1 async fn "
	            "tokio::net::TcpListener::accept suspended at await point 0 at "
	            ".../tcp/listener.rs:188\n");
	assert_says(&session, &frame_command, s, "2",
	            "no frame #2 in the future that thread #1 blocks on; the last is #1");
	assert_says(
		&session, &task_command, s, "4",
		"Task: 4 (idle)\n#0 async fn tokio_tcp::main::{async_block#0} suspended at await "
		"point 1 at src/main.rs:21\n");
	catch (&c, TEXT);
	assert_null(run_in_session(&c, &session, &async_task_command, s, NULL, false));
	assert_non_null(strstr(c.answers, "\nTask: 4 (idle)\n     header"));
	assert_null(run_in_session(&c, &session, &thread_command, s, "3", false));
	assert_true(session.native);
	assert_says(&session, &task_command, s, NULL, "Task: 5 (running on thread #3)\n" RUNNING_5);
	assert_false(session.native);
	assert_says(&session, &frame_command, s, NULL,
	            "Task: 5 (running on thread #3)\n" RUNNING_5);
	assert_null(run_in_session(&c, &session, &thread_command, s, "2", false));
	assert_says(&session, &task_command, s, NULL,
	            "thread #2 runs no task; these do: #3 (task 5), #4 (task 9)");
}

static void the_focus_can_be_lost(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };

	(void)state;
	assert_says(
		&session, &task_command, s, "4",
		"Task: 4 (idle)\n#0 async fn tokio_tcp::main::{async_block#0} suspended at await "
		"point 1 at src/main.rs:21\n");
	s->tasks[0]->root = NULL;
	s->tasks[0]->problem = "torn";
	assert_says(&session, &task_command, s, NULL,
	            "Task: 4 (idle) [tokio_tcp::main::{async_block#0}Type]\n   ! torn\n");
	assert_says(&session, &locals_command, s, NULL, "task 4 has no frames: torn");
	s->tasks[1]->id = "4";
	assert_says(&session, &frame_command, s, NULL,
	            "task 4 is ambiguous: runtimes 0 and 0 each have one; \"async task 4\" shows "
	            "both");
	s->ntasks = 0;
	assert_says(&session, &frame_command, s, NULL,
	            "task 4, which was selected, is gone; select another with \"task ID\"");
}

static void variables_and_places(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };
	struct local value = { .name = "req.uri", .type = "http::uri::Uri", .value = "\"/x\"" };
	struct place places[] = {
		{ .what = "task", .phrase = "task 4", .addr = 0x9400, .task = "4" },
		{ .what = "module", .phrase = "demo, +16 in it" },
	};

	(void)state;
	make_locals(&s->arena, s->tasks[0]->root);
	assert_says(
		&session, &task_command, s, "4",
		"Task: 4 (idle)\n#0 async fn tokio_tcp::main::{async_block#0} suspended at await "
		"point 1 at src/main.rs:21\n");
	assert_says(
		&session, &locals_command, s, NULL,
		"Task: 4 (idle)\n#0 async fn tokio_tcp::main::{async_block#0} suspended at await "
		"point 1 at src/main.rs:21\n     " VARIABLES);
	assert_says(&session, &print_command, s, "x", "x: not found in frame #0");
	s->printed = &value;
	assert_says(&session, &print_command, s, "req.uri", "req.uri: http::uri::Uri = \"/x\"\n");
	value.value = NULL;
	value.problem = "no member uri";
	assert_says(&session, &print_command, s, "req.uri", "req.uri: no member uri");
	assert_int_equal(session.finding, 0);
	/* The variable is there: a script goes on. */
	value.no_value = true;
	value.problem = "the compiler has left no place for it";
	assert_says(&session, &print_command, s, "req.uri",
	            "req.uri: http::uri::Uri ! the compiler has left no place for it\n");
	assert_int_equal(session.finding, STATUS_PARTIAL);
	assert_says(&session, &down_command, s, NULL,
	            "Task: 4 (idle)\n#1 sleep future, sleeping already happened 18 seconds ago\n");
	assert_says(&session, &locals_command, s, NULL,
	            "Task: 4 (idle)\n#1 sleep future, sleeping already happened 18 seconds ago\n"
	            "     no variables are known here\n");
	assert_says(&session, &whatis_command, s, "0x9410",
	            "nothing is known about address 0x9410");
	s->places = places;
	s->nplaces = 2;
	assert_says(&session, &whatis_command, s, "37904",
	            "0x0000000000009400  task 4\n                    demo, +16 in it\n");
}

static void threads_that_sit_somewhere(void **state)
{
	SNAPSHOT(s);
	struct wait wait = { .kind = "mutex", .phrase = "std mutex at 0x7f00, held by thread #2" };
	CAUGHT(c);

	(void)state;
	s->threads[2].wait = &wait;
	catch (&c, TEXT);
	assert_null(run_command(&c, &info_threads_command, s, NULL));
	assert_null(run_command(&c, &async_backtrace_command, s, NULL));
	assert_null(run_command(&c, &thread_command, s, "3"));
	assert_null(run_command(&c, &tasks_command, s, NULL));
	assert_non_null(strstr(c.answers, "  src/serve.rs:9  std mutex at 0x7f00, held by thread "
	                                  "#2  "));
	assert_non_null(
		strstr(c.answers, "  running task 5 [std mutex at 0x7f00, held by thread #2]\n"));
	assert_non_null(
		strstr(c.answers, ") running task 5 [std mutex at 0x7f00, held by thread #2]\n#0"));
	assert_non_null(
		strstr(c.answers, ", running task 5 [std mutex at 0x7f00, held by thread #2]\n"));
}

static void one_task_in_full(void **state)
{
	SNAPSHOT(s);

	(void)state;
	assert_answers(&async_task_command, s, "4",
	               HEADER
	               "Task: 4 (idle)\n"
	               "     header 0x9400, runtime 0 (multi_thread, 2 workers)\n"
	               "     spawned tokio_tcp::main::{async_block#0}Type\n"
	               "#0 async fn tokio_tcp::main::{async_block#0} suspended at await point 1 at "
	               "src/main.rs:21\n"
	               "     tokio_tcp::main::{async_block#0}Type\n"
	               "#1 sleep future, sleeping already happened 18 seconds ago\n"
	               "     0x5000: SleepType, object 0x7f00, armed yes, remaining_ms -18000, "
	               "registered yes, "
	               "syscall futex\n");
}

/* Lists are cut to the same limit as owners; the list of a JoinSet can have thousands of tasks. */
static void long_lists_are_cut(void **state)
{
	(void)state;
	SNAPSHOT(s);
	const char *list[20];
	struct wait *wait = s->tasks[0]->root->children[0]->wait;

	for (size_t i = 0; i < 20; i++)
		list[i] = arena_printf(&s->arena, "%zu", i);
	for (unsigned n = 16; n <= 20; n += 4) {
		CAUGHT(c);

		wait->details[0] = (struct wait_detail){
			.key = "tasks", .kind = DETAIL_LIST, .nlist = n, .list = list
		};
		catch (&c, TEXT);
		assert_null(run_command(&c, &async_task_command, s, "4"));
		assert_non_null(strstr(c.answers, n == 16 ? ", 14, 15]" : ", 15 and 4 more]"));
	}
}

/* All tasks are printed, in order. */
static void many_tasks(void **state)
{
	enum { N = 2600 };
	SNAPSHOT(s);
	CAUGHT(c);
	STR(expected);

	(void)state;
	s->nthreads = 0;
	s->ntasks = N;
	s->tasks = NEW_ARRAY(&s->arena, struct task *, N);
	for (uint64_t i = 0; i < N; i++) {
		struct future *root =
			make_await(&s->arena, arena_printf(&s->arena, "a::run%" PRIu64, i), 0,
		                   "src/a.rs", (unsigned)i + 1, make_sleep(&s->arena));

		s->tasks[i] = make_task(&s->arena, i + 1, 0, TASK_IDLE, root);
		str_printf(&expected,
		           "Task: %" PRIu64 " (idle)\n#0 async fn a::run%" PRIu64
		           " suspended at await point 0 at src/a.rs:%" PRIu64
		           "\n#0 sleep future, sleeping already happened 18 seconds ago\n",
		           i + 1, i, i + 1);
		if (i % 700 == 0) {
			s->tasks[i]->problem = "its state changed meanwhile";
			str_append(&expected, "   ! its state changed meanwhile\n");
		}
	}
	catch (&c, TEXT);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_string_equal(strstr(c.answers, "Task: 1 "), expected.data);
}

static void task_without_id_is_that_of_the_focus(void **state)
{
	SNAPSHOT(s);

	(void)state;
	assert_answers(&async_task_command, s, NULL, HEADER BLOCK_ON);
	s->target.core = "core.1";
	s->target.signal = 11;
	s->target.signal_tid = 28408;
	assert_answers(&async_task_command, s, NULL,
	               "asyncdbg: core core.1 of pid 28406 (tokio_tcp), /srv/tokio_tcp, build-id "
	               "abcdef01…, tokio 1.53.1, rustc 1.95.0, ended by SIGSEGV, 1 runtime "
	               "(multi_thread, 2 workers, 2 tasks), complete\n"
	               "Task: 5 (running on thread #3)\n"
	               "     header 0x9500, runtime 0 (multi_thread, 2 workers)\n"
	               "     spawned tokio_tcp::serveType\n" RUNNING_5
	               "     tokio_tcp::serveType\n");
}

static void assert_fails(const struct command *command, const struct snapshot *snap,
                         const char *arg, enum error_kind kind, const char *message)
{
	CAUGHT(c);

	catch (&c, TEXT);
	struct error *err CLEANUP(error_freep) = run_command(&c, command, snap, arg);
	assert_non_null(err);
	assert_int_equal(err->kind, kind);
	assert_string_equal(err->message, message);
	assert_string_equal(c.answers, "");
}

static void unknown_tasks_and_threads(void **state)
{
	SNAPSHOT(s);
	struct session session = { 0 };
	struct local printed = { .name = "app::N",
		                 .type = "u32",
		                 .problem = "the debug info has no static of that name" };

	(void)state;
	s->tasks[1] = make_task(&s->arena, 50, 0, TASK_IDLE, NULL);
	assert_fails(&async_task_command, s, "42", ERR_STATE,
	             "no task 42; the nearest are 4 and 50");
	assert_fails(&async_task_command, s, "3", ERR_STATE, "no task 3; the nearest is 4");
	assert_fails(&async_task_command, s, "51", ERR_STATE, "no task 51; the nearest is 50");
	assert_fails(&async_task_command, s, "main", ERR_USAGE,
	             "\"main\" is not a task id such as 5 or KIND:0x7f00");
	assert_fails(&thread_command, s, "6", ERR_STATE, "no thread 6; the threads are 1 to 5");
	assert_fails(&thread_command, s, "-1", ERR_USAGE, "\"-1\" is not a thread number");
	s->ntasks = 0;
	assert_fails(&async_task_command, s, "1", ERR_STATE, "no task 1; there are no tasks");
	s->threads[0].root = NULL;
	assert_fails(&async_task_command, s, NULL, ERR_STATE,
	             "thread #1 runs no task; these do: #3 (task 5), #4 (task 9)");
	s->printed = &printed;
	assert_fails(&print_command, s, "N", ERR_STATE,
	             "thread #1 runs no task; these do: #3 (task 5), #4 (task 9); the debug "
	             "info has no static of that name");
	/* A static needs no frame. */
	printed.global = true;
	assert_fails(&print_command, s, "N", ERR_STATE,
	             "N: the debug info has no static of that name");
	printed.value = "7";
	assert_says(&session, &print_command, s, "N", "app::N: u32 = 7\n");
}

static void joined_stack(void **state)
{
	SNAPSHOT(s);
	struct stack_frame frames[] = {
		{ .pc = 0x55d0001, .function = "app::burn", .file_short = "src/a.rs", .line = 12 },
		{ .number = 1,
		  .pc = 0x55d0001,
		  .function = "app::poll",
		  .function_full = "app::poll<u8>",
		  .file_short = "src/a.rs",
		  .line = 3,
		  .inlined = true,
		  .polls_task = "5" },
		{ .number = 2, .pc = 0x7f00, .module = "libc.so.6" },
	};

	(void)state;
	s->threads[2].frames = frames;
	s->threads[2].nframes = 3;
	s->threads[2].problem = "the stack ends early";
	assert_answers(&thread_command, s, "#3",
	               HEADER_UNCOUNTED
	               "Thread #3 (pid: 28408, name: demo) worker 1 of runtime 0, running task 5\n"
	               "#0  0x00000000055d0001 in app::burn () at src/a.rs:12\n"
	               "#1  0x00000000055d0001 in app::poll () at src/a.rs:3 [inlined]\n"
	               "   === task 5, async stack ===\n"
	               "   #0 async fn tokio_tcp::serve running at src/serve.rs:9\n"
	               "#2  0x0000000000007f00 in ?? () from libc.so.6\n"
	               "   ! the stack ends early\n");
}

static void tables(void **state)
{
	SNAPSHOT(s);

	(void)state;
	assert_answers(
		&tasks_command, s, NULL,
		HEADER
		"ID  STATE       RUNTIME  AWAITING AT     WAITING ON                         "
		"                     ROOT FUTURE\n"
		" 4  idle              0  src/main.rs:21  sleep future, sleeping already "
		"happened 18 seconds ago  tokio_tcp::main::{async_block#0}\n"
		" 5  running #3        0  src/serve.rs:9  tokio_tcp::serveType               "
		"                     tokio_tcp::serve\n");
	assert_answers(
		&runtimes_command, s, NULL,
		HEADER
		"RUNTIME  FLAVOR        WORKERS  TASKS  INJECTED  BLOCKING THREADS  VERSION  "
		"NAME  HANDLE\n"
		"      0  multi_thread        2      2         7  -                 tokio    "
		"-     0x4000\n");
}

/* A program that `cargo install` made has its own code in a registry, too. */
static void awaits_in_a_registry(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);
	SCRATCH(a);
	struct future *inner = make_await(&a, "app::read", 0, ".../src/net.rs", 8, NULL);
	struct future *outer = make_await(&a, "app::serve", 0, ".../src/main.rs", 3, inner);
	/* A wrapper of futures has no place of its own. */
	struct future *root = make_future(&a, FUTURE_OTHER, "Instrumented", outer);

	(void)state;
	s->tasks[0]->root = root;
	catch (&c, TEXT);
	assert_null(run_command(&c, &tasks_command, s, NULL));
	assert_non_null(strstr(c.answers, "  .../src/main.rs:3  "));
	assert_ptr_equal(future_awaiting(root), outer);
	inner->file_short = "src/net.rs";
	assert_ptr_equal(future_awaiting(root), inner);
	outer->file_short = inner->file_short = NULL;
	assert_null(future_awaiting(root));
}

/* A terminal's lines are cut, in characters and not in bytes; numbers and states never. */
static void tables_fit_a_terminal(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->tasks[0]->root->function = "ÄÖÜ::äöüäöüäöüäöüäöüäöüäöüäöüäöü";
	c.options.width = 80;
	catch (&c, TEXT);
	assert_null(run_command(&c, &tasks_command, s, NULL));

	const char *table = strchr(c.answers, '\n') + 1;
	assert_string_equal(table, "ID  STATE       RUNTIME  AWAITING AT     WAITING ON         "
	                           " ROOT FUTURE\n"
	                           " 4  idle              0  src/main.rs:21  sleep future, sle… "
	                           " ÄÖÜ::äöüäöüäöüäöüä…\n"
	                           " 5  running #3        0  src/serve.rs:9  tokio_tcp::serveT… "
	                           " tokio_tcp::serve\n");
}

static void user_code_is_the_innermost_own_line(void **state)
{
	SNAPSHOT(s);
	struct arena *a = &s->arena;
	CAUGHT(c);

	(void)state;
	s->ntasks = 2;
	s->tasks[0]->root = make_await(
		a, "a::outer", 0, "src/a.rs", 1,
		make_await(a, "a::inner", 0, "src/a.rs", 2,
	                   make_await(a, "lib::x", 0, ".../lib/x.rs", 3, make_sleep(a))));
	s->tasks[1]->root = make_await(a, "lib::x", 0, ".../lib/y.rs", 4, make_sleep(a));
	catch (&c, TEXT);
	assert_null(run_command(&c, &tasks_command, s, NULL));
	assert_non_null(strstr(c.answers, "  src/a.rs:2  "));
	assert_non_null(strstr(c.answers, "  .../lib/y.rs:4  "));
	assert_null(strstr(c.answers, "x.rs:3"));
}

/* tokio marks scheduled tasks as notified, too: that is not printed. */
static void only_running_tasks_are_woken_meanwhile(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->tasks[0]->state = TASK_SCHEDULED;
	s->tasks[0]->notified = s->tasks[1]->notified = true;
	catch (&c, TEXT);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, "Task: 4 (scheduled)\n"));
	assert_non_null(strstr(c.answers, "Task: 5 (running on thread #3) [woken meanwhile]\n"));
}

static void names_are_short_by_default(void **state)
{
	SNAPSHOT(s);

	(void)state;
	s->tasks[0]->root = make_future(&s->arena, FUTURE_OTHER, "Pin", NULL);
	s->tasks[0]->root->type = LONG_TYPE;
	for (int full = 0; full < 2; full++) {
		CAUGHT(c);

		c.options.full_names = full;
		catch (&c, TEXT);
		assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
		assert_int_equal(strstr(c.answers, "#0 future " LONG_TYPE "\n") != NULL, full);
		assert_int_equal(strstr(c.answers, "#0 future " LONG_TYPE_SHORT "\n") != NULL,
		                 !full);
	}
}

static void notes_go_to_messages(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->complete = false;
	add_note(s, "2 tasks of runtime 0 could not be read");
	catch (&c, TEXT);
	assert_null(run_command(&c, &info_threads_command, s, NULL));
	assert_string_equal(c.messages, "note: 2 tasks of runtime 0 could not be read\n");
	assert_non_null(strstr(c.answers, ", incomplete: see notes\n"));
	assert_null(strstr(c.answers, "could not"));
}

/* At the prompt the subject and each note are printed only when they are new. */
static void a_prompt_shows_notes_once(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	add_note(s, "first");
	c.options.interactive = true;
	catch (&c, TEXT);
	assert_null(run_command(&c, &info_layout_command, s, NULL));
	assert_string_equal(c.answers, HEADER_UNCOUNTED);
	add_note(s, "second");
	assert_null(run_command(&c, &info_layout_command, s, NULL));
	assert_string_equal(c.answers, HEADER_UNCOUNTED);
	assert_string_equal(c.messages, "note: first\nnote: second\n");
	/* Each snapshot of a process has another duration and other tasks. */
	s->reading.pause_ns *= 2;
	assert_null(run_command(&c, &info_layout_command, s, NULL));
	assert_string_equal(c.answers, HEADER_UNCOUNTED);
	s->complete = false;
	assert_null(run_command(&c, &info_layout_command, s, NULL));
	assert_non_null(strstr(c.answers, "paused 0.8 ms"));
	assert_non_null(strstr(c.answers, ", incomplete: see notes\n"));
}

static void how_it_was_read(void **state)
{
	SNAPSHOT(s);
	CAUGHT(c);

	(void)state;
	s->reading.threads = s->nthreads - 1;
	catch (&c, TEXT);
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, "paused 0.4 ms (4 of 5 threads), complete"));
	s->reading.how = READ_LIMITED;
	s->reading.threads = s->nthreads;
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, "paused 0.4 ms, then read while it ran, complete"));
	s->reading.how = READ_RUNNING;
	assert_null(strstr(c.answers, "changed while it was read"));
	s->tasks[0]->changed = true;
	assert_null(run_command(&c, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(c.answers, ", not stopped, complete"));
	assert_non_null(strstr(c.answers, "   ! it changed while it was read: "));
}

static void layout_rows(void **state)
{
	SNAPSHOT(s);
	struct layout_info rows[] = {
		{ "demo", "state", "state.val", ROW_OK, "state.val", "+8", NULL },
		{ "demo", "shards", "list.lists", ROW_ABSENT, NULL, NULL, NULL },
		{ "lib.so", "sleep.deadline", "entry.deadline | deadline", ROW_BROKEN, NULL, NULL,
		  "tried 'deadline': no such member in Sleep" },
	};

	(void)state;
	s->layout = rows;
	s->nlayout = 3;
	assert_answers(&info_layout_command, s, NULL,
	               HEADER_UNCOUNTED
	               "Module demo:\n"
	               "ok      state                         state.val [+8]\n"
	               "absent  shards                        list.lists\n"
	               "Module lib.so:\n"
	               "broken  sleep.deadline                entry.deadline | deadline\n"
	               "        tried 'deadline': no such member in Sleep\n");
}

static void info_sums_up(void **state)
{
	SNAPSHOT(s);

	(void)state;
	s->target.tier = TIER_LINES;
	s->target.tier_reason = "build with debug = 2";
	s->tasks[1]->problem = "torn";
	assert_answers(&info_command, s, NULL,
	               "asyncdbg: live pid 28406 (tokio_tcp), /srv/tokio_tcp, build-id abcdef01…, "
	               "tokio 1.53.1, rustc 1.95.0, debug info: line tables only, 1 runtime "
	               "(multi_thread, 2 workers, 2 tasks), paused 0.4 ms, complete\n"
	               "Process:    28406 (tokio_tcp)\n"
	               "Executable: /srv/tokio_tcp\n"
	               "Build-id:   abcdef0123456789\n"
	               "Processor:  x86-64\n"
	               "Rustc:      1.95.0\n"
	               "Tokio:      1.53.1\n"
	               "Debug info: line tables only: build with debug = 2\n"
	               "Runtimes:   1\n"
	               "  Runtime 0 (multi_thread, 2 workers): 2 tasks\n"
	               "Threads:    5 (1 in no runtime, 1 in block_on, 2 as worker, 1 as blocking "
	               "thread)\n"
	               "Tasks:      2 (1 idle, 1 running), 1 not fully understood\n");
}

/* Text of a target is never printed as a control sequence or as an extra line. */
static void hostile_strings(void **state)
{
	static const char evil[] = "a\033[2J\nTask: 6 (idle)\x9b\xff%s%n\x7f";
	SNAPSHOT(s);
	const struct command *const commands[] = { &async_backtrace_all_command, &tasks_command,
		                                   &threads_command, &info_command,
		                                   &runtimes_command };

	(void)state;
	s->target.command = s->target.exe = s->runtimes[0].name = evil;
	s->threads[0].name = s->threads[0].state = s->threads[1].state = evil;
	s->tasks[0]->root->function = s->tasks[0]->root->file_short = evil;
	s->tasks[0]->problem = s->threads[3].job = evil;
	add_note(s, evil);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		CAUGHT(c);

		catch (&c, TEXT);
		assert_null(run_command(&c, commands[i], s, NULL));
		assert_non_null(strstr(c.answers, "%s%n"));
		assert_null(strpbrk(c.answers, "\033\x7f\xff"));
		assert_null(strstr(c.answers, "\nTask: 6"));
		assert_null(strpbrk(c.messages, "\033\x7f\xff"));
	}
}

static void hostile_variables(void **state)
{
	static const char evil[] = "a\033[2J\nTask: 6 (idle)\x9b\xff%s%n\x7f";
	const struct command *const commands[] = {
		&async_backtrace_all_command, &locals_command, &info_threads_command,
		&async_task_command,          &print_command,  &whatis_command
	};
	SNAPSHOT(s);
	struct session session = { 0 };
	struct wait wait = { .kind = evil, .phrase = evil };
	struct local value = { .name = evil, .type = evil, .value = evil, .uncertain = true };
	struct place place = { .what = evil, .phrase = evil };

	(void)state;
	s->threads[0].wait = &wait;
	s->threads[0].root->note = s->threads[0].root->edge = evil;
	s->threads[0].root->locals = &value;
	s->threads[0].root->nlocals = 1;
	s->printed = &value;
	s->places = &place;
	s->nplaces = 1;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const char *arg = commands[i]->min_args ? "1" : NULL;
		CAUGHT(c);

		catch (&c, TEXT);
		assert_null(run_in_session(&c, &session, commands[i], s, arg, true));
		assert_non_null(strstr(c.answers, "%s%n"));
		assert_null(strpbrk(c.answers, "\033\x7f\xff"));
		assert_null(strstr(c.answers, "\nTask: 6"));
	}
}

/* Colour adds codes and changes nothing else. */
static void breakpoints_have_their_task(void **state)
{
	struct breakpoint bp = { .number = 2, .text = "main.rs:38", .task = "4", .enabled = true };
	struct breakpoint *list = &bp;
	CAUGHT(c);

	(void)state;
	catch (&c, TEXT);
	part_breakpoints(c.out, &list, 1);
	fflush(c.options.answers);
	assert_non_null(strstr(c.answers, "breakpoint 2: main.rs:38, task 4\n"));
}

static void internal_breakpoints_have_a_reason(void **state)
{
	const struct internal_breakpoint_row rows[] = { { 0x401000, INTERNAL_NUMBERED },
		                                        { 0x402000, INTERNAL_LIBRARIES } };
	CAUGHT(c);

	(void)state;
	catch (&c, TEXT);
	part_internal_breakpoints(c.out, rows, 2);
	part_internal_breakpoints(c.out, rows, 0);
	fflush(c.options.answers);
	assert_non_null(strstr(c.answers, "0x000000401000  breakpoint   a breakpoint, logpoint or "
	                                  "catchpoint of yours is here\n"));
	assert_non_null(strstr(c.answers,
	                       "0x000000402000  libraries    the dynamic linker calls it "
	                       "when libraries change\n"));
	assert_non_null(strstr(c.answers, "no internal breakpoints\n"));
}

static void colour_is_only_an_addition(void **state)
{
	SNAPSHOT(s);
	CAUGHT(plain);
	CAUGHT(colored);

	(void)state;
	colored.options.color = true;
	catch (&plain, TEXT);
	catch (&colored, TEXT);
	assert_null(run_command(&plain, &async_backtrace_all_command, s, NULL));
	assert_null(run_command(&colored, &async_backtrace_all_command, s, NULL));
	assert_non_null(strstr(colored.answers, "\033[1mTask: 4 (idle)\033[0m\n"));

	char *to = colored.answers;
	for (const char *from = to; *from; from++) {
		if (*from == '\033')
			from = strchr(from, 'm');
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(colored.answers, plain.answers);
}

static void help_lists_every_command(void **state)
{
	CAUGHT(c);

	(void)state;
	catch (&c, TEXT);
	assert_null(run_command(&c, &help_command, NULL, NULL));
	for (const struct command *const *command = command_table; *command; command++) {
		assert_non_null(strstr(c.answers, (*command)->name));
		assert_non_null(strstr(c.answers, (*command)->summary));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(backtrace_all),
		cmocka_unit_test(how_it_was_read),
		cmocka_unit_test(backtrace_shows_the_running_task_below_its_worker),
		cmocka_unit_test(idle_blocking_threads_are_left_out),
		cmocka_unit_test(several_runtimes_have_headings),
		cmocka_unit_test(futures_of_all_shapes),
		cmocka_unit_test(trees),
		cmocka_unit_test(trees_in_ascii),
		cmocka_unit_test(waiting_on_what_is_polled),
		cmocka_unit_test(waiting_on_what_a_leaf_holds),
		cmocka_unit_test(variables_when_verbose),
		cmocka_unit_test(variables_at_a_fork),
		cmocka_unit_test(the_focus_moves),
		cmocka_unit_test(the_focus_follows_the_thread),
		cmocka_unit_test(the_focus_can_be_lost),
		cmocka_unit_test(variables_and_places),
		cmocka_unit_test(threads_that_sit_somewhere),
		cmocka_unit_test(one_task_in_full),
		cmocka_unit_test(long_lists_are_cut),
		cmocka_unit_test(many_tasks),
		cmocka_unit_test(task_without_id_is_that_of_the_focus),
		cmocka_unit_test(unknown_tasks_and_threads),
		cmocka_unit_test(joined_stack),
		cmocka_unit_test(tables),
		cmocka_unit_test(awaits_in_a_registry),
		cmocka_unit_test(tables_fit_a_terminal),
		cmocka_unit_test(user_code_is_the_innermost_own_line),
		cmocka_unit_test(only_running_tasks_are_woken_meanwhile),
		cmocka_unit_test(names_are_short_by_default),
		cmocka_unit_test(notes_go_to_messages),
		cmocka_unit_test(a_prompt_shows_notes_once),
		cmocka_unit_test(layout_rows),
		cmocka_unit_test(info_sums_up),
		cmocka_unit_test(hostile_strings),
		cmocka_unit_test(hostile_variables),
		cmocka_unit_test(breakpoints_have_their_task),
		cmocka_unit_test(internal_breakpoints_have_a_reason),
		cmocka_unit_test(colour_is_only_an_addition),
		cmocka_unit_test(help_lists_every_command),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Writes reports that no program makes at will: one where every string is an attack, one of many
 * tasks, one with names as long as those of real servers, one of a program without a runtime.
 *
 * usage: report_pages hostile FILE
 *        report_pages deadlock FILE      tasks 1 and 2 have a lock each and want the other one; 3
 *                                        waits for 1; 4 and 5 talk by a channel
 *        report_pages server FILE        see make_server()
 *        report_pages plain FILE         no runtime, no tasks, two threads
 *        report_pages many FILE TASKS    in KINDS kinds, as many of each as can be
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/report/report.h"
#include "commands/test/answer.h"
#include "debugger/base/marked.h"
#include "runtimes/test/graph.h"

enum { KINDS = 40, LOCKS = 5000 };

/* Each would leave a mark if a browser took it for more than text. */
static const char evil[] =
	"</script><script>document.documentElement.dataset.hacked='script'</script>"
	"<img src=x onerror=\"document.documentElement.dataset.hacked='img'\">"
	"<style>*{display:none}</style>\"'><!--]]>&lt;\xe2\x80\xa8\xe2\x80\xae{{7*7}}";

static struct future *evil_future(struct arena *a)
{
	struct future *leaf = make_sleep(a);
	struct future *f = make_await(a, evil, 0, evil, 7, leaf);

	f->type = f->edge = f->note = f->aliases = f->problem = evil;
	leaf->type = leaf->function = evil;
	leaf->wait->kind = leaf->wait->phrase = leaf->wait->task = evil;
	make_locals(a, f);
	for (unsigned i = 0; i < f->nlocals; i++)
		f->locals[i].name = f->locals[i].type = f->locals[i].value = f->locals[i].problem =
			evil;
	return f;
}

static struct wait_detail lock_details[] = {
	{ .key = "polled", .kind = DETAIL_BOOL, .number = 1 },
	{ .key = "position", .kind = DETAIL_INT, .number = 1 },
};

static struct future *hostile_lock(struct arena *a, uint64_t object)
{
	struct future *f = make_sleep(a);

	f->function = f->type = evil;
	*f->wait = (struct wait){ .kind = "mutex",
		                  .phrase = evil,
		                  .object = object,
		                  .primitive = object,
		                  .details = lock_details,
		                  .ndetails = 2 };
	return f;
}

static const struct runtime_crate server_crate = { "tokio", "1.53.1" };

static void make_hostile(struct snapshot *snap)
{
	struct arena *a = &snap->arena;
	static const struct runtime_crate crates[] = { { evil, evil } };

	snap->target = (struct target_info){ .kind = "live",
		                             .pid = 7,
		                             .command = evil,
		                             .exe = evil,
		                             .build_id = evil,
		                             .crates = crates,
		                             .ncrates = 1,
		                             .rustc = evil,
		                             .tier_reason = evil };
	snap->runtimes[0].name = snap->runtimes[0].version = evil;
	for (size_t i = 0; i < snap->ntasks; i++) {
		snap->tasks[i]->root = evil_future(a);
		snap->tasks[i]->type = snap->tasks[i]->problem = evil;
	}
	/* As where a runtime has no ids, and worse. */
	snap->tasks[1]->number = 0;
	snap->tasks[1]->id = evil;
	for (size_t i = 0; i < snap->nthreads; i++) {
		struct thread_info *th = &snap->threads[i];

		th->name = th->state = th->task = th->job = th->problem = evil;
		th->root = evil_future(a);
		th->wait = th->root->children[0]->wait;
		th->nframes = 1;
		th->frames = NEW(a, struct stack_frame);
		th->frames[0] = (struct stack_frame){ .function = evil,
			                              .function_full = evil,
			                              .file = evil,
			                              .file_short = evil,
			                              .module = evil,
			                              .polls_task = evil };
	}
	/* Each waits for what the other one has. */
	snap->holdings = NEW_ARRAY(a, struct holding, 2);
	snap->nholdings = 2;
	for (size_t i = 0; i < 2; i++) {
		struct task *task = snap->tasks[i];

		task->state = TASK_IDLE;
		/* What could not be read might end the wait. */
		task->problem = task->root->problem = NULL;
		task->root->children[0] = hostile_lock(a, 0x1000 + i);
		snap->holdings[i] = (struct holding){ .kind = "mutex",
			                              .type = evil,
			                              .object = 0x1001 - i,
			                              .primitive = 0x1001 - i,
			                              .task = task,
			                              .future = task->root,
			                              .path = evil,
			                              .file_short = evil,
			                              .line = 1 };
	}
	snap->unsearched = NEW(a, const char *);
	snap->unsearched[0] = evil;
	snap->nunsearched = 1;
	add_note(snap, evil);
	snapshot_number_frames(snap);
}

/* A tree of the kind; its leaf's phrase is another one in each task. */
static struct future *work(struct arena *a, unsigned kind, unsigned task)
{
	static const char *const waits[] = { "mutex", "semaphore", "mpsc_recv", "sleep", "join" };
	struct future *leaf = make_sleep(a), *f = leaf;

	leaf->function = leaf->type = "tokio::sync::batch_semaphore::Acquire";
	leaf->wait->kind = waits[kind % 5];
	leaf->wait->phrase = marked_finish(
		a,
		arena_printf(a, "%s, " MARKED_NUMBER("%u") " tasks ahead", waits[kind % 5], task),
		&leaf->wait->phrase_parts);
	leaf->wait->object = leaf->wait->primitive = 0x7f0000000000 + task % LOCKS * 64;
	if (kind % 5 == 0) {
		leaf->wait->ndetails = 2;
		leaf->wait->details = lock_details;
	}
	for (unsigned depth = kind % 4 + 1; depth--;)
		f = make_await(a, arena_printf(a, "server::part%u::step%u", kind, depth), 0,
		               "src/work.rs", 10 * kind + depth + 1, f);
	return f;
}

static void make_many(struct snapshot *snap, unsigned n)
{
	struct arena *a = &snap->arena;

	snap->target.command = "many";
	snap->ntasks = snap->runtimes[0].ntasks = n;
	snap->tasks = NEW_ARRAY(a, struct task *, n + 1);
	for (unsigned i = 0; i < n; i++)
		snap->tasks[i] = make_task(a, i + 1, 0, i % 7 ? TASK_IDLE : TASK_SCHEDULED,
		                           work(a, i % KINDS, i));
	snap->nholdings = LOCKS;
	snap->holdings = NEW_ARRAY(a, struct holding, LOCKS);
	for (unsigned i = 0; i < LOCKS && i < n; i++)
		snap->holdings[i] = (struct holding){ .kind = "mutex",
			                              .type = "tokio::sync::mutex::MutexGuard",
			                              .object = 0x7f0000000000 + i * 64,
			                              .primitive = 0x7f0000000000 + i * 64,
			                              .task = snap->tasks[i + 3],
			                              .future = snap->tasks[i + 3]->root,
			                              .path = "guard" };
	snapshot_number_frames(snap);
}

/* ---- a server ---- */

#define STREAM "tokio::net::tcp::stream::TcpStream"
#define SERVICE                                                                                    \
	"axum::routing::into_make_service::IntoMakeService<axum::routing::Router<"                 \
	"shop_frontend::state::SharedApplicationState>>"
#define CONNECTION                                                                                 \
	"hyper_util::server::conn::auto::UpgradeableConnection<hyper_util::rt::tokio::"            \
	"TokioIo<" STREAM ">, " SERVICE ", hyper_util::rt::tokio::TokioExecutor>"
#define TRANSFER                                                                                   \
	"shop_frontend::accounts::ledger::transfers::TransferService::between_accounts_of_one_"    \
	"customer::{async_block#0}"
#define WARMER                                                                                     \
	"<shop_frontend::jobs::caches::CacheWarmer as shop_frontend::jobs::Job>::run::"            \
	"{async_block#0}"
#define CHECKOUT "shop_frontend::http::handlers::checkout::begin_checkout_of_the_whole_basket"

static struct future *stands(struct future *f, const char *file, unsigned line)
{
	f->file = f->file_short = file;
	f->line = line;
	return f;
}

static struct future *reads(struct program *p, uint64_t object)
{
	struct future *f = leaf(p, "tcp_read", object);

	f->wait->phrase = "TCP socket 0x7f12a4003b40 readable, fd 1042, "
			  "[2001:db8:85a3::8a2e:370:7334]:443 from [2001:db8:2::1]:50122";
	return f;
}

/* As futures_util's Map and tracing's Instrumented: what it wraps says what the task is. */
static struct future *wraps(struct program *p, const char *function, const char *type,
                            struct future *wrapped)
{
	struct future *f = calls(p, function, wrapped);

	f->kind = FUTURE_OTHER;
	f->state = FUTURE_STATE_NONE;
	f->type = type;
	f->wraps = true;
	return f;
}

/* A connection that handles a request. */
static struct future *connection(struct program *p, const char *handler, const char *file,
                                 unsigned line, struct future *wait)
{
	struct future *f = stands(calls(p, handler, wait), file, line);
	struct future *conn = calls(p, "hyper_util::server::conn::auto::UpgradeableConnection", f);

	conn->kind = FUTURE_OTHER;
	conn->type = CONNECTION;
	conn->note = "request{method=POST uri=/api/v2/accounts/17/transfers?dry_run=false}";
	return conn;
}

static void uncertain(struct holding *h, bool sole, const char *path)
{
	h->uncertain = true;
	h->sole = sole;
	h->path = path;
	h->file_short = "shop-frontend-2.14.0/src/accounts/ledger/transfers.rs";
}

/*
 * Task 1, a Map of what waits for a mutex that task 2, Instrumented, has as far as can be seen, and
 * which task 3 may have had; 2 waits for a socket, a channel and a timer; 3 holds a join that it
 * does not poll and waits for a semaphore that 4 has permits of, with others; 5 is like 2.
 */
static void make_server(struct program *p)
{
	struct arena *a = &p->s.arena;
	struct future *from =
		connection(p, TRANSFER, "shop-frontend-2.14.0/src/accounts/ledger/transfers.rs",
	                   1278, locks(p, "mutex", 0xa0, 1));
	add_task(p, 1,
	         wraps(p, "futures_util::future::future::map::Map",
	               "futures_util::future::future::map::Map<" CONNECTION ", " SERVICE ">",
	               from));
	struct task *held_by = NULL;

	for (unsigned i = 2; i <= 5; i += 3) {
		struct future *basket =
			stands(calls(p, CHECKOUT, as(reads(p, 0xc0), "select arm 0"),
		                     as(receives(p, 0xd0, 1), "select arm 1"),
		                     as(sleeps(p), "select arm 2")),
		               "shop-frontend-2.14.0/src/http/handlers/checkout.rs", 77);
		struct task *task =
			add_task(p, i,
		                 wraps(p, "tracing::instrument::Instrumented",
		                       "tracing::instrument::Instrumented<" CHECKOUT ">", basket));

		held_by = held_by ? held_by : task;
	}
	struct task *third =
		add_task(p, 3,
	                 connection(p, "shop_frontend::jobs::reindex_catalogue", ".../src/lib.rs",
	                            12, locks(p, "semaphore", 0xb0, 1)));
	add_child(p, third->root, held(joins(p, 1), BRANCH_HELD));
	struct task *fourth = add_task(p, 4, calls(p, WARMER, sleeps(p)));
	uncertain(guards(p, held_by, "mutex", 0xa0), true,
	          "self.ledger.accounts_by_customer.guard");
	uncertain(holds(p, third, HOLDING_SENDER, "mpsc", 0xd0), false,
	          "progress_of_the_reindexing");
	uncertain(guards(p, fourth, "semaphore", 0xb0), false, "permit");
	for (unsigned i = 0; i < 2; i++) {
		struct thread_info *th = add_thread(p, THREAD_WORKER, NULL);

		th->name = "shop-frontend-w";
		th->worker = (int)i;
		th->state = "parked";
		th->frames = NEW_ARRAY(a, struct stack_frame, 1);
		th->nframes = 1;
		th->frames[0] = (struct stack_frame){
			.function = "tokio::runtime::scheduler::multi_thread::worker::"
				    "{impl#1}::park_timeout_with_the_driver_of_this_runtime",
			.function_full = CONNECTION,
			.file_short = ".../scheduler/multi_thread/worker.rs",
			.line = 1204,
			.inlined = true,
			.module = "shop-frontend",
		};
	}
	p->s.target = (struct target_info){ .kind = "live",
		                            .pid = 28406,
		                            .command = "shop-frontend-production-eu-central-1",
		                            .exe = "/opt/shop/releases/2.14.0/bin/shop-frontend",
		                            .build_id = "abcdef0123456789abcdef0123456789abcdef01",
		                            .crates = &server_crate,
		                            .ncrates = 1,
		                            .rustc = "1.95.0" };
	p->s.unsearched = NEW(a, const char *);
	p->s.unsearched[0] = "what Arc<" SERVICE "> and its clones share";
	p->s.nunsearched = 1;
	add_note(&p->s, "no debug info for libssl.so.3, which was found in the program's own file "
	                "system and has another build-id than the one that is loaded");
}

static struct error *write_server(FILE *f)
{
	PROGRAM(p);
	struct answer answer = { .command = "report", .wants = report_command.wants };

	make_server(&p);
	judge(&p);
	snapshot_number_frames(&p.s);
	answer.snapshot = &p.s;
	return report_write(f, &answer, 1700000000);
}

static void make_plain(struct snapshot *snap)
{
	snap->target.command = "plain";
	snap->target.ncrates = 0;
	snap->nruntimes = snap->ntasks = 0;
	snap->nthreads = 2;
	for (size_t i = 0; i < 2; i++) {
		snap->threads[i].role = THREAD_OTHER;
		snap->threads[i].runtime = -1;
		snap->threads[i].root = NULL;
	}
	snap->complete = false;
	add_note(snap, "no tokio in this program");
}

/* Written at once: what it is made of does not outlive it. */
static struct error *write_deadlock(FILE *f)
{
	PROGRAM(p);
	struct answer answer = { .command = "report", .wants = report_command.wants };

	struct task *a = add_task(&p, 1, calls(&p, "app::transfer", locks(&p, "mutex", 0xb0, 1)));
	struct task *b = add_task(&p, 2, calls(&p, "app::transfer", locks(&p, "mutex", 0xa0, 1)));
	add_task(&p, 3, calls(&p, "app::wait_for", joins(&p, 1)));
	struct task *sender = add_task(&p, 4, calls(&p, "app::Feed::run", sleeps(&p)));
	add_task(&p, 5, calls(&p, "app::Sink::run", receives(&p, 0xc0, 1)));
	guards(&p, a, "mutex", 0xa0);
	guards(&p, b, "mutex", 0xb0);
	holds(&p, sender, HOLDING_SENDER, "mpsc", 0xc0);
	judge(&p);
	p.s.target.command = "transfer";
	p.s.complete = true;
	snapshot_number_frames(&p.s);
	answer.snapshot = &p.s;
	return report_write(f, &answer, 1700000000);
}

int main(int argc, char **argv)
{
	SNAPSHOT(snap);
	struct answer answer = { .command = "report", .snapshot = snap };
	/* Of programs that are made while they are written. */
	struct error *(*write_own)(FILE * f) = NULL;

	if (argc == 3 && strcmp(argv[1], "hostile") == 0) {
		make_hostile(snap);
		answer.verbose = true;
	} else if (argc == 4 && strcmp(argv[1], "many") == 0) {
		make_many(snap, (unsigned)strtoul(argv[3], NULL, 10));
	} else if (argc == 3 && strcmp(argv[1], "plain") == 0) {
		make_plain(snap);
	} else if (argc == 3 && strcmp(argv[1], "deadlock") == 0) {
		write_own = write_deadlock;
	} else if (argc == 3 && strcmp(argv[1], "server") == 0) {
		write_own = write_server;
	} else {
		return 64;
	}
	answer.wants = report_command.wants;
	FILE *f = fopen(argv[2], "we");
	struct error *err CLEANUP(error_freep) = NULL;
	if (f)
		err = write_own ? write_own(f) : report_write(f, &answer, 1700000000);
	return !f || fclose(f) != 0 || err;
}

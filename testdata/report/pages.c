/*
 * Writes reports that no program makes at will: one where every string is an attack, and one of
 * many tasks.
 *
 * usage: report_pages hostile FILE
 *        report_pages deadlock FILE      tasks 1 and 2 have a lock each and want the other one; 3
 *                                        waits for 1; 4 and 5 talk by a channel
 *        report_pages many FILE TASKS    in KINDS kinds, as many of each as can be
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/report.h"
#include "commands/test_snapshot.h"
#include "runtimes/test_graph.h"

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

static void make_hostile(struct snapshot *snap)
{
	struct arena *a = &snap->arena;

	snap->target = (struct target_info){ .kind = "live",
		                             .pid = 7,
		                             .command = evil,
		                             .exe = evil,
		                             .build_id = evil,
		                             .tokio = evil,
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
	leaf->wait->phrase = arena_printf(a, "%s, %u tasks ahead", waits[kind % 5], task);
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

	if (argc == 3 && strcmp(argv[1], "hostile") == 0) {
		make_hostile(snap);
		answer.verbose = true;
	} else if (argc == 4 && strcmp(argv[1], "many") == 0) {
		make_many(snap, (unsigned)strtoul(argv[3], NULL, 10));
	} else if (argc != 3 || strcmp(argv[1], "deadlock") != 0) {
		return 64;
	}
	answer.wants = report_command.wants;
	FILE *f = fopen(argv[2], "we");
	struct error *err CLEANUP(error_freep) = !f ? NULL
	                                         : strcmp(argv[1], "deadlock") == 0
	                                                 ? write_deadlock(f)
	                                                 : report_write(f, &answer, 1700000000);
	return !f || fclose(f) != 0 || err;
}

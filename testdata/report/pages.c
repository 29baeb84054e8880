/*
 * Writes reports that no program makes at will: one where every string is an attack, and one of
 * many tasks.
 *
 * usage: report_pages hostile FILE
 *        report_pages many FILE TASKS    in KINDS kinds, as many of each as can be
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/report.h"
#include "commands/test_snapshot.h"

enum { KINDS = 40 };

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
	leaf->wait->object = 0x7f0000000000 + task % 5000 * 64;
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
	snapshot_number_frames(snap);
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
	} else {
		return 64;
	}
	answer.wants = report_command.wants;
	FILE *f = fopen(argv[2], "we");
	struct error *err CLEANUP(error_freep) = f ? report_write(f, &answer, 1700000000) : NULL;
	return !f || fclose(f) != 0 || err;
}

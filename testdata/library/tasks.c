/*
 * A program that links the library: prints the tasks of a core or of a saved snapshot.
 *
 * usage: tasks FILE [EXECUTABLE]
 */
#include <stdio.h>

#include "debugger/base/arena.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"
#include "runtimes/session/asyncdbg.h"

static void print_task(const struct snapshot *s, const struct task *task)
{
	SCRATCH(a);
	size_t others;
	const char *name = task_name(task), *on = task_waiting_on(&a, s, task, false, &others);
	const struct future *f = future_awaiting(task->root);

	printf("%s\t%s\t%s", task->id, task_state_name(task->state), name ? name : "-");
	if (f)
		printf("\t%s:%u", f->file, f->line);
	printf("%s%s\n", on ? "\t" : "", on ? on : "");
}

static struct error *print_tasks(const char *file, const char *exe)
{
	const struct asyncdbg_options options = { .file = file, .target.exe = exe };
	struct asyncdbg *d CLEANUP(asyncdbg_closep) = NULL;
	const struct snapshot *s;

	TRY(asyncdbg_open(&options, &d));
	TRY(asyncdbg_snapshot(d, WANT_TASKS | WANT_RUNNING, NULL, &s));
	for (size_t i = 0; i < s->ntasks; i++)
		print_task(s, s->tasks[i]);
	for (size_t i = 0; i < s->nnotes; i++)
		fprintf(stderr, "tasks: %s\n", s->notes[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: tasks FILE [EXECUTABLE]\n");
		return 64;
	}
	struct error *err CLEANUP(error_freep) = print_tasks(argv[1], argc > 2 ? argv[2] : NULL);

	if (err)
		fprintf(stderr, "tasks: %s\n", err->message);
	return err ? 2 : 0;
}

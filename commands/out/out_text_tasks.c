/* Many tasks: two threads write them, each half. */
#include <stdio.h>
#include <stdlib.h>

#include "commands/out/out_text.h"
#include "debugger/base/parallel.h"

enum { MANY = 128 };

/* What the other thread writes, into memory. */
struct half {
	struct text text;
	const struct task *const *tasks;
	size_t n;
	char *data;
	size_t len;
};

static void *write_half(void *arg)
{
	struct half *half = arg;

	for (size_t i = 0; i < half->n; i++)
		text_task_view(&half->text, half->tasks[i], TASK_BACKTRACE);
	return NULL;
}

static void write_tasks(struct text *t, const struct task *const *tasks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		t->out.ops->task(&t->out, tasks[i], TASK_BACKTRACE);
}

void text_backtraces(struct out *o, const struct task *const *tasks, size_t n)
{
	struct text *t = (struct text *)o;
	struct half half = {
		.text.out = { .options = o->options, .answer = o->answer },
		.tasks = tasks + n / 2,
		.n = n - n / 2,
	};
	struct beside beside = { 0 };
	FILE *memory = n < MANY ? NULL : open_memstream(&half.data, &half.len);

	half.text.out.options.answers = memory;
	if (!memory || !parallel_start(&beside, write_half, &half)) {
		write_tasks(t, tasks, n);
	} else {
		write_tasks(t, tasks, n / 2);
		parallel_wait(&beside);
		t->ntasks += half.n;
		if (fflush(memory) != 0)
			out_of_memory();
		text_write(t, half.data, half.len);
	}
	str_free(&half.text.line);
	if (memory)
		fclose(memory);
	free(half.data);
}

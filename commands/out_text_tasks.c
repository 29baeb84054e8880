/* Many tasks: two threads write them, each half of some at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "commands/out_text.h"
#include "dwarf/parallel.h"

enum { MANY = 128, AT_ONCE = 1024 };

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
		text_backtrace(&half->text, half->tasks[i]);
	return NULL;
}

static void write_some(struct text *t, const struct task *const *tasks, size_t n)
{
	size_t total = t->out.answer.snapshot->ntasks;

	for (size_t i = 0; i < n; i++) {
		out_progress(&t->out, t->ntasks++, total);
		text_backtrace(t, tasks[i]);
	}
}

static void write_halves(struct text *t, const struct task *const *tasks, size_t n)
{
	struct half half = {
		.text.out = { .options = t->out.options, .answer = t->out.answer },
		.tasks = tasks + n / 2,
		.n = n - n / 2,
	};
	struct beside beside = { 0 };
	FILE *memory = open_memstream(&half.data, &half.len);

	half.text.out.options.answers = memory;
	if (!memory || !parallel_start(&beside, write_half, &half)) {
		write_some(t, tasks, n);
	} else {
		write_some(t, tasks, n / 2);
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

void text_backtraces(struct out *o, const struct task *const *tasks, size_t n)
{
	struct text *t = (struct text *)o;

	for (size_t i = 0; i < n; i += AT_ONCE) {
		size_t some = n - i < AT_ONCE ? n - i : AT_ONCE;

		if (some < MANY)
			write_some(t, tasks + i, some);
		else
			write_halves(t, tasks + i, some);
	}
}

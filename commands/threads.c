#include <stdlib.h>

#include "commands/command.h"
#include "commands/view.h"

static struct error *show_stacks(const struct answer *answer, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;

	out_begin(out, answer);
	for (size_t i = 0; i < snap->nthreads; i++) {
		TRY(out_check(out));
		out->ops->thread(out, &snap->threads[i], THREAD_STACK);
	}
	return NULL;
}

static struct error *run_all(struct session *s, const struct answer *answer,
                             const struct words *args, struct out *out)
{
	(void)s;
	(void)args;
	return show_stacks(answer, out);
}

static struct error *show_focus(const struct session *s, const struct answer *answer,
                                struct out *out)
{
	const struct thread_info *th;

	TRY(session_focus(s, answer->snapshot, &th));
	out_begin(out, answer);
	out->ops->thread(out, th, THREAD_STACK);
	return NULL;
}

static struct error *run_thread(struct session *s, const struct answer *answer,
                                const struct words *args, struct out *out)
{
	if (args->n) {
		const struct snapshot *snap = answer->snapshot;
		const char *typed = args->word[0] + (args->word[0][0] == '#');
		char *end;
		unsigned long number = strtoul(typed, &end, 10);

		if (*end || end == typed || *typed == '-')
			return error_new(ERR_USAGE, "\"%s\" is not a thread number", args->word[0]);

		const struct thread_info *th =
			number <= UINT32_MAX ? snapshot_thread(snap, (unsigned)number) : NULL;
		if (!th)
			return error_new(ERR_STATE, "no thread %s; there are %zu, from 1 on", typed,
			                 snap->nthreads);
		s->focus = th->tid;
	}
	return show_focus(s, answer, out);
}

static struct error *run_bt(struct session *s, const struct answer *answer,
                            const struct words *args, struct out *out)
{
	(void)args;
	return show_focus(s, answer, out);
}

const struct command threads_command = {
	.name = "threads",
	.summary = "The native stacks of all threads, joined with the async stacks they poll",
	.help = "    Inlined frames are marked. Below a frame that polls a task stand the futures\n"
		"    of that task. A table without stacks: info threads.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.run = run_all,
};

const struct command thread_command = {
	.name = "thread",
	.args = "[N]",
	.max_args = 1,
	.summary = "Put thread N in focus and show its stack",
	.wants = WANT_STACKS | WANT_RUNNING,
	.run = run_thread,
};

const struct command bt_command = {
	.name = "bt",
	.summary = "The native stack of the thread in focus",
	.help = "    That is the one chosen with thread N, else the one that crashed, else thread "
		"1.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.run = run_bt,
};

const struct command bt_all_command = {
	.name = "bt all",
	.summary = "The native stacks of all threads",
	.wants = WANT_STACKS | WANT_RUNNING,
	.run = run_all,
};

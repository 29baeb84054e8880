/* threads, thread, bt: threads and their stacks. */
#include <limits.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"

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
                             const struct call *call, struct out *out)
{
	(void)s;
	(void)call;
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

/* Parses "3" or "#3", the form in which threads are printed. */
static struct error *thread_number(const char *word, unsigned *ret)
{
	uint64_t number;

	TRY(words_number(word + (*word == '#'), "a thread number", UINT_MAX, &number));
	*ret = (unsigned)number;
	return NULL;
}

static struct error *check_thread(const struct call *call)
{
	unsigned number;

	return call->args.n ? thread_number(call->args.word[0], &number) : NULL;
}

static struct error *run_thread(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	if (call->args.n) {
		const struct snapshot *snap = answer->snapshot;
		unsigned number;

		TRY(thread_number(call->args.word[0], &number));
		const struct thread_info *th = snapshot_thread(snap, number);
		if (!th)
			return error_new(ERR_STATE, "no thread %u; there are %zu, from 1 on",
			                 number, snap->nthreads);
		focus_set_thread(s, th);
	}
	return show_focus(s, answer, out);
}

static struct error *run_bt(struct session *s, const struct answer *answer, const struct call *call,
                            struct out *out)
{
	(void)call;
	return show_focus(s, answer, out);
}

const struct command threads_command = {
	.name = "threads",
	.summary = "The native stacks of all threads, joined with the async stacks they poll",
	.help = "    Inlined frames are marked. Below a frame that polls a task stand the futures\n"
		"    of that task. A table without stacks: info threads.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.repeats = true,
	.run = run_all,
};

const struct command thread_command = {
	.name = "thread",
	.args = "[N]",
	.max_args = 1,
	.check = check_thread,
	.summary = "Put thread N in focus and show its stack",
	.help = "    frame, up, down, locals and print are then about its native frames; task\n"
		"    without ID goes on to the task it runs, or the future it blocks on.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.run = run_thread,
};

const struct command bt_command = {
	.name = "bt",
	.summary = "The native stack of the thread in focus",
	.help = "    That is the one chosen with thread N, else the one that crashed, else thread "
		"1.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.repeats = true,
	.run = run_bt,
};

const struct command bt_all_command = {
	.name = "bt all",
	.summary = "The native stacks of all threads",
	.wants = WANT_STACKS | WANT_RUNNING,
	.repeats = true,
	.run = run_all,
};

/* threads, thread, bt: threads and their stacks. */
#include <limits.h>
#include <sys/param.h>

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

static struct error *threads_run_all(struct session *s, const struct answer *answer,
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
			return error_new(ERR_STATE, "no thread %u; the threads are 1 to %zu",
			                 number, snap->nthreads);
		focus_set_thread(s, th);
	}
	return show_focus(s, answer, out);
}

/* ---- bt ---- */

/* Parses "3", or "-3": the outermost ones. */
static struct error *frame_count(const char *word, size_t *ret, bool *outermost)
{
	uint64_t number;

	*outermost = *word == '-';
	struct error *err CLEANUP(error_freep) =
		words_number(word + *outermost, "a number of frames", UINT_MAX, &number);
	if (err || !number)
		return error_new(ERR_USAGE,
		                 "\"%s\" is not a number of frames: \"bt 5\" shows the innermost "
		                 "ones, \"bt -5\" the outermost, \"bt all\" all threads",
		                 word);
	*ret = (size_t)number;
	return NULL;
}

static struct error *check_bt(const struct call *call)
{
	bool outermost;
	size_t n;

	return call->args.n ? frame_count(call->args.word[0], &n, &outermost) : NULL;
}

static struct error *run_bt(struct session *s, const struct answer *answer, const struct call *call,
                            struct out *out)
{
	struct thread_info *some = NEW(&s->answer, struct thread_info);
	const struct thread_info *all;
	bool outermost;
	size_t n;

	if (!call->args.n)
		return show_focus(s, answer, out);
	TRY(frame_count(call->args.word[0], &n, &outermost));
	TRY(session_focus(s, answer->snapshot, &all));
	*some = *all;
	some->nframes = MIN(n, all->nframes);
	some->frames += outermost ? all->nframes - some->nframes : 0;
	out_begin(out, answer);
	out->ops->thread(out, some, THREAD_STACK);
	if (some->nframes < all->nframes)
		fprintf(out->options.messages,
		        "asyncdbg: %zu of %zu frames are shown; \"bt\" shows all\n", some->nframes,
		        all->nframes);
	return NULL;
}

const struct command threads_command = {
	.name = "threads",
	.summary = "Show the native stacks of all threads, joined with the async stacks they poll",
	.help = "    Inlined frames are marked. The futures of a task are shown below the frame\n"
		"    that polls it. For a table without stacks: info threads.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.repeats = true,
	.run = threads_run_all,
};

const struct command thread_command = {
	.name = "thread",
	.args = "[N]",
	.max_args = 1,
	.check = check_thread,
	.summary = "Select thread N and show its stack",
	.help = "    frame, up, down, locals and print then refer to its native frames; task\n"
		"    without ID selects the task it is running, or the future it blocks on.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.run = run_thread,
};

const struct command bt_command = {
	.name = "bt",
	.args = "[N]",
	.max_args = 1,
	.check = check_bt,
	.summary = "Show the native stack of the selected thread, or its N innermost frames",
	.help = "    Without thread N, that is the thread that crashed, else thread 1. bt -N\n"
		"    shows the N outermost frames.",
	.wants = WANT_STACKS | WANT_RUNNING,
	.repeats = true,
	.run = run_bt,
};

const struct command bt_all_command = {
	.name = "bt all",
	.summary = "Show the native stacks of all threads",
	.wants = WANT_STACKS | WANT_RUNNING,
	.repeats = true,
	.run = threads_run_all,
};

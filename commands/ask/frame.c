/* task, frame, up, down, locals: the focus, and the variables of its frame. */
#include <limits.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"

enum { FRAME_WANTS = WANT_TASKS | WANT_RUNNING };

/* Parses "3" or "#3", the form in which frames are printed. */
static struct error *frame_number(const char *word, unsigned *ret)
{
	uint64_t number;

	TRY(words_number(word + (*word == '#'), "a frame number", UINT_MAX, &number));
	*ret = (unsigned)number;
	return NULL;
}

static struct error *check_task(const struct call *call)
{
	return call->args.n ? focus_check_task_id(call->args.word[0]) : NULL;
}

static struct error *check_frame(const struct call *call)
{
	unsigned number;

	return call->args.n ? frame_number(call->args.word[0], &number) : NULL;
}

/* Moves the focus to a frame if it exists. */
static struct error *frame_move_to(struct session *s, const struct answer *answer, unsigned number,
                                   struct out *out)
{
	struct session moved = *s;
	struct focus f;

	moved.frame = number;
	TRY(focus_frame(&moved, answer->snapshot, &f));
	s->frame = number;
	listing_forget(s);
	out_begin(out, answer);
	part_frame(out, &f);
	return NULL;
}

/*
 * Moves the focus to a native frame of the thread in focus. like: the answer to a snapshot of the
 * command, which is replaced by a snapshot of that frame.
 */
static struct error *frame_move_native(struct session *s, const struct answer *like,
                                       unsigned number, struct out *out)
{
	struct answer answer = *like;
	struct focus f;

	TRY(focus_native_frame(s, number, like->verbose ? WANT_LOCALS : 0, &f));
	s->frame = number;
	listing_forget(s);
	answer.snapshot = asyncdbg_last(s->handle);
	answer.wants = asyncdbg_last_wants(s->handle);
	out_begin(out, &answer);
	part_frame(out, &f);
	return NULL;
}

/* Shows a job of a blocking pool; the thread that runs it is then in focus. */
static struct error *show_job(struct session *s, const struct answer *answer, const char *id,
                              struct out *out)
{
	const struct job *job = snapshot_job(answer->snapshot, id);
	const struct thread_info *th;

	if (!job)
		return focus_unknown_task(answer->snapshot, id);
	th = snapshot_thread(answer->snapshot, job->thread);
	if (th)
		focus_set_thread(s, th);
	out_begin(out, answer);
	out->ops->job(out, job, TASK_FULL);
	return NULL;
}

static struct error *run_task(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	struct session moved = *s;
	struct focus f;

	moved.frame = s->native ? 0 : s->frame;
	if (call->args.n) {
		const char *id = focus_task_id(answer->snapshot, call->args.word[0]);
		const struct task *task = snapshot_task(answer->snapshot, id, 0);

		if (!task)
			return show_job(s, answer, id, out);
		focus_set_task(&moved, task);
	}
	TRY(focus_tree(&moved, answer->snapshot, &f));
	/* A task without frames can be in focus too. */
	if (f.root)
		TRY(focus_frame(&moved, answer->snapshot, &f));
	if (call->args.n) {
		focus_set_task(s, f.task);
	} else if (s->native) {
		s->native = false;
		s->frame = 0;
		listing_forget(s);
	}
	out_begin(out, answer);
	part_frame(out, &f);
	return NULL;
}

static struct error *run_frame(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	unsigned number = s->frame;

	if (call->args.n)
		TRY(frame_number(call->args.word[0], &number));
	return s->native ? frame_move_native(s, answer, number, out)
	                 : frame_move_to(s, answer, number, out);
}

static struct error *run_up(struct session *s, const struct answer *answer, const struct call *call,
                            struct out *out)
{
	const struct future *parent;
	struct focus f;

	(void)call;
	if (s->native)
		return frame_move_native(s, answer, s->frame + 1, out);
	TRY(focus_frame(s, answer->snapshot, &f));
	future_frame(f.root, f.frame->number, &parent);
	if (!parent)
		return error_new(ERR_STATE, "frame #%u is the outermost", f.frame->number);
	return frame_move_to(s, answer, parent->number, out);
}

/* "1 (#4), 2 (#7)" */
static void append_children(struct str *s, const struct future *f)
{
	for (size_t i = 0; i < f->nchildren; i++)
		str_printf(s, "%s%zu (#%u)", i ? ", " : "", i + 1, f->children[i]->number);
}

/* The child that `down` without an argument selects: the only child, or the only polled child. */
static struct error *only_child(const struct future *f, const struct future **ret)
{
	size_t polled = 0;
	STR(list);

	for (size_t i = 0; i < f->nchildren; i++) {
		if (f->children[i]->branch == BRANCH_POLLED && polled++ == 0)
			*ret = f->children[i];
	}
	if (f->nchildren == 1)
		*ret = f->children[0];
	if (f->nchildren == 1 || polled == 1)
		return NULL;
	append_children(&list, f);
	return error_new(ERR_STATE,
	                 "frame #%u awaits several futures; choose one with \"down N\": %s",
	                 f->number, str_text(&list));
}

static struct error *nth_child(const struct future *f, unsigned n, const struct future **ret)
{
	STR(list);

	append_children(&list, f);
	if (n == 0 || n > f->nchildren)
		return error_new(ERR_STATE, "frame #%u has no child %u; it has %s", f->number, n,
		                 str_text(&list));
	*ret = f->children[n - 1];
	return NULL;
}

static struct error *run_down(struct session *s, const struct answer *answer,
                              const struct call *call, struct out *out)
{
	const struct future *child = NULL;
	struct focus f;
	unsigned n = 1;

	if (call->args.n)
		TRY(frame_number(call->args.word[0], &n));
	if (s->native && n > s->frame)
		return error_new(ERR_STATE, "frame #%u has %u below it; #0 is innermost", s->frame,
		                 s->frame);
	if (s->native)
		return frame_move_native(s, answer, s->frame - n, out);
	TRY(focus_frame(s, answer->snapshot, &f));
	if (!f.frame->nchildren)
		return error_new(ERR_STATE, "frame #%u is innermost", f.frame->number);
	if (call->args.n) {
		TRY(nth_child(f.frame, n, &child));
	} else {
		TRY(only_child(f.frame, &child));
	}
	return frame_move_to(s, answer, child->number, out);
}

static struct error *run_locals(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	(void)call;
	return s->native ? frame_move_native(s, answer, s->frame, out)
	                 : frame_move_to(s, answer, s->frame, out);
}

const struct command task_command = {
	.name = "task",
	.args = "[ID]",
	.max_args = 1,
	.verbose = true,
	.check = check_task,
	.summary = "Select a task, and show the selected frame",
	.help = "    frame, up, down, locals and print refer to this task until thread N or\n"
		"    another task is selected. After thread N, task without ID selects the task\n"
		"    that the thread is running, or the future it blocks on. For all frames:\n"
		"    async task.",
	.wants = FRAME_WANTS,
	.run = run_task,
};

const struct command frame_command = {
	.name = "frame",
	.args = "[N]",
	.max_args = 1,
	.verbose = true,
	.check = check_frame,
	.summary = "Select frame N of the task or thread, and show it",
	.help = "    N is the number shown in backtraces. After task ID these are frames of the\n"
		"    task; after thread N, and where the debugged program has stopped, native\n"
		"    frames as in bt; else those of the task that the selected thread is\n"
		"    running, or of the future it blocks on.",
	.wants = FRAME_WANTS,
	.run = run_frame,
};

const struct command up_command = {
	.name = "up",
	.verbose = true,
	.summary = "Select the frame that awaits or calls the selected one",
	.wants = FRAME_WANTS,
	.repeats = true,
	.run = run_up,
};

const struct command down_command = {
	.name = "down",
	.args = "[N]",
	.max_args = 1,
	.verbose = true,
	.check = check_frame,
	.summary = "Select the frame that the selected one awaits or calls",
	.help = "    If it polls several, N selects one: 1 is the first one below it. For\n"
		"    native frames, N is how many frames to go down.",
	.wants = FRAME_WANTS,
	.repeats = true,
	.run = run_down,
};

const struct command locals_command = {
	.name = "locals",
	.summary = "Print the variables of the selected frame",
	.help = "    Arguments come first. For all frames of a task: async task -v. In a native\n"
		"    frame of optimised code: the values, or why there are none.",
	.wants = FRAME_WANTS | WANT_LOCALS,
	.repeats = true,
	.run = run_locals,
};

/* The spelling of gdb. */
const struct command info_locals_command = {
	.name = "info locals",
	.summary = "Same as locals",
	.wants = FRAME_WANTS | WANT_LOCALS,
	.repeats = true,
	.run = run_locals,
};

/* print, whatis: the value of a variable, and the place at an address. */
#include <inttypes.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"
#include "commands/parts/parts.h"

static struct error *check_print(const struct call *call)
{
	const char *expr = call->args.word[0];

	if (expr[strspn(expr, " \t")] == '\0')
		return error_new(ERR_USAGE,
		                 "\"print\" needs a variable, for example print req.uri");
	return NULL;
}

static void ask_print(const struct session *s, const struct call *call, struct question *ret)
{
	ret->task = *s->task ? s->task : NULL;
	ret->thread = session_focus_number(s);
	ret->frame = s->frame;
	ret->native = s->native;
	ret->print = call->args.word[0];
}

/* Native frames: only the thread is known, as the snapshot has no stacks. */
static struct error *focus_thread(const struct session *s, const struct snapshot *snap,
                                  struct focus *ret)
{
	*ret = (struct focus){ 0 };
	return session_focus(s, snap, &ret->thread);
}

/* Finds the frame in focus; a static needs none. */
static struct error *focus_of(const struct session *s, const struct snapshot *snap,
                              const struct local *printed, struct focus *ret)
{
	struct error *err = s->native ? focus_thread(s, snap, ret) : focus_frame(s, snap, ret);

	if (!err || !printed)
		return err;
	if (!printed->global && printed->problem) {
		struct error *both = error_new(err->kind, "%s; %s", err->message, printed->problem);

		error_free(err);
		return both;
	}
	if (!printed->global)
		return err;
	error_free(err);
	*ret = (struct focus){ 0 };
	return NULL;
}

static struct error *run_print(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const struct local *printed = answer->snapshot->printed;
	unsigned number = asyncdbg_last_question(s->handle)->thread;
	struct focus f = { 0 };

	TRY(focus_of(s, answer->snapshot, printed, &f));
	/* Thread numbers change when a thread ends before the snapshot is taken. */
	if (!*s->task && asyncdbg_target(s->handle) && f.thread && f.thread->number != number)
		return error_new(ERR_STATE, "thread #%u is another one now; try again", number);
	if (!printed)
		return error_new(ERR_STATE, "%s: not found in frame #%u", call->args.word[0],
		                 s->frame);
	/* A script goes on, as behind "<optimized out>" of gdb. */
	if (printed->no_value)
		s->finding = STATUS_PARTIAL;
	else if (!printed->value)
		return error_new(ERR_STATE, "%s: %s", call->args.word[0],
		                 printed->problem ? printed->problem : "it has no value");
	out_begin(out, answer);
	part_printed(out, &f, printed);
	return NULL;
}

static struct error *check_whatis(const struct call *call)
{
	uint64_t addr;

	return words_address(call->args.word[0], &addr);
}

static void ask_whatis(const struct session *s, const struct call *call, struct question *ret)
{
	struct error *err CLEANUP(error_freep) = words_address(call->args.word[0], &ret->whatis);

	(void)s;
	ret->has_whatis = err == NULL;
}

static struct error *run_whatis(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	const struct snapshot *snap = answer->snapshot;
	uint64_t addr;

	(void)s;
	TRY(words_address(call->args.word[0], &addr));
	if (!snap->nplaces)
		return error_new(ERR_STATE, "nothing is known about address 0x%" PRIx64, addr);
	out_begin(out, answer);
	part_places(out, snap->places, snap->nplaces);
	return NULL;
}

const struct command print_command = {
	.name = "print",
	.args = "EXPR",
	.min_args = 1,
	.max_args = 1,
	.check = check_print,
	.ask = ask_print,
	.summary = "Print a variable or static, or a path from it",
	.help = "    EXPR is a path: req, req.uri, pair.0, list[2..5], *pointer, or (0x7f00 as\n"
		"    app::Request).id for memory at an address. task ID and frame N select the\n"
		"    frame, locals lists its variables. A name that is not a variable of the\n"
		"    frame is looked up among the statics of the program: CONFIG.limit, or with\n"
		"    its path, app::CONFIG.limit. For a variable without a value, for example\n"
		"    optimised out, the reason is printed; a script continues, with exit status\n"
		"    1.",
	.wants = WANT_TASKS | WANT_RUNNING,
	.repeats = true,
	.run = run_print,
};

const struct command whatis_command = {
	.name = "whatis",
	.args = "ADDR",
	.min_args = 1,
	.max_args = 1,
	.check = check_whatis,
	.ask = ask_whatis,
	.summary = "Identify an address: a task, a frame, a lock, a stack, a module",
	.help = "    ADDR is hexadecimal with 0x, else decimal.",
	.wants = WANT_TASKS | WANT_RUNNING | WANT_STACKS,
	.run = run_whatis,
};

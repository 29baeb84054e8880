/* watch */
#include <inttypes.h>
#include <string.h>

#include "commands/base/focus.h"
#include "commands/control/control.h"
#include "commands/control/stop.h"
#include "commands/control/watching.h"
#include "dwarf/types/type.h"

static struct error *check_watch(const struct call *call)
{
	if (call->args.n && option_has(call, "state"))
		return error_new(ERR_USAGE, "watch --state takes no variable: it is the state of "
		                            "the frame in focus");
	return NULL;
}

/* The future in focus, by its address and type. */
static struct error *state_text(struct session *s, const char **ret)
{
	const struct snapshot *snap;
	struct focus f;

	TRY(session_snapshot(s, WANT_TASKS | WANT_RUNNING, NULL, &snap));
	TRY(focus_frame(s, snap, &f));
	if (!f.frame || !f.frame->addr || !f.frame->type)
		return error_new(ERR_STATE, "the address of the future of frame #%u is not known",
		                 s->frame);
	*ret = arena_printf(&s->answer, "0x%" PRIx64 " as %s", f.frame->addr, f.frame->type);
	return NULL;
}

/* Evaluates the expression in the frame in focus. */
static struct error *evaluate(struct session *s, const char *expression, struct typed_local *ret)
{
	struct typed_locals typed = { 0 };
	const struct question question = { .task = *s->task ? s->task : NULL,
		                           .thread = session_focus_number(s),
		                           .frame = s->frame,
		                           .print = expression,
		                           .typed = &typed };
	const struct snapshot *snap;

	TRY(session_snapshot(s, WANT_TASKS | WANT_RUNNING, &question, &snap));
	if (typed.n != 1 || !typed.data[0].type)
		return error_new(ERR_STATE, "%s: %s", expression,
		                 snap->printed && snap->printed->problem ? snap->printed->problem
		                                                         : "it has no place");
	*ret = typed.data[0];
	if (!ret->in_memory)
		return error_new(ERR_STATE,
		                 "%s: it is in a register now, and a register cannot be "
		                 "watched",
		                 expression);
	return NULL;
}

/*
 * A variable of a running function lives on a stack, only as long as the function does. An address
 * that was typed is watched nevertheless. *task: in whose future it is; NULL: unknown.
 */
struct error *watching_check_lasts(struct session *s, uint64_t addr, bool global, const char **task)
{
	const struct question question = { .whatis = addr, .has_whatis = true };
	const struct snapshot *snap;
	bool on_stack = false;

	*task = NULL;
	TRY(session_snapshot(s, WANT_TASKS | WANT_RUNNING | WANT_STACKS, &question, &snap));
	for (size_t i = 0; i < snap->nplaces; i++) {
		const struct place *p = &snap->places[i];

		on_stack |= strcmp(p->what, "stack") == 0;
		if (p->task)
			*task = arena_strdup(&s->answer, p->task);
	}
	if (on_stack && !*task && !global)
		return error_new(
			ERR_STATE,
			"it is on the stack of a thread, only as long as its function runs: "
			"such a place is watched by its address alone, as in "
			"watch '0x%" PRIx64 " as TYPE'",
			addr);
	return NULL;
}

static struct error *run_watch(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	bool state = option_has(call, "state");
	const char *expression = call->args.n ? call->args.word[0] : NULL;
	struct watchpoint **w = NEW(&s->answer, struct watchpoint *);
	struct watch_options options = { .state = state };
	struct typed_local local = { 0 };

	TRY(stop_need_program(s));
	if (!state && !expression)
		return error_new(ERR_USAGE, "\"watch\" needs a variable, as in watch req.count, or "
		                            "--state");
	if (state)
		TRY(state_text(s, &expression));
	TRY(evaluate(s, expression, &local));
	options.type = local.type;
	options.addr = local.shown.addr;
	options.size = type_size(local.type);
	options.text =
		state ? arena_printf(&s->answer, "--state of %s", local.shown.type) : expression;
	TRY(watching_check_lasts(s, local.shown.addr, local.shown.global, &options.task));
	TRY(watch_add(&s->debuggee, &options, w));
	out_begin(out, answer);
	out->ops->watchpoints(out, w, 1);
	return NULL;
}

static const struct command_option watch_options[] = {
	{ "state", NULL, false, "Watch at which await the future of the frame in focus is" },
	{ 0 },
};

const struct command watch_command = {
	.name = "watch",
	.args = "[EXPR]",
	.max_args = 1,
	.options = watch_options,
	.check = check_watch,
	.summary = "Stop the program under control when a value changes",
	.help = "    EXPR is that of print, in the frame in focus: what it leads to now is "
		"watched,\n"
		"    up to 32 bytes, by the processor's four breakpoints of 8. A write of the "
		"same\n"
		"    value is passed over. delete, enable and disable take its number.",
	.offline = true,
	.run = run_watch,
};

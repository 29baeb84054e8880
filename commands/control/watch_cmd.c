/* watch, rwatch, awatch */
#include <inttypes.h>
#include <string.h>

#include "commands/base/focus.h"
#include "commands/control/break_cmd.h"
#include "commands/control/control.h"
#include "commands/control/stop.h"
#include "commands/control/stopped.h"
#include "commands/control/watch_cmd.h"
#include "runtimes/stepping/debuggee.h"

/* ---- conditions ---- */

enum { MAX_NAMES = 64 /* paths of a condition */ };

struct watch_cmd_naming {
	struct session *s;
	const struct watch_name *own;
	watch_cmd_find *find;
	void *arg;
	struct watch_name *names; /* MAX_NAMES */
	size_t n;
};

static struct error *find_name(struct watch_cmd_naming *n, const char *path)
{
	struct typed_local found = { 0 };
	const char *task;

	for (size_t i = 0; i < n->n; i++) {
		if (strcmp(n->names[i].path, path) == 0)
			return NULL;
	}
	if (n->n == MAX_NAMES)
		return error_new(ERR_USAGE, "the condition has more than %d paths", MAX_NAMES);
	struct watch_name *name = &n->names[n->n++];
	*name = *n->own;
	name->path = path;
	if (n->own->path && strcmp(path, n->own->path) == 0)
		return NULL;
	TRY(n->find(n->arg, path, &found));
	name->type = found.type;
	name->addr = found.shown.addr;
	bool global = found.shown.global;
	struct error *err = watch_cmd_check_lasts(n->s, path, name->addr, global, &task, NULL);
	return err ? error_wrap(err, "%s", path) : NULL;
}

static struct error *watch_cmd_find_names(struct watch_cmd_naming *n, const struct predicate *p)
{
	if (p->op == PREDICATE_PATH)
		return find_name(n, p->path);
	if (p->left)
		TRY(watch_cmd_find_names(n, p->left));
	return p->right ? watch_cmd_find_names(n, p->right) : NULL;
}

struct error *watch_cmd_read_condition(struct session *s, const char *condition,
                                       const struct watch_name *own, watch_cmd_find *find,
                                       void *arg, struct watch_rule *ret)
{
	struct watch_cmd_naming n = { .s = s, .own = own, .find = find, .arg = arg };
	const struct predicate *parsed;

	ret->condition = condition && *condition ? condition : NULL;
	ret->names = NULL;
	ret->nnames = 0;
	if (!ret->condition)
		return NULL;
	n.names = NEW_ARRAY(&s->answer, struct watch_name, MAX_NAMES);
	TRY(predicate_parse(&s->answer, condition, &parsed));
	TRY(watch_cmd_find_names(&n, parsed));
	ret->names = n.names;
	ret->nnames = n.n;
	return NULL;
}

/* The condition as it was typed, and how hits are counted. */
static struct error *read_rule(const struct call *call, struct arena *a, struct watch_rule *ret)
{
	size_t from = call->args.n && strcmp(call->args.word[0], "if") != 0;

	*ret = (struct watch_rule){ 0 };
	TRY(break_cmd_read_counts(call, &ret->skip, &ret->every));
	return break_cmd_read_condition(call, from, "EXPR", a, &ret->condition);
}

/* ---- watch ---- */

static enum watch_kind watch_cmd_kind_of(const struct command *command)
{
	return command == &rwatch_command   ? WATCH_READ
	       : command == &awatch_command ? WATCH_ACCESS
	                                    : WATCH_WRITE;
}

static struct error *check_watch(const struct call *call)
{
	bool state = option_has(call, "state");
	struct watch_rule rule;
	SCRATCH(tmp);

	TRY(read_rule(call, &tmp, &rule));
	if (state && call->args.n && strcmp(call->args.word[0], "if") != 0)
		return error_new(ERR_USAGE, "watch --state takes no variable: it watches the state "
		                            "of the selected frame");
	return NULL;
}

/* Counts the futures of a tree that execute the line of a native frame; *found: the last one. */
static size_t count_at_frame(const struct future *f, const struct stack_frame *at,
                             const struct future **found)
{
	size_t n = f->running && f->line == at->line && f->function && at->function &&
	           strcmp(f->function, at->function) == 0;

	if (n)
		*found = f;
	for (size_t i = 0; i < f->nchildren; i++)
		n += count_at_frame(f->children[i], at, found);
	return n;
}

/* The future that the native frame in focus polls. */
static struct error *future_of_native(struct session *s, const struct future **ret)
{
	struct focus native, tree;

	TRY(focus_native(s, WANT_TASKS, &native));
	TRY(focus_tree(s, asyncdbg_last(s->handle), &tree));
	if (tree.root && count_at_frame(tree.root, native.native, ret) == 1)
		return NULL;
	return error_new(ERR_STATE,
	                 "which future frame #%u of thread #%u polls is not known; \"task ID\" and "
	                 "\"frame N\" select one",
	                 native.native->number, native.thread->number);
}

/* The future in focus, by its address and type. */
static struct error *state_text(struct session *s, const char **ret)
{
	const struct snapshot *snap;
	const struct future *future;
	struct focus f;

	if (s->native) {
		TRY(future_of_native(s, &future));
	} else {
		TRY(session_snapshot(s, WANT_TASKS | WANT_RUNNING, NULL, &snap));
		TRY(focus_frame(s, snap, &f));
		future = f.frame;
	}
	if (!future || !future->addr || !future->type)
		return error_new(
			ERR_STATE,
			"the address of the future of frame #%u is not known now; at a stop at "
			"which its task is suspended, \"task ID\" and \"frame N\" select it",
			s->frame);
	*ret = arena_printf(&s->answer, "0x%" PRIx64 " as %s", future->addr, future->type);
	return NULL;
}

/* Evaluates the expression in the frame in focus. */
static struct error *evaluate(struct session *s, const char *expression, struct typed_local *ret)
{
	struct typed_locals typed = { 0 };
	const struct question question = { .task = *s->task ? s->task : NULL,
		                           .thread = session_focus_number(s),
		                           .frame = s->frame,
		                           .native = s->native,
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

/* The thread of a number; 0: none. */
static pid_t watch_cmd_thread(const struct snapshot *snap, unsigned number)
{
	for (size_t i = 0; i < snap->nthreads; i++) {
		if (snap->threads[i].number == number)
			return snap->threads[i].tid;
	}
	return 0;
}

/*
 * A variable of a running function lives on a stack, only as long as the function does. An address
 * that was typed is watched nevertheless.
 */
struct error *watch_cmd_check_lasts(struct session *s, const char *text, uint64_t addr, bool global,
                                    const char **task, struct watch_owner *owner)
{
	const struct question question = { .whatis = addr, .has_whatis = true };
	struct watch_place place = { .text = text, .addr = addr };
	const struct snapshot *snap;

	*task = NULL;
	TRY(session_snapshot(s, WANT_TASKS | WANT_RUNNING | WANT_STACKS, &question, &snap));
	for (size_t i = 0; i < snap->nplaces; i++) {
		const struct place *p = &snap->places[i];

		if (strcmp(p->what, "stack") == 0)
			place.stack = watch_cmd_thread(snap, p->thread);
		if (p->task)
			*task = arena_strdup(&s->answer, p->task);
	}
	place.task = *task;
	if (owner)
		TRY(watch_owner_find(&s->debuggee, snap, &place, owner));
	if (place.stack && !*task && !global && !(owner && owner->scope.cfa))
		return error_new(ERR_STATE,
		                 "it is on the stack of a running function: watch such a place by "
		                 "its address, as in watch '0x%" PRIx64 " as TYPE'",
		                 addr);
	return NULL;
}

/* A watch_cmd_find. */
static struct error *evaluate_in_focus(void *arg, const char *expression, struct typed_local *ret)
{
	return evaluate(arg, expression, ret);
}

struct error *watch_cmd_change_condition(struct session *s, struct watchpoint *w,
                                         const char *condition)
{
	const struct watch_name own = { w->state ? NULL : w->text, w->type, w->addr };
	struct watch_rule rule = w->rule;

	if (!w->type)
		return error_new(ERR_STATE, "watchpoint %u: %s", w->number, w->note);
	TRY(watch_cmd_read_condition(s, condition, &own, evaluate_in_focus, s, &rule));
	return watch_set_rule(w, &rule);
}

/* Reads the expression and options to watch from the call. */
static struct error *read_watch(struct session *s, const struct call *call,
                                struct watch_options *ret)
{
	struct typed_local local = { 0 };
	const char *expression = call->args.n ? call->args.word[0] : NULL;
	struct watch_rule rule;

	*ret = (struct watch_options){ .kind = watch_cmd_kind_of(call->command),
		                       .state = option_has(call, "state") };
	TRY(read_rule(call, &s->answer, &rule));
	if (ret->state)
		TRY(state_text(s, &expression));
	else if (!expression || strcmp(expression, "if") == 0)
		return error_new(ERR_USAGE, "\"%s\" needs a variable, for example %s req.count%s",
		                 call->command->name, call->command->name,
		                 ret->kind == WATCH_WRITE ? ", or --state" : "");
	TRY(evaluate(s, expression, &local));
	ret->type = local.type;
	ret->addr = local.shown.addr;
	ret->text = ret->state ? arena_printf(&s->answer, "--state of %s", local.shown.type)
	                       : expression;
	ret->rule = rule;
	TRY(watch_cmd_check_lasts(s, ret->text, ret->addr, local.shown.global, &ret->task,
	                          local.shown.global ? NULL : &ret->owner));
	const struct watch_name own = { ret->state ? NULL : ret->text, ret->type, ret->addr };
	return watch_cmd_read_condition(s, rule.condition, &own, evaluate_in_focus, s, &ret->rule);
}

static struct error *run_watch(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	struct watchpoint **w = NEW(&s->answer, struct watchpoint *);
	struct watch_options options;

	TRY(stop_need_program(s));
	TRY(read_watch(s, call, &options));
	TRY(watch_add(&s->debuggee, &options, w));
	out_begin(out, answer);
	part_watchpoints(out, w, 1);
	return NULL;
}

/* ---- the commands ---- */

static const struct command_option watch_options[] = {
	{ "state", NULL, false, "Watch which await the future of the selected frame is at" },
	{ "after", "N", false, "Skip the first N hits" },
	{ "every", "N", false, "Stop only at every Nth hit" },
	{ 0 },
};

#define WATCH_HELP                                                                                 \
	"    EXPR is an expression of print in the selected frame. Its memory is\n"                \
	"    watched, up to 32 bytes, by the four hardware breakpoints of 8 bytes each.\n"         \
	"    CONDITION is that of break: its expressions are evaluated in the selected\n"          \
	"    frame now, and refer to these places later; task.id, task.type and\n"                 \
	"    task.name are those of the task that runs on the thread of the hit.\n"                \
	"    Options go before the if. delete, enable, disable and condition take its\n"           \
	"    number. A variable is watched until its scope ends, and until its function\n"         \
	"    returns or, if it is async, is dropped.\n"

const struct command watch_command = {
	.name = "watch",
	.args = "[EXPR] [if CONDITION]",
	.max_args = SIZE_MAX,
	.options = watch_options,
	.check = check_watch,
	.summary = "Set a watchpoint: stop when a value changes",
	.help = WATCH_HELP "    Writes of the same value do not stop.",
	.offline = true,
	.run = run_watch,
};

const struct command rwatch_command = {
	.name = "rwatch",
	.args = "EXPR [if CONDITION]",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.options = watch_options + 1,
	.check = check_watch,
	.summary = "Set a watchpoint: stop when a value is read",
	.help = WATCH_HELP
	"    The hardware only reports accesses: an access that leaves the value\n"
	"    unchanged counts as a read, so a write of the same value does too, as in\n"
	"    gdb.",
	.offline = true,
	.run = run_watch,
};

const struct command awatch_command = {
	.name = "awatch",
	.args = "EXPR [if CONDITION]",
	.min_args = 1,
	.max_args = SIZE_MAX,
	.options = watch_options + 1,
	.check = check_watch,
	.summary = "Set a watchpoint: stop when a value is read or written",
	.help = WATCH_HELP "    Writes of the same value stop, too.",
	.offline = true,
	.run = run_watch,
};

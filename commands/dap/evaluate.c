/* evaluate: expressions of a frame, and the command line of asyncdbg in the console. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/focus.h"
#include "commands/control/control.h"
#include "commands/dap/breakpoints.h"
#include "commands/dap/data.h"
#include "commands/dap/frames.h"
#include "commands/dap/running.h"
#include "commands/dap/values.h"
#include "debugger/base/str.h"
#include "runtimes/model/names.h"

static struct error *evaluate_path(struct dap *d, struct request *r, const char *expression)
{
	struct typed_local found;

	TRY(frames_evaluate(d, dap_number(r, "frameId", 0), expression, r->a, &found));
	const struct local *l = &found.shown;
	struct shown_value v = { .text = l->value, .type = l->type, .expression = expression };
	if (found.in_memory) {
		v.in_memory = true;
		v.value = (struct value){ found.type, l->addr };
	}
	const char *doubt = local_uncertainty(l);

	v.type = values_type(r, v.type, doubt);
	values_put(d, r, NULL, &v);
	return NULL;
}

/* ---- the console ---- */

/* Puts the frame that the client has selected in focus. */
static void focus_on(struct dap *d, const struct request *r)
{
	const struct id_thread *id;
	const struct id_frame *frame = frames_find(d, dap_number(r, "frameId", 0), &id);
	const struct snapshot *snap;

	if (!frame || d->state == DAP_RUNNING)
		return;
	struct error *err CLEANUP(error_freep) = dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap);
	const struct task *task = err ? NULL : ids_find_task(id, snap);
	const struct thread_info *th = err ? NULL : ids_find_thread(id, snap);

	if (th && frame->kind == FRAME_NATIVE)
		focus_set_thread(d->s, th);
	else if (task && (!th || id->kind != ID_THREAD))
		focus_set_task(d->s, task);
	else if (th)
		focus_set_thread(d->s, th);
	if (frame->kind != FRAME_LABEL)
		d->s->frame = frame->number;
}

/* Output of a command, as text of several lines. */
struct caught {
	FILE *f;
	char *text;
	size_t len;
	struct out *out;
};

static void catch_begin(struct caught *c)
{
	*c = (struct caught){ 0 };
	c->f = open_memstream(&c->text, &c->len);
	if (!c->f)
		out_of_memory();
	c->out = out_text_new(&(struct out_options){
		.answers = c->f, .messages = c->f, .group = true, .cut = true });
}

static void catch_end(struct caught *c)
{
	out_free(c->out);
	fclose(c->f);
	while (c->len && c->text[c->len - 1] == '\n')
		c->len--;
}

/* The commands that the client must know of: it has requests for them. */
static struct error *check_console(const struct dap *d, const struct command *command)
{
	if (command == &run_command || command == &attach_command)
		return error_new(ERR_STATE, "this session already has a program: start another "
		                            "session for another program");
	if (command->takes_program)
		return error_new(ERR_STATE, "\"%s\" starts a program: use a terminal",
		                 command->name);
	if (command == &kill_command)
		return error_new(
			ERR_STATE,
			"the editor's Stop terminates the program: the second time by SIGKILL");
	if (strcmp(command->name, "quit") == 0)
		return error_new(ERR_STATE, "the editor's Disconnect ends the session");
	if (command->stays && d->state == DAP_RUNNING)
		return error_new(ERR_STATE, "the program runs");
	return NULL;
}

static struct error *run_words(struct dap *d, struct caught *c, const struct words *words)
{
	SCRATCH(tmp);
	enum status status = STATUS_OK;
	struct call call;
	pid_t before = d->s->debuggee.control.pid;
	unsigned last = d->s->debuggee.breakpoints.last;

	TRY(d->call->shell->find(&tmp, words, &call));
	TRY(check_console(d, call.command));
	if (call.command == &continue_command && before) {
		d->state = DAP_RUNNING;
		return NULL;
	}
	bool moves = call.command->stays && before;
	if (moves) {
		dap_forget(d);
		inbox_alert(&d->inbox, INBOX_URGENT);
	}
	d->call->shell->execute(d->s, c->out, words, &status);
	inbox_calm(&d->inbox);
	if (moves)
		dap_forget(d);
	breakpoints_send_new(d, last);
	data_send_new(d, last);
	running_look(d, before, moves);
	return NULL;
}

static struct error *evaluate_run_line(struct dap *d, struct caught *c, const char *line)
{
	SCRATCH(tmp);
	struct words *commands;
	size_t n;

	TRY(words_split(&tmp, line, &commands, &n));
	for (size_t i = 0; i < n && !d->s->quit; i++)
		TRY(run_words(d, c, &commands[i]));
	return NULL;
}

/* Fit of a line to a command. */
enum command_fit { FITS_NOT, FITS_SHORTENED, FITS_WHOLE };

/*
 * Whether the first word is that of the command in full, or another full spelling of it. A format
 * may follow it, as in "x/4x".
 */
static bool is_whole_word(const char *typed, const char *command)
{
	static const char *const spellings[] = { "bt", "backtrace", "exit" };
	size_t len = strcspn(typed, "/");

	if (len == strcspn(command, " ") && strncmp(typed, command, len) == 0)
		return true;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++) {
		if (strlen(spellings[i]) == len && strncmp(typed, spellings[i], len) == 0)
			return true;
	}
	return false;
}

static enum command_fit fit_words(const struct dap *d, const struct words *words)
{
	SCRATCH(tmp);
	struct call call;
	struct error *err CLEANUP(error_freep) = d->call->shell->find(&tmp, words, &call);

	if (err)
		return FITS_NOT;
	return is_whole_word(words->word[0], call.command->name) ? FITS_WHOLE : FITS_SHORTENED;
}

/* The worst fit among the commands of a line; *ret: that command's first word, in arena a. */
static enum command_fit fit_line(const struct dap *d, struct arena *a, const char *line,
                                 const char **ret)
{
	struct words *commands;
	size_t n;
	struct error *err CLEANUP(error_freep) = words_split(a, line, &commands, &n);

	*ret = "";
	if (err || !n || fit_words(d, &commands[0]) == FITS_NOT)
		return FITS_NOT;
	for (size_t i = 0; i < n; i++) {
		if (fit_words(d, &commands[i]) == FITS_SHORTENED) {
			*ret = commands[i].word[0];
			return FITS_SHORTENED;
		}
	}
	return FITS_WHOLE;
}

/* The name that a line begins with; NULL: none, as where it begins with a path. */
static const char *first_name(struct arena *a, const char *line, bool *is_alone)
{
	size_t len = 0;

	while (isalnum((unsigned char)line[len]) || line[len] == '_')
		len++;
	const char *rest = line + len + strspn(line + len, " \t");
	*is_alone = !*rest;
	return len && !isdigit((unsigned char)*line) && strchr(" \t;", line[len])
	               ? arena_strndup(a, line, len)
	               : NULL;
}

/* Whether a name is a variable of the frame. */
static bool is_variable(struct dap *d, const struct request *r, const char *name)
{
	struct typed_local found;

	if (!dap_number(r, "frameId", 0))
		return false;
	struct error *err CLEANUP(error_freep) =
		frames_evaluate(d, dap_number(r, "frameId", 0), name, r->a, &found);

	return !err;
}

static struct error *evaluate_run_console(struct dap *d, struct request *r, const char *line)
{
	struct caught c;

	focus_on(d, r);
	catch_begin(&c);
	struct error *err = evaluate_run_line(d, &c, line);
	catch_end(&c);
	if (!err) {
		json_put_lines(r->w, "result", c.text, c.len);
		json_put_int(r->w, "variablesReference", 0);
	}
	free(c.text);
	return err;
}

/*
 * Variables take precedence over commands in the console, and one letter is no command: `k` would
 * kill a program that has a variable k, `q` would end the session. Behind a colon every word is a
 * command.
 */
static struct error *evaluate_line(struct dap *d, struct request *r, const char *line)
{
	const char *text = line + strspn(line, " \t"), *shortened;
	bool is_alone;

	if (*text == ':' && text[1] != ':')
		return evaluate_run_console(d, r, text + 1);
	const char *name = first_name(r->a, text, &is_alone);
	if (name && is_variable(d, r, name)) {
		if (is_alone)
			return evaluate_path(d, r, name);
		return error_wrap(evaluate_path(d, r, text),
		                  "%s is a variable here; the command is :%s", name, name);
	}
	enum command_fit fit = fit_line(d, r->a, text, &shortened);
	if (fit == FITS_WHOLE)
		return evaluate_run_console(d, r, text);
	if (dap_number(r, "frameId", 0)) {
		struct error *err = evaluate_path(d, r, text);

		if (!err)
			return NULL;
		error_free(err);
	}
	if (fit == FITS_SHORTENED)
		return error_new(ERR_USAGE,
		                 "no variable %s here; in the console, a command needs its full "
		                 "name or a colon: \":%s\"",
		                 shortened, text);
	return evaluate_run_console(d, r, text);
}

struct error *dap_evaluate(struct dap *d, struct request *r)
{
	const char *text = dap_text(r, "expression"), *context = dap_text(r, "context");

	if (!text)
		return error_new(ERR_USAGE, "\"evaluate\" needs an expression");
	if (context && strcmp(context, "repl") == 0)
		return evaluate_line(d, r, text);
	if (d->state != DAP_STOPPED)
		return error_new(ERR_STATE, "the program runs");
	return evaluate_path(d, r, text);
}

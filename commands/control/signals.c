/* handle, info signals, signal, interrupt */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands/control/control.h"
#include "commands/control/stop.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "debugger/base/str.h"
#include "runtimes/model/names.h"

enum { LAST_SIGNAL = 64 };

static uint64_t signals_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

/* "SIGUSR1", "USR1" or "10". */
static struct error *read_signal(const char *word, int *ret)
{
	SCRATCH(tmp);
	uint64_t number;

	for (int i = 1; i <= LAST_SIGNAL; i++) {
		const char *name = signal_name(&tmp, i);

		if (strcmp(word, name) == 0 ||
		    (str_begins(name, "SIG") && strcmp(word, name + strlen("SIG")) == 0)) {
			*ret = i;
			return NULL;
		}
	}
	if (*word >= '0' && *word <= '9') {
		TRY(words_number(word, "a signal", LAST_SIGNAL, &number));
		*ret = (int)number;
		return NULL;
	}
	return error_new(ERR_USAGE, "\"%s\" is not a signal: SIGUSR1, or its number", word);
}

/* ---- handle ---- */

/* Applies an action of `handle`; as in other debuggers, stop implies print, and noprint nostop. */
static bool apply(const char *word, uint64_t signals, struct control_signals *s)
{
	if (strcmp(word, "stop") == 0) {
		s->stop |= signals;
		s->print |= signals;
	} else if (strcmp(word, "nostop") == 0) {
		s->stop &= ~signals;
	} else if (strcmp(word, "print") == 0) {
		s->print |= signals;
	} else if (strcmp(word, "noprint") == 0) {
		s->print &= ~signals;
		s->stop &= ~signals;
	} else if (strcmp(word, "pass") == 0) {
		s->drop &= ~signals;
	} else if (strcmp(word, "nopass") == 0) {
		s->drop |= signals;
	} else {
		return false;
	}
	return true;
}

/* Signals come first, then their actions. */
static struct error *read_handle(const struct call *call, struct control_signals *s,
                                 uint64_t *signals)
{
	size_t n = 0;

	*signals = 0;
	for (size_t i = 0; i < call->args.n; i++) {
		const char *word = call->args.word[i];
		int signal;

		if (*signals && apply(word, *signals, s)) {
			n++;
			continue;
		}
		if (n)
			return error_new(ERR_USAGE,
			                 "\"%s\" is not one of stop, nostop, pass, nopass, print "
			                 "and noprint",
			                 word);
		TRY(read_signal(word, &signal));
		if (signal == 0 || signal == SIGKILL || signal == SIGSTOP)
			return error_new(ERR_USAGE, "%s cannot be handled", word);
		*signals |= signals_bit(signal);
	}
	return n ? NULL
	         : error_new(ERR_USAGE,
	                     "an action is missing: stop, nostop, pass, nopass, print or noprint");
}

static struct error *check_handle(const struct call *call)
{
	struct control_signals s = { 0 };
	uint64_t signals;

	return read_handle(call, &s, &signals);
}

/* Actions for the signals of a set, bit n - 1 for signal n. */
struct signal_actions {
	struct control_signals actions;
	uint64_t which;
};

static void signals_text(struct text *t, const void *part)
{
	const struct signal_actions *of = part;

	for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
		SCRATCH(tmp);
		uint64_t bit = signals_bit(signal);

		if (!(of->which & bit))
			continue;
		str_printf(&t->line, "%-12s %-7s %-8s %s", signal_name(&tmp, signal),
		           of->actions.stop & bit ? "stop" : "nostop",
		           of->actions.print & bit ? "print" : "noprint",
		           of->actions.drop & bit ? "nopass" : "pass");
		text_end_line(t);
	}
}

static void signals_json(struct json_writer *w, const void *part)
{
	const struct signal_actions *of = part;

	json_open_array(w, "signals");
	for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
		SCRATCH(tmp);
		uint64_t bit = signals_bit(signal);

		if (!(of->which & bit))
			continue;
		json_open_object(w, NULL);
		json_put_int(w, "number", signal);
		json_put_text(w, "name", signal_name(&tmp, signal));
		json_put_bool(w, "stop", of->actions.stop & bit);
		json_put_bool(w, "print", of->actions.print & bit);
		json_put_bool(w, "pass", !(of->actions.drop & bit));
		json_close_object(w);
	}
	json_close_array(w);
}

static const struct part_kind signals_part = { sizeof(struct signal_actions), signals_text,
	                                       signals_json };

static void signals_show(const struct answer *answer, struct out *out,
                         const struct control_signals *s, uint64_t signals)
{
	out_begin(out, answer);
	out_part(out, &signals_part, &(struct signal_actions){ *s, signals });
}

static struct error *run_handle(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	struct control *c = &s->debuggee.control;
	struct control_signals signals = *control_signals(c);
	uint64_t which;

	TRY(read_handle(call, &signals, &which));
	TRY(control_set_signals(c, &signals));
	signals_show(answer, out, control_signals(c), which);
	return NULL;
}

const struct command handle_command = {
	.name = "handle",
	.args = "SIGNAL... stop|nostop|pass|nopass|print|noprint...",
	.min_args = 2,
	.max_args = SIZE_MAX,
	.check = check_handle,
	.summary = "Set how signals of the program are handled",
	.help = "        handle SIGUSR1 nostop print\n"
		"        handle SIGINT pass\n"
		"    stop: the program stops before it receives the signal. pass: it receives\n"
		"    it. print: it is shown. stop implies print, and noprint implies nostop.",
	.offline = true,
	.run = run_handle,
};

static struct error *check_info(const struct call *call)
{
	int signal;

	return call->args.n ? read_signal(call->args.word[0], &signal) : NULL;
}

static struct error *signals_run_info(struct session *s, const struct answer *answer,
                                      const struct call *call, struct out *out)
{
	int signal = 0;

	if (call->args.n)
		TRY(read_signal(call->args.word[0], &signal));
	signals_show(answer, out, control_signals(&s->debuggee.control),
	             signal ? signals_bit(signal) : ~(signals_bit(SIGKILL) | signals_bit(SIGSTOP)));
	return NULL;
}

const struct command info_signals_command = {
	.name = "info signals",
	.args = "[SIGNAL]",
	.max_args = 1,
	.check = check_info,
	.summary = "Show how signals of the program are handled",
	.offline = true,
	.run = signals_run_info,
};

/* ---- signal ---- */

static struct error *signals_check(const struct call *call)
{
	int signal;

	return read_signal(call->args.word[0], &signal);
}

static struct error *run_signal(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
{
	int signal;

	TRY(read_signal(call->args.word[0], &signal));
	TRY(stop_need_program(s));
	TRY(control_replace_signal(&s->debuggee.control, signal));
	return stop_continue(s, answer, out);
}

const struct command signal_command = {
	.name = "signal",
	.args = "SIGNAL|0",
	.min_args = 1,
	.max_args = 1,
	.check = signals_check,
	.summary = "Continue, delivering this signal, or none, in place of the one that stopped "
		   "the thread",
	.offline = true,
	.stays = true,
	.run = run_signal,
};

/* ---- interrupt ---- */

static struct error *run_interrupt(struct session *s, const struct answer *answer,
                                   const struct call *call, struct out *out)
{
	(void)answer, (void)call;
	TRY(stop_need_program(s));
	fprintf(out->options.messages,
	        "asyncdbg: process %d is already stopped: it only runs while run, continue or a "
	        "step waits for it, and ^C stops it then\n",
	        (int)s->debuggee.control.pid);
	return NULL;
}

const struct command interrupt_command = {
	.name = "interrupt",
	.summary = "Stop the program, which runs only while a command waits: ^C does it",
	.help = "    The program is always stopped when a command can be typed. While continue\n"
		"    or a step waits, ^C or SIGINT to asyncdbg stops it.",
	.offline = true,
	.run = run_interrupt,
};

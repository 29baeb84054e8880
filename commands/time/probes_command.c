/* probes: where the events of a program can be traced. */
#include <string.h>

#include "commands/time/bpftrace.h"
#include "commands/time/time.h"
#include "debugger/elf/usdt_notes.h"
#include "debugger/probe/probe.h"
#include "debugger/target/target.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/usdt.h"

/* The points of the program's runtimes. */
static struct error *make_plan(struct inspector *in, bool slow, struct arena *a,
                               struct trace_plan *ret)
{
	struct snapshot *layouts;
	const char *why;

	if (!probes_are_built(&why))
		return error_new(ERR_UNSUPPORTED, "there are no probes: %s", why);
	/* The layouts are resolved by a snapshot. */
	TRY(inspect(in, WANT_LAYOUT, NULL, &layouts));
	snapshot_free(layouts);
	return trace_plan_make(in, slow, a, ret);
}

static void note_lost(const struct usdt_notes *own, FILE *messages)
{
	if (own->bad)
		fprintf(messages, "note: %zu notes of static probes cannot be used: %s\n", own->bad,
		        own->bad_why);
	if (own->left_out)
		fprintf(messages, "note: %zu static probes were left out: only %d are read\n",
		        own->left_out, (int)USDT_MAX_PROBES);
	if (own->sections_left_out)
		fprintf(messages,
		        "note: %zu sections with static probes were left out: they are too large, "
		        "compressed or cut off\n",
		        own->sections_left_out);
}

static struct error *write_script(struct session *s, struct out *out)
{
	struct inspector *in = asyncdbg_inspector(s->handle);
	struct trace_plan plan;

	/* At the entries of functions, which is where bpftrace can be, all points are alike. */
	TRY(make_plan(in, true, &out->arena, &plan));
	return bpftrace_write(out->options.answers, out->options.messages, in, &plan);
}

static struct error *check(const struct call *call)
{
	const char *format = option_value(call, "format");

	if (format && strcmp(format, "text") != 0 && strcmp(format, "bpftrace") != 0)
		return error_new(ERR_USAGE, "there is no format \"%s\": there are text, bpftrace",
		                 format);
	return NULL;
}

static struct error *run(struct session *s, const struct answer *answer, const struct call *call,
                         struct out *out)
{
	struct inspector *in = asyncdbg_inspector(s->handle);
	const char *format = option_value(call, "format");
	struct trace_plan *plan = NEW(&out->arena, struct trace_plan);
	struct usdt_notes *own = NEW(&out->arena, struct usdt_notes);

	if (!in)
		return error_new(ERR_USAGE, "probes needs a program: -p PID, or an executable");
	if (format && strcmp(format, "bpftrace") == 0)
		return write_script(s, out);
	TRY(trace_usdt_notes(asyncdbg_target(s->handle), &out->arena, own));
	struct error *err CLEANUP(error_freep) =
		make_plan(in, option_has(call, "allow-slow"), &out->arena, plan);
	if (err && (!own->n || err->kind == ERR_INTERRUPTED)) {
		struct error *whole = err;

		err = NULL;
		note_lost(own, out->options.messages);
		return whole;
	}
	if (err) {
		trace_plan_without(&out->arena, arena_strdup(&out->arena, err->message), plan);
		fprintf(out->options.messages, "note: no events of a runtime: %s\n", err->message);
	}
	note_lost(own, out->options.messages);
	s->finding = usdt_notes_lost(own) ? STATUS_PARTIAL : STATUS_OK;
	out_begin(out, answer);
	out->ops->probes(out, plan, own);
	return NULL;
}

static const struct command_option options[] = {
	{ "format", "FORMAT", false,
	  "text, or bpftrace: a program for bpftrace that prints the events" },
	{ "allow-slow", NULL, false, "Also points that the processor must single-step" },
	{ 0 },
};

const struct command probes_command = {
	.name = "probes",
	.options = options,
	.check = check,
	.summary = "The places in the code at which trace would observe events",
	.help = "    Then the static probes (USDT) of the executable, and of the libraries that a\n"
		"    process has loaded, with provider, name and\n"
		"    arguments.\n"
		"    An executable that does not run will do: asyncdbg ./app probes",
	.offline = true,
	.of_program = true,
	.run = run,
};

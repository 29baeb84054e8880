/* probes: where the events of a program can be traced. */
#include <inttypes.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/time/bpftrace.h"
#include "commands/time/time.h"
#include "debugger/probe/probe.h"
#include "debugger/target/target.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/usdt.h"

/* The points at which events can be traced, and the program's own static probes. */
struct shown_probes {
	const struct trace_plan *plan;
	const struct usdt_notes *own;
};

static const char *const role_names[] = {
	[TRACE_AT_POLL] = "poll",   [TRACE_AT_RETURN] = "return", [TRACE_AT_WAKE] = "wake",
	[TRACE_AT_WAKER] = "waker", [TRACE_AT_SPAWN] = "spawn",   [TRACE_AT_END] = "terminate",
	[TRACE_AT_PARK] = "park",
};

static const char *const argument_names[] = { "rdi", "rsi", "rdx", "rcx" };

static bool probes_has_task(const struct trace_point *p)
{
	return p->role != TRACE_AT_RETURN && p->role != TRACE_AT_PARK && !p->kernel.exchange.used;
}

static void point(struct text *t, const struct trace_point *p)
{
	str_printf(&t->line, "%-9s  0x%-9" PRIx64 "  0x%-9" PRIx64 "  %-4s  %-4s  ",
	           role_names[p->role], p->address, p->offset,
	           probes_has_task(p) ? argument_names[p->kernel.argument & 3] : "-",
	           p->slow ? "slow" : "fast");
	text_clean(t, p->function ? p->function : "a function without a name");
	if (p->type) {
		str_append(&t->line, " of ");
		text_name(t, p->type);
	}
	text_end_line(t);
}

static void points(struct text *t, const struct trace_plan *plan)
{
	str_printf(&t->line, "%-9s  %-11s  %-11s  %-4s  %-4s  %s", "AT", "ADDRESS", "OFFSET",
	           "TASK", "COST", "FUNCTION");
	text_style(t, STYLE_HEADING);
	text_end_line(t);
	for (size_t i = 0; i < plan->n; i++)
		point(t, &plan->points[i]);
	str_append(&t->line, "events:");
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (plan->has[i])
			str_printf(&t->line, " %s", trace_event_name((enum trace_event)i));
	}
	text_end_line(t);
	if (plan->late_job_ends.reason) {
		str_printf(&t->line, "no task-poll-end of blocking jobs: %s",
		           plan->late_job_ends.reason);
		text_end_line(t);
	}
	for (size_t i = 0; i < plan->nmissing; i++) {
		str_printf(&t->line, "no %s: %s", trace_event_name(plan->missing[i].event),
		           plan->missing[i].reason);
		text_end_line(t);
	}
}

static void own_probe(struct text *t, const struct usdt_probe *p)
{
	STR(semaphore);

	if (p->semaphore)
		str_printf(&semaphore, "0x%" PRIx64, p->semaphore);
	str_printf(&t->line, "%-9s  0x%-9" PRIx64 "  0x%-9" PRIx64 "  %-11s ", "static",
	           p->location, p->location_offset, p->semaphore ? str_text(&semaphore) : "-");
	str_printf(&t->line, " %s:%s", p->provider, p->name);
	if (*p->arguments)
		str_printf(&t->line, " (%s)", p->arguments);
	if (p->file)
		str_printf(&t->line, " in %s", p->file);
	text_end_line(t);
}

static void own_probes(struct text *t, const struct usdt_notes *own)
{
	str_printf(&t->line, "%-9s  %-11s  %-11s  %-11s  %s", "AT", "ADDRESS", "OFFSET",
	           "SEMAPHORE", "PROBE");
	text_style(t, STYLE_HEADING);
	text_end_line(t);
	for (size_t i = 0; i < own->n; i++)
		own_probe(t, &own->probes[i]);
}

static void probes_text(struct text *t, const void *part)
{
	const struct shown_probes *shown = part;

	if (shown->plan->n)
		points(t, shown->plan);
	if (shown->own->n)
		own_probes(t, shown->own);
}

static void put_point(struct json_writer *w, const struct trace_point *p)
{
	json_open_object(w, NULL);
	json_put_text(w, "at", role_names[p->role]);
	json_put_text(w, "function", p->function);
	json_put_text(w, "type", p->type);
	json_put_address(w, "address", p->address);
	json_put_address(w, "offset", p->offset);
	json_put_text(w, "task_in",
	              probes_has_task(p) ? argument_names[p->kernel.argument & 3] : NULL);
	json_put_bool(w, "single_step", p->slow);
	json_close_object(w);
}

static void put_own(struct json_writer *w, const struct usdt_notes *own)
{
	json_open_array(w, "static_probes");
	for (size_t i = 0; i < own->n; i++) {
		const struct usdt_probe *p = &own->probes[i];

		json_open_object(w, NULL);
		json_put_text(w, "file", p->file);
		json_put_text(w, "provider", p->provider);
		json_put_text(w, "name", p->name);
		json_put_text(w, "arguments", p->arguments);
		json_put_address(w, "address", p->location);
		json_put_address(w, "offset", p->location_offset);
		if (p->semaphore)
			json_put_address(w, "semaphore", p->semaphore);
		else
			json_put_text(w, "semaphore", NULL);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_int(w, "static_probes_left_out", (int64_t)usdt_notes_lost(own));
}

static void probes_json(struct json_writer *w, const void *part)
{
	const struct shown_probes *shown = part;
	const struct trace_plan *plan = shown->plan;

	json_open_array(w, "events");
	for (size_t i = 0; i < TRACE_NEVENTS; i++) {
		if (plan->has[i])
			json_put_text(w, NULL, trace_event_name((enum trace_event)i));
	}
	json_close_array(w);
	out_json_missing(w, plan, NULL);
	json_open_array(w, "points");
	for (size_t i = 0; i < plan->n; i++)
		put_point(w, &plan->points[i]);
	json_close_array(w);
	put_own(w, shown->own);
}

static const struct part_kind probes_part = { sizeof(struct shown_probes), probes_text,
	                                      probes_json };

/* The points of the program's runtimes. */
static struct error *make_plan(struct inspector *in, bool slow, struct arena *a,
                               struct trace_plan *ret)
{
	struct snapshot *layouts;
	const char *why;

	if (!probes_are_built(&why))
		return error_new(ERR_UNSUPPORTED, "probes are not available: %s", why);
	/* The layouts are resolved by a snapshot. */
	TRY(inspect(in, WANT_LAYOUT, NULL, &layouts));
	snapshot_free(layouts);
	return trace_plan_make(in, slow, a, ret);
}

static void probes_note_lost(const struct usdt_notes *own, FILE *messages)
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
	struct trace_plan plan;

	/* At the entries of functions, which is where bpftrace can be, all points are alike. */
	TRY(make_plan(asyncdbg_inspector(s->handle), true, &out->arena, &plan));
	return bpftrace_write(out->options.answers, out->options.messages,
	                      asyncdbg_target(s->handle), &plan);
}

static struct error *probes_check(const struct call *call)
{
	const char *format = option_value(call, "format");

	if (format && strcmp(format, "text") != 0 && strcmp(format, "bpftrace") != 0)
		return error_new(ERR_USAGE, "unknown format \"%s\": use text or bpftrace", format);
	return NULL;
}

static struct error *probes_run(struct session *s, const struct answer *answer,
                                const struct call *call, struct out *out)
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
		probes_note_lost(own, out->options.messages);
		return whole;
	}
	if (err) {
		trace_plan_without(&out->arena, arena_strdup(&out->arena, err->message), plan);
		fprintf(out->options.messages, "note: no events of a runtime: %s\n", err->message);
	}
	probes_note_lost(own, out->options.messages);
	s->finding = usdt_notes_lost(own) ? STATUS_PARTIAL : STATUS_OK;
	out_begin(out, answer);
	out_part(out, &probes_part, &(struct shown_probes){ plan, own });
	return NULL;
}

static const struct command_option options[] = {
	{ "format", "FORMAT", false,
	  "Format: text, or bpftrace, a bpftrace program that prints the events" },
	{ "allow-slow", NULL, false, "Also show points that need a single step" },
	{ 0 },
};

const struct command probes_command = {
	.name = "probes",
	.options = options,
	.check = probes_check,
	.summary = "Show the places in the code where trace observes events",
	.help = "    Also lists the static probes (USDT) of the executable and of the libraries\n"
		"    that a process has loaded, with provider, name and arguments. An\n"
		"    executable is enough:\n"
		"        asyncdbg ./app probes",
	.offline = true,
	.of_program = true,
	.run = probes_run,
};

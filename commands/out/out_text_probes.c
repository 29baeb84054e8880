/* Prints where the events of a program can be traced, and polls that take long. */
#include <inttypes.h>

#include "commands/out/out_text.h"
#include "debugger/elf/usdt_notes.h"
#include "runtimes/trace/plan.h"
#include "runtimes/trace/trace.h"
#include "runtimes/trace/trace_key.h"

static const char *const role_names[] = {
	[TRACE_AT_POLL] = "poll",   [TRACE_AT_RETURN] = "return", [TRACE_AT_WAKE] = "wake",
	[TRACE_AT_WAKER] = "waker", [TRACE_AT_SPAWN] = "spawn",   [TRACE_AT_END] = "terminate",
	[TRACE_AT_PARK] = "park",
};

static const char *const argument_names[] = { "rdi", "rsi", "rdx", "rcx" };

static void point(struct text *t, const struct trace_point *p)
{
	bool has_task =
		p->role != TRACE_AT_RETURN && p->role != TRACE_AT_PARK && !p->kernel.exchange.used;

	str_printf(&t->line, "%-9s  0x%-9" PRIx64 "  0x%-9" PRIx64 "  %-4s  %-4s  ",
	           role_names[p->role], p->address, p->offset,
	           has_task ? argument_names[p->kernel.argument & 3] : "-",
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

void text_stall(struct out *o, const struct stall *stall)
{
	struct text *t = (struct text *)o;
	const struct trace_item *item = stall->item;

	SCRATCH(tmp);

	str_printf(&t->line, "task %s ", trace_key_text(&tmp, item->task));
	if (item->type)
		text_name(t, item->type);
	if (stall->looks)
		str_printf(&t->line, ": polled at %u looks in a row, for %.1f ms%s", stall->looks,
		           (double)stall->ns / 1e6, stall->over ? ", and no more" : " so far");
	else
		str_printf(&t->line,
		           stall->over     ? ": its poll took %.1f ms"
		           : stall->before ? ": polled for at least %.1f ms so far"
		                           : ": polled for %.1f ms so far",
		           (double)stall->ns / 1e6);
	if (item->worker >= 0)
		str_printf(&t->line, ", worker %d of runtime %d", item->worker, item->runtime);
	str_printf(&t->line, ", thread %d", (int)item->tid);
	text_end_line(t);
}

void text_recorded(struct out *o, const struct recorded *what)
{
	struct text *t = (struct text *)o;

	text_clean(t, what->path);
	str_append(&t->line, ": ");
	text_clean(t, what->why);
	str_printf(&t->line, "; %" PRIu64 " events of %.1f s", what->events,
	           (double)what->duration_ns / 1e9);
	if (what->lost)
		str_printf(&t->line, ", %" PRIu64 " lost", what->lost);
	if (what->snapshot) {
		str_append(&t->line, "; snapshot ");
		text_clean(t, what->snapshot);
	}
	if (what->core) {
		str_append(&t->line, "; core ");
		text_clean(t, what->core);
	}
	text_end_line(t);
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

void text_probes(struct out *o, const struct trace_plan *plan, const struct usdt_notes *own)
{
	struct text *t = (struct text *)o;

	if (plan->n)
		points(t, plan);
	if (own->n)
		own_probes(t, own);
}

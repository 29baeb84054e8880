/* A trace as text: one line for each event. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands/time/sink.h"
#include "debugger/base/clock.h"
#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "runtimes/model/model.h"
#include "runtimes/trace/trace_key.h"

struct sink_text {
	struct sink sink;
	struct str line;
};

static void sink_text_print(struct sink_text *t)
{
	while (t->line.len && str_text(&t->line)[t->line.len - 1] == ' ')
		str_truncate(&t->line, t->line.len - 1);
	str_append(&t->line, "\n");
	fwrite(str_text(&t->line), 1, t->line.len, t->sink.f);
	str_truncate(&t->line, 0);
}

static void sink_text_append_time(struct str *s, uint64_t ns)
{
	if (ns < 10000)
		str_printf(s, "%" PRIu64 " ns", ns);
	else if (ns < 10000000)
		str_printf(s, "%.1f us", (double)ns / 1e3);
	else if (ns < 10000000000)
		str_printf(s, "%.1f ms", (double)ns / 1e6);
	else
		str_printf(s, "%.1f s", (double)ns / 1e9);
}

static void sink_text_begin(struct sink *s, const struct trace_heading *h)
{
	struct sink_text *t = (struct sink_text *)s;

	s->start = h->start;
	str_printf(&t->line, "%12s  %7s  %-8s  %-20s  %8s  %s", "SECONDS", "TID", "WORKER", "EVENT",
	           "TASK", "WHAT");
	sink_text_print(t);
}

static void append_worker(struct str *s, const struct trace_item *item)
{
	char text[32] = "-";

	if (item->worker >= 0)
		snprintf(text, sizeof(text), "%d/%d", item->runtime, item->worker);
	str_printf(s, "%-8s  ", text);
}

/* " at src/main.rs:12 in app::inner": the innermost function of the chain. */
static void sink_text_append_place(struct str *s, const struct trace_place *place)
{
	const struct trace_frame *f = &place->frames[place->nframes - 1];

	if (f->file && f->line)
		str_printf(s, " at %s:%u", f->file, f->line);
	if (place->nframes > 1)
		str_printf(s, " in %s", f->function);
	if (place->cut)
		str_append(s, " ...");
}

/* "shop:order(7, "a cup")" */
static void append_hit(struct str *s, const struct trace_hit *hit)
{
	str_printf(s, " %s:%s(", hit->probe->provider, hit->probe->name);
	for (size_t i = 0; i < hit->n; i++) {
		const struct trace_argument *arg = &hit->arguments[i];

		str_append(s, i ? ", " : "");
		if (!arg->known)
			str_append(s, "?");
		else if (arg->text)
			str_printf(s, "\"%s\"", arg->text);
		else if (arg->is_signed)
			str_printf(s, "%" PRId64, (int64_t)arg->value);
		else
			str_printf(s, "%" PRIu64, arg->value);
	}
	str_append(s, ")");
}

/* The details behind the name. */
static void append_details(struct str *s, const struct trace_item *item)
{
	SCRATCH(tmp);

	if (item->job == TRACE_BLOCKING)
		str_append(s, " [blocking]");
	if (item->event == TRACE_POLL_END || item->event == TRACE_UNPARK ||
	    item->event == TRACE_WORKER_STOP) {
		str_append(s, item->late ? " at most " : " ");
		sink_text_append_time(s, item->late ? item->at_most_ns : item->poll_ns);
	}
	if (item->event == TRACE_POLL_END && item->ready)
		str_append(s, " ready");
	if (item->place)
		sink_text_append_place(s, item->place);
	if (item->spawned_at)
		str_printf(s, " at %s:%u", item->spawned_at->file_short, item->spawned_at->line);
	if (item->hit)
		append_hit(s, item->hit);
	if (item->late)
		str_append(s, " [seen late]");
	if (item->by && (item->event == TRACE_WAKE || item->event == TRACE_SPAWN))
		str_printf(s, " by task %s", trace_key_text(&tmp, item->by));
}

static void sink_text_item(struct sink *s, const struct trace_item *item)
{
	struct sink_text *t = (struct sink_text *)s;
	SCRATCH(tmp);
	double at = (double)clock_between(s->start, item->time) / 1e9;

	str_printf(&t->line, "%12.6f  ", at);
	str_printf(&t->line, item->tid > 0 ? "%7d  " : "      -  ", (int)item->tid);
	append_worker(&t->line, item);
	str_printf(&t->line, "%-20s  ", trace_event_name(item->event));
	if (item->task)
		str_printf(&t->line, "%8s ", trace_key_text(&tmp, item->task));
	else
		str_printf(&t->line, "%8s ", "-");
	if (item->type)
		str_printf(&t->line, " %s",
		           s->options->full_names ? item->type : name_short(&tmp, item->type));
	append_details(&t->line, item);
	sink_text_print(t);
}

static void sink_text_flush(struct sink *s)
{
	fflush(s->f);
}

static void sink_text_end(struct sink *s, const struct trace_ending *e)
{
	struct sink_text *t = (struct sink_text *)s;

	str_printf(&t->line, "%" PRIu64 " events in %.1f s, %" PRIu64 " lost", e->totals.events,
	           (double)e->duration_ns / 1e9, e->totals.lost);
	if (e->totals.unmatched)
		str_printf(&t->line, ", %" PRIu64 " ends seen late", e->totals.unmatched);
	sink_text_print(t);
	sink_text_flush(s);
}

static void sink_text_free_sink(struct sink *s)
{
	str_free(&((struct sink_text *)s)->line);
	free(s);
}

static const struct sink_ops ops = { sink_text_begin, sink_text_item, NULL, NULL,
	                             sink_text_flush, sink_text_end,  NULL, sink_text_free_sink };

struct sink *sink_text_new(FILE *f, const struct out_options *options)
{
	struct sink_text *t = alloc_zeroed(sizeof(*t));

	t->sink = (struct sink){ .ops = &ops, .f = f, .options = options };
	return &t->sink;
}

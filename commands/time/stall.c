/* A poll that takes long. */
#include "commands/time/stall.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "runtimes/trace/trace.h"
#include "runtimes/trace/trace_key.h"

static void stall_text(struct text *t, const void *part)
{
	const struct stall *stall = part;
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

static void stall_json(struct json_writer *w, const void *part)
{
	const struct stall *stall = part;
	const struct trace_item *item = stall->item;

	json_open_object(w, "stall");
	out_json_task_key(w, "task", item->task);
	json_put_text(w, "type", item->type);
	json_put_int(w, "tid", item->tid);
	json_put_int(w, "poll_ns", (int64_t)stall->ns);
	json_put_bool(w, "ended", stall->over);
	json_put_bool(w, "began_before", stall->before);
	out_json_number_if(w, "looks", stall->looks != 0, stall->looks);
	json_close_object(w);
}

static const struct part_kind stall_part = { sizeof(struct stall), stall_text, stall_json };

void part_stall(struct out *o, const struct stall *stall)
{
	out_part(o, &stall_part, stall);
}

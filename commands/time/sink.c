#include "commands/time/sink.h"

#include <errno.h>
#include <string.h>

#include "runtimes/trace/trace_key.h"

bool sink_filter_has(const struct sink_filter *f, uint64_t task, const char *type)
{
	if (f->of_task && !trace_key_is(task, f->task))
		return false;
	return !f->type || (type && strstr(type, f->type));
}

struct sink *sink_new(const struct out *out, FILE *f, bool perfetto)
{
	if (perfetto)
		return sink_perfetto_new(f, &out->options);
	if (out->format == OUT_TEXT)
		return sink_text_new(f, &out->options);
	return sink_json_new(f, &out->options, out->format == OUT_JSON_LINES);
}

void sink_freep(struct sink **s)
{
	if (*s)
		(*s)->ops->free(*s);
}

/* errno is saved at once: later calls overwrite it. */
static void sink_note_failure(struct sink *s)
{
	if (!s->failed && ferror_unlocked(s->f))
		s->failed = errno ? errno : EIO;
}

void sink_item(struct sink *s, const struct trace_item *item)
{
	if (s->failed)
		return;
	s->ops->item(s, item);
	sink_note_failure(s);
}

void sink_flush(struct sink *s)
{
	if (s->failed)
		return;
	s->ops->flush(s);
	sink_note_failure(s);
}

void sink_end(struct sink *s, const struct trace_ending *e)
{
	if (s->failed)
		return;
	s->ops->end(s, e);
	sink_note_failure(s);
}

struct error *sink_error(struct sink *s)
{
	struct error *err = s->ops->error ? s->ops->error(s) : NULL;

	sink_note_failure(s);
	if (!err && s->failed)
		err = error_os(s->failed, "the file");
	return err;
}

/* Files that a command wrote: a saved snapshot, or one in place of an answer. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/session/asyncdbg.h"

static void saved_text(struct text *t, const void *part)
{
	const struct saved_file *file = part;
	const struct snapshot *s = t->out.answer.snapshot;

	str_append(&t->line, "Saved ");
	text_count(t, s->ntasks, "task");
	str_append(&t->line, " and ");
	text_count(t, s->nthreads, "thread");
	str_append(&t->line, " to ");
	text_clean(t, file->path);
	str_printf(&t->line, ": %" PRIu64 " bytes, %s the values of variables", file->bytes,
	           file->values ? "with" : "without");
	text_end_line(t);
}

static void saved_json(struct json_writer *w, const void *part)
{
	const struct saved_file *file = part;

	json_open_object(w, "saved");
	json_put_text(w, "file", file->path);
	json_put_int(w, "bytes", (int64_t)file->bytes);
	json_put_bool(w, "values", file->values);
	json_close_object(w);
}

static const struct part_kind saved_part = { sizeof(struct saved_file), saved_text, saved_json };

void part_saved(struct out *o, const struct saved_file *file)
{
	out_part(o, &saved_part, file);
}

static void written_print(const struct out *o, const struct written *w)
{
	FILE *f = o->options.messages;
	const char *path = strcmp(w->path, "-") == 0 ? "standard output" : w->path;
	SCRATCH(tmp);

	fprintf(f, "asyncdbg: wrote %s", str_clean(&tmp, path, strlen(path)));
	for (size_t i = 0; i < 2 && w->what[i].noun; i++)
		fprintf(f, "%s %zu %s%s", i ? "," : ":", w->what[i].n, w->what[i].noun,
		        w->what[i].n == 1 ? "" : "s");
	fprintf(f, "%s\n", w->incomplete ? "; something is missing, its notes say what" : "");
}

static void written_json(struct json_writer *w, const void *part)
{
	const struct written *written = part;
	struct stat st = { 0 };
	SCRATCH(tmp);

	stat(written->path, &st);
	json_open_object(w, "written");
	json_put_text(w, "file", written->path);
	out_json_number_if(w, "bytes", S_ISREG(st.st_mode), (uint64_t)st.st_size);
	for (size_t i = 0; i < 2 && written->what[i].noun; i++)
		json_put_int(w, arena_printf(&tmp, "%ss", written->what[i].noun),
		             (int64_t)written->what[i].n);
	json_close_object(w);
}

static const struct part_kind written_part = { sizeof(struct written), NULL, written_json };

void part_written(struct out *o, const struct answer *answer, const struct written *w)
{
	struct answer about = *answer;

	if (o->format == OUT_TEXT) {
		written_print(o, w);
		return;
	}
	/* The file has the holdings: do not repeat them. */
	about.wants &= ~(unsigned)WANT_HOLDINGS;
	out_begin(o, &about);
	out_part(o, &written_part, w);
}

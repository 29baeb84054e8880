/* completions: commands and options of the console, and names of variables. */
#include <string.h>

#include "commands/dap/context.h"
#include "commands/dap/frames.h"

static void put_target(struct json_writer *w, const char *label, int64_t start, size_t length)
{
	json_open_object(w, NULL);
	json_put_text(w, "label", label);
	json_put_int(w, "start", start);
	json_put_int(w, "length", (int64_t)length);
	json_close_object(w);
}

/* The text before the cursor. Columns count UTF-16 units; completed names are ASCII. */
static const char *before_cursor(const struct dap *d, const struct request *r)
{
	const char *text = dap_text(r, "text");
	int64_t column = dap_number(r, "column", 1) - !d->client.columns_from_0;

	if (!text || column < 0)
		return NULL;
	size_t len = strlen(text);
	return arena_strndup(r->a, text, (size_t)column < len ? (size_t)column : len);
}

/* Start of the name being typed: behind the last dot of a path. */
static size_t name_start(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? (size_t)(dot + 1 - path) : 0;
}

static struct error *put_names(struct dap *d, struct request *r, const char *path, int64_t at)
{
	const struct id_thread *id;
	const struct id_frame *frame = frames_find(d, dap_number(r, "frameId", 0), &id);
	size_t start = name_start(path), len = strlen(path + start);
	struct question q = { .names = true };
	const struct snapshot *snap;
	bool found;

	if (!frame || d->state != DAP_STOPPED || !asyncdbg_target(d->s->handle))
		return NULL;
	TRY(frames_future(d, id, frame, &q.frame, &found));
	q.print = arena_strndup(r->a, path, start ? start - 1 : 0);
	if (!found && frame->kind != FRAME_NATIVE)
		return NULL;
	if (!found) {
		q.native = true;
		q.frame = frame->number;
	}
	TRY(frames_ask(d, id, &q, &snap));
	const char *names = snap->printed && snap->printed->value ? snap->printed->value : "";
	for (size_t n; *names; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		if (n >= len && strncmp(names, path + start, len) == 0)
			put_target(r->w, arena_strndup(r->a, names, n), at + (int64_t)start, len);
	}
	return NULL;
}

struct error *dap_completions(struct dap *d, struct request *r)
{
	const char *text = before_cursor(d, r), *blank = text ? strrchr(text, ' ') : NULL;
	const char *partial = blank ? blank + 1 : text, **words;
	struct words *commands, none = { 0 };
	size_t ncommands, n;

	if (!text)
		return error_new(ERR_USAGE, "\"completions\" needs a text and a column");
	int64_t at = (int64_t)(partial - text) + !d->client.columns_from_0;
	TRY(words_split(r->a, arena_strndup(r->a, text, (size_t)(partial - text)), &commands,
	                &ncommands));
	const struct words *before = ncommands ? &commands[ncommands - 1] : &none;
	n = d->call->shell->complete(r->a, before, partial, &words);
	json_open_array(r->w, "targets");
	for (size_t i = 0; i < n; i++)
		put_target(r->w, words[i], at, strlen(partial));
	bool path = !before->n || strcmp(before->word[0], "print") == 0;
	struct error *err = path ? put_names(d, r, partial, at) : NULL;
	json_close_array(r->w);
	error_free(err); /* then there are fewer */
	return NULL;
}

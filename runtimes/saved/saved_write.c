/* Writes saved snapshots. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "debugger/base/file.h"
#include "debugger/base/json_writer.h"
#include "debugger/base/map.h"
#include "debugger/base/new_file.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/model/names.h"
#include "runtimes/saved/saved_fields.h"
#include "runtimes/saved/saved_lines.h"

struct saver {
	struct json_writer w; /* writes to line */
	struct str line;
	gzFile gz;
	bool values;
	uint64_t lines;
	VEC(const char *) names;
	size_t written;     /* number of names written */
	struct map by_addr; /* index + 1 of a name by its address, */
	struct map by_hash; /* index + 1 by the hash of its text */
	struct map tasks;   /* index + 1 of a task by its address */
};

/* ---- names ---- */

static uint64_t saved_write_hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

/* The index + 1 of a name; adds it when it is new. */
static uintptr_t name_number(struct saver *s, const char *text)
{
	uintptr_t number = (uintptr_t)map_get(&s->by_addr, (uintptr_t)text);

	if (number)
		return number;
	uint64_t hash = saved_write_hash_text(text);

	number = (uintptr_t)map_get(&s->by_hash, hash);
	if (!number || strcmp(s->names.data[number - 1], text) != 0) {
		*vec_push(&s->names) = text;
		number = s->names.n;
		map_put(&s->by_hash, hash, (void *)number);
	}
	map_put(&s->by_addr, (uintptr_t)text, (void *)number);
	return number;
}

/* ---- members ---- */

static void put_NAME(struct saver *s, const char *key, const char *text)
{
	if (text)
		json_put_int(&s->w, key, (int64_t)name_number(s, text) - 1);
}

static void put_TEXT(struct saver *s, const char *key, const char *text)
{
	if (text)
		json_put_text(&s->w, key, text);
}

#define put_ID(s, key, text) put_TEXT(s, key, text)

static void put_ADDR(struct saver *s, const char *key, uint64_t addr)
{
	if (addr)
		json_put_address(&s->w, key, addr);
}

/* Numbers that do not fit in a signed integer are written as addresses. */
static void put_U64(struct saver *s, const char *key, uint64_t number)
{
	if (number > INT64_MAX)
		json_put_address(&s->w, key, number);
	else if (number)
		json_put_int(&s->w, key, (int64_t)number);
}

static void put_U32(struct saver *s, const char *key, unsigned number)
{
	put_U64(s, key, number);
}

static void put_I32(struct saver *s, const char *key, int number)
{
	if (number)
		json_put_int(&s->w, key, number);
}

static void put_FLAG(struct saver *s, const char *key, bool yes)
{
	if (yes)
		json_put_bool(&s->w, key, true);
}

#define PUT_WORD(how, type, words, last)                                                           \
	static void put_##how(struct saver *s, const char *key, type value)                        \
	{                                                                                          \
		if (value)                                                                         \
			json_put_text(&s->w, key, words(value));                                   \
	}
SAVED_WORDS(PUT_WORD)

static void put_TEXTS(struct saver *s, const char *key, const char *const *texts, size_t n)
{
	if (n)
		json_put_list(&s->w, key, texts, n);
}

/* ---- structs ---- */

#define PUT(how, member)         put_##how(s, #member, from->member);
#define PUT_LIST(how, member, n) put_##how(s, #member, from->member, from->n);

/* Writes one detail: its key, then its value with the matching JSON kind. */
static void put_detail(struct saver *s, const struct wait_detail *d)
{
	json_open_array(&s->w, NULL);
	put_NAME(s, NULL, d->key);
	switch (d->kind) {
	case DETAIL_STRING:
		json_put_text(&s->w, NULL, d->string);
		break;
	case DETAIL_INT:
		json_put_int(&s->w, NULL, d->number);
		break;
	case DETAIL_BOOL:
		json_put_bool(&s->w, NULL, d->number);
		break;
	case DETAIL_LIST:
		json_put_list(&s->w, NULL, d->list, d->nlist);
		break;
	}
	json_close_array(&s->w);
}

static void put_DETAILS(struct saver *s, const char *key, const struct wait_detail *details,
                        size_t n)
{
	if (!n)
		return;
	json_open_array(&s->w, key);
	for (size_t i = 0; i < n; i++)
		put_detail(s, &details[i]);
	json_close_array(&s->w);
}

static void put_WAIT(struct saver *s, const char *key, const struct wait *from)
{
	if (!from)
		return;
	json_open_object(&s->w, key);
	SAVED_WAIT(PUT, PUT_LIST)
	json_close_object(&s->w);
}

static void put_SOURCE(struct saver *s, const char *key, const struct source_place *from)
{
	if (!from)
		return;
	json_open_object(&s->w, key);
	SAVED_SOURCE(PUT, PUT_LIST)
	json_close_object(&s->w);
}

static void put_local(struct saver *s, const struct local *from)
{
	struct local shown = *from;

	if (!s->values && from->value) {
		shown.value = NULL;
		shown.redacted = false; /* as of those that only contain a secret */
		shown.problem = model_local_not_saved;
	}
	from = &shown;
	json_open_object(&s->w, NULL);
	SAVED_LOCAL(PUT, PUT_LIST)
	json_close_object(&s->w);
}

static void put_LOCALS(struct saver *s, const char *key, const struct local *locals, size_t n)
{
	if (!n)
		return;
	json_open_array(&s->w, key);
	for (size_t i = 0; i < n; i++)
		put_local(s, &locals[i]);
	json_close_array(&s->w);
}

static void put_FUTURES(struct saver *s, const char *key, struct future *const *futures, size_t n);

static void put_FUTURE(struct saver *s, const char *key, const struct future *from)
{
	if (!from)
		return;
	json_open_object(&s->w, key);
	SAVED_FUTURE(PUT, PUT_LIST)
	json_close_object(&s->w);
}

static void put_FUTURES(struct saver *s, const char *key, struct future *const *futures, size_t n)
{
	if (!n)
		return;
	json_open_array(&s->w, key);
	for (size_t i = 0; i < n; i++)
		put_FUTURE(s, NULL, futures[i]);
	json_close_array(&s->w);
}

static void put_stack_frame(struct saver *s, const struct stack_frame *from)
{
	json_open_object(&s->w, NULL);
	SAVED_STACK_FRAME(PUT, PUT_LIST)
	json_close_object(&s->w);
}

static void put_STACK_FRAMES(struct saver *s, const char *key, const struct stack_frame *frames,
                             size_t n)
{
	if (!n)
		return;
	json_open_array(&s->w, key);
	for (size_t i = 0; i < n; i++)
		put_stack_frame(s, &frames[i]);
	json_close_array(&s->w);
}

static void put_CRATES(struct saver *s, const char *key, const struct runtime_crate *crates,
                       size_t n)
{
	if (!n)
		return;
	json_open_array(&s->w, key);
	for (const struct runtime_crate *from = crates; from < crates + n; from++) {
		json_open_object(&s->w, NULL);
		SAVED_CRATE(PUT, PUT_LIST)
		json_close_object(&s->w);
	}
	json_close_array(&s->w);
}

/* ---- lines ---- */

static int append_bytes(void *line, const char *bytes, size_t len)
{
	str_append_len(line, bytes, len);
	return (int)len;
}

static ssize_t write_bytes(void *line, const char *bytes, size_t len)
{
	return append_bytes(line, bytes, len);
}

static struct error *compress_bytes(struct saver *s, const char *bytes, size_t len)
{
	int problem;

	errno = 0;
	if (len <= UINT32_MAX / 2 && gzwrite(s->gz, bytes, (unsigned)len) == (int)len)
		return NULL;
	const char *why = gzerror(s->gz, &problem);
	return problem == Z_ERRNO && errno ? error_os(errno, "writing it")
	                                   : error_new(ERR_OS, "writing it: %s", why);
}

/* Writes the names added since the last line as one line. */
static void put_names(struct saver *s)
{
	json_open_object(&s->w, NULL);
	json_open_array(&s->w, "names");
	for (; s->written < s->names.n; s->written++)
		json_put_text(&s->w, NULL, s->names.data[s->written]);
	json_close_array(&s->w);
	json_close_object(&s->w);
	json_end_line(&s->w);
	json_flush(&s->w);
}

static void saved_write_begin_line(struct saver *s, const char *key)
{
	json_open_object(&s->w, NULL);
	json_open_object(&s->w, key);
}

/* Ends the line and writes it after a line of its new names. */
static struct error *write_line(struct saver *s)
{
	json_end_line(&s->w);
	json_flush(&s->w);
	size_t len = s->line.len;

	if (s->written < s->names.n) {
		put_names(s);
		TRY(compress_bytes(s, s->line.data + len, s->line.len - len));
		s->lines++;
	}
	TRY(compress_bytes(s, s->line.data, len));
	s->lines++;
	str_truncate(&s->line, 0);
	return NULL;
}

static struct error *saved_write_end_line(struct saver *s)
{
	json_close_object(&s->w);
	json_close_object(&s->w);
	return write_line(s);
}

static struct error *write_header(struct saver *s, const struct snapshot *from,
                                  const struct saved_info *info)
{
	json_open_object(&s->w, NULL);
	json_put_text(&s->w, "format", SAVED_FORMAT);
	json_put_int(&s->w, "version", SAVED_VERSION);
	json_put_text(&s->w, "by", "asyncdbg " ASYNCDBG_VERSION);
	json_put_int(&s->w, "when", info->when);
	json_put_bool(&s->w, "values", info->values);
	json_put_bool(&s->w, "parts", true);
	json_open_array(&s->w, "wants");
	for (const struct want_word *w = saved_want_words; w->word; w++) {
		if (info->wants & w->want)
			json_put_text(&s->w, NULL, w->word);
	}
	json_close_array(&s->w);
	json_put_int(&s->w, "tasks", (int64_t)from->ntasks);
	json_close_object(&s->w);
	return write_line(s);
}

static struct error *write_snapshot(struct saver *s, const struct snapshot *from)
{
	saved_write_begin_line(s, "snapshot");
	SAVED_SNAPSHOT(PUT, PUT_LIST)
	return saved_write_end_line(s);
}

static struct error *write_target(struct saver *s, const struct target_info *from)
{
	saved_write_begin_line(s, "target");
	SAVED_TARGET(PUT, PUT_LIST)
	return saved_write_end_line(s);
}

static struct error *write_reading(struct saver *s, const struct reading *from)
{
	saved_write_begin_line(s, "reading");
	SAVED_READING(PUT, PUT_LIST)
	return saved_write_end_line(s);
}

#define WRITE_ONE(line, type, fields, array, n)                                                    \
	static struct error *write_##line(struct saver *s, const type *from)                       \
	{                                                                                          \
		saved_write_begin_line(s, #line);                                                  \
		fields(PUT, PUT_LIST) return saved_write_end_line(s);                              \
	}
SAVED_LINES(WRITE_ONE)

static struct error *write_task(struct saver *s, const struct task *from)
{
	saved_write_begin_line(s, "task");
	SAVED_TASK(PUT, PUT_LIST)
	return saved_write_end_line(s);
}

static struct error *write_holding(struct saver *s, const struct holding *from)
{
	uintptr_t task = from->task ? (uintptr_t)map_get(&s->tasks, (uintptr_t)from->task) : 0;

	saved_write_begin_line(s, "holding");
	SAVED_HOLDING(PUT, PUT_LIST)
	if (task)
		json_put_int(&s->w, "task", (int64_t)task - 1);
	if (from->future)
		json_put_int(&s->w, "future", from->future->number);
	return saved_write_end_line(s);
}

static struct error *write_tasks(struct saver *s, const struct snapshot *from)
{
	for (size_t i = 0; i < from->ntasks; i++) {
		if (i % PROGRESS_STRIDE == 0) {
			TRY(interrupt_check());
			progress("saving tasks", i, from->ntasks);
		}
		TRY(write_task(s, from->tasks[i]));
	}
	return NULL;
}

static struct error *write_holdings(struct saver *s, const struct snapshot *from)
{
	const bool any = from->nholdings || from->ndescriptors;

	for (size_t i = 0; any && i < from->ntasks; i++)
		map_put(&s->tasks, (uintptr_t)from->tasks[i], (void *)(i + 1));
	for (size_t i = 0; i < from->nholdings; i++)
		TRY(write_holding(s, &from->holdings[i]));
	for (size_t i = 0; i < from->ndescriptors; i++)
		TRY(write_holding(s, &from->descriptors[i]));
	return NULL;
}

static struct error *write_lines(struct saver *s, const struct snapshot *from,
                                 const struct saved_info *info)
{
	TRY(write_header(s, from, info));
	TRY(write_snapshot(s, from));
	TRY(write_target(s, &from->target));
	TRY(write_reading(s, &from->reading));
#define WRITE_ALL(line, type, fields, array, n)                                                    \
	for (size_t i = 0; i < from->n; i++)                                                       \
		TRY(write_##line(s, &from->array[i]));
	SAVED_LINES(WRITE_ALL)
	TRY(write_tasks(s, from));
	TRY(write_holdings(s, from));
	json_open_object(&s->w, NULL);
	json_put_int(&s->w, "end", (int64_t)s->lines);
	json_close_object(&s->w);
	return write_line(s);
}

/* ---- files ---- */

static void close_saver(struct saver **s)
{
	if ((*s)->w.f)
		fclose((*s)->w.f);
	if ((*s)->gz)
		gzclose((*s)->gz);
	str_free(&(*s)->line);
	vec_free(&(*s)->names);
	map_free(&(*s)->by_addr);
	map_free(&(*s)->by_hash);
	map_free(&(*s)->tasks);
	free(*s);
}

static struct error *write_to(FILE *f, const struct snapshot *from, const struct saved_info *info)
{
	struct saver *s CLEANUP(close_saver) = calloc(1, sizeof(*s));
	int fd = dup(fileno(f));

	if (!s)
		out_of_memory();
	/* Level 1: higher levels save little space and take several times as long. */
	s->gz = fd < 0 ? NULL : gzdopen(fd, "wb1");
	FILE *line = fopencookie(&s->line, "w", (cookie_io_functions_t){ .write = write_bytes });
	if (!s->gz || !line)
		out_of_memory();
	setvbuf(line, NULL, _IONBF, 0);
	json_writer_init(&s->w, line, true);
	s->values = info->values;
	TRY(write_lines(s, from, info));
	gzFile gz = s->gz;
	s->gz = NULL;
	errno = 0;
	if (gzclose(gz) != Z_OK)
		return error_os(errno ? errno : EIO, "writing it");
	return NULL;
}

struct error *saved_write(const char *path, const struct snapshot *s, const struct saved_info *info)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	TRY(new_file_open(path, 0600, &saved_format, &file));
	TRY(error_wrap(write_to(file.f, s, info), "%s", path));
	return new_file_finish(&file);
}

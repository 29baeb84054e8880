#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "commands/saved_fields.h"
#include "commands/saved_lines.h"
#include "commands/view.h"
#include "debugger/base/progress.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"

/*
 * Deeper than any tree that asyncdbg makes, and far from what would overflow a stack; frames of one
 * tree, tasks and bytes of one line likewise.
 */
enum {
	MAX_DEPTH = 256,
	MAX_FRAMES = 1 << 18,
	MAX_TASKS = 1 << 24,
	MAX_NOTES = 1 << 12,
	MAX_LINE = 256 << 20,
	READ_AT_ONCE = 256 << 10,
};

struct loader {
	struct snapshot *s;
	struct arena *a; /* of s */
	gzFile gz;
	struct str line;
	uint64_t lines;  /* read so far */
	uint64_t ntasks; /* as the header has it */
	int64_t version;
	bool has_header, has_snapshot, has_target, ended;
	struct saved_info info;
	VEC(const char *) names;
	VEC(struct runtime_info) runtimes;
	VEC(struct thread_info) threads;
	VEC(struct layout_info) layout;
	VEC(struct task *) tasks;
	VEC(struct holding) holdings;
	unsigned depth, frames; /* of the tree that is being read */
	const char *key;        /* the member that is being read */
	const char *wrong;      /* what is wrong with the line, NULL nothing; its first fault */
	const char *wrong_key;
};

/* ---- a member each ---- */

static void is_wrong(struct loader *l, const char *what)
{
	if (l->wrong)
		return;
	l->wrong = what;
	l->wrong_key = l->key;
}

static const char *get_TEXT(struct loader *l, json_t *v)
{
	const char *text = json_string_value(v);

	if (text)
		return str_clean(l->a, text, json_string_length(v));
	if (!json_is_null(v))
		is_wrong(l, "is no text");
	return NULL;
}

static const char *get_NAME(struct loader *l, json_t *v)
{
	json_int_t number = json_integer_value(v);

	if (json_is_integer(v) && number >= 0 && (uint64_t)number < l->names.n)
		return l->names.data[number];
	is_wrong(l, "is the number of no name");
	return NULL;
}

static uint64_t get_ADDR(struct loader *l, json_t *v)
{
	const char *text = json_string_value(v);
	char *end = NULL;

	errno = 0;
	uint64_t addr = text && strncmp(text, "0x", 2) == 0 ? strtoull(text + 2, &end, 16) : 0;
	if (!end || *end || end == text + 2 || errno)
		is_wrong(l, "is no address");
	return addr;
}

static uint64_t get_U64(struct loader *l, json_t *v)
{
	if (json_is_string(v))
		return get_ADDR(l, v);
	if (json_is_integer(v) && json_integer_value(v) >= 0)
		return (uint64_t)json_integer_value(v);
	is_wrong(l, "is no number from 0 on");
	return 0;
}

static unsigned get_U32(struct loader *l, json_t *v)
{
	json_int_t number = json_is_integer(v) ? json_integer_value(v) : -1;

	if (number < 0 || number > UINT_MAX)
		is_wrong(l, "is no small number");
	return number < 0 || number > UINT_MAX ? 0 : (unsigned)number;
}

static int get_I32(struct loader *l, json_t *v)
{
	json_int_t number = json_is_integer(v) ? json_integer_value(v) : INT64_MAX;

	if (number < INT_MIN || number > INT_MAX)
		is_wrong(l, "is no small number");
	return number < INT_MIN || number > INT_MAX ? 0 : (int)number;
}

static bool get_FLAG(struct loader *l, json_t *v)
{
	if (!json_is_boolean(v))
		is_wrong(l, "is neither true nor false");
	return json_is_true(v);
}

#define GET_WORD(how, type, words, last)                                                           \
	static type get_##how(struct loader *l, json_t *v)                                         \
	{                                                                                          \
		const char *text = json_string_value(v);                                           \
                                                                                                   \
		for (unsigned i = 0; text && i <= last; i++) {                                     \
			const char *word = words((type)i);                                         \
                                                                                                   \
			if (word && strcmp(word, text) == 0)                                       \
				return (type)i;                                                    \
		}                                                                                  \
		is_wrong(l, "is none of the words that may stand there");                          \
		return (type)0;                                                                    \
	}
SAVED_WORDS(GET_WORD)

/* ---- structs ---- */

/*
 * Members are matched by name: what is not there stays zero, what is not known is ignored. A file
 * may name a member twice: the last one counts.
 */
#define GET(how, member)                                                                           \
	if (strcmp(key, #member) == 0) {                                                           \
		l->key = key;                                                                      \
		to->member = get_##how(l, v);                                                      \
		continue;                                                                          \
	}
#define GET_LIST(how, member, n)                                                                   \
	if (strcmp(key, #member) == 0) {                                                           \
		l->key = key;                                                                      \
		if (!json_is_array(v))                                                             \
			is_wrong(l, "is no list");                                                 \
		to->n = 0;                                                                         \
		to->member = get_##how(l, v);                                                      \
		to->n = json_array_size(v);                                                        \
		continue;                                                                          \
	}
#define GET_ALL(fields, object)                                                                    \
	do {                                                                                       \
		const char *key;                                                                   \
		json_t *v;                                                                         \
                                                                                                   \
		if (!json_is_object(object))                                                       \
			is_wrong(l, "is no object");                                               \
		json_object_foreach(object, key, v)                                                \
		{                                                                                  \
			fields(GET, GET_LIST)                                                      \
		}                                                                                  \
	} while (0)

/* Each element of an array of structs in the arena; an empty one is never looked at. */
#define GET_ARRAY(how, type, get_one)                                                              \
	static type *get_##how(struct loader *l, json_t *list)                                     \
	{                                                                                          \
		size_t n = json_array_size(list);                                                  \
		type *array = NEW_ARRAY(l->a, type, n);                                            \
                                                                                                   \
		for (size_t i = 0; i < n; i++)                                                     \
			get_one(l, json_array_get(list, i), &array[i]);                            \
		return array;                                                                      \
	}

static void get_text(struct loader *l, json_t *v, const char **to)
{
	*to = get_TEXT(l, v);
	if (!*to) /* nobody asks whether an element is there */
		*to = "";
}

GET_ARRAY(TEXTS, const char *, get_text)

static void get_detail_value(struct loader *l, json_t *v, struct wait_detail *to)
{
	if (json_is_array(v)) {
		to->kind = DETAIL_LIST;
		to->list = get_TEXTS(l, v);
		to->nlist = (unsigned)json_array_size(v);
	} else if (json_is_boolean(v)) {
		to->kind = DETAIL_BOOL;
		to->number = json_is_true(v);
	} else if (json_is_integer(v)) {
		to->kind = DETAIL_INT;
		to->number = json_integer_value(v);
	} else {
		to->kind = DETAIL_STRING;
		to->string = get_TEXT(l, v);
	}
}

static void get_detail(struct loader *l, json_t *pair, struct wait_detail *to)
{
	if (json_array_size(pair) != 2) {
		is_wrong(l, "is no list of pairs");
		to->key = "";
		return;
	}
	to->key = get_NAME(l, json_array_get(pair, 0));
	get_detail_value(l, json_array_get(pair, 1), to);
}

GET_ARRAY(DETAILS, struct wait_detail, get_detail)

static struct wait *get_WAIT(struct loader *l, json_t *object)
{
	struct wait *to = NEW(l->a, struct wait);

	GET_ALL(SAVED_WAIT, object);
	l->key = "wait";
	if (!to->kind)
		is_wrong(l, "has no kind");
	return to;
}

static void get_local(struct loader *l, json_t *object, struct local *to)
{
	GET_ALL(SAVED_LOCAL, object);
}

GET_ARRAY(LOCALS, struct local, get_local)

static struct future **get_FUTURES(struct loader *l, json_t *list);

static struct future *get_FUTURE(struct loader *l, json_t *object)
{
	struct future *to = NEW(l->a, struct future);

	if (l->depth >= MAX_DEPTH || ++l->frames > MAX_FRAMES) {
		is_wrong(l, "has more frames than any tree");
		return to;
	}
	to->number = l->frames - 1;
	l->depth++;
	GET_ALL(SAVED_FUTURE, object);
	l->depth--;
	return to;
}

static void get_future(struct loader *l, json_t *v, struct future **to)
{
	*to = get_FUTURE(l, v);
}

GET_ARRAY(FUTURES, struct future *, get_future)

static void get_stack_frame(struct loader *l, json_t *object, struct stack_frame *to)
{
	GET_ALL(SAVED_STACK_FRAME, object);
}

GET_ARRAY(STACK_FRAMES, struct stack_frame, get_stack_frame)

/* ---- lines ---- */

static void read_header(struct loader *l, json_t *header)
{
	const char *format = json_string_value(json_object_get(header, "format"));
	json_t *wants = json_object_get(header, "wants");

	if (l->lines != 1 || !format || strcmp(format, SAVED_FORMAT) != 0) {
		is_wrong(l, "is not what a saved snapshot begins with");
		return;
	}
	l->has_header = true;
	l->version = json_integer_value(json_object_get(header, "version"));
	l->ntasks = (uint64_t)json_integer_value(json_object_get(header, "tasks"));
	l->info.values = json_is_true(json_object_get(header, "values"));
	l->info.when = json_integer_value(json_object_get(header, "when"));
	for (size_t i = 0; i < json_array_size(wants); i++) {
		const char *word = json_string_value(json_array_get(wants, i));

		for (const struct want_word *w = want_words; word && w->word; w++)
			l->info.wants |= strcmp(w->word, word) == 0 ? w->want : 0;
	}
}

static void read_names(struct loader *l, json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char **name = vec_push(&l->names);

		get_text(l, json_array_get(list, i), name);
	}
}

static void read_snapshot(struct loader *l, json_t *object)
{
	struct snapshot *to = l->s;

	GET_ALL(SAVED_SNAPSHOT, object);
	if (to->nnotes > MAX_NOTES)
		is_wrong(l, "has more notes than anybody reads");
	l->has_snapshot = true;
}

static void read_target(struct loader *l, json_t *object)
{
	struct target_info *to = &l->s->target;

	GET_ALL(SAVED_TARGET, object);
	if (!to->kind)
		is_wrong(l, "has no kind");
	l->has_target = true;
}

static void read_reading(struct loader *l, json_t *object)
{
	struct reading *to = &l->s->reading;

	GET_ALL(SAVED_READING, object);
}

static void read_runtime(struct loader *l, json_t *object)
{
	struct runtime_info *to = vec_push(&l->runtimes);

	GET_ALL(SAVED_RUNTIME, object);
	if (to->index != l->runtimes.n - 1)
		is_wrong(l, "is out of order");
}

static void read_thread(struct loader *l, json_t *object)
{
	struct thread_info *to = vec_push(&l->threads);

	GET_ALL(SAVED_THREAD, object);
	if (to->runtime < -1 || (to->runtime >= 0 && (size_t)to->runtime >= l->runtimes.n))
		is_wrong(l, "is of no runtime");
}

static void read_layout(struct loader *l, json_t *object)
{
	struct layout_info *to = vec_push(&l->layout);

	GET_ALL(SAVED_LAYOUT, object);
	if (!to->module || !to->key || !to->path)
		is_wrong(l, "is half a row");
}

static bool in_order(const struct task *before, const struct task *after)
{
	return before->runtime < after->runtime ||
	       (before->runtime == after->runtime && before->number <= after->number);
}

static void read_task(struct loader *l, json_t *object)
{
	struct task *to = NEW(l->a, struct task);

	GET_ALL(SAVED_TASK, object);
	if (!to->id)
		is_wrong(l, "has no id");
	if (to->runtime >= l->runtimes.n)
		is_wrong(l, "is of no runtime");
	if (l->tasks.n == MAX_TASKS)
		is_wrong(l, "is one too many");
	if (l->tasks.n && !in_order(l->tasks.data[l->tasks.n - 1], to))
		is_wrong(l, "is out of order");
	if (!l->wrong)
		*vec_push(&l->tasks) = to;
}

static const struct thread_info *thread_of(const struct loader *l, unsigned number)
{
	for (size_t i = 0; i < l->threads.n; i++) {
		if (l->threads.data[i].number == number)
			return &l->threads.data[i];
	}
	return NULL;
}

/* The member that says which task, and which frame of it or of the thread. */
static void get_owner(struct loader *l, json_t *object, struct holding *to)
{
	json_t *task = json_object_get(object, "task");
	json_t *future = json_object_get(object, "future");
	const struct thread_info *th = future && !task ? thread_of(l, to->thread) : NULL;
	const struct future *root = th ? th->root : NULL;

	if (task) {
		unsigned number = get_U32(l, task);

		if (number >= l->tasks.n) {
			is_wrong(l, "is of no task");
			return;
		}
		to->task = l->tasks.data[number];
		root = to->task->root;
	}
	if (!future)
		return;
	to->future = future_frame(root, get_U32(l, future), NULL);
	if (!to->future)
		is_wrong(l, "is in no frame");
}

static void read_holding(struct loader *l, json_t *object)
{
	struct holding *to = vec_push(&l->holdings);

	GET_ALL(SAVED_HOLDING, object);
	if (!to->kind || !to->type)
		is_wrong(l, "has no kind or type");
	get_owner(l, object, to);
	if (l->wrong)
		l->holdings.n--;
}

static void read_end(struct loader *l, json_t *lines)
{
	if ((uint64_t)json_integer_value(lines) != l->lines - 1)
		is_wrong(l, "tells another number of lines");
	l->ended = true;
}

static const struct {
	const char *key;
	void (*read)(struct loader *l, json_t *value);
	bool late; /* what stands before it is of use without it */
} line_kinds[] = {
	{ "format", read_header, false },
	{ "names", read_names, true },
	{ "snapshot", read_snapshot, false },
	{ "target", read_target, false },
	{ "reading", read_reading, false },
	{ "runtime", read_runtime, false },
	{ "thread", read_thread, false },
	{ "layout", read_layout, false },
	{ "task", read_task, true },
	{ "holding", read_holding, true },
	{ "end", read_end, true },
};

/* ---- the file ---- */

/* The next line without its end; false where there is none, whatever the reason. */
static bool next_line(struct loader *l)
{
	char bytes[READ_AT_ONCE];

	str_truncate(&l->line, 0);
	while (l->line.len < MAX_LINE && gzgets(l->gz, bytes, sizeof(bytes))) {
		size_t len = strlen(bytes);

		/* No byte of JSON is zero. */
		if (!len)
			return false;
		str_append_len(&l->line, bytes, len);
		if (bytes[len - 1] == '\n') {
			l->lines++;
			return true;
		}
	}
	return false;
}

/* Why there is no further line: in arena a. */
static const char *why_ended(struct loader *l, struct arena *a)
{
	int problem;
	const char *text = gzerror(l->gz, &problem);

	if (problem == Z_OK || problem == Z_STREAM_END || problem == Z_BUF_ERROR)
		return "it is cut off there";
	return str_clean(a, text, strlen(text));
}

static void free_json(json_t **v)
{
	json_decref(*v);
}

/* *late: the fault is in what can be done without. *wrong stays NULL where there is none. */
static void read_line(struct loader *l, struct arena *a, const char **wrong, bool *late)
{
	json_error_t problem;
	json_t *line CLEANUP(free_json) = json_loadb(l->line.data, l->line.len, 0, &problem);

	*late = true;
	if (!json_is_object(line)) {
		*wrong = "it is not JSON";
		return;
	}
	l->wrong = l->wrong_key = l->key = NULL;
	l->depth = l->frames = 0;
	for (size_t i = 0; i < sizeof(line_kinds) / sizeof(*line_kinds); i++) {
		json_t *value = json_object_get(line, line_kinds[i].key);

		if (!value)
			continue;
		if (line_kinds[i].read == read_header)
			value = line;
		line_kinds[i].read(l, value);
		if (!l->wrong)
			break;
		*late = line_kinds[i].late;
		*wrong = arena_printf(a, "%s%s%s %s", line_kinds[i].key, l->wrong_key ? "." : "",
		                      l->wrong_key ? l->wrong_key : "", l->wrong);
		break;
	}
}

/* Notes are added one by one: the snapshot may get more of them. */
static void renew_notes(struct snapshot *s)
{
	const char **notes = s->notes;
	size_t n = s->nnotes;

	s->notes = NULL;
	s->nnotes = 0;
	for (size_t i = 0; i < n; i++)
		snapshot_note(s, "%s", notes[i]);
}

/* What was read becomes the snapshot's. */
static void publish(struct loader *l)
{
	struct snapshot *s = l->s;

	s->nruntimes = l->runtimes.n;
	s->runtimes = vec_to_arena(&l->runtimes, l->a);
	s->nthreads = l->threads.n;
	s->threads = vec_to_arena(&l->threads, l->a);
	s->nlayout = l->layout.n;
	s->layout = vec_to_arena(&l->layout, l->a);
	s->ntasks = l->tasks.n;
	s->tasks = vec_to_arena(&l->tasks, l->a);
	s->nholdings = l->holdings.n;
	s->holdings = vec_to_arena(&l->holdings, l->a);
	renew_notes(s);
	snapshot_number_frames(s);
}

/* Not all of the file could be read: an error, or a snapshot that says so. */
static struct error *judge_part(struct loader *l, const char *path, const char *wrong, bool late)
{
	if (!l->has_header)
		return error_new(ERR_CORRUPT, "it is no saved snapshot of asyncdbg");
	if (!late || !l->has_snapshot || !l->has_target)
		return error_new(ERR_CORRUPT, "it is damaged behind line %llu: %s",
		                 (unsigned long long)l->lines, wrong);
	publish(l);
	snapshot_incomplete(l->s, "%s is damaged behind line %llu: %s; %zu of %llu tasks are there",
	                    path, (unsigned long long)l->lines, wrong, l->s->ntasks,
	                    (unsigned long long)l->ntasks);
	return NULL;
}

static struct error *read_lines(struct loader *l, const char *path)
{
	SCRATCH(tmp);
	const char *wrong = NULL;
	bool late = true;

	while (!l->ended && !wrong) {
		if (l->lines % PROGRESS_STRIDE == 0) {
			TRY(interrupt_check());
			progress("reading the snapshot", l->tasks.n, l->ntasks);
		}
		if (!next_line(l)) {
			wrong = why_ended(l, &tmp);
			break;
		}
		read_line(l, &tmp, &wrong, &late);
		if (l->has_header && l->version > SAVED_VERSION)
			return error_new(ERR_UNSUPPORTED,
			                 "a newer asyncdbg saved it: version %lld of the format, "
			                 "this one reads up to %d",
			                 (long long)l->version, SAVED_VERSION);
	}
	if (wrong)
		return judge_part(l, path, wrong, late);
	if (!l->has_snapshot || !l->has_target)
		return error_new(ERR_CORRUPT, "it says nothing of a program");
	publish(l);
	if (l->s->ntasks != l->ntasks)
		return error_new(ERR_CORRUPT, "it has %zu tasks and says that there are %llu",
		                 l->s->ntasks, (unsigned long long)l->ntasks);
	return NULL;
}

static void loader_deinit(struct loader *l)
{
	if (l->gz)
		gzclose(l->gz);
	snapshot_free(l->s);
	str_free(&l->line);
	vec_free(&l->names);
	vec_free(&l->runtimes);
	vec_free(&l->threads);
	vec_free(&l->layout);
	vec_free(&l->tasks);
	vec_free(&l->holdings);
}

struct error *saved_read(const char *path, struct snapshot **ret, struct saved_info *info)
{
	struct loader l CLEANUP(loader_deinit) = { 0 };
	SCRATCH(tmp);
	const char *clean = str_clean(&tmp, path, strlen(path));

	errno = 0;
	l.gz = gzopen(path, "rbe");
	if (!l.gz)
		return error_os(errno ? errno : ENOMEM, "%s", clean);
	gzbuffer(l.gz, READ_AT_ONCE);
	l.s = calloc(1, sizeof(*l.s));
	if (!l.s)
		out_of_memory();
	l.a = &l.s->arena;
	struct error *err = read_lines(&l, clean);
	if (err)
		return error_wrap(err, "%s", clean);
	*ret = l.s;
	l.s = NULL;
	if (info)
		*info = l.info;
	return NULL;
}

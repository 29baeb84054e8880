/* The lines of a saved snapshot, and the members in them. */
#include "commands/saved_record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/holders.h"
#include "commands/saved_fields.h"
#include "commands/view.h"

/*
 * Deeper than any tree that asyncdbg makes, and far from what would overflow a stack; the others
 * likewise.
 */
enum { MAX_DEPTH = 256, MAX_FRAMES = 1 << 18, MAX_TASKS = 1 << 24, MAX_NOTES = 1 << 12 };

/* Digits of the largest id. */
enum { MAX_DECIMAL = 20, MAX_HEX = 16 };

/* ---- a member each ---- */

/* Nothing more is read of the line: the member at hand is the one that is named. */
static void is_wrong(struct loader *l, const char *what)
{
	if (!l->r.problem)
		l->r.problem = what;
	l->r.p = l->r.end;
}

/* A few bytes of a file may stand for a large struct: size more bytes are made of it. */
static void charge(struct loader *l, size_t size)
{
	l->listed += size;
	if (l->listed + l->a->total > l->budget)
		is_wrong(l, "takes more memory than anything that asyncdbg saves in as few bytes");
}

#define PUSH_CHARGED(l, vec) (charge((l), sizeof(*(vec)->data)), vec_push(vec))

static const char *get_TEXT(struct loader *l)
{
	if (json_peek(&l->r) != JSON_IS_NULL)
		return json_take_text(&l->r, l->a);
	json_skip(&l->r);
	return NULL;
}

static const char *get_NAME(struct loader *l)
{
	int64_t number = json_take_integer(&l->r);

	if (!l->r.problem && number >= 0 && (uint64_t)number < l->names.n)
		return l->names.data[number];
	is_wrong(l, "is the number of no name");
	return NULL;
}

static uint64_t get_ADDR(struct loader *l)
{
	const char *text = json_take_raw(&l->r);
	char *end = NULL;

	errno = 0;
	uint64_t addr = text && strncmp(text, "0x", 2) == 0 ? strtoull(text + 2, &end, 16) : 0;
	if (!end || *end || end == text + 2 || errno)
		is_wrong(l, "is no address");
	return addr;
}

/* It becomes a word of a command: no other text will do. */
static bool is_id(const char *text)
{
	bool hex = strncmp(text, "0x", 2) == 0;
	const char *digits = text + (hex ? 2 : 0);
	size_t n = strspn(digits, hex ? "0123456789abcdef" : "0123456789");

	return n && !digits[n] && n <= (hex ? MAX_HEX : MAX_DECIMAL);
}

static const char *get_ID(struct loader *l)
{
	const char *text = get_TEXT(l);

	if (!text || is_id(text))
		return text;
	is_wrong(l, "is no id of a task");
	return NULL;
}

/* From low to high, else 0. */
static int64_t get_number(struct loader *l, int64_t low, int64_t high)
{
	int64_t number = json_take_integer(&l->r);

	if (number >= low && number <= high)
		return number;
	is_wrong(l, "is too large or too small a number");
	return 0;
}

static uint64_t get_U64(struct loader *l)
{
	return json_peek(&l->r) == JSON_IS_TEXT ? get_ADDR(l)
	                                        : (uint64_t)get_number(l, 0, INT64_MAX);
}

static unsigned get_U32(struct loader *l)
{
	return (unsigned)get_number(l, 0, UINT_MAX);
}

static int get_I32(struct loader *l)
{
	return (int)get_number(l, INT_MIN, INT_MAX);
}

static bool get_FLAG(struct loader *l)
{
	return json_take_bool(&l->r);
}

#define GET_WORD(how, type, words, last)                                                           \
	static type get_##how(struct loader *l)                                                    \
	{                                                                                          \
		const char *text = json_take_raw(&l->r);                                           \
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
		l->key = #member;                                                                  \
		to->member = get_##how(l);                                                         \
		continue;                                                                          \
	}
#define GET_LIST(how, member, count)                                                               \
	if (strcmp(key, #member) == 0) {                                                           \
		size_t n;                                                                          \
                                                                                                   \
		l->key = #member;                                                                  \
		to->count = 0;                                                                     \
		to->member = get_##how(l, &n);                                                     \
		to->count = n;                                                                     \
		continue;                                                                          \
	}
#define GET_ALL(fields)                                                                            \
	do {                                                                                       \
		const char *key;                                                                   \
                                                                                                   \
		json_enter_object(&l->r);                                                          \
		while ((key = json_next_key(&l->r))) {                                             \
			fields(GET, GET_LIST) json_skip(&l->r);                                    \
		}                                                                                  \
	} while (0)

/* Each element of an array. */
#define GET_ARRAY(how, type, get_one)                                                              \
	static type *get_##how(struct loader *l, size_t *n)                                        \
	{                                                                                          \
		VEC(type) list = { 0 };                                                            \
                                                                                                   \
		json_enter_array(&l->r);                                                           \
		while (json_next_element(&l->r))                                                   \
			get_one(l, PUSH_CHARGED(l, &list));                                        \
		*n = list.n;                                                                       \
		return vec_to_arena(&list, l->a);                                                  \
	}

/* Of elements nobody asks whether they are there. */
static void get_text(struct loader *l, const char **to)
{
	const char *text = get_TEXT(l);

	*to = text ? text : "";
}

GET_ARRAY(TEXTS, const char *, get_text)

static void get_detail_value(struct loader *l, struct wait_detail *to)
{
	size_t n;

	switch (json_peek(&l->r)) {
	case JSON_IS_ARRAY:
		to->kind = DETAIL_LIST;
		to->list = get_TEXTS(l, &n);
		to->nlist = (unsigned)n;
		break;
	case JSON_IS_BOOL:
		to->kind = DETAIL_BOOL;
		to->number = json_take_bool(&l->r);
		break;
	case JSON_IS_NUMBER:
		to->kind = DETAIL_INT;
		to->number = json_take_integer(&l->r);
		break;
	default:
		to->kind = DETAIL_STRING;
		to->string = get_TEXT(l);
		break;
	}
}

static void get_detail(struct loader *l, struct wait_detail *to)
{
	bool pair = json_enter_array(&l->r) && json_next_element(&l->r);

	to->key = pair ? get_NAME(l) : NULL;
	if (pair && json_next_element(&l->r)) {
		get_detail_value(l, to);
		pair = !json_next_element(&l->r);
	} else {
		pair = false;
	}
	if (!pair)
		is_wrong(l, "is no list of pairs");
}

GET_ARRAY(DETAILS, struct wait_detail, get_detail)

static struct wait *get_WAIT(struct loader *l)
{
	struct wait *to = NEW(l->a, struct wait);

	charge(l, 0);
	GET_ALL(SAVED_WAIT);
	if (!to->kind)
		is_wrong(l, "is of a wait without a kind");
	return to;
}

static void get_local(struct loader *l, struct local *to)
{
	GET_ALL(SAVED_LOCAL);
}

GET_ARRAY(LOCALS, struct local, get_local)

static struct future **get_FUTURES(struct loader *l, size_t *n);

static struct future *get_FUTURE(struct loader *l)
{
	struct future *to = NEW(l->a, struct future);

	if (l->depth >= MAX_DEPTH || l->frames >= MAX_FRAMES) {
		is_wrong(l, "has more frames than any tree");
		return to;
	}
	to->number = l->frames++;
	l->depth++;
	GET_ALL(SAVED_FUTURE);
	l->depth--;
	return to;
}

static void get_future(struct loader *l, struct future **to)
{
	*to = get_FUTURE(l);
}

GET_ARRAY(FUTURES, struct future *, get_future)

static void get_stack_frame(struct loader *l, struct stack_frame *to)
{
	GET_ALL(SAVED_STACK_FRAME);
}

GET_ARRAY(STACK_FRAMES, struct stack_frame, get_stack_frame)

/* ---- lines ---- */

static void read_format(struct loader *l)
{
	const char *format = json_take_raw(&l->r);

	if (l->lines != 1 || !format || strcmp(format, SAVED_FORMAT) != 0)
		is_wrong(l, "is not what a saved snapshot begins with");
	else
		l->has_header = true;
}

static void read_version(struct loader *l)
{
	l->version = json_take_integer(&l->r);
}

static void read_when(struct loader *l)
{
	l->info.when = json_take_integer(&l->r);
}

static void read_values(struct loader *l)
{
	l->info.values = json_take_bool(&l->r);
}

static void read_count(struct loader *l)
{
	l->ntasks = (uint64_t)get_number(l, 0, MAX_TASKS);
}

/* Words of a later asyncdbg mean nothing here. */
static void read_wants(struct loader *l)
{
	json_enter_array(&l->r);
	while (json_next_element(&l->r)) {
		const char *word = json_take_raw(&l->r);

		for (const struct want_word *w = want_words; word && w->word; w++)
			l->info.wants |= strcmp(w->word, word) == 0 ? w->want : 0;
	}
}

static void read_names(struct loader *l)
{
	json_enter_array(&l->r);
	while (json_next_element(&l->r))
		get_text(l, PUSH_CHARGED(l, &l->names));
}

static void read_snapshot(struct loader *l)
{
	struct snapshot *to = l->s;

	GET_ALL(SAVED_SNAPSHOT);
	if (to->nnotes > MAX_NOTES)
		is_wrong(l, "has more notes than anybody reads");
	l->has_snapshot = true;
}

static void read_target(struct loader *l)
{
	struct target_info *to = &l->s->target;

	GET_ALL(SAVED_TARGET);
	if (!to->kind)
		is_wrong(l, "is of a target without a kind");
	l->has_target = true;
}

static void read_reading(struct loader *l)
{
	struct reading *to = &l->s->reading;

	GET_ALL(SAVED_READING);
}

static void read_runtime(struct loader *l)
{
	struct runtime_info *to = PUSH_CHARGED(l, &l->runtimes);

	GET_ALL(SAVED_RUNTIME);
	if (to->index != l->runtimes.n - 1)
		is_wrong(l, "is out of order");
}

static void read_thread(struct loader *l)
{
	struct thread_info *to = PUSH_CHARGED(l, &l->threads);

	GET_ALL(SAVED_THREAD);
	if (to->runtime < -1 || (to->runtime >= 0 && (size_t)to->runtime >= l->runtimes.n))
		is_wrong(l, "is of a thread of no runtime");
}

static void read_layout(struct loader *l)
{
	struct layout_info *to = PUSH_CHARGED(l, &l->layout);

	GET_ALL(SAVED_LAYOUT);
	if (!to->module || !to->key || !to->path)
		is_wrong(l, "is of half a row");
}

static bool in_order(const struct task *before, const struct task *after)
{
	return before->runtime < after->runtime ||
	       (before->runtime == after->runtime && before->number <= after->number);
}

/* The number is there in decimal only. */
static bool is_own_id(const struct task *task)
{
	char number[MAX_DECIMAL + 1];

	if (strncmp(task->id, "0x", 2) == 0)
		return !task->number;
	snprintf(number, sizeof(number), "%" PRIu64, task->number);
	return strcmp(task->id, number) == 0;
}

static void read_task(struct loader *l)
{
	struct task *to = NEW(l->a, struct task);

	charge(l, sizeof(to));
	GET_ALL(SAVED_TASK);
	if (!to->id)
		is_wrong(l, "is of a task without an id");
	else if (!is_own_id(to))
		is_wrong(l, "is of a task whose id is not its number");
	if (to->runtime >= l->runtimes.n)
		is_wrong(l, "is of a task of no runtime");
	if (l->tasks.n && !in_order(l->tasks.data[l->tasks.n - 1], to))
		is_wrong(l, "is of a task out of order");
	if (l->tasks.n == MAX_TASKS)
		is_wrong(l, "is of one task too many");
	if (!l->r.problem)
		*vec_push(&l->tasks) = to;
}

static const struct future *root_of_thread(const struct loader *l, unsigned number)
{
	for (size_t i = 0; i < l->threads.n; i++) {
		if (l->threads.data[i].number == number)
			return l->threads.data[i].root;
	}
	return NULL;
}

/* In whose frame it is: numbers in the file. */
struct owner {
	bool has_task, has_future;
	unsigned task, future;
};

static void find_owner(struct loader *l, const struct owner *owner, struct holding *to)
{
	const struct future *root = NULL;

	if (owner->has_task && owner->task < l->tasks.n) {
		to->task = l->tasks.data[owner->task];
		root = to->task->root;
	} else if (owner->has_task) {
		is_wrong(l, "is of no task");
	} else if (owner->has_future) {
		root = root_of_thread(l, to->thread);
	}
	if (!owner->has_future)
		return;
	to->future = future_frame(root, owner->future, NULL);
	if (!to->future)
		is_wrong(l, "is in no frame");
}

static void read_holding(struct loader *l)
{
	struct holding *to = PUSH_CHARGED(l, &l->holdings);
	struct owner owner = { 0 };
	const char *key;

	json_enter_object(&l->r);
	while ((key = json_next_key(&l->r))) {
		SAVED_HOLDING(GET, GET_LIST)
		l->key = NULL;
		if (strcmp(key, "task") == 0) {
			owner.has_task = true;
			owner.task = get_U32(l);
		} else if (strcmp(key, "future") == 0) {
			owner.has_future = true;
			owner.future = get_U32(l);
		} else {
			json_skip(&l->r);
		}
	}
	if (!to->kind || !to->type)
		is_wrong(l, "is of a holding without a kind or type");
	find_owner(l, &owner, to);
	if (l->r.problem)
		l->holdings.n--;
}

static void read_end(struct loader *l)
{
	if ((uint64_t)json_take_integer(&l->r) != l->lines - 1)
		is_wrong(l, "tells another number of lines");
	l->ended = true;
}

static const struct {
	const char *key;
	void (*read)(struct loader *l);
	bool late; /* what stands before it is of use without it */
} keys[] = {
	{ "task", read_task, true },          { "names", read_names, true },
	{ "holding", read_holding, true },    { "layout", read_layout, false },
	{ "format", read_format, false },     { "version", read_version, false },
	{ "when", read_when, false },         { "values", read_values, false },
	{ "wants", read_wants, false },       { "tasks", read_count, false },
	{ "snapshot", read_snapshot, false }, { "target", read_target, false },
	{ "reading", read_reading, false },   { "runtime", read_runtime, false },
	{ "thread", read_thread, false },     { "end", read_end, true },
};

static bool read_key(struct loader *l, const char *key, const char **known, bool *late)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(keys[i].key, key) != 0)
			continue;
		*known = keys[i].key;
		*late = keys[i].late;
		keys[i].read(l);
		return true;
	}
	return false;
}

const char *saved_record(struct loader *l, struct arena *a, char *line, size_t len, bool *late)
{
	const char *key, *known = "it";

	json_reader_init(&l->r, line, len);
	l->key = NULL;
	l->depth = l->frames = 0;
	*late = true;
	json_enter_object(&l->r);
	while ((key = json_next_key(&l->r))) {
		if (!read_key(l, key, &known, late))
			json_skip(&l->r);
	}
	if (json_at_end(&l->r))
		return NULL;
	return arena_printf(a, "%s%s%s %s", known, l->key ? "." : "", l->key ? l->key : "",
	                    l->r.problem ? l->r.problem : "has something behind it");
}

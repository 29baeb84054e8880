#include "runtimes/saved/saved_member.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/analysis/holders.h"
#include "runtimes/model/names.h"
#include "runtimes/model/wait_kind.h"
#include "runtimes/saved/saved_fields.h"

/* Deeper than any tree that asyncdbg builds, and too small to overflow the stack. */
enum { MAX_DEPTH = 256, MAX_FRAMES = 1 << 18 };

/* ---- members ---- */

void saved_wrong(struct loader *l, const char *what)
{
	if (!l->r.problem)
		l->r.problem = what;
	l->r.p = l->r.end;
}

void saved_charge(struct loader *l, size_t size)
{
	l->listed += size;
	if (l->listed + l->a->total > l->budget)
		saved_wrong(l, "takes more memory than a snapshot of this size can need");
}

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
	saved_wrong(l, "is a number without a name");
	return NULL;
}

static uint64_t get_ADDR(struct loader *l)
{
	const char *text = json_take_raw(&l->r);
	char *end = NULL;

	errno = 0;
	uint64_t addr = text && strncmp(text, "0x", 2) == 0 ? strtoull(text + 2, &end, 16) : 0;
	if (!end || *end || end == text + 2 || errno)
		saved_wrong(l, "is not an address");
	return addr;
}

/* Ids become words of commands, so no other text is allowed. */
static bool is_id(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return task_id_is_key(text) || (n && !text[n] && n <= MAX_DECIMAL);
}

static const char *get_ID(struct loader *l)
{
	const char *text = get_TEXT(l);

	if (!text || is_id(text))
		return text;
	saved_wrong(l, "is not a task id");
	return NULL;
}

int64_t saved_number(struct loader *l, int64_t low, int64_t high)
{
	int64_t number = json_take_integer(&l->r);

	if (number >= low && number <= high)
		return number;
	saved_wrong(l, "is too large or too small a number");
	return 0;
}

static uint64_t get_U64(struct loader *l)
{
	return json_peek(&l->r) == JSON_IS_TEXT ? get_ADDR(l)
	                                        : (uint64_t)saved_number(l, 0, INT64_MAX);
}

static unsigned get_U32(struct loader *l)
{
	return (unsigned)saved_number(l, 0, UINT_MAX);
}

static int get_I32(struct loader *l)
{
	return (int)saved_number(l, INT_MIN, INT_MAX);
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
		saved_wrong(l, "is not one of the allowed words");                                 \
		return (type)0;                                                                    \
	}
SAVED_WORDS(GET_WORD)

/* ---- structs ---- */

/*
 * Members are matched by name. Missing members stay zero, unknown ones are ignored. If a member
 * occurs twice, the last one counts.
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

/* Reads the elements of an array. */
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

void saved_text(struct loader *l, const char **to)
{
	const char *text = get_TEXT(l);

	*to = text ? text : "";
}

GET_ARRAY(TEXTS, const char *, saved_text)

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
		saved_wrong(l, "is not a list of pairs");
}

GET_ARRAY(DETAILS, struct wait_detail, get_detail)

static struct wait *get_WAIT(struct loader *l)
{
	struct wait *to = NEW(l->a, struct wait);

	saved_charge(l, 0);
	GET_ALL(SAVED_WAIT);
	if (!to->kind)
		saved_wrong(l, "has a wait without a kind");
	/* The keys become keys of JSON output, so unknown ones are refused. */
	const struct wait_kind *kind = wait_kind_of(to);
	for (size_t i = 0; i < to->ndetails; i++) {
		const char *key = to->details[i].key;

		if (key && !wait_detail_is_known(kind, key))
			saved_wrong(l, "is a detail that no wait has");
	}
	return to;
}

static struct source_place *get_SOURCE(struct loader *l)
{
	struct source_place *to = NEW(l->a, struct source_place);

	saved_charge(l, 0);
	GET_ALL(SAVED_SOURCE);
	if (!to->file)
		saved_wrong(l, "has a line without a file");
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
		saved_wrong(l, "has more frames than any tree");
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

static void get_crate(struct loader *l, struct runtime_crate *to)
{
	GET_ALL(SAVED_CRATE);
	if (!to->kind || !to->version)
		saved_wrong(l, "has an incomplete crate");
}

GET_ARRAY(CRATES, struct runtime_crate, get_crate)

/* ---- structs with a line each ---- */

#define GET_LINE(name, type, fields)                                                               \
	void saved_##name(struct loader *l, type *to)                                              \
	{                                                                                          \
		GET_ALL(fields);                                                                   \
	}
GET_LINE(snapshot, struct snapshot, SAVED_SNAPSHOT)
GET_LINE(reading, struct reading, SAVED_READING)
GET_LINE(thread, struct thread_info, SAVED_THREAD)
GET_LINE(job, struct job, SAVED_JOB)
GET_LINE(layout, struct layout_info, SAVED_LAYOUT)
GET_LINE(socket, struct socket_info, SAVED_SOCKET)
GET_LINE(task, struct task, SAVED_TASK)

void saved_target(struct loader *l, struct target_info *to)
{
	const char *key;

	json_enter_object(&l->r);
	while ((key = json_next_key(&l->r))) {
		SAVED_TARGET(GET, GET_LIST)
		l->key = NULL;
		json_skip(&l->r);
	}
}

void saved_runtime(struct loader *l, struct runtime_info *to)
{
	GET_ALL(SAVED_RUNTIME);
}

void saved_holding(struct loader *l, struct holding *to, struct saved_owner *owner)
{
	const char *key;

	json_enter_object(&l->r);
	while ((key = json_next_key(&l->r))) {
		SAVED_HOLDING(GET, GET_LIST)
		l->key = NULL;
		if (strcmp(key, "task") == 0) {
			owner->has_task = true;
			owner->task = get_U32(l);
		} else if (strcmp(key, "future") == 0) {
			owner->has_future = true;
			owner->future = get_U32(l);
		} else {
			json_skip(&l->r);
		}
	}
}

/* Reads the lines of a saved snapshot. */
#include "runtimes/saved/saved_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/analysis/view.h"
#include "runtimes/saved/saved_member.h"

enum { MAX_TASKS = 1 << 24, MAX_NOTES = 1 << 12 };

static void read_format(struct loader *l)
{
	const char *format = json_take_raw(&l->r);

	if (l->lines != 1 || !format || strcmp(format, SAVED_FORMAT) != 0)
		saved_wrong(l, "is not what a saved snapshot begins with");
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

static void take_parts(struct loader *l)
{
	l->has_parts = json_take_bool(&l->r);
}

static void saved_record_read_count(struct loader *l)
{
	l->ntasks = (uint64_t)saved_number(l, 0, MAX_TASKS);
}

/* Unknown words, from a later asyncdbg, are ignored. */
static void read_wants(struct loader *l)
{
	json_enter_array(&l->r);
	while (json_next_element(&l->r)) {
		const char *word = json_take_raw(&l->r);

		for (const struct want_word *w = saved_want_words; word && w->word; w++)
			l->info.wants |= strcmp(w->word, word) == 0 ? w->want : 0;
	}
}

static void read_names(struct loader *l)
{
	json_enter_array(&l->r);
	while (json_next_element(&l->r))
		saved_text(l, PUSH_CHARGED(l, &l->names));
}

static void read_snapshot(struct loader *l)
{
	struct snapshot *to = l->s;

	saved_snapshot(l, to);
	if (to->nnotes > MAX_NOTES)
		saved_wrong(l, "has too many notes");
	l->has_snapshot = true;
}

static void read_target(struct loader *l)
{
	struct target_info *to = &l->s->target;

	saved_target(l, to);
	if (!to->kind)
		saved_wrong(l, "has a target without a kind");
	l->has_target = true;
}

static void read_reading(struct loader *l)
{
	saved_reading(l, &l->s->reading);
}

static void read_runtime(struct loader *l)
{
	struct runtime_info *to = PUSH_CHARGED(l, &l->runtimes);

	saved_runtime(l, to);
	if (to->index != l->runtimes.n - 1)
		saved_wrong(l, "is out of order");
}

static void read_thread(struct loader *l)
{
	struct thread_info *to = PUSH_CHARGED(l, &l->threads);

	saved_thread(l, to);
	if (to->runtime < -1 || (to->runtime >= 0 && (size_t)to->runtime >= l->runtimes.n))
		saved_wrong(l, "has a thread of an unknown runtime");
}

static void read_job(struct loader *l)
{
	struct job *to = PUSH_CHARGED(l, &l->jobs);

	saved_job(l, to);
	if (to->runtime < -1 || (to->runtime >= 0 && (size_t)to->runtime >= l->runtimes.n))
		saved_wrong(l, "has a job of an unknown runtime");
}

static void read_layout(struct loader *l)
{
	struct layout_info *to = PUSH_CHARGED(l, &l->layout);

	saved_layout(l, to);
	if (!to->module || !to->key || !to->path)
		saved_wrong(l, "has an incomplete row");
}

static void read_socket(struct loader *l)
{
	struct socket_info *to = PUSH_CHARGED(l, &l->sockets);

	saved_socket(l, to);
	if (to->fd < 0 || !to->kind)
		saved_wrong(l, "has an incomplete socket");
	else if (l->sockets.n > 1 && to->fd <= to[-1].fd)
		saved_wrong(l, "is out of order");
}

static bool in_order(const struct task *before, const struct task *after)
{
	return before->runtime < after->runtime ||
	       (before->runtime == after->runtime && before->number <= after->number);
}

/* Whether the id and the number of a task agree: only a decimal id has a number. */
static bool is_own_id(const struct task *task)
{
	char number[MAX_DECIMAL + 1];

	if (task_id_is_key(task->id))
		return !task->number;
	snprintf(number, sizeof(number), "%" PRIu64, task->number);
	return strcmp(task->id, number) == 0;
}

static void read_task(struct loader *l)
{
	struct task *to = NEW(l->a, struct task);

	saved_charge(l, sizeof(to));
	saved_task(l, to);
	if (!to->id)
		saved_wrong(l, "has a task without an id");
	else if (!is_own_id(to))
		saved_wrong(l, "has a task whose id is not its number");
	if (to->runtime >= l->runtimes.n)
		saved_wrong(l, "has a task of an unknown runtime");
	if (l->tasks.n && !in_order(l->tasks.data[l->tasks.n - 1], to))
		saved_wrong(l, "has a task out of order");
	if (l->tasks.n == MAX_TASKS)
		saved_wrong(l, "has one task too many");
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

static void saved_record_find_owner(struct loader *l, const struct saved_owner *owner,
                                    struct holding *to)
{
	const struct future *root = NULL;

	if (owner->has_task && owner->task < l->tasks.n) {
		to->task = l->tasks.data[owner->task];
		root = to->task->root;
	} else if (owner->has_task) {
		saved_wrong(l, "belongs to no task");
	} else if (owner->has_future) {
		root = root_of_thread(l, to->thread);
	}
	if (!owner->has_future)
		return;
	to->future = future_frame(root, owner->future, NULL);
	if (!to->future)
		saved_wrong(l, "is in no frame");
}

static void read_holding(struct loader *l)
{
	struct holding *to = PUSH_CHARGED(l, &l->holdings);
	struct saved_owner owner = { 0 };

	saved_holding(l, to, &owner);
	if (!to->kind || !to->type)
		saved_wrong(l, "has a holding without a kind or type");
	saved_record_find_owner(l, &owner, to);
	const struct holding from = *to;
	if (l->r.problem || from.role == HOLDING_DESCRIPTOR)
		l->holdings.n--;
	if (!l->r.problem && from.role == HOLDING_DESCRIPTOR)
		*vec_push(&l->descriptors) = from;
}

static void saved_record_read_end(struct loader *l)
{
	if ((uint64_t)json_take_integer(&l->r) != l->lines - 1)
		saved_wrong(l, "has another number of lines");
	l->ended = true;
}

static const struct {
	const char *key;
	void (*read)(struct loader *l);
	bool late; /* see saved_record() */
} keys[] = {
	{ "task", read_task, true },          { "names", read_names, true },
	{ "holding", read_holding, true },    { "layout", read_layout, false },
	{ "format", read_format, false },     { "version", read_version, false },
	{ "when", read_when, false },         { "values", read_values, false },
	{ "wants", read_wants, false },       { "tasks", saved_record_read_count, false },
	{ "snapshot", read_snapshot, false }, { "target", read_target, false },
	{ "reading", read_reading, false },   { "runtime", read_runtime, false },
	{ "thread", read_thread, false },     { "end", saved_record_read_end, true },
	{ "socket", read_socket, false },     { "job", read_job, false },
	{ "parts", take_parts, false },
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
	                    l->r.problem ? l->r.problem : "has trailing data");
}

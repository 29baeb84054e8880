/*
 * Lists tasks that a scan of memory found: those of runtimes that keep no list (compio-runtime up
 * to 0.9.0), and those of runtimes that no thread is known to be inside.
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/compio/compio.h"
#include "runtimes/ownership/ownership.h"

enum { MAX_SCHEDULE = 256, MAX_QUEUES = 63, WORD = 8 };

/* Is it a task of a runtime of compio? */
static bool compio_unlisted_is_ours(const struct async_executor_header *h)
{
	return h->plan->schedule && str_begins(type_name(h->plan->schedule), "compio_runtime::");
}

/*
 * The copy of compio that a task is of: the only one, or that of the module that its schedule
 * function is in. NULL: unknown.
 */
static struct compio_copy *copy_of(struct collector *c, const struct async_executor_header *h)
{
	struct compio_copy *first = compio_of(c->in)->copies, *copy = first;

	if (first && !first->next)
		return first;
	while (copy && copy->dm != type_module(h->plan->schedule))
		copy = copy->next;
	return copy;
}

/* Properties that the tasks of a runtime have in common. */
struct compio_unlisted_owner {
	struct compio_copy *copy; /* NULL: unknown */
	uint64_t queue;           /* of its ready tasks; 0: unknown */
};

/* Whether the task's schedule function refers to the owner's queue; if that is unknown, whether the
 * task is of the owner's copy of compio. */
static bool compio_unlisted_owns(struct collector *c, const struct async_executor_header *h,
                                 void *arg)
{
	const struct compio_unlisted_owner *o = arg;
	unsigned char bytes[MAX_SCHEDULE];
	uint64_t size = compio_unlisted_is_ours(h) ? type_size(h->plan->schedule) : 0, word;

	if (!size || !o->queue)
		return size != 0 && copy_of(c, h) == o->copy;
	if (size > sizeof(bytes))
		return false;
	struct error *err = target_read(c->in->target, h->addr + h->plan->offset_s, bytes, size);
	bool found = false;
	for (uint64_t at = 0; !err && at + WORD <= size; at += WORD) {
		memcpy(&word, bytes + at, WORD);
		found |= word == o->queue;
	}
	error_free(err);
	return found;
}

static void note_unsearched(struct collector *c, const struct runtime_info *info)
{
	if (c->want & WANT_HOLDINGS)
		ownership_unsearched(
			c, "tasks of runtime %u (compio) that a scan of memory did not find",
			info->index);
}

void compio_list_scanned(struct collector *c, struct compio_thread *t)
{
	struct runtime_info *info = t->info;
	struct value place;
	struct compio_unlisted_owner owner = { .copy = t->copy };
	bool found;
	struct error *err = bindings_eval(c->in->target, &t->copy->layout, COMPIO_QUEUE, t->runtime,
	                                  &place, &found);

	if (!err && found)
		err = target_read_uint(c->in->target, place.addr, WORD, &owner.queue);
	error_free(err);
	info->completeness = COMPLETENESS_SCANNED;
	if (owner.queue)
		async_executor_list_unlisted_of(c, info, compio_unlisted_owns, &owner);
	snapshot_incomplete(c->out,
	                    "runtime %u (compio) keeps no list of its tasks: a scan of memory "
	                    "found %zu and may have missed some",
	                    info->index, info->ntasks);
	note_unsearched(c, info);
}

/* ---- runtimes that no thread is known to be inside ---- */

/* The queue that the task's schedule function puts it into; 0: unknown. */
static uint64_t queue_of(struct collector *c, const struct async_executor_header *h)
{
	/* compio-runtime 0.9.5 to 0.11 | 0.6 to 0.9.0 | 0.5 */
	static const char queue_path[] = "task_queue.local_queue | runnables | local_runnables";
	const struct path *p = inspector_optional_path(c->in, h->plan->schedule, queue_path);
	struct value schedule = { h->plan->schedule, h->addr + h->plan->offset_s }, place;
	uint64_t queue = 0;
	bool found = false;
	struct error *err = p ? path_eval(c->in->target, p, schedule, &place, &found) : NULL;

	if (!err && found)
		err = target_read_uint(c->in->target, place.addr, WORD, &queue);
	error_free(err);
	return queue;
}

static struct compio_left *find_left(struct compio_walk *w, const struct compio_copy *copy,
                                     uint64_t queue)
{
	for (size_t i = 0; i < w->nleft; i++) {
		struct compio_left *left = &w->left[i];

		/* A queue is of one runtime, whatever modules its tasks are in. */
		if (left->queue == queue && (queue || left->copy == copy))
			return left;
	}
	return NULL;
}

/*
 * Notes the queue of a task that belongs to no runtime yet, and takes no task. If the queue is
 * unknown, or there are too many queues, each copy of compio has one runtime for all such tasks.
 */
static bool note_left(struct collector *c, const struct async_executor_header *h, void *arg)
{
	struct compio_walk *w = compio_walk(c);

	(void)arg;
	if (!compio_unlisted_is_ours(h))
		return false;
	struct compio_copy *copy = copy_of(c, h);
	uint64_t queue = queue_of(c, h);
	struct compio_left *left = find_left(w, copy, queue);
	if (!left && queue && w->nqueues == MAX_QUEUES)
		left = find_left(w, copy, queue = 0);
	if (!left) {
		w->nqueues += queue != 0;
		w->left[w->nleft++] = (struct compio_left){ .copy = copy, .queue = queue };
	} else if (!left->copy) {
		left->copy = copy;
	}
	return false;
}

/* Number of an owner's tasks that no runtime has listed. */
struct compio_unlisted_count {
	struct compio_unlisted_owner owner;
	size_t n;
};

static bool count_owned(struct collector *c, const struct async_executor_header *h, void *arg)
{
	struct compio_unlisted_count *count = arg;

	count->n += compio_unlisted_owns(c, h, &count->owner);
	return false;
}

/*
 * Whether any task is left for the runtime that stands for tasks whose queue could not be read.
 * note_left() has met one, but a runtime whose queue is known also takes each task that has
 * the address of that queue anywhere in its schedule function, and may have taken them all.
 */
static bool has_tasks(struct collector *c, const struct compio_left *left)
{
	struct compio_unlisted_count count = { .owner = { left->copy, left->queue } };

	async_executor_list_unlisted_of(c, NULL, count_owned, &count);
	return count.n > 0;
}

static void list_left(struct collector *c, struct compio_left *left)
{
	struct runtime_info *info = left->info = collector_add_runtime(c, &compio_table);
	struct compio_unlisted_owner owner = { left->copy, left->queue };

	info->flavor = "compio";
	info->addr = left->queue;
	info->version = left->copy ? left->copy->version : NULL;
	info->workers_poll = left->copy && left->copy->spawns_root;
	info->completeness = COMPLETENESS_SCANNED;
	info->found_by = "a scan of memory";
	async_executor_list_unlisted_of(c, info, compio_unlisted_owns, &owner);
	snapshot_incomplete(c->out,
	                    "no thread is known to be inside runtime %u (compio): a scan of memory "
	                    "found %zu of its tasks and may have missed some",
	                    info->index, info->ntasks);
	note_unsearched(c, info);
}

/* Fills runtime_info.rejected of all runtimes whose tasks a scan has found. */
static void fill_rejected(struct collector *c, const struct compio_walk *w)
{
	struct runtime_info *info;
	size_t rejected = async_executor_count_rejected(c);

	for (size_t i = 0; i < c->out->nthreads; i++) {
		info = w->threads ? w->threads[i].info : NULL;
		if (info && info->completeness == COMPLETENESS_SCANNED)
			info->rejected = rejected;
	}
	for (size_t i = 0; i < w->nleft; i++) {
		if (w->left[i].info)
			w->left[i].info->rejected = rejected;
	}
}

void compio_list_left(struct collector *c)
{
	struct compio_walk *w = compio_walk(c);
	size_t unknown = 1;

	for (const struct compio_copy *copy = compio_of(c->in)->copies; copy; copy = copy->next)
		unknown++;
	w->left = NEW_ARRAY(&c->scratch, struct compio_left, MAX_QUEUES + unknown);
	async_executor_list_unlisted_of(c, NULL, note_left, NULL);
	for (size_t i = 0; i < w->nleft; i++) {
		if (w->left[i].queue)
			list_left(c, &w->left[i]);
	}
	/* A runtime whose queue is unknown takes all tasks of its copy that are left. */
	for (size_t i = 0; i < w->nleft; i++) {
		if (!w->left[i].queue && has_tasks(c, &w->left[i]))
			list_left(c, &w->left[i]);
	}
	fill_rejected(c, w);
}

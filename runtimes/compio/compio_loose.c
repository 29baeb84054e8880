/*
 * Lists tasks that a scan of memory found: those of runtimes that keep no list (compio-runtime up
 * to 0.9.0), and those of runtimes that no thread is known to be inside.
 */
#include <inttypes.h>
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/compio/compio.h"
#include "runtimes/holding/holding.h"

enum { MAX_SCHEDULE = 256, MAX_LEFT = 64, WORD = 8 };

/* Is it a task of a runtime of compio? */
static bool is_ours(const struct executor_header *h)
{
	return h->plan->schedule && str_begins(type_name(h->plan->schedule), "compio_runtime::");
}

/* Does the task's schedule function refer to that queue? 0: it may refer to any. */
static bool owns(struct collector *c, const struct executor_header *h, void *arg)
{
	const uint64_t *queue = arg;
	unsigned char bytes[MAX_SCHEDULE];
	uint64_t size = is_ours(h) ? type_size(h->plan->schedule) : 0, word;

	if (!size || !*queue)
		return size != 0;
	if (size > sizeof(bytes))
		return false;
	struct error *err = target_read(c->in->target, h->addr + h->plan->offset_s, bytes, size);
	bool found = false;
	for (uint64_t at = 0; !err && at + WORD <= size; at += WORD) {
		memcpy(&word, bytes + at, WORD);
		found |= word == *queue;
	}
	error_free(err);
	return found;
}

static void note_unsearched(struct collector *c, const struct runtime_info *info)
{
	if (c->want & WANT_HOLDINGS)
		holding_unsearched(
			c, "tasks of runtime %u (compio) that a scan of memory did not find",
			info->index);
}

void compio_list_scanned(struct collector *c, struct compio_thread *t)
{
	struct runtime_info *info = t->info;
	struct value place;
	uint64_t queue = 0;
	bool found;
	struct error *err = bindings_eval(c->in->target, &t->copy->layout, COMPIO_QUEUE, t->runtime,
	                                  &place, &found);

	if (!err && found)
		err = target_read_uint(c->in->target, place.addr, WORD, &queue);
	error_free(err);
	info->completeness = COMPLETENESS_SCANNED;
	if (queue)
		executor_list_loose_of(c, info, owns, &queue);
	snapshot_incomplete(c->out,
	                    "runtime %u (compio) keeps no list of its tasks: a scan of memory "
	                    "found %zu, and may miss some",
	                    info->index, info->ntasks);
	note_unsearched(c, info);
}

/* ---- runtimes that no thread is known to be inside ---- */

/* The queue that the task's schedule function puts it into; 0: unknown. */
static uint64_t queue_of(struct collector *c, const struct executor_header *h)
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

/* Notes the queue of a task that belongs to no runtime yet, and takes none. */
static bool note_left(struct collector *c, const struct executor_header *h, void *arg)
{
	struct compio_walk *w = compio_walk(c);
	struct compio_copy *copy = compio_of(c->in)->copies;

	(void)arg;
	if (!is_ours(h))
		return false;
	while (copy && copy->dm != type_module(h->plan->schedule))
		copy = copy->next;
	uint64_t queue = w->nleft + 1 < MAX_LEFT ? queue_of(c, h) : 0;
	for (size_t i = 0; i < w->nleft; i++) {
		if (w->left[i].copy == copy && w->left[i].queue == queue)
			return false;
	}
	if (copy && w->nleft < MAX_LEFT)
		w->left[w->nleft++] = (struct compio_left){ .copy = copy, .queue = queue };
	return false;
}

static void list_left(struct collector *c, struct compio_left *left)
{
	struct runtime_info *info = left->info = collector_add_runtime(c, &compio_table);

	info->flavor = "compio";
	info->addr = left->queue;
	info->version = left->copy->version;
	info->workers_poll = left->copy->spawns_root;
	info->completeness = COMPLETENESS_SCANNED;
	info->found_by = "a scan of memory";
	executor_list_loose_of(c, info, owns, &left->queue);
	snapshot_incomplete(c->out,
	                    "no thread is known to be inside runtime %u (compio): a scan "
	                    "of memory found %zu of its tasks, and may miss some",
	                    info->index, info->ntasks);
	note_unsearched(c, info);
}

void compio_list_left(struct collector *c)
{
	struct compio_walk *w = compio_walk(c);

	w->left = NEW_ARRAY(&c->scratch, struct compio_left, MAX_LEFT);
	executor_list_loose_of(c, NULL, note_left, NULL);
	for (size_t i = 0; i < w->nleft; i++) {
		if (w->left[i].queue)
			list_left(c, &w->left[i]);
	}
	/* One without a queue takes all tasks that are left. */
	for (size_t i = 0; i < w->nleft; i++) {
		if (!w->left[i].queue)
			list_left(c, &w->left[i]);
	}
}

/* Reads queues of waiters, once per snapshot. */
#include "runtimes/future/leaf_queue.h"

#include <inttypes.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "runtimes/common/passed_over.h"

enum {
	MAX_WAITERS = 1 << 20, /* in all queues of a snapshot */
	MAX_SHOWN = 4,         /* tasks named in a phrase; JSON lists more */
};

/*
 * A queue as it was read. The tasks are found and compared once, and not for each waiter behind
 * them: a hundred thousand may wait there.
 */
struct leaf_queue_walked {
	struct map places; /* address of a waiter -> its place from 1, as a pointer */
	uint64_t first;
	bool whole;                            /* it was read to its end */
	const char *why;                       /* why it was not */
	bool noted;                            /* the snapshot's notes say that */
	struct waker wakers[QUEUE_MAX_LISTED]; /* of the first ones */
	const char **tasks;                    /* that these wake, as far as they are known */
	size_t ntasks[QUEUE_MAX_LISTED + 1];   /* number of tasks of the first N waiters */
	size_t ndistinct;                      /* number of tasks before the first repeated one */
	bool resolved;                         /* tasks, ntasks and ndistinct are filled */
};

void leaf_queues_free(struct collector *c)
{
	for (size_t i = 0; i < c->queues.capacity; i++) {
		struct leaf_queue_walked *w = c->queues.slots[i].value;

		if (w)
			map_free(&w->places);
	}
	map_free(&c->queues);
}

/* Option<NonNull<_>>: 0 is None. */
static struct error *leaf_queue_read_link(const struct leaf *l, struct value from, const char *expr,
                                          uint64_t *ret)
{
	struct value link;
	bool found;

	*ret = 0;
	TRY(leaf_place(l, from, expr, &link, &found));
	return found ? target_read_uint(l->d->c->in->target, link.addr, 8, ret) : NULL;
}

static struct error *read_node_waker(const struct leaf *l, struct value node,
                                     const struct queue_layout *layout, struct waker *ret)
{
	struct value place;
	bool found;

	TRY(leaf_place(l, node, layout->waker, &place, &found));
	return found ? waker_read(l->d->c, place, ret) : NULL;
}

static struct error *leaf_queue_walk(const struct leaf *l, struct value list,
                                     const struct type *node, const struct queue_layout *layout,
                                     struct leaf_queue_walked *w)
{
	struct value at = { node, 0 };
	size_t n = 0;

	TRY(leaf_queue_read_link(l, list, layout->first, &at.addr));
	w->first = at.addr;
	while (l->d->c->nwaiters++ < MAX_WAITERS && at.addr && !map_has(&w->places, at.addr)) {
		if (n < QUEUE_MAX_LISTED)
			TRY(read_node_waker(l, at, layout, &w->wakers[n]));
		map_put(&w->places, at.addr, (void *)++n);
		TRY(leaf_queue_read_link(l, at, layout->next, &at.addr));
	}
	w->whole = at.addr == 0;
	if (!w->whole && !map_has(&w->places, at.addr))
		return error_new(ERR_UNSUPPORTED, "more than %d waiters in all queues",
		                 MAX_WAITERS);
	return w->whole ? NULL : error_new(ERR_CORRUPT, "it is circular");
}

/*
 * A future that nobody polls may be the stale bytes of one that moved, and its queue none any more.
 */
static void note_torn(const struct leaf *l, uint64_t addr, struct leaf_queue_walked *w)
{
	if (w->whole || w->noted || l->d->strict || l->d->unpolled)
		return;
	w->noted = true;
	snapshot_incomplete(l->d->c->out,
	                    "the queue of waiters at 0x%" PRIx64
	                    " was not read behind its first %zu: %s",
	                    addr, w->places.n, w->why);
}

/* Reads a queue, up to where it is torn, unless it is cached. */
static struct leaf_queue_walked *walk_once(const struct leaf *l, struct value list,
                                           const struct type *node,
                                           const struct queue_layout *layout)
{
	struct collector *c = l->d->c;
	struct leaf_queue_walked *w = map_get(&c->queues, list.addr);

	if (!w) {
		w = NEW(&c->scratch, struct leaf_queue_walked);
		map_put(&c->queues, list.addr, w);
		struct error *err = leaf_queue_walk(l, list, node, layout, w);

		w->why = err ? arena_strdup(&c->scratch, err->message) : NULL;
		error_free(err);
	}
	note_torn(l, list.addr, w);
	return w;
}

static bool is_among(const char *const *tasks, size_t n, const char *task)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(tasks[i], task) == 0)
			return true;
	}
	return false;
}

/* Finds the tasks of the first waiters. */
static void resolve_tasks(struct collector *c, struct leaf_queue_walked *w)
{
	size_t n = 0, nwaiters = w->places.n < QUEUE_MAX_LISTED ? w->places.n : QUEUE_MAX_LISTED;
	bool repeated = false;

	w->resolved = true;
	w->tasks = NEW_ARRAY(c->a, const char *, nwaiters);
	for (size_t i = 0; i < nwaiters; i++) {
		const char *task = waker_task(c, w->wakers[i]);

		w->ntasks[i + 1] = n += task != NULL;
		if (!task)
			continue;
		w->tasks[n - 1] = task;
		repeated = repeated || is_among(w->tasks, n - 1, task);
		if (!repeated)
			w->ndistinct = n;
	}
}

struct error *leaf_queue_read(const struct leaf *l, struct value list, struct value node,
                              const struct queue_layout *layout, struct queue *ret)
{
	if (list.addr == 0)
		return error_new(ERR_CORRUPT, "the queue of waiters was not found");
	struct leaf_queue_walked *w = walk_once(l, list, node.type, layout);
	size_t place = (size_t)map_get(&w->places, node.addr);

	*ret = (struct queue){ .found = place != 0,
		               .whole = w->whole,
		               .first = w->first,
		               .length = w->places.n,
		               .wakers = w->wakers };
	if (!place)
		return NULL;
	ret->ahead = place - 1;
	if (ret->ahead && !w->resolved)
		resolve_tasks(l->d->c, w);
	/* Any vtable will do: only the data identifies the task. */
	if (ret->ahead && l->d->waker)
		ret->own = waker_task(l->d->c, (struct waker){ .data = l->d->waker, .vtable = 1 });
	ret->tasks = w->tasks;
	ret->ntasks = w->ntasks[ret->ahead < QUEUE_MAX_LISTED ? ret->ahead : QUEUE_MAX_LISTED];
	ret->all_tasks = ret->ntasks == ret->ahead;
	ret->distinct = ret->ntasks <= w->ndistinct;
	return NULL;
}

/* How many waiters wake q->tasks[first]; 0 when it is listed before `first` too. */
static size_t count_of_task(const struct queue *q, size_t first)
{
	size_t n = 0;

	for (size_t i = 0; i < q->ntasks; i++) {
		if (strcmp(q->tasks[i], q->tasks[first]) != 0)
			continue;
		if (i < first)
			return 0;
		n++;
	}
	return n;
}

static bool leaf_queue_is_own(const struct queue *q, const char *task)
{
	return q->own && strcmp(q->own, task) == 0;
}

/* Does each known waiter wake a different task, none of them the waiter's own? */
static bool are_other_tasks(const struct queue *q)
{
	return q->distinct && !(q->own && is_among(q->tasks, q->ntasks, q->own));
}

/* "3 tasks ahead in its queue" */
static void put_ahead(struct str *s, const struct queue *q, const char *what)
{
	str_append(s, MARKED_BEGIN_QUEUE);
	str_append_uint(s, q->ahead);
	str_append(s, " ");
	str_append(s, what);
	str_append(s, q->ahead == 1 ? " ahead in its queue" : "s ahead in its queue");
}

/* The text that counts the futures ahead by task. */
static const char *futures_text(struct arena *a, const struct queue *q)
{
	const char *before = " (";
	size_t shown = 0;
	STR(s);

	put_ahead(&s, q, q->all_tasks ? "future" : "waiter");
	for (size_t i = 0; i < q->ntasks; i++) {
		size_t n = count_of_task(q, i);

		if (n == 0)
			continue;
		if (shown++ == MAX_SHOWN) {
			str_append(&s, ", ...");
			break;
		}
		str_append(&s, before);
		if (q->ahead > 1)
			str_printf(&s, "%zu ", n);
		if (leaf_queue_is_own(q, q->tasks[i]))
			str_append(&s, "of this task");
		else
			str_printf(&s, "of task %s", q->tasks[i]);
		before = ", ";
	}
	if (q->ahead > QUEUE_MAX_LISTED && shown <= MAX_SHOWN)
		str_append(&s, ", ...");
	str_append(&s, ")" MARKED_CLOSE);
	return arena_strdup(a, s.data);
}

const char *leaf_queue_text(struct arena *a, const struct queue *q)
{
	STR(s);

	if (!q->ahead)
		return MARKED_QUEUE("first in its queue");
	if (!are_other_tasks(q))
		return futures_text(a, q);
	put_ahead(&s, q, q->all_tasks ? "task" : "waiter");
	size_t shown = q->ntasks < MAX_SHOWN ? q->ntasks : MAX_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		str_append(&s, i ? ", " : q->ntasks == 1 ? " (task " : " (tasks ");
		str_append(&s, q->tasks[i]);
	}
	if (q->ntasks)
		str_append(&s, q->ahead > QUEUE_MAX_LISTED || q->ntasks > shown ? ", ...)" : ")");
	str_append(&s, MARKED_CLOSE);
	return arena_strdup(a, s.data);
}

const char *leaf_queue_turn(const struct leaf *l, const struct queue *q)
{
	return l->d->c->warm_up ? "" : leaf_queue_text(&l->d->c->decoding.words, q);
}

void leaf_queue_details(const struct leaf *l, const struct queue *q)
{
	wait_int(l, "position", (int64_t)q->ahead + 1);
	wait_list(l, "tasks_ahead", q->tasks, q->ntasks);
}

const char *leaf_queue_behind(const struct leaf *l, const struct queue *q)
{
	size_t place = q->found ? q->ahead + 1 : 0, n = q->length - place, ntasks = 0;
	const char **tasks = NEW_ARRAY(l->d->c->a, const char *, QUEUE_MAX_LISTED);
	STR(s);

	if (!q->whole || n == 0)
		return "";
	for (size_t i = place; i < q->length && i < QUEUE_MAX_LISTED; i++) {
		const char *task = waker_task(l->d->c, q->wakers[i]);

		if (task)
			tasks[ntasks++] = task;
	}
	wait_int(l, "behind", (int64_t)n);
	wait_list(l, "tasks_behind", tasks, ntasks);
	str_printf(&s, ", %s behind it", leaf_count(l, n, ntasks == n ? "task" : "waiter"));
	for (size_t i = 0; i < ntasks && i < MAX_SHOWN; i++)
		str_printf(&s, "%s%s",
		           i             ? ", "
		           : ntasks == 1 ? " " MARKED_BEGIN_LIST "(task "
		                         : " " MARKED_BEGIN_LIST "(tasks ",
		           tasks[i]);
	if (ntasks)
		str_append(&s, n > ntasks || ntasks > MAX_SHOWN ? ", ...)" MARKED_CLOSE
		                                                : ")" MARKED_CLOSE);
	return arena_strdup(&l->d->c->decoding.words, str_text(&s));
}

/* Has a poll of the task passed this future over for certain? */
static bool was_passed_over(const struct leaf *l)
{
	const struct decoder *d = l->d;

	/* A thread that is about to wake an idle task has a waker of it, which is a reference. */
	bool certain = passed_over_note(d->c, map_key_of_pair(l->v.addr, d->waker));
	return certain || (d->forgotten && !d->in_set);
}

static const char *idle_text(const struct leaf *l)
{
	bool certain = was_passed_over(l);

	wait_string(l, "passed_over", certain ? "certain" : "possible");
	return certain ? "; its task was polled since and did not poll it"
	               : "; its task may have been polled since without polling it";
}

const char *leaf_next(const struct leaf *l, const char *word)
{
	const struct decoder *d = l->d;
	const char *next;

	if (d->unpolled)
		next = d->doubted ? ", not taken yet" : ", but nobody polls the future that got it";
	else if (d->woken)
		next = ", about to resume";
	else
		next = d->idle && d->waker ? idle_text(l) : ", not taken yet";
	return leaf_text(l, "%s%s", word, next);
}

const char *leaf_count(const struct leaf *l, uint64_t n, const char *what)
{
	return leaf_text(l, "%" PRIu64 " %s" MARKED_PLURAL("%s"), n, what, n == 1 ? "" : "s");
}

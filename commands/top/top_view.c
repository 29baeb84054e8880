#include "commands/top/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"

static const char *const field_names[TOP_NFIELDS] = {
	[TOP_ID] = "id",           [TOP_TYPE] = "type",   [TOP_PLACE] = "place",
	[TOP_TASKS] = "tasks",     [TOP_POLLS] = "polls", [TOP_BUSY] = "busy",
	[TOP_LONGEST] = "longest", [TOP_P99] = "p99",     [TOP_RUNNABLE] = "runnable",
	[TOP_WAKES] = "wakes",     [TOP_OWN] = "own",
};

const char *top_view_field_name(enum top_field field)
{
	return field_names[field];
}

bool top_view_field_named(const char *name, enum top_field *ret)
{
	for (size_t i = 0; i < TOP_NFIELDS; i++) {
		if (strcmp(field_names[i], name) == 0) {
			*ret = (enum top_field)i;
			return true;
		}
	}
	return false;
}

const char *top_view_grouping_name(enum top_grouping grouping)
{
	static const char *const names[TOP_NGROUPINGS] = {
		[TOP_UNGROUPED] = "none",
		[TOP_BY_TYPE] = "type",
		[TOP_BY_PLACE] = "place",
	};

	return names[grouping];
}

const struct trace_frame *top_view_frame(const struct trace_place *place)
{
	return trace_place_own(place);
}

const char *top_view_place_text(struct arena *a, const struct trace_place *place)
{
	if (!place || !place->nframes)
		return NULL;
	const struct trace_frame *f = top_view_frame(place);
	const char *cut = place->cut ? " ..." : "";
	if (!f->file || !f->line)
		return arena_printf(a, "%s%s", f->function, cut);
	return arena_printf(a, "%s:%u in %s%s", f->file, f->line, f->function, cut);
}

/* ---- the filter ---- */

static bool place_has(const struct trace_place *place, const char *text)
{
	char line[512];

	for (size_t i = 0; place && i < place->nframes; i++) {
		const struct trace_frame *f = &place->frames[i];

		if (strstr(f->function, text))
			return true;
		snprintf(line, sizeof(line), "%s:%u", f->file ? f->file : "", f->line);
		if (f->file && strstr(line, text))
			return true;
	}
	return false;
}

static bool top_view_matches(const struct top_view *view, uint64_t id, const char *type,
                             const struct trace_place *place)
{
	bool any = view->filter_field != TOP_ID && view->filter_field != TOP_TYPE &&
	           view->filter_field != TOP_PLACE;
	char number[24];

	if (!view->filter || !*view->filter)
		return true;
	snprintf(number, sizeof(number), "%" PRIu64, id);
	if ((any || view->filter_field == TOP_ID) && id && strcmp(number, view->filter) == 0)
		return true;
	if ((any || view->filter_field == TOP_TYPE) && type && strstr(type, view->filter))
		return true;
	return (any || view->filter_field == TOP_PLACE) && place_has(place, view->filter);
}

/* ---- rows ---- */

static void add_waker(struct top_waker *list, const struct top_waker *waker)
{
	struct top_waker *unused = NULL;
	uint64_t least = waker->wakes;

	for (size_t i = 0; i < TOP_WAKERS; i++) {
		struct top_waker *w = &list[i];
		bool same = w->type && waker->type ? w->type == waker->type
		                                   : w->task == waker->task && !w->type;

		if (w->wakes && same) {
			w->wakes += waker->wakes;
			w->task = w->task == waker->task ? w->task : 0;
			return;
		}
		if (!w->wakes)
			unused = w;
		else
			least = w->wakes < least ? w->wakes : least;
	}
	if (unused) {
		*unused = *waker;
		return;
	}
	for (size_t i = 0; i < TOP_WAKERS; i++)
		list[i].wakes -= least;
	if (waker->wakes > least)
		add_waker(list,
		          &(struct top_waker){ waker->task, waker->type, waker->wakes - least });
}

static struct top_waker best_waker(const struct top_waker *list)
{
	struct top_waker best = { 0 };

	for (size_t i = 0; i < TOP_WAKERS; i++) {
		if (list[i].wakes > best.wakes)
			best = list[i];
	}
	return best;
}

/* Adds up the numbers, except durations. */
static void add_sums(struct top_row *row, const struct top_stats *s)
{
	row->polls += s->polls;
	row->polled_ns += s->polled_ns;
	row->runnable_ns += s->runnable_ns;
	row->wakes += s->wakes;
	row->own_wakes += s->own_wakes;
	row->no_task += s->no_task;
	row->poll_longest =
		s->poll_longest > row->poll_longest ? s->poll_longest : row->poll_longest;
	row->runnable_longest = s->runnable_longest > row->runnable_longest ? s->runnable_longest
	                                                                    : row->runnable_longest;
}

static void set_percentiles(struct top_row *row, const struct durations *poll,
                            const struct durations *runnable)
{
	row->poll_p99 = durations_percentile(poll, 99);
	row->runnable_p50 = durations_percentile(runnable, 50);
	row->runnable_p99 = durations_percentile(runnable, 99);
}

static void fill_row(struct top_row *row, const struct top_task *task)
{
	*row = (struct top_row){
		.task = task,
		.type = task->type,
		.place = task->place,
		.job = task->job,
		.tasks = 1,
	};
	row->doing[task->doing] = 1;
	if (!task->stats)
		return;
	add_sums(row, task->stats);
	set_percentiles(row, &task->stats->poll, &task->stats->runnable);
	row->waker = best_waker(task->stats->wakers);
}

/* ---- groups ---- */

struct top_view_group {
	struct top_row row;
	struct durations poll, runnable;
	struct top_waker wakers[TOP_WAKERS];
};

struct top_view_groups {
	const struct top_rows *rows;
	struct arena *a;
	enum top_grouping grouping;
	struct map index; /* -> its index + 1 */
	VEC(struct top_view_group) list;
};

static struct top_view_group *top_view_group_of(struct top_view_groups *g, const char *type,
                                                const struct trace_place *place, enum trace_job job)
{
	bool by_type = g->grouping == TOP_BY_TYPE;
	const void *what = by_type ? (const void *)type : (const void *)place;
	uint64_t key = map_key_of_pair((uintptr_t)what + 1, by_type ? job : 0);
	uintptr_t at = (uintptr_t)map_get(&g->index, key);

	if (at) {
		struct top_view_group *group = &g->list.data[at - 1];

		group->row.type = group->row.type == type ? type : NULL;
		return group;
	}
	struct top_view_group *group = vec_push(&g->list);
	group->row.type = type;
	group->row.place = by_type ? NULL : place;
	group->row.job = job;
	map_put(&g->index, key, (void *)(uintptr_t)g->list.n);
	return group;
}

static void top_view_add_stats(struct top_view_groups *g, struct top_view_group *group,
                               const struct top_stats *s)
{
	add_sums(&group->row, s);
	durations_merge(&group->poll, g->a, &s->poll);
	durations_merge(&group->runnable, g->a, &s->runnable);
	for (size_t i = 0; i < TOP_WAKERS; i++) {
		struct top_waker w = s->wakers[i];

		if (!w.wakes)
			continue;
		w.type = top_rows_type(g->rows, w.task);
		add_waker(group->wakers, &w);
	}
}

static void group_tasks(struct top_view_groups *g, const struct top_frame *frame,
                        const struct top_view *view, size_t *matched)
{
	for (size_t i = 0; i < frame->n; i++) {
		const struct top_task *task = &frame->tasks[i];

		if (!top_view_matches(view, task->id, task->type, task->place))
			continue;
		++*matched;
		struct top_view_group *group =
			top_view_group_of(g, task->type, task->group, task->job);
		group->row.tasks++;
		group->row.doing[task->doing]++;
		if (task->stats)
			top_view_add_stats(g, group, task->stats);
	}
	for (size_t i = 0; i < frame->nended; i++) {
		const struct top_ended *e = &frame->ended[i];

		if (!top_view_matches(view, 0, e->type, NULL))
			continue;
		struct top_view_group *group = top_view_group_of(g, e->type, NULL, e->job);
		group->row.ended += e->n;
		top_view_add_stats(g, group, &e->stats);
	}
}

/* ---- the order ---- */

struct top_view_entry {
	double key;
	const char *text; /* of fields that are texts; NULL: unknown */
	unsigned line;
	uint64_t polls, id;
	size_t index;
};

static double top_view_number_of(const struct top_row *row, enum top_field field)
{
	switch (field) {
	case TOP_ID:
		return row->task ? (double)row->task->id : 0;
	case TOP_TASKS:
		return (double)row->tasks;
	case TOP_POLLS:
		return (double)row->polls;
	case TOP_BUSY:
		return (double)row->polled_ns;
	case TOP_LONGEST:
		return (double)row->poll_longest;
	case TOP_P99:
		return (double)row->poll_p99;
	case TOP_RUNNABLE:
		return (double)row->runnable_p99;
	case TOP_WAKES:
		return (double)row->wakes;
	case TOP_OWN:
		return (double)row->own_wakes;
	default:
		return 0;
	}
}

/* Texts and ids go upwards, numbers downwards, if not reversed. */
static struct top_view_entry entry_of(const struct top_row *row, const struct top_view *view,
                                      size_t index)
{
	struct top_view_entry e = { .polls = row->polls, .index = index };
	const struct trace_frame *at =
		row->place && row->place->nframes ? top_view_frame(row->place) : NULL;

	e.id = row->task ? row->task->id : 0;
	e.key = top_view_number_of(row, view->sort) * (view->sort == TOP_ID ? 1 : -1);
	if (view->sort == TOP_TYPE) {
		e.text = row->type;
	} else if (view->sort == TOP_PLACE && at) {
		e.text = at->file ? at->file : at->function;
		e.line = at->line;
	}
	if (view->reverse)
		e.key = -e.key;
	return e;
}

static int compare_texts(const struct top_view_entry *x, const struct top_view_entry *y)
{
	int order = x->text && y->text && x->text != y->text ? strcmp(x->text, y->text)
	                                                     : !x->text - !y->text;

	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int top_view_compare(const void *a, const void *b, void *arg)
{
	const struct top_view_entry *x = a, *y = b;
	const struct top_view *view = arg;
	int order = x->key < y->key ? -1 : x->key > y->key;

	if (!order && (view->sort == TOP_TYPE || view->sort == TOP_PLACE))
		order = compare_texts(x, y) * (view->reverse ? -1 : 1);
	if (!order)
		order = x->polls > y->polls ? -1 : x->polls < y->polls;
	if (!order)
		order = x->id < y->id ? -1 : x->id > y->id;
	return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static struct top_view_entry *sort(struct top_view_entry *entries, size_t n,
                                   const struct top_view *view)
{
	qsort_r(entries, n, sizeof(*entries), top_view_compare, (void *)(uintptr_t)view);
	return entries;
}

static size_t limited(size_t n, const struct top_view *view)
{
	return view->limit && view->limit < n ? view->limit : n;
}

static void list_tasks(const struct top_rows *rows, const struct top_frame *frame,
                       const struct top_view *view, struct arena *a, struct top_list *ret)
{
	VEC(struct top_view_entry) entries = { 0 };
	struct top_row row;

	vec_reserve(&entries, frame->n);
	for (size_t i = 0; i < frame->n; i++) {
		const struct top_task *task = &frame->tasks[i];

		if (!top_view_matches(view, task->id, task->type, task->place))
			continue;
		fill_row(&row, task);
		*vec_push(&entries) = entry_of(&row, view, i);
	}
	ret->matched = ret->total = entries.n;
	ret->n = limited(entries.n, view);
	ret->rows = NEW_ARRAY(a, struct top_row, ret->n);
	sort(entries.data, entries.n, view);
	for (size_t i = 0; i < ret->n; i++) {
		fill_row(&ret->rows[i], &frame->tasks[entries.data[i].index]);
		ret->rows[i].waker.type = top_rows_type(rows, ret->rows[i].waker.task);
	}
	vec_free(&entries);
}

static void list_groups(const struct top_rows *rows, const struct top_frame *frame,
                        const struct top_view *view, struct arena *a, struct top_list *ret)
{
	struct top_view_groups g = { .rows = rows, .a = a, .grouping = view->grouping };

	group_tasks(&g, frame, view, &ret->matched);
	struct top_view_entry *entries = NEW_ARRAY(a, struct top_view_entry, g.list.n);
	for (size_t i = 0; i < g.list.n; i++) {
		struct top_view_group *group = &g.list.data[i];

		set_percentiles(&group->row, &group->poll, &group->runnable);
		group->row.waker = best_waker(group->wakers);
		entries[i] = entry_of(&group->row, view, i);
	}
	ret->total = g.list.n;
	ret->n = limited(g.list.n, view);
	ret->rows = NEW_ARRAY(a, struct top_row, ret->n);
	sort(entries, g.list.n, view);
	for (size_t i = 0; i < ret->n; i++)
		ret->rows[i] = g.list.data[entries[i].index].row;
	vec_free(&g.list);
	map_free(&g.index);
}

void top_view_rows(const struct top_rows *t, const struct top_frame *frame,
                   const struct top_view *view, struct arena *a, struct top_list *ret)
{
	*ret = (struct top_list){ 0 };
	if (view->grouping == TOP_UNGROUPED)
		list_tasks(t, frame, view, a, ret);
	else
		list_groups(t, frame, view, a, ret);
}

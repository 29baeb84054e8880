#include "commands/top/top_page.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "runtimes/trace/trace_key.h"

static const struct top_column_info columns[TOP_NCOLUMNS] = {
	[TOP_COLUMN_WHAT] = { "TASK", 8, true, TOP_ID },
	[TOP_COLUMN_POLLS] = { "POLLS/S", 9, true, TOP_POLLS },
	[TOP_COLUMN_BUSY] = { "BUSY", 6, true, TOP_BUSY },
	[TOP_COLUMN_LONGEST] = { "LONGEST", 7, true, TOP_LONGEST },
	[TOP_COLUMN_P99] = { "P99", 7, true, TOP_P99 },
	[TOP_COLUMN_RUNNABLE_P50] = { "RUNQ50", 7, true, TOP_NFIELDS },
	[TOP_COLUMN_RUNNABLE_P99] = { "RUNQ99", 7, true, TOP_RUNNABLE },
	[TOP_COLUMN_WAKES] = { "WAKES/S", 9, true, TOP_WAKES },
	[TOP_COLUMN_OWN] = { "OWN", 5, true, TOP_OWN },
	[TOP_COLUMN_BY] = { "WOKEN BY", 16, false, TOP_NFIELDS },
	[TOP_COLUMN_DOING] = { "STATE", 8, false, TOP_NFIELDS },
	[TOP_COLUMN_TYPE] = { "TYPE", 28, false, TOP_TYPE },
	[TOP_COLUMN_PLACE] = { "WAITS AT", 20, false, TOP_PLACE },
};

const struct top_column_info *top_page_column(enum top_column column, enum top_grouping grouping)
{
	static const struct top_column_info tasks = { "TASKS", 8, true, TOP_TASKS };

	return grouping != TOP_UNGROUPED && column == TOP_COLUMN_WHAT ? &tasks : &columns[column];
}

/* ---- names ---- */

const char *top_page_name(struct top_names *names, const char *type)
{
	if (!type)
		return "?";
	const char *name = map_get(&names->map, (uintptr_t)type);
	if (name)
		return name;
	name = names->full ? type : name_short(&names->arena, type);
	if (!names->full && str_begins(name, "async fn "))
		name += strlen("async fn ");
	name = str_clean(&names->arena, name, strlen(name));
	map_put(&names->map, (uintptr_t)type, (void *)(uintptr_t)name);
	return name;
}

void top_page_free_names(struct top_names *names)
{
	map_free(&names->map);
	arena_free(&names->arena);
}

/* ---- numbers ---- */

const char *top_page_time(struct arena *a, uint64_t ns)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double n = (double)ns / units[i].unit;

		if (n >= 0.9995)
			return arena_printf(a, "%.*f%s",
			                    n < 9.995   ? 2
			                    : n < 99.95 ? 1
			                                : 0,
			                    n, units[i].name);
	}
	return arena_printf(a, "%" PRIu64 "ns", ns);
}

static double top_page_seconds(const struct top_page *p)
{
	uint64_t ns = moment_between(p->frame->began, p->frame->time);

	return ns ? (double)ns / 1e9 : 1e-9;
}

static const char *top_page_rate(const struct top_page *p, struct arena *a, uint64_t n)
{
	double r = (double)n / top_page_seconds(p);

	return arena_printf(a, "%.*f", r > 0 && r < 9.95 ? 1 : 0, r);
}

static const char *top_page_share(struct arena *a, uint64_t part, double whole)
{
	return arena_printf(a, "%.1f%%", whole > 0 ? (double)part * 100 / whole : 0);
}

/* A group's tasks may poll at once: its share may exceed 100 %. */
static const char *busy(const struct top_page *p, struct arena *a, uint64_t ns)
{
	return top_page_share(a, ns, (double)moment_between(p->frame->began, p->frame->time));
}

/* ---- columns ---- */

static const char *const doing_names[NDOINGS] = { "unknown", "runnable", "polling", "waiting" };

static const char *doing(const struct top_row *row, struct arena *a)
{
	if (row->task)
		return doing_names[row->task->doing];
	if (row->doing[DOING_POLLING] || row->doing[DOING_RUNNABLE])
		return arena_printf(a, "%" PRIu64 "p %" PRIu64 "r", row->doing[DOING_POLLING],
		                    row->doing[DOING_RUNNABLE]);
	return row->tasks ? doing_names[DOING_WAITING] : "ended";
}

static const char *waker(const struct top_page *p, const struct top_row *row,
                         struct top_names *names, struct arena *a)
{
	const struct top_waker *w = &row->waker;
	/* Groups have no "itself": there one task wakes another of the same type. */
	bool own = w->wakes && row->task && w->task == row->task->id;

	(void)p;
	if (!row->wakes || (!w->wakes && !row->no_task))
		return "-";
	if (!w->wakes || row->no_task > w->wakes)
		return "no task";
	if (own)
		return "itself";
	if (!w->type)
		return w->task ? arena_printf(a, "task %s", trace_key_text(a, w->task)) : "?";
	if (!w->task)
		return top_page_name(names, w->type);
	return arena_printf(a, "%s %s", trace_key_text(a, w->task), top_page_name(names, w->type));
}

static const char *what(const struct top_row *row, struct arena *a)
{
	if (row->task)
		return trace_key_text(a, row->task->id);
	return arena_uint(a, row->tasks);
}

static const char *top_page_type(const struct top_row *row, struct top_names *names,
                                 struct arena *a)
{
	const char *name = top_page_name(names, row->type);

	return row->job == TRACE_BLOCKING ? arena_printf(a, "[blocking] %s", name) : name;
}

static const char *top_page_place(const struct top_row *row, struct arena *a)
{
	const char *text = top_view_place_text(a, row->place);

	return text ? text : "-";
}

const char *top_page_cell(const struct top_page *p, const struct top_row *row,
                          enum top_column column, struct top_names *names, struct arena *a)
{
	const struct top_known *known = &p->known;

	switch (column) {
	case TOP_COLUMN_WHAT:
		return what(row, a);
	case TOP_COLUMN_POLLS:
		return known->polls ? top_page_rate(p, a, row->polls) : "-";
	case TOP_COLUMN_BUSY:
		return known->busy ? busy(p, a, row->polled_ns) : "-";
	case TOP_COLUMN_LONGEST:
		return known->ends && row->poll_longest ? top_page_time(a, row->poll_longest) : "-";
	case TOP_COLUMN_P99:
		return known->ends && row->poll_p99 ? top_page_time(a, row->poll_p99) : "-";
	case TOP_COLUMN_RUNNABLE_P50:
		return known->wakes && row->runnable_p50 ? top_page_time(a, row->runnable_p50)
		                                         : "-";
	case TOP_COLUMN_RUNNABLE_P99:
		return known->wakes && row->runnable_p99 ? top_page_time(a, row->runnable_p99)
		                                         : "-";
	case TOP_COLUMN_WAKES:
		return known->wakes ? top_page_rate(p, a, row->wakes) : "-";
	case TOP_COLUMN_OWN:
		return known->own && row->wakes
		               ? arena_printf(a, "%.0f%%",
		                              (double)row->own_wakes * 100 / (double)row->wakes)
		               : "-";
	case TOP_COLUMN_BY:
		return known->wakes ? waker(p, row, names, a) : "-";
	case TOP_COLUMN_DOING:
		return doing(row, a);
	case TOP_COLUMN_TYPE:
		return top_page_type(row, names, a);
	default:
		return top_page_place(row, a);
	}
}

/* ---- lines ---- */

static const char *top_page_number(struct arena *a, uint64_t n)
{
	char digits[24];
	STR(text);
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			str_append(&text, ",");
		str_append_len(&text, &digits[i], 1);
	}
	return arena_strdup(a, str_text(&text));
}

const char *top_page_summary(const struct top_page *p, struct arena *a)
{
	const struct top_frame *f = p->frame;
	STR(s);

	str_printf(&s, "%s task%s", top_page_number(a, f->n), f->n == 1 ? "" : "s");
	if (p->known.polls)
		str_printf(&s, ", %s polls/s",
		           top_page_number(
				   a, (uint64_t)((double)f->polls / top_page_seconds(p) + 0.5)));
	if (p->known.busy)
		str_printf(&s, ", busy %s", busy(p, a, f->polled_ns));
	if (p->known.polls)
		str_printf(&s, ", %s spawned/s, %s ended/s", top_page_rate(p, a, f->spawned),
		           top_page_rate(p, a, f->finished));
	str_printf(&s, ", %.1f s", top_page_seconds(p));
	if (f->untracked)
		str_printf(&s, ", %s tasks too many to follow", top_page_number(a, f->untracked));
	if (p->lost)
		str_printf(&s, ", %s events lost", top_page_number(a, p->lost));
	return arena_strdup(a, str_text(&s));
}

const char *top_page_sampling(const struct top_page *p, struct arena *a)
{
	return arena_printf(a, "sampled: %" PRIu64 " looks, one each %s: %s", p->sampling->looks,
	                    top_page_time(a, (uint64_t)(p->sampling->every * 1e9)),
	                    p->sampling->why);
}

const char *top_page_worker_name(const struct top_worker *w, struct arena *a)
{
	if (w->runtime < 0)
		return "other threads";
	if (w->worker < 0)
		return arena_printf(a, "runtime %d, no worker", w->runtime);
	return arena_printf(a, "runtime %d, worker %d", w->runtime, w->worker);
}

const char *top_page_worker(const struct top_page *p, const struct top_worker *w, struct arena *a)
{
	double known = (double)(w->busy_ns + w->parked_ns);
	STR(s);

	if (p->known.parking && known > 0)
		str_printf(&s, "busy %s, parked %s", top_page_share(a, w->busy_ns, known),
		           top_page_share(a, w->parked_ns, known));
	if (p->known.parking && known > 0 && !p->sampling)
		str_printf(&s, ", %s parks/s", top_page_rate(p, a, w->parks));
	if (p->known.polls)
		str_printf(&s, "%s%s polls/s", s.len ? ", " : "", top_page_rate(p, a, w->polls));
	if (w->has_queue)
		str_printf(&s, "%s%" PRIu64 " in its queue", s.len ? ", " : "", w->queue_len);
	return arena_strdup(a, str_text(&s));
}

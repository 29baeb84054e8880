/*
 * The rows of `top`: tasks of a frame, or groups of them, that match a filter, in an order.
 */
#ifndef COMMANDS_TOP_TOP_VIEW_H
#define COMMANDS_TOP_TOP_VIEW_H

#include "commands/top/top_rows.h"

enum top_field {
	TOP_ID,
	TOP_TYPE,
	TOP_PLACE,
	TOP_TASKS,
	TOP_POLLS,
	TOP_BUSY,
	TOP_LONGEST,
	TOP_P99,
	TOP_RUNNABLE,
	TOP_WAKES,
	TOP_OWN,
	TOP_NFIELDS,
};
/* "id"; as --sort takes it. */
const char *top_view_field_name(enum top_field field);
bool top_view_field_named(const char *name, enum top_field *ret);

enum top_grouping { TOP_UNGROUPED, TOP_BY_TYPE, TOP_BY_PLACE, TOP_NGROUPINGS };
const char *top_view_grouping_name(enum top_grouping grouping);

/* Order, grouping and filter of the rows. */
struct top_view {
	enum top_field sort;
	bool reverse; /* numbers upwards, texts downwards */
	enum top_grouping grouping;
	/* Only tasks whose id it is, or whose type or place contains it; NULL or "": all. */
	const char *filter;
	enum top_field filter_field; /* TOP_ID, TOP_TYPE, TOP_PLACE: only that; else any of them */
	size_t limit;                /* rows that are wanted, the first ones; 0: all */
};

/* A task, or a group of tasks. */
struct top_row {
	const struct top_task *task;     /* NULL: a group */
	const char *type;                /* of the group, where they have the same; NULL: unknown */
	const struct trace_place *place; /* of the group, where they share it; NULL: unknown */
	enum trace_job job;
	uint64_t tasks, ended; /* tasks that exist; that ended in the interval: of groups */
	uint64_t doing[NDOINGS];
	uint64_t polls, polled_ns, runnable_ns;
	uint64_t poll_p99, poll_longest;
	uint64_t runnable_p50, runnable_p99, runnable_longest;
	uint64_t wakes, own_wakes, no_task;
	struct top_waker waker; /* the one that has woken most; wakes 0: none */
};

struct top_list {
	struct top_row *rows; /* in order */
	size_t n;
	size_t total;   /* rows without the limit */
	size_t matched; /* tasks that exist and match the filter */
};

/* The rows of a frame, in a. t: the rows that the frame was cut from; NULL: there is no trace. */
void top_view_rows(const struct top_rows *t, const struct top_frame *frame,
                   const struct top_view *view, struct arena *a, struct top_list *ret);
/*
 * The innermost frame in the program's own code; else the innermost one. The place has frames.
 */
const struct trace_frame *top_view_frame(const struct trace_place *place);
/* "src/main.rs:12 in app::inner", of that frame, in a; NULL: nowhere. */
const char *top_view_place_text(struct arena *a, const struct trace_place *place);

#endif

/*
 * A page of `top`: a frame with its context, and its texts: the contents of each column for a row.
 */
#ifndef COMMANDS_TOP_TOP_PAGE_H
#define COMMANDS_TOP_TOP_PAGE_H

#include <stdio.h>

#include "commands/out/out.h"
#include "commands/out/table.h"
#include "commands/top/top_hints.h"
#include "commands/top/top_view.h"
#include "commands/top/top_workers.h"
#include "debugger/base/json_writer.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"

/* Measurements that are available for the program. */
struct top_known {
	bool polls;   /* starts of polls */
	bool busy;    /* time in polls */
	bool ends;    /* ends of polls */
	bool wakes;   /* wake-ups, and time runnable */
	bool own;     /* wake-ups of a task by itself */
	bool parking; /* of workers */
};

/* Sampling of a page without a trace: from looks at the program, as often as that. */
struct top_sampling {
	uint64_t looks;  /* number of looks in the interval */
	double every;    /* seconds */
	const char *why; /* the reason why there is no trace */
};

struct top_page {
	const struct answer *answer; /* with a snapshot, of which only the target is read */
	const struct top_frame *frame;
	const struct top_view *view;
	struct top_list list;
	struct top_hints hints;
	struct top_worker *workers;
	size_t nworkers;
	struct top_known known;
	uint64_t number;                     /* from 1 */
	uint64_t lost;                       /* events, in the interval */
	const struct top_sampling *sampling; /* NULL: there is a trace */
};

enum top_column {
	TOP_COLUMN_WHAT, /* id of the task, or number of tasks of the group */
	TOP_COLUMN_POLLS,
	TOP_COLUMN_BUSY,
	TOP_COLUMN_LONGEST,
	TOP_COLUMN_P99,
	TOP_COLUMN_RUNNABLE_P50,
	TOP_COLUMN_RUNNABLE_P99,
	TOP_COLUMN_WAKES,
	TOP_COLUMN_OWN,
	TOP_COLUMN_BY,
	TOP_COLUMN_DOING,
	TOP_COLUMN_TYPE,
	TOP_COLUMN_PLACE,
	TOP_NCOLUMNS,
};
/* width: of numbers, and at least of texts; the last column has the rest of the line. */
struct top_column_info {
	const char *title;
	unsigned width;
	bool right;
	enum top_field sort; /* the column's sort key; TOP_NFIELDS: none */
};
const struct top_column_info *top_page_column(enum top_column column, enum top_grouping grouping);

/* Short names of types, which are kept. All zeros: none yet. */
struct top_names {
	bool full; /* do not shorten them */
	struct map map;
	struct arena arena;
};
/* "?" for NULL. */
const char *top_page_name(struct top_names *names, const char *type);
void top_page_free_names(struct top_names *names);

/* The text of a column, in a. */
const char *top_page_cell(const struct top_page *p, const struct top_row *row,
                          enum top_column column, struct top_names *names, struct arena *a);
/* "1,234 tasks, 5,678 polls/s, ...", in a. */
const char *top_page_summary(const struct top_page *p, struct arena *a);
/* "busy 12.3 %, parked 87.7 %, ...", of a worker, in a. */
const char *top_page_worker(const struct top_page *p, const struct top_worker *w, struct arena *a);
/* "worker 1 of runtime 0", in a. */
const char *top_page_worker_name(const struct top_worker *w, struct arena *a);
/* "sampled: ...", of a page without a trace, in a. */
const char *top_page_sampling(const struct top_page *p, struct arena *a);
/* "12.3ms", in a. */
const char *top_page_time(struct arena *a, uint64_t ns);

/* Writes it as text: all of its rows, no line cut. */
void top_text_write(const struct top_page *p, struct top_names *names, FILE *f);
/* Writes it as a JSON document. */
void top_json_write(const struct top_page *p, struct json_writer *w);

#endif

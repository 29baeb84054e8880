/* Sinks for the events of a trace: one file for each format. */
#ifndef COMMANDS_TIME_SINK_H
#define COMMANDS_TIME_SINK_H

#include <stdio.h>

#include "commands/out/out.h"
#include "runtimes/trace/trace.h"

struct timeline;

/* Selects the tasks to show; all zeros: all tasks, and events of threads alone, too. */
struct sink_filter {
	bool of_task; /* only the task with this id: */
	uint64_t task;
	const char *type; /* only tasks whose type has this text; NULL: all */
};
bool sink_filter_has(const struct sink_filter *f, uint64_t task, const char *type);

/* Properties known when a trace begins. */
struct trace_heading {
	const struct trace_plan *plan;
	const struct answer *answer; /* with a snapshot of the program */
	const char *backend;         /* of the kernel: "uprobe_multi" */
	const bool *wanted;          /* by enum trace_event */
	uint64_t start;              /* ns, CLOCK_MONOTONIC */
	uint64_t cost_ns;            /* expected for each poll */
	size_t nstatics;             /* static probes of the program that are attached */
	const struct sink_filter *filter;
	/* State of the program at start; it lives as long as the sink. */
	struct timeline *before;
};

/* Properties known when a trace ends. */
struct trace_ending {
	struct trace_totals totals;
	uint64_t duration_ns; /* from the start of the heading */
	uint64_t detach_ns;   /* 0: nothing was detached yet */
};

/* Length of a queue of a runtime. */
struct sink_queue {
	uint64_t time;       /* ns, CLOCK_MONOTONIC */
	int runtime, worker; /* worker -1: the injection queue */
	uint64_t length;
};

struct sink {
	const struct sink_ops *ops;
	FILE *f; /* borrowed */
	const struct out_options *options;
	uint64_t start; /* of the heading */
	int failed;     /* errno of the first write to f that has failed; 0: none has */
};

/* Operations of a format. All of them buffer; f is flushed by the caller. */
struct sink_ops {
	void (*begin)(struct sink *s, const struct trace_heading *h);
	void (*item)(struct sink *s, const struct trace_item *item);
	/* n events were lost (0: not counted yet): what goes on since the last item is unknown.
	 * NULL: not shown. */
	void (*lost)(struct sink *s, uint64_t n);
	/* NULL: lengths of queues are not shown. */
	void (*queue)(struct sink *s, const struct sink_queue *q);
	/* Writes out buffered items; called after each batch of items. */
	void (*flush)(struct sink *s);
	void (*end)(struct sink *s, const struct trace_ending *e);
	/* The first error that was not returned yet; NULL: none, or ferror(f) has it. */
	struct error *(*error)(struct sink *s);
	void (*free)(struct sink *s);
};

/* Never NULL; the caller frees them with sink_freep(). options must outlive it. */
struct sink *sink_text_new(FILE *f, const struct out_options *options);
/* lines: a line for each item; else one document. */
struct sink *sink_json_new(FILE *f, const struct out_options *options, bool lines);
/* Format of Perfetto; f is used by its descriptor alone. */
struct sink *sink_perfetto_new(FILE *f, const struct out_options *options);
/* Format of Perfetto, or that of out. */
struct sink *sink_new(const struct out *out, FILE *f, bool perfetto);
/*
 * Operations that are skipped once a write to the file has failed: later output would have to
 * follow the missing part. errno of that write is kept.
 */
void sink_item(struct sink *s, const struct trace_item *item);
void sink_flush(struct sink *s);
void sink_end(struct sink *s, const struct trace_ending *e);
/* NULL is allowed. */
void sink_freep(struct sink **s);
/* The error of the sink or of its file; NULL: none. */
struct error *sink_error(struct sink *s) MUST_CHECK;

#endif

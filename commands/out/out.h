/*
 * The output formats: one struct out_ops each. A command calls out_begin(), then the ops in the
 * order of the output; its caller calls out_end(). Strings of the model are sanitized: no format
 * prints control characters or invalid UTF-8 from them.
 *
 * A new format is one file with an ops struct and a constructor declared here.
 */
#ifndef COMMANDS_OUT_OUT_H
#define COMMANDS_OUT_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "debugger/base/error.h"
#include "runtimes/model/model.h"
#include "runtimes/saved/saved.h"

struct type_info;
struct type_list;
struct alike;
struct breakpoint;
struct watchpoint;
struct async_processes;
struct code_listing;
struct command;
struct diff;
struct examine_shown;
struct finding;
struct focus;
struct groups;
struct group_lines;
struct listing;
struct out;
struct socket_use;
struct control_signals;
struct logged;
struct stopped;
struct tally;
struct trace_item;
struct trace_plan;
struct usdt_notes;
struct verdicts;
struct waiting;

struct out_options {
	FILE *answers;   /* stdout; borrowed */
	FILE *messages;  /* stderr; borrowed */
	bool full_names; /* type and function names whole */
	bool color;
	bool ascii;       /* no tree glyphs, no ellipsis: for terminals without UTF-8 */
	unsigned width;   /* columns of the terminal; 0: not a terminal, never truncate */
	bool progress;    /* answers are not visible to the user: report progress */
	bool interactive; /* print the subject, and each note, only when it changed */
	bool group;       /* a person reads it: group many tasks by default */
	bool cut;         /* text: only as many groups as fit on a screen, one of alike verdicts */
};

/* What an answer is about. */
struct answer {
	const char *command;              /* canonical name */
	const struct saved_origin *saved; /* file of a saved snapshot; NULL: not saved */
	const struct snapshot *snapshot;  /* NULL for offline commands */
	struct waiting *waiting; /* counts of waiting tasks, kept with snapshot; NULL: no cache */
	unsigned wants;          /* enum want flags of the snapshot */
	bool verbose;            /* show the variables of every frame */
};

enum runtime_view {
	RUNTIME_HEADING, /* above its tasks */
	RUNTIME_ROW,     /* in a table of runtimes */
};

enum thread_view {
	THREAD_ASYNC, /* its role in its runtime, and the future it blocks on */
	THREAD_STACK, /* native frames, joined with the async stacks of the futures that they poll
	               */
	THREAD_ROW,   /* in a table of threads */
	THREAD_BRIEF, /* above groups of tasks: the block_on future, else only counted */
};

enum task_view {
	TASK_ON_THREAD, /* its futures only, below the thread that runs it */
	TASK_BACKTRACE, /* its line and its futures */
	TASK_FULL,      /* all details */
	TASK_ROW,       /* in a table of tasks */
};

enum help_view {
	HELP_ROW,  /* in the list of commands */
	HELP_FULL, /* one command */
};

/* The tasks that an answer shows, when it does not show all. */
struct shown {
	size_t total;        /* tasks of the snapshot, */
	size_t matched;      /* selected tasks, */
	size_t tasks;        /* and shown tasks */
	size_t groups;       /* groups of the selected tasks, 0: not grouped */
	size_t groups_shown; /* groups shown */
	size_t total_jobs;   /* the same of jobs of blocking pools */
	size_t matched_jobs;
	size_t jobs;
	bool filtered;   /* selected by a condition */
	bool by_default; /* grouped by default, not on request */
};

/* What `save` wrote. */
struct saved_file {
	const char *path;
	uint64_t bytes;
	bool values; /* the file has values of variables */
};

/* The file that a command wrote instead of printing an answer. */
struct written {
	const char *path;
	struct {
		const char *noun; /* "node"; NULL: end of the list */
		size_t n;
	} what[2];
	bool incomplete; /* the file is incomplete */
};

/* When a watchdog prints findings. */
struct watched {
	bool gone;       /* the last check did not find them any more */
	int64_t when;    /* seconds since 1970 UTC */
	uint64_t checks; /* in a row that have found them; 0: gone */
};

/* A poll that takes long. */
struct stall {
	const struct trace_item *item; /* its start, or its end */
	uint64_t ns;                   /* how long it has run */
	bool over;                     /* it has ended */
	bool before;                   /* it has run longer: it began before the trace */
	/*
	 * Without a trace: at how many looks in a row the task was polled, from the first to the
	 * last of which ns has passed. Between two looks it may have been polled anew. 0: by a
	 * trace.
	 */
	unsigned looks;
};

/* What a flight recorder wrote. */
struct recorded {
	const char *path;
	const char *when;            /* the condition: "poll>50ms" */
	const char *why;             /* a clause */
	uint64_t events, lost;       /* in the file, and missing in it */
	uint64_t duration_ns;        /* from its first event on */
	const char *snapshot, *core; /* files; NULL: there is none */
	int signal;                  /* that has ended the program; 0: none, or unknown */
};

struct out_ops {
	/* Called instead of all other ops, including begin. Text goes to messages. */
	void (*written)(struct out *o, const struct answer *answer, const struct written *w);
	void (*begin)(struct out *o);
	void (*runtime)(struct out *o, const struct runtime_info *r, enum runtime_view view);
	void (*thread)(struct out *o, const struct thread_info *th, enum thread_view view);
	void (*task)(struct out *o, const struct task *task, enum task_view view);
	/*
	 * Tasks grouped by place. lines: the groups that are shown. whole: do not cut their frames
	 * to one line. The arguments live in the answer's arena.
	 */
	void (*groups)(struct out *o, const struct groups *g, const struct group_lines *lines,
	               bool whole);
	/* Counts of tasks by the value of a field, the first n rows. */
	void (*tally)(struct out *o, const struct tally *tally, size_t n);
	/* A job of a blocking pool. TASK_ON_THREAD: its thread was shown already. */
	void (*job)(struct out *o, const struct job *job, enum task_view view);
	/* Called after the tasks: what is not shown. shown is in the answer's arena. */
	void (*shown)(struct out *o, const struct shown *shown);
	/* The frame in focus: its line, and its variables where the answer is verbose. */
	void (*frame)(struct out *o, const struct focus *f);
	/* A value of a variable in the frame in focus. */
	void (*printed)(struct out *o, const struct focus *f, const struct local *value);
	/* A place that contains the queried address; called for the outermost first. */
	void (*place)(struct out *o, const struct place *place);
	/* Types, and one type; in the answer's arena. */
	void (*types)(struct out *o, const struct type_list *list);
	void (*type)(struct out *o, const struct type_info *info);
	void (*layout)(struct out *o, const struct layout_info *row);
	/*
	 * Where events of the program can be traced, and the static probes that it has itself;
	 * borrowed until end.
	 */
	void (*probes)(struct out *o, const struct trace_plan *plan, const struct usdt_notes *own);
	/* Sockets and their waiters; borrowed until end. */
	void (*sockets)(struct out *o, const struct socket_use *uses, size_t n);
	/* The async processes of this machine; borrowed until end. */
	void (*processes)(struct out *o, const struct async_processes *list);
	/*
	 * The wait-for graph, limited to the nodes with shown[node]; NULL: all. Borrowed until end.
	 */
	void (*graph)(struct out *o, const struct verdicts *v, const bool *shown);
	/* A group of alike verdicts. Its caller then calls the ops for the members of the first. */
	void (*verdict)(struct out *o, const struct verdicts *v, const struct alike *alike);
	/* After the last verdict; also called when there is none. */
	void (*verdicts_end)(struct out *o, const struct verdicts *v);
	/*
	 * Findings in the order of the checks; borrowed until end. skipped: checks that could not
	 * run, each with the reason.
	 */
	void (*findings)(struct out *o, const struct finding *list, size_t n,
	                 const char *const *skipped, size_t nskipped);
	/* Before the stack of its thread, if that is shown. */
	void (*stall)(struct out *o, const struct stall *stall);
	void (*recorded)(struct out *o, const struct recorded *what);
	/* Of a program under control (commands/out/stopped.h); borrowed until end. */
	void (*stopped)(struct out *o, const struct stopped *s);
	/* A line of a logpoint; borrowed until end. */
	void (*logged)(struct out *o, const struct logged *line);
	void (*breakpoints)(struct out *o, struct breakpoint *const *list, size_t n);
	void (*watchpoints)(struct out *o, struct watchpoint *const *list, size_t n);
	/* Source text (commands/base/listing.h); borrowed until end. */
	void (*listing)(struct out *o, const struct listing *l);
	/* Machine code (commands/base/code_listing.h); borrowed until end. */
	void (*disassembly)(struct out *o, const struct code_listing *l);
	/* What is done with the signals of a set, bit n - 1 for signal n; borrowed until end. */
	void (*signals)(struct out *o, const struct control_signals *s, uint64_t which);
	/* The registers of the native frame in focus; those with shown[i]. */
	void (*registers)(struct out *o, const struct focus *f, const bool *shown);
	/* Memory (commands/base/examine.h); borrowed until end. */
	void (*memory)(struct out *o, const struct examine_shown *m);
	/* Before the findings of a watchdog. */
	void (*watched)(struct out *o, const struct watched *w);
	/* The target, and how completely it was understood. */
	void (*summary)(struct out *o);
	void (*saved)(struct out *o, const struct saved_file *file);
	/* The differences between an earlier snapshot and that of the answer. */
	void (*diff)(struct out *o, const struct diff *diff);
	void (*help)(struct out *o, const struct command *command, enum help_view view);
	void (*end)(struct out *o);
	/* Called instead of end: discards what was not printed yet. */
	void (*drop)(struct out *o);
	void (*free)(struct out *o);
};

enum out_format { OUT_TEXT, OUT_JSON, OUT_JSON_LINES };

struct out {
	const struct out_ops *ops;
	enum out_format format;
	struct out_options options;
	struct answer answer; /* valid from begin to end */
	struct arena arena;   /* for data of the answer that is read when it ends */
	bool open;            /* between out_begin() and out_end() or out_drop() */
	int errnum;           /* errno of a failed write of answers, 0: none or unknown */
};

/* Never NULL; free with out_free(). */
struct out *out_text_new(const struct out_options *options);
/* lines: one line for all but the tasks, then one line for each task (--jsonl). */
struct out *out_json_new(const struct out_options *options, bool lines);

void out_begin(struct out *o, const struct answer *answer);
/* Ends the answer, if one was begun, and flushes it. ERR_OS when writing failed. */
struct error *out_end(struct out *o) MUST_CHECK;
void out_drop(struct out *o);
/* For formats: reports that done of total tasks are written. Cheap. */
void out_progress(const struct out *o, size_t done, size_t total);
void out_free(struct out *o);
void out_freep(struct out **o);

/*
 * For long loops: ERR_INTERRUPTED after ^C, ERR_OS when the reader of the answer is gone (errnum
 * EPIPE) or writing failed.
 */
struct error *out_check(struct out *o) MUST_CHECK;

/*
 * The number of tasks of a runtime: counted in the snapshot if it has all tasks, else the runtime's
 * own counter. False when neither is known.
 */
bool out_runtime_tasks(const struct answer *answer, const struct runtime_info *r, uint64_t *ret);
/* How complete the runtime's tasks are; unknown where the snapshot was not to have all tasks. */
enum completeness out_completeness(const struct answer *answer, const struct runtime_info *r);
/* The number of jobs of the runtime's blocking pool; 0 when the snapshot does not have them. */
size_t out_runtime_jobs(const struct answer *answer, const struct runtime_info *r);
/*
 * The number of tasks of LocalSets that the runtime drives, which are in no list of the runtime.
 * False when the snapshot does not have all tasks.
 */
bool out_local_tasks(const struct answer *answer, const struct runtime_info *r, uint64_t *ret);
/* Tasks of LocalSets that no known runtime drives; 0 if the command did not look for
 * tasks. */
size_t out_undriven_tasks(const struct answer *answer);

#endif

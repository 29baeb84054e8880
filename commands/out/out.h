/*
 * Where answers go: one struct out_ops a format. A command calls out_begin(), then the ops in
 * the order a reader shall see things, and its caller out_end(). Model strings are printed as
 * data: no format, whatever they hold, leads to control characters or invalid UTF-8.
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

struct alike;
struct command;
struct diff;
struct finding;
struct focus;
struct groups;
struct group_lines;
struct out;
struct socket_use;
struct tally;
struct verdicts;
struct waiting;

struct out_options {
	FILE *answers;   /* stdout; borrowed */
	FILE *messages;  /* stderr; borrowed */
	bool full_names; /* type and function names whole */
	bool color;
	bool ascii;       /* no tree glyphs, no ellipsis: for terminals without UTF-8 */
	unsigned width;   /* columns of the terminal; 0: not a terminal, never truncate */
	bool progress;    /* answers go where nobody sees them: say how far writing them is */
	bool interactive; /* say what was read, and each note, only when it changed */
	bool group;       /* people look at it: many tasks are grouped unless they ask otherwise */
	bool cut; /* text: of many groups only as many as fit a screen, one of those alike */
};

/* What an answer is about. */
struct answer {
	const char *command; /* canonical name */
	const struct saved_origin
		*saved;                  /* where snapshot is one that was saved; NULL: it is not */
	const struct snapshot *snapshot; /* NULL for offline commands */
	struct waiting *waiting;         /* who waits in it: empty, or counted; lives as long as it.
	                                    NULL: nobody keeps that */
	unsigned wants;                  /* what the snapshot was taken for */
	bool verbose;                    /* show the variables of every frame */
};

enum runtime_view {
	RUNTIME_HEADING, /* above its tasks */
	RUNTIME_ROW,     /* in a table of runtimes */
};

enum thread_view {
	THREAD_ASYNC, /* what it does for its runtime, and the future it blocks on */
	THREAD_STACK, /* native frames, joined with the async stacks of what they poll */
	THREAD_ROW,   /* in a table of threads */
	THREAD_BRIEF, /* above groups of tasks: the future it blocks on, else only counted */
};

enum task_view {
	TASK_ON_THREAD, /* its futures only, below the thread that runs it */
	TASK_BACKTRACE, /* its line and its futures */
	TASK_FULL,      /* all that is known */
	TASK_ROW,       /* in a table of tasks */
};

enum help_view {
	HELP_ROW,  /* in the list of commands */
	HELP_FULL, /* one command */
};

/* Which of the tasks an answer is about, where that is not simply all. */
struct shown {
	size_t total;        /* tasks of the snapshot, */
	size_t matched;      /* that are asked for, */
	size_t tasks;        /* and of which the answer tells */
	size_t groups;       /* into which they fall, 0: are not grouped */
	size_t groups_shown; /* of them */
	bool asked;          /* by a condition */
	bool by_default;     /* nobody asked for groups */
};

/* What `save` wrote. */
struct saved_file {
	const char *path;
	uint64_t bytes;
	bool values; /* of variables are in it */
};

/* What a command wrote to a file, of which it prints nothing else. */
struct written {
	const char *path;
	struct {
		const char *noun; /* "node"; NULL: no more of them */
		size_t n;
	} what[2];
	bool incomplete; /* something is missing in it */
};

struct out_ops {
	/* Instead of all others, begin too: people are told beside the answers. */
	void (*written)(struct out *o, const struct answer *answer, const struct written *w);
	void (*begin)(struct out *o);
	void (*runtime)(struct out *o, const struct runtime_info *r, enum runtime_view view);
	void (*thread)(struct out *o, const struct thread_info *th, enum thread_view view);
	void (*task)(struct out *o, const struct task *task, enum task_view view);
	/*
	 * Tasks by where they stand; lines: which of the groups are shown. whole: their frames
	 * are not cut to one line. What is passed lives in the answer's arena.
	 */
	void (*groups)(struct out *o, const struct groups *g, const struct group_lines *lines,
	               bool whole);
	/* Tasks by the value of a field, the first n rows. */
	void (*tally)(struct out *o, const struct tally *tally, size_t n);
	/* Below the tasks: what is not shown. In the answer's arena. */
	void (*shown)(struct out *o, const struct shown *shown);
	/* The frame in focus: its line, and its variables where the answer is verbose. */
	void (*frame)(struct out *o, const struct focus *f);
	/* A value in that frame. */
	void (*printed)(struct out *o, const struct focus *f, const struct local *value);
	/* From the outside in. */
	void (*place)(struct out *o, const struct place *place);
	void (*layout)(struct out *o, const struct layout_info *row);
	/* Sockets and who waits for them; borrowed till the end. */
	void (*sockets)(struct out *o, const struct socket_use *uses, size_t n);
	/* Who waits for whom, of the nodes that shown (by node) has; NULL: all. Borrowed till the
	 * end. */
	void (*graph)(struct out *o, const struct verdicts *v, const bool *shown);
	/* Verdicts that are alike; then come the tasks and threads that the first is about. */
	void (*verdict)(struct out *o, const struct verdicts *v, const struct alike *alike);
	/* After the last one, and where there is none. */
	void (*verdicts_end)(struct out *o, const struct verdicts *v);
	/* What checks found, in their order; borrowed till the end. skipped: checks that could not
	   be made, each with the reason. */
	void (*findings)(struct out *o, const struct finding *list, size_t n,
	                 const char *const *skipped, size_t nskipped);
	/* What is attached and how completely it was understood. */
	void (*summary)(struct out *o);
	void (*saved)(struct out *o, const struct saved_file *file);
	/* What moved from an earlier look to that of the answer. */
	void (*diff)(struct out *o, const struct diff *diff);
	void (*help)(struct out *o, const struct command *command, enum help_view view);
	void (*end)(struct out *o);
	/* Instead of end: what was not printed yet never will be. */
	void (*drop)(struct out *o);
	void (*free)(struct out *o);
};

struct out {
	const struct out_ops *ops;
	struct out_options options;
	struct answer answer; /* valid from begin to end */
	struct arena arena;   /* of the answer: what is made for it and read when it ends */
	bool open;            /* between out_begin() and out_end() or out_drop() */
	int errnum;           /* why answers could not be written, 0: could be, or unknown */
};

/* Never NULL; free with out_free(). */
struct out *out_text_new(const struct out_options *options);
/* lines: one line for all but the tasks, then a line a task (--jsonl). */
struct out *out_json_new(const struct out_options *options, bool lines);

void out_begin(struct out *o, const struct answer *answer);
/* Ends the answer, if one was begun, and flushes it. ERR_OS when writing failed. */
struct error *out_end(struct out *o) MUST_CHECK;
void out_drop(struct out *o);
/* For formats: so many tasks are written. Cheap. */
void out_progress(const struct out *o, size_t done, size_t total);
void out_free(struct out *o);
void out_freep(struct out **o);

/*
 * For loops over what may be long: ERR_INTERRUPTED after ^C, ERR_OS when nobody reads the
 * answer any more (errnum EPIPE) or it cannot be written.
 */
struct error *out_check(struct out *o) MUST_CHECK;

/*
 * How many tasks a runtime has: those of the snapshot when it was asked for all, else what
 * the runtime says itself. False when neither is known.
 */
bool out_runtime_tasks(const struct answer *answer, const struct runtime_info *r, uint64_t *ret);
/*
 * How many tasks there are of LocalSets that it drives: those are in no list of the runtime. False
 * when the snapshot was not asked for all tasks.
 */
bool out_local_tasks(const struct answer *answer, const struct runtime_info *r, uint64_t *ret);

#endif

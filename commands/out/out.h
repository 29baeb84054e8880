/*
 * Answers and their formats. A command calls out_begin(), then out_part() and the ops in the order
 * of the output; its caller calls out_end(). Strings of the model are sanitized: no format prints
 * control characters or invalid UTF-8 from them.
 *
 * An answer consists of parts, each of a struct part_kind, and of the tasks, jobs and threads that
 * it shows, which the document of a JSON answer has in lists of its own: these are ops.
 *
 * A new format is one file with a struct out_ops and a constructor declared here.
 */
#ifndef COMMANDS_OUT_OUT_H
#define COMMANDS_OUT_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "debugger/base/error.h"
#include "runtimes/model/model.h"
#include "runtimes/saved/saved.h"

struct out;
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

/* Subject of an answer. */
struct answer {
	const char *command;              /* canonical name */
	const struct saved_origin *saved; /* file of a saved snapshot; NULL: not saved */
	const struct snapshot *snapshot;  /* NULL for offline commands */
	struct waiting *waiting; /* counts of waiting tasks, kept with snapshot; NULL: no cache */
	unsigned wants;          /* enum want flags of the snapshot */
	bool verbose;            /* show the variables of every frame */
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

struct text;
struct json_writer;

/*
 * A kind of answer, such as a diff or a list of types: its data, as text and as JSON. A command
 * shows it with out_part(). A new kind is one file with both functions: see commands/parts/parts.h.
 */
struct part_kind {
	size_t size; /* size of its data, which out_part() copies */
	/* Prints it (commands/out/out_text.h). NULL: the text of an answer has nothing of it. */
	void (*text)(struct text *t, const void *part);
	/*
	 * Writes members of the open document (commands/json/out_json.h), when the answer ends.
	 * NULL: JSON has nothing of it.
	 */
	void (*json)(struct json_writer *w, const void *part);
};

struct out_ops {
	void (*begin)(struct out *o);
	/* See out_part(). part is in the answer's arena. */
	void (*part)(struct out *o, const struct part_kind *kind, const void *part);
	void (*thread)(struct out *o, const struct thread_info *th, enum thread_view view);
	void (*task)(struct out *o, const struct task *task, enum task_view view);
	/* A job of a blocking pool. TASK_ON_THREAD: its thread was shown already. */
	void (*job)(struct out *o, const struct job *job, enum task_view view);
	void (*end)(struct out *o);
	/* Called instead of end: discards output that was not printed yet. */
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
/* Shows a part of the answer. Its data is copied; what that points to is borrowed until the end. */
void out_part(struct out *o, const struct part_kind *kind, const void *part);
/* Ends the answer, if one was begun, and flushes it. ERR_OS when writing failed. */
struct error *out_end(struct out *o) MUST_CHECK;
void out_drop(struct out *o);
/* Reports that done of total tasks are written; called by formats. Cheap. */
void out_progress(const struct out *o, size_t done, size_t total);
void out_free(struct out *o);
void out_freep(struct out **o);

/*
 * Checks in long loops: ERR_INTERRUPTED after ^C, ERR_OS when the reader of the answer is gone
 * (errnum EPIPE) or writing failed.
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

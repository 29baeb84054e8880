/* Internal to the text format: its lines, and functions shared by its files. Not for commands. */
#ifndef COMMANDS_OUT_OUT_TEXT_H
#define COMMANDS_OUT_OUT_TEXT_H

#include "commands/out/out.h"
#include "commands/out/table.h"
#include "debugger/base/str.h"

enum style { STYLE_PLAIN, STYLE_HEADING, STYLE_PLACE, STYLE_WAIT, STYLE_PROBLEM, STYLE_DOUBT };

struct brief {
	size_t block_on, workers, parked, busy, blocking;
};

/* Text that belongs to the end of the answer. */
struct text_last {
	void (*print)(struct text *t, const void *part); /* NULL: none */
	const void *part;
};

struct text {
	struct out out;
	size_t ntasks;         /* tasks written in this answer */
	struct str line;       /* the line being built */
	struct table table;    /* of the answer; columns NULL: none */
	char *last_subject;    /* interactive: the subject of the last answer */
	struct str notes;      /* interactive: all notes printed so far, one on each line */
	bool styled;           /* a colour is on in line */
	struct brief brief;    /* threads of this answer that were only counted */
	struct text_last last; /* printed when the answer ends */
	bool unsearched;       /* text_unsearched() must print the unsearched places at the end */
};

/* out_text_line.c: append to the line. */
void text_style(struct text *t, enum style style);
void text_clean(struct text *t, const char *text);
/* Appends before, then the sanitized text. */
void text_clean_after(struct text *t, const char *before, const char *text);
/* A type or function name, short unless full names were asked for, and folded: see fold.h. */
void text_name(struct text *t, const char *name);
/* The short name of text_name(), not sanitized, in arena a; or name itself. */
const char *text_short_name(const struct text *t, struct arena *a, const char *name);
/* text_name() without folding: for a name that the command is about. */
void text_whole_name(struct text *t, const char *name);
/* " at FILE:LINE", nothing when the file is unknown. */
void text_place(struct text *t, const char *file, unsigned line);
/* "1 task", "2 tasks" */
void text_count(struct text *t, uint64_t n, const char *noun);
/* "12,345", in arena a; appended; "12,345 tasks" */
const char *text_big_number(struct arena *a, uint64_t n);
void text_big(struct text *t, uint64_t n);
void text_big_count(struct text *t, uint64_t n, const char *noun);
/* Appends before, then n. */
void text_number(struct text *t, const char *before, uint64_t n);
/* Prints the line. */
void text_end_line(struct text *t);
/* Has print(part) called when the answer ends, behind its table. One call for each answer. */
void text_at_end(struct text *t, void (*print)(struct text *t, const void *part), const void *part);
/* Prints "! why" after indent; nothing for NULL. */
void text_problem(struct text *t, const char *indent, const char *why);

/* Prints a line of a source; the one in focus is marked. */
void text_source_line(struct text *t, unsigned number, bool current, const char *line);
/* ", LABEL VALUE" when there is a value. */
void text_property(struct text *t, const char *label, const char *value);

/*
 * out_text_subject.c: appends the subject, the line that names what was read: "asyncdbg: live pid
 * 28406 (name), ...".
 */
void text_subject(struct text *t);
/*
 * Appends the part of the subject that makes the prompt print it again when it changes. The
 * duration of the stop is not part of it.
 */
void text_subject_key(struct text *t);

/*
 * out_text_future.c: prints a future and all below it, one on each line, after indent. full: the
 * task to print with all details; NULL: none.
 */
void text_futures(struct text *t, const struct future *root, const char *indent,
                  const struct task *full);
/* Appends the line of one future. */
void text_future(struct text *t, const struct future *f);
/* Prints variables, one on each line, after indent; arguments first. */
void text_locals(struct text *t, const struct future *f, const char *indent);
/* "name: Type = value" */
void text_local(struct text *t, const struct local *local);

/* out_text_holding.c: prints a line for each resource owner that may end this wait of the task. */
void text_holders(struct text *t, const struct wait *wait, const struct task *task,
                  const char *indent);
/*
 * Appends how many of the uncertain candidates for one object, which were found nowhere else, a
 * line stands for: ", the only candidate", ", one of the only 3 candidates".
 */
void text_candidates(struct text *t, size_t these, size_t all);
/* Prints a line for each lock and channel end that the task owns. */
void text_holdings(struct text *t, const struct task *task);

/* out_text_unsearched.c: prints at the end of the answer what was not searched. */
void text_unsearched(struct text *t);
/*
 * Prints that nothing was found. When no runtime could be read either, that is added, because the
 * line would mislead.
 */
void text_nothing_found(struct text *t, const char *what);

/* out_text_task.c: "multi_thread, 4 workers[, name "x"]" */
void text_runtime(struct text *t, const struct runtime_info *r);
/* before and "12 tasks" or "10 of 12 tasks"; nothing when their number is unknown */
void text_runtime_tasks(struct text *t, const char *before, const struct runtime_info *r);
/* "found by scan (3 rejected)", may be in arena a; NULL: unknown */
const char *text_completeness(const struct text *t, struct arena *a, const struct runtime_info *r);
/* Appends ", " and that. */
void text_runtime_completeness(struct text *t, const struct runtime_info *r);
/* ops->task without its progress. */
void text_task_view(struct text *t, const struct task *task, enum task_view view);
/* ops->job */
void text_job_view(struct text *t, const struct job *job, enum task_view view);
/* The heading of a task's, or of a thread's, futures. */
void text_task_line(struct text *t, const struct task *task);
void text_thread_line(struct text *t, const struct thread_info *th);
/* A thread with the futures that it polls. */
void text_thread_async(struct text *t, const struct thread_info *th);
/* A line of a native stack. */
void text_native_frame(struct text *t, const struct stack_frame *f);
/* A thread with its native frames, and the futures of the tasks that they poll. */
void text_thread_stack(struct text *t, const struct thread_info *th);

/* out_text_rows.c */
/* Begins the answer's table, unless it was begun. */
void text_use_table(struct text *t, const struct column *columns, size_t ncolumns);
#define TEXT_USE_TABLE(t, columns)                                                                 \
	text_use_table((t), (columns), sizeof(columns) / sizeof(*(columns)))
/* The sanitized text of a cell, in arena a; NULL for NULL. */
const char *text_clean_cell(struct arena *a, const char *text);
void text_task_row(struct text *t, const struct task *task);
/* task: the job as a task. */
void text_job_row(struct text *t, const struct job *job, const struct task *task);
void text_thread_row(struct text *t, const struct thread_info *th);
void text_runtime_row(struct text *t, const struct runtime_info *r);
void text_table_end(struct text *t);

/* out_text_brief.c: prints the line of the threads that were only counted. */
void text_brief_line(struct text *t);
/* Counts a thread. */
void text_thread_brief(struct text *t, const struct thread_info *th);
#endif

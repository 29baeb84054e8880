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

struct text {
	struct out out;
	size_t ntasks;             /* tasks written in this answer */
	struct str line;           /* the line being built */
	struct table table;        /* of the answer; columns NULL: none */
	char *last_subject;        /* interactive: the subject of the last answer */
	struct str notes;          /* interactive: all notes printed so far, one on each line */
	const char *module;        /* module of the layout row printed last */
	bool styled;               /* a colour is on in line */
	struct brief brief;        /* threads of this answer that were only counted */
	const struct shown *shown; /* for the last line of the answer; NULL none */
	bool unsearched; /* text_unsearched() must print the unsearched places at the end */
};

/* out_text_line.c: append to the line. */
void text_style(struct text *t, enum style style);
void text_clean(struct text *t, const char *text);
/* A type or function name, short unless full names were asked for, and folded: see fold.h. */
void text_name(struct text *t, const char *name);
/* The same name, not sanitized, in arena a; or name itself. */
const char *text_short_name(const struct text *t, struct arena *a, const char *name);
/* The same, never folded: for a name that the command is about. */
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
/* Prints "! why" after indent; nothing for NULL. */
void text_problem(struct text *t, const char *indent, const char *why);

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
/* With the futures that it polls. */
void text_thread_async(struct text *t, const struct thread_info *th);
/* A line of a native stack. */
void text_native_frame(struct text *t, const struct stack_frame *f);
/* With its native frames, and the futures of the tasks that they poll. */
void text_thread_stack(struct text *t, const struct thread_info *th);

/* out_text_focus.c */
void text_frame(struct out *o, const struct focus *f);
void text_printed(struct out *o, const struct focus *f, const struct local *value);
void text_place_op(struct out *o, const struct place *place);

/* out_text_rows.c */
void text_task_row(struct text *t, const struct task *task);
/* task: the job as a task. */
void text_job_row(struct text *t, const struct job *job, const struct task *task);
void text_thread_row(struct text *t, const struct thread_info *th);
void text_runtime_row(struct text *t, const struct runtime_info *r);
void text_layout(struct out *o, const struct layout_info *row);
/* out_text_probes.c */
void text_probes(struct out *o, const struct trace_plan *plan, const struct usdt_notes *own);
void text_stall(struct out *o, const struct stall *stall);
void text_recorded(struct out *o, const struct recorded *what);
void text_sockets(struct out *o, const struct socket_use *uses, size_t n);
void text_help(struct out *o, const struct command *command, enum help_view view);
void text_table_end(struct text *t);

/* out_text_control.c */
void text_stopped(struct out *o, const struct stopped *s);
void text_signals(struct out *o, const struct control_signals *s, uint64_t which);
void text_logged(struct out *o, const struct logged *line);
void text_breakpoints(struct out *o, struct breakpoint *const *list, size_t n);
void text_watchpoints(struct out *o, struct watchpoint *const *list, size_t n);

/* out_text_code.c */
void text_listing(struct out *o, const struct listing *l);
void text_registers(struct out *o, const struct focus *f, const bool *shown);
void text_memory(struct out *o, const struct examine_shown *m);
void text_disassembly(struct out *o, const struct code_listing *l);
/* Prints a line of a source; the one in focus is marked. */
void text_source_line(struct text *t, unsigned number, bool current, const char *line);

/* out_text_group.c, out_text_tally.c */
void text_groups(struct out *o, const struct groups *g, const struct group_lines *lines,
                 bool whole);
void text_tally(struct out *o, const struct tally *tally, size_t n);
/* out_text_types.c */
void text_types(struct out *o, const struct type_list *list);
void text_type(struct out *o, const struct type_info *info);
void text_shown(struct out *o, const struct shown *shown);
/* At the end of an answer: prints the line about what is not shown. */
void text_shown_end(struct text *t);
/* Prints the line of the threads that were only counted. */
void text_brief_line(struct text *t);
/* Counts a thread. */
void text_thread_brief(struct text *t, const struct thread_info *th);
/* out_text_processes.c */
void text_processes(struct out *o, const struct async_processes *list);
/* out_text_graph.c */
void text_graph(struct out *o, const struct verdicts *v, const bool *shown);
void text_verdict(struct out *o, const struct verdicts *v, const struct alike *alike);
void text_verdicts_end(struct out *o, const struct verdicts *v);
void text_findings(struct out *o, const struct finding *list, size_t n, const char *const *skipped,
                   size_t nskipped);
void text_watched(struct out *o, const struct watched *w);

/* out_text_info.c */
void text_diff(struct out *o, const struct diff *diff);
void text_saved(struct out *o, const struct saved_file *file);
void text_summary(struct out *o);

#endif

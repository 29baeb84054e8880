/*
 * Kinds of answers that commands show, one file each; a kind that one command alone shows may be in
 * that command's file, as in commands/shell/help.c.
 *
 * To add one: a file with a struct part_kind, that is a function for the text and one for JSON, and
 * a function that passes its data to out_part(), which is declared here. An answer has its parts in
 * the order of the calls. Data is copied; what it points to is borrowed until the end of the
 * answer.
 */
#ifndef COMMANDS_PARTS_PARTS_H
#define COMMANDS_PARTS_PARTS_H

#include "commands/out/out.h"

struct async_processes;
struct count_by;
struct finding;
struct group_lines;
struct groups;
struct verdict_group;
struct verdicts;
struct code_listing;
struct diff;
struct examine_shown;
struct focus;
struct listing;
struct socket_use;
struct type_info;
struct type_list;

enum runtime_view {
	RUNTIME_HEADING, /* above its tasks */
	RUNTIME_ROW,     /* in a table of runtimes */
};

/* The tasks that an answer shows, when it does not show all. */
struct shown {
	size_t total;        /* tasks of the snapshot, */
	size_t matched;      /* selected tasks, */
	size_t tasks;        /* and shown tasks */
	size_t groups;       /* groups of the selected tasks, 0: not grouped */
	size_t groups_shown; /* groups shown */
	size_t total_jobs;   /* number of jobs of blocking pools */
	size_t matched_jobs;
	size_t jobs;
	bool filtered;   /* selected by a condition */
	bool by_default; /* grouped by default, not on request */
};

/* Times at which a watchdog found its findings. */
struct watched {
	bool gone;       /* the last check did not find them any more */
	int64_t when;    /* seconds since 1970 UTC */
	uint64_t checks; /* checks in a row that have found them; 0: gone */
};

/* File written by `save`. */
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

/* The target, and how completely it was understood. */
void part_summary(struct out *o);
void part_runtime(struct out *o, const struct runtime_info *r, enum runtime_view view);
/*
 * Tasks grouped by place. lines: the groups that are shown. whole: do not cut their frames to one
 * line.
 */
void part_groups(struct out *o, const struct groups *g, const struct group_lines *lines,
                 bool whole);
/* Counts of tasks by the value of a field, the first n rows. */
void part_count_by(struct out *o, const struct count_by *tally, size_t n);
/* The number of tasks that are not shown: text has it at the end. */
void part_shown(struct out *o, const struct shown *shown);
/* The wait-for graph, limited to the nodes with shown[node]; NULL: all. */
void part_graph(struct out *o, const struct verdicts *v, const bool *shown);
/* A group of alike verdicts. Its caller then shows the members of the first. */
void part_verdict(struct out *o, const struct verdicts *v, const struct verdict_group *alike);
/* After the last verdict; also called when there is none. */
void part_verdicts_end(struct out *o, const struct verdicts *v);
/* Findings in the order of the checks. skipped: checks that could not run, each with the reason. */
void part_findings(struct out *o, const struct finding *list, size_t n, const char *const *skipped,
                   size_t nskipped);
/* The findings of a watchdog follow. */
void part_watched(struct out *o, const struct watched *w);
void part_layout(struct out *o, const struct layout_info *rows, size_t n);
/* The differences between an earlier snapshot and that of the answer. */
void part_diff(struct out *o, const struct diff *diff);
void part_types(struct out *o, const struct type_list *list);
void part_type(struct out *o, const struct type_info *info);
/* Sockets and their waiters. */
void part_sockets(struct out *o, const struct socket_use *uses, size_t n);
/* The async processes of this machine. */
void part_processes(struct out *o, const struct async_processes *list);
/* The frame in focus: its line, and its variables where the answer is verbose. */
void part_frame(struct out *o, const struct focus *f);
/* A value of a variable in the frame in focus. */
void part_printed(struct out *o, const struct focus *f, const struct local *value);
/* The registers of the native frame in focus; those with shown[i]. */
void part_registers(struct out *o, const struct focus *f, const bool *shown);
/* Places that contain the queried address; the outermost first. */
void part_places(struct out *o, const struct place *list, size_t n);
/* Source text (commands/base/listing.h). */
void part_listing(struct out *o, const struct listing *l);
/* Machine code (commands/base/code_listing.h). */
void part_disassembly(struct out *o, const struct code_listing *l);
/* Memory (commands/base/examine.h). */
void part_memory(struct out *o, const struct examine_shown *m);
void part_saved(struct out *o, const struct saved_file *file);
/* Called instead of out_begin() and all else. Text goes to messages. */
void part_written(struct out *o, const struct answer *answer, const struct written *w);

#endif

/*
 * Writes a snapshot as the data of a report's page: one JSON object on one line, with all HTML
 * markup escaped. commands/report/data.js reads it. Each part is described where it is written.
 *
 * Text is in `strings` and referred to by index; 0 is none. Each distinct tree of futures is a row
 * of `shapes`, written once; equal trees share it. What differs from task to task (the wait, the
 * spans) is written separately as numbers, in the order of a walk of the tree.
 */
#ifndef COMMANDS_REPORT_REPORT_DATA_H
#define COMMANDS_REPORT_REPORT_DATA_H

#include <stdint.h>
#include <stdio.h>

#include "commands/out/out.h"
#include "commands/report/report_table.h"
#include "debugger/base/error.h"
#include "debugger/base/json_writer.h"
#include "runtimes/analysis/group.h"
#include "runtimes/graph/verdict.h"

/* The state of the writer. */
struct report {
	struct json_writer w;
	const struct answer *answer;
	const struct snapshot *snap;
	struct report_table strings; /* row 0 is "" and means none */
	struct report_table shapes;  /* rows of uint32_t: enum shape_column, then the children */
	struct map tasks;            /* struct task * -> index + 1 */
	struct arena arena;
	struct groups groups;
	struct graph *graph; /* the wait-for graph */
};

/*
 * written: time of writing, in seconds since 1970. ferror(f) reports write errors. ERR_INTERRUPTED
 * after ^C.
 */
struct error *report_data_write(FILE *f, const struct answer *answer, int64_t written) MUST_CHECK;

/* The functions below are for the files that write the parts. The index of a string; 0 for NULL. */
uint32_t report_string(struct report *r, const char *text);
/* report_string() for shared names that outlive the report: of types, functions, files. */
uint32_t report_name(struct report *r, const char *name);
/* The index of the string "0x7f00"; 0 for 0. */
uint32_t report_address(struct report *r, uint64_t addr);
/* The index of a tree's shape + 1; 0 for NULL. */
uint32_t report_shape(struct report *r, const struct future *f);
/* Writes the details of this tree that its shape lacks, as elements of the open array. */
void report_put_details(struct report *r, const struct future *f);
/* The index + 1 of a task in the snapshot; 0 for NULL. */
uint32_t report_task(struct report *r, const struct task *task);

#endif

/*
 * A snapshot as the data of a report's page: one JSON object on one line, in which no HTML parser
 * finds anything. report/data.js reads it; what each part is made of is said where it is written.
 *
 * Text is in `strings` and referred to by number, 0 is none. A future is a row of `shapes`, as are
 * all that look like it with all that is below: equal shapes are written once. What differs from
 * task to task (what it waits for, its spans) is in numbers beside it, in the order of a walk.
 */
#ifndef COMMANDS_REPORT_REPORT_DATA_H
#define COMMANDS_REPORT_REPORT_DATA_H

#include <stdint.h>
#include <stdio.h>

#include "commands/out/out.h"
#include "commands/report/report_table.h"
#include "debugger/base/error.h"
#include "runtimes/analysis/group.h"
#include "runtimes/graph/graph.h"
#include "runtimes/saved/json_writer.h"

/* While it is written. */
struct report {
	struct json_writer w;
	const struct answer *answer;
	const struct snapshot *snap;
	struct report_table strings; /* row 0 is "" and stands for none */
	struct report_table shapes;  /* rows of uint32_t: enum shape_column, then the children */
	struct map tasks;            /* struct task * to its index + 1 */
	struct arena arena;
	struct groups groups;
	struct graph *graph; /* who waits for whom */
};

/*
 * written: when, in seconds since 1970. What could not be written, ferror(f) says. ERR_INTERRUPTED
 * after ^C.
 */
struct error *report_data_write(FILE *f, const struct answer *answer, int64_t written) MUST_CHECK;

/* For the files that write its parts. The number of a string; 0 for NULL. */
uint32_t report_string(struct report *r, const char *text);
/* The same for names that are shared and stay: of types, functions, files. */
uint32_t report_name(struct report *r, const char *name);
/* "0x7f00"; 0 for 0. */
uint32_t report_address(struct report *r, uint64_t addr);
/* The number of a tree's shape + 1; 0 for NULL. */
uint32_t report_shape(struct report *r, const struct future *f);
/* What is special to this tree, as elements of the array that is open. */
void report_put_details(struct report *r, const struct future *f);
/* index + 1 of a task of the snapshot, 0 for NULL. */
uint32_t report_task(struct report *r, const struct task *task);

#endif

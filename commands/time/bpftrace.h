/*
 * A program for bpftrace that prints the events of a program's runtimes, for those who trace with
 * it. It is written for bpftrace 0.17 and later.
 */
#ifndef COMMANDS_TIME_BPFTRACE_H
#define COMMANDS_TIME_BPFTRACE_H

#include <stdio.h>

#include "debugger/base/error.h"

struct inspector;
struct trace_plan;

/*
 * Writes the program for a plan, made with slow points, to f; what its user must know to messages
 * too. ERR_UNSUPPORTED if bpftrace cannot name the file of the program.
 */
struct error *bpftrace_write(FILE *f, FILE *messages, struct inspector *in,
                             const struct trace_plan *plan) MUST_CHECK;

#endif

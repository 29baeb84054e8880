/*
 * A program for bpftrace that prints the events of a program's runtimes, for users who trace with
 * it. It is written for bpftrace 0.17 and later.
 */
#ifndef COMMANDS_TIME_BPFTRACE_H
#define COMMANDS_TIME_BPFTRACE_H

#include <stdio.h>

#include "debugger/base/error.h"

struct target;
struct trace_plan;

/*
 * Writes the program for a plan, made with slow points, to f; notes for its user go to messages
 * too. ERR_UNSUPPORTED if bpftrace cannot name the file of the program.
 */
struct error *bpftrace_write(FILE *f, FILE *messages, const struct target *target,
                             const struct trace_plan *plan) MUST_CHECK;

#endif

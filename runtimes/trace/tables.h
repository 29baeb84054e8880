/*
 * The tables of functions of tasks in a program of which neither symbols nor debug info are known,
 * by what such a table looks like in the file.
 */
#ifndef RUNTIMES_TRACE_TABLES_H
#define RUNTIMES_TRACE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct code_map;
struct probe_pattern;

struct task_functions {
	uint64_t poll, wake; /* link-time addresses of functions of the map */
	bool is_job;         /* no task of it can be woken: it is a job of a blocking pool */
};

/* Finds them; each poll function once, ascending. The result is in arena a. */
const struct task_functions *tables_find(const struct code_map *m,
                                         const struct probe_pattern *pattern, struct arena *a,
                                         size_t *n);

#endif

/*
 * Tables of functions of tasks in a program without symbols and debug info, recognised by their
 * form in the file.
 */
#ifndef RUNTIMES_TRACE_VTABLE_SCAN_H
#define RUNTIMES_TRACE_VTABLE_SCAN_H

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

/* Finds the functions of tasks; each poll function once, ascending. The result is in arena a. */
const struct task_functions *vtable_scan_find(const struct code_map *m,
                                              const struct probe_pattern *pattern, struct arena *a,
                                              size_t *n);

#endif

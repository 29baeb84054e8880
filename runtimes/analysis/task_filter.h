/* Selects tasks, and jobs of blocking pools, of a snapshot by conditions on their fields (field.h).
 */
#ifndef RUNTIMES_ANALYSIS_TASK_FILTER_H
#define RUNTIMES_ANALYSIS_TASK_FILTER_H

#include "debugger/base/vec.h"
#include "runtimes/analysis/field.h"

struct task_condition {
	const struct field *field;
	struct field_test test;
	bool without; /* the task must not pass the test */
};

/*
 * Conditions that tasks must meet. All zeros: none, every task matches. Free with
 * task_filter_free().
 */
struct task_filter {
	VEC(struct task_condition) conditions;
};

/* Adds a condition. ERR_USAGE for an unknown field or an invalid value. */
struct error *task_filter_add(struct task_filter *f, const char *field, const char *value,
                              bool without) MUST_CHECK;
/*
 * The tasks that meet all conditions, in the order of the snapshot: *ret is an array in arena a, *n
 * its length. ERR_INTERRUPTED after ^C.
 */
struct error *task_filter_apply(struct arena *a, const struct snapshot *s,
                                const struct task_filter *f, const struct task ***ret, size_t *n)
	MUST_CHECK;
/* task_filter_apply() for the jobs of blocking pools. */
struct error *task_filter_jobs(struct arena *a, const struct snapshot *s,
                               const struct task_filter *f, const struct job ***ret, size_t *n)
	MUST_CHECK;
void task_filter_free(struct task_filter *f);

#endif

/* Counts tasks by the value of a field: `tasks --group FIELD`. */
#ifndef RUNTIMES_ANALYSIS_COUNT_BY_H
#define RUNTIMES_ANALYSIS_COUNT_BY_H

#include "runtimes/analysis/field.h"
#include "runtimes/analysis/group.h"

struct count_by_row {
	const char *value; /* sanitized; NULL: tasks without a value */
	struct group_count count;
};

struct count_by {
	const struct field *field;
	struct count_by_row *rows; /* sorted by tasks, most first; then by first occurrence */
	size_t nrows;
	struct group_count count; /* of all tasks */
};

/* The result is in arena a and borrows from the snapshot. */
void count_by_make(struct arena *a, const struct snapshot *s, const struct field *field,
                   const struct task *const *tasks, size_t n, struct count_by *ret);

#endif

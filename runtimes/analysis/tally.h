/* Counts tasks by the value of a field: `tasks --group FIELD`. */
#ifndef RUNTIMES_ANALYSIS_TALLY_H
#define RUNTIMES_ANALYSIS_TALLY_H

#include "runtimes/analysis/field.h"
#include "runtimes/analysis/group.h"

struct tally_row {
	const char *value; /* sanitized; NULL: tasks without a value */
	struct group_count count;
};

struct tally {
	const struct field *field;
	struct tally_row *rows; /* sorted by tasks, most first; then by first occurrence */
	size_t nrows;
	struct group_count count; /* of all tasks */
};

/* The result is in arena a and borrows from the snapshot. */
void tally_make(struct arena *a, const struct snapshot *s, const struct field *field,
                const struct task *const *tasks, size_t n, struct tally *ret);

#endif

/*
 * The named fields of a task, for `--with FIELD VALUE`, `--without` and `--group FIELD`. To add a
 * field, add a row to the table in field.c.
 */
#ifndef RUNTIMES_ANALYSIS_FIELD_H
#define RUNTIMES_ANALYSIS_FIELD_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "runtimes/model/model.h"

/* The task whose field is read. */
struct field_of {
	struct arena *a; /* for strings that are built */
	const struct snapshot *snapshot;
	const struct task *task;
	const struct job *job; /* the job of a blocking pool that task stands for (job.h); NULL: it
	                          is a task */
};

/*
 * Tests one value of a task. A field calls text() or number() with each value until one returns
 * true, and returns whether one did.
 */
struct field_test {
	bool (*text)(const struct field_test *t, const char *text);
	bool (*number)(const struct field_test *t, int64_t number);
	regex_t regex; /* of a filter for text */
	int64_t min, max;
	bool inverse; /* matches the numbers outside min..max */
};

struct field {
	const char *name;
	const char *what; /* for help, one line */
	/*
	 * At least one is set. When both are, the field is compared by number if VALUE is a number.
	 */
	bool (*texts)(const struct field_of *of, const struct field_test *t);
	bool (*numbers)(const struct field_of *of, const struct field_test *t);
	/*
	 * The one value that represents the task in groups, from the snapshot or in arena of->a;
	 * NULL: none. The text is not sanitized.
	 */
	const char *(*value)(const struct field_of *of);
};

/* Table of the fields; terminated by a NULL name. */
extern const struct field field_table[];

/* Finds a field by name. ERR_USAGE lists the existing names. */
struct error *field_find(const char *name, const struct field **ret) MUST_CHECK;

/*
 * Parses value into a test: a comparison of numbers ("5", "=5", "!=5", ">5", ">=5", "<5", "<=5" or
 * "5..9"), else a POSIX extended regular expression, which matches anywhere in a text. ERR_USAGE
 * when it is neither, or when it is a comparison and the field has no numbers. Free with
 * field_test_free().
 */
struct error *field_test_parse(const struct field *field, const char *value, struct field_test *ret)
	MUST_CHECK;
void field_test_free(struct field_test *t);
/* Whether any value of the task passes the test. */
bool field_passes(const struct field *field, const struct field_of *of, const struct field_test *t);

#endif

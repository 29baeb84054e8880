/*
 * What can be asked of a task by name: in `--with FIELD VALUE`, `--without`, `--group FIELD`.
 * A new one is a row of the table in field.c.
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

/* A task that is looked at. */
struct field_of {
	struct arena *a; /* for texts that are made */
	const struct snapshot *snapshot;
	const struct task *task;
};

/* Calls one of them with each value that a task has, until it returns true; whether it did. */
struct field_test {
	bool (*text)(const struct field_test *t, const char *text);
	bool (*number)(const struct field_test *t, int64_t number);
	regex_t regex; /* of filters: of text */
	int64_t min, max;
	bool inverse; /* any number but those from min to max */
};

struct field {
	const char *name;
	const char *what; /* for help, one line */
	/* At least one of them. A field with both is compared by number where the value is one. */
	bool (*texts)(const struct field_of *of, const struct field_test *t);
	bool (*numbers)(const struct field_of *of, const struct field_test *t);
	/*
	 * The one value that stands for the task, of a snapshot or in arena of->a; NULL: it has
	 * none. It is not clean.
	 */
	const char *(*value)(const struct field_of *of);
};

/* All, a name of NULL at the end. */
extern const struct field field_table[];

/* By its name; ERR_USAGE with the names that there are. */
struct error *field_find(const char *name, const struct field **ret) MUST_CHECK;

/*
 * The test that value asks for: of a number "5", "=5", "!=5", ">5", ">=5", "<5", "<=5" or "5..9",
 * else a POSIX extended regular expression, which matches anywhere in a text. ERR_USAGE where it
 * is neither, or a number where the field has none. Free it with field_test_free().
 */
struct error *field_test_parse(const struct field *field, const char *value, struct field_test *ret)
	MUST_CHECK;
void field_test_free(struct field_test *t);
/* Whether any value of the task passes. */
bool field_passes(const struct field *field, const struct field_of *of, const struct field_test *t);

#endif

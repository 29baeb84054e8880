/*
 * Conditions of breakpoints: comparisons of paths, of the task and of literals.
 *
 *	n == 3 && !(task.name == "reader" || *req.headers[0].1 > 10)
 *
 * Operators by rising precedence: || && (== != < <= > >=) !. A comparison does not compare with
 * another one. Operands: numbers (decimal, 0x, 0o, 0b, with _ between digits, also with a point),
 * true, false, text in " or ', task.id, task.type, task.name, and paths as of `print`. A path with
 * blanks, generics or parentheses stands between backquotes.
 */
#ifndef RUNTIMES_HITS_PREDICATE_H
#define RUNTIMES_HITS_PREDICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* Limits of a condition: bytes, and operators that enclose each other. */
enum { PREDICATE_LENGTH = 4096, PREDICATE_DEPTH = 64 };

enum predicate_kind {
	PREDICATE_NOTHING, /* there is none, such as the id where no task runs: equal to nothing */
	PREDICATE_BOOL,
	PREDICATE_NUMBER,
	PREDICATE_REAL,
	PREDICATE_TEXT,
};

struct predicate_value {
	enum predicate_kind kind;
	bool truth;
	bool negative; /* the number is - number */
	uint64_t number;
	double real;
	const char *text; /* without quotes */
};

enum predicate_op {
	PREDICATE_OR,
	PREDICATE_AND,
	PREDICATE_NOT, /* of left */
	PREDICATE_EQUAL,
	PREDICATE_DIFFERS,
	PREDICATE_LESS,
	PREDICATE_AT_MOST,
	PREDICATE_MORE,
	PREDICATE_AT_LEAST,
	PREDICATE_LITERAL, /* value */
	PREDICATE_PATH,
	PREDICATE_TASK_ID,
	PREDICATE_TASK_TYPE,
	PREDICATE_TASK_NAME,
};

struct predicate {
	enum predicate_op op;
	const struct predicate *left, *right; /* NULL: none */
	struct predicate_value value;
	const char *path; /* PREDICATE_PATH */
};

/* Parses a condition, in arena a. ERR_USAGE says what is wrong with it. */
struct error *predicate_parse(struct arena *a, const char *text, const struct predicate **ret)
	MUST_CHECK;

/* Finds the value of a PREDICATE_PATH or PREDICATE_TASK_... operand; its text in an arena. */
typedef struct error *predicate_find(void *arg, const struct predicate *operand,
                                     struct predicate_value *ret) MUST_CHECK;

/*
 * Whether the condition is true. An operand that does not matter for the result is not looked up:
 * the right side of `false && ...`. Errors: those of find, and ERR_USAGE for operands that cannot
 * be compared.
 */
struct error *predicate_evaluate(const struct predicate *c, predicate_find *find, void *arg,
                                 bool *ret) MUST_CHECK;

/* Whether a task has to be known, and not only its id. */
bool predicate_needs_task(const struct predicate *c);

#endif

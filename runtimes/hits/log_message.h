/*
 * The text of a logpoint: "order {first} of {task.id}". Text in braces is a path as of `print`, or
 * task.id, task.type or task.name; {{ and }} are braces.
 */
#ifndef RUNTIMES_HITS_LOG_MESSAGE_H
#define RUNTIMES_HITS_LOG_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

/* Limits of a text: bytes, and paths in it. */
enum { LOG_MESSAGE_LENGTH = 4096, LOG_MESSAGE_PATHS = 64 };

struct log_piece {
	const char *text; /* sanitised; of a path as it was typed, without blanks around it */
	bool is_path;
};

struct log_message {
	const struct log_piece *pieces; /* in the order of the text */
	size_t n, npaths;
};

/* Value of a path in a message. */
struct log_value {
	const char *path;
	const char *value;   /* sanitised; NULL: it cannot be read */
	const char *problem; /* why; NULL: it can */
	const char *doubt;   /* why it may not be the value of its variable; NULL: it is */
};

/* Parses a text, in arena a. ERR_USAGE says what is wrong with it. */
struct error *log_message_parse(struct arena *a, const char *text, struct log_message *ret)
	MUST_CHECK;
/*
 * The text with its values in place of the paths, one value for each path in their order; a value
 * that cannot be read is "{path: problem}". In arena a.
 */
const char *log_message_text(struct arena *a, const struct log_message *m,
                             const struct log_value *values);

#endif

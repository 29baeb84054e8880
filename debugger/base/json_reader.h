/*
 * A pull parser for JSON, safe for hostile text; the counterpart of json_writer.h. Its only state
 * is a position in the text. Keys and strings are decoded in place, which changes the text. After
 * the first error all functions find nothing more; problem describes the error.
 *
 *   if (json_enter_object(&r))
 *           while ((key = json_next_key(&r)))
 *                   ... one of json_take_text(), json_skip(), ..., or another object or array
 *
 * Building a tree of objects would be ten times as slow: a saved snapshot of 100,000 tasks has 70
 * MB.
 */
#ifndef DEBUGGER_BASE_JSON_READER_H
#define DEBUGGER_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"

/* The maximum depth in json_skip(). The caller bounds the depth of containers that it enters. */
enum { JSON_MAX_SKIP = 1024 };

enum json_kind {
	JSON_IS_NOTHING, /* no value begins here, or an error occurred */
	JSON_IS_OBJECT,
	JSON_IS_ARRAY,
	JSON_IS_TEXT,
	JSON_IS_NUMBER,
	JSON_IS_BOOL,
	JSON_IS_NULL,
};

struct json_reader {
	char *p, *end;
	const char *problem; /* NULL: no error so far; else a constant message */
	bool first;          /* no element of the innermost container was read yet */
};

/* text[len] must be 0, as at the end of a string. */
void json_reader_init(struct json_reader *r, char *text, size_t len);

/* The kind of the next value. */
enum json_kind json_peek(struct json_reader *r);

/* Readers of one value. A value of another kind is an error and yields false, NULL or 0. */
bool json_enter_object(struct json_reader *r);
bool json_enter_array(struct json_reader *r);
/* Sanitized, in arena a. */
const char *json_take_text(struct json_reader *r, struct arena *a);
/*
 * Decoded in place and not sanitized: may contain control characters and, like the text, invalid
 * UTF-8.
 */
const char *json_take_raw(struct json_reader *r);
bool json_take_bool(struct json_reader *r);
int64_t json_take_integer(struct json_reader *r);
void json_skip(struct json_reader *r);

/* Reads the next key; the caller then reads its value. NULL: the object has ended and was left. */
const char *json_next_key(struct json_reader *r);
/* True: the caller reads the next element. False: the array has ended and was left. */
bool json_next_element(struct json_reader *r);
/* Whether only blanks follow and no error occurred. */
bool json_at_end(struct json_reader *r);

#endif

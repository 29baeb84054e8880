/*
 * Reads JSON as it goes: the counterpart of json_writer.h, for text that may be hostile. Nothing is
 * kept but a place in the text, which is changed while it is read: keys and strings are decoded
 * where they are. After the first fault nothing more is found, and problem says what it was.
 *
 *   if (json_enter_object(&r))
 *           while ((key = json_next_key(&r)))
 *                   ... one of json_take_text(), json_skip(), ..., or another object or array
 *
 * A tree of objects is ten times as slow: 100,000 tasks of a saved snapshot are 70 MB.
 */
#ifndef RUNTIMES_SAVED_JSON_READER_H
#define RUNTIMES_SAVED_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"

/* Of json_skip(); what is entered, the caller bounds. */
enum { JSON_MAX_SKIP = 1024 };

enum json_kind {
	JSON_IS_NOTHING, /* no value begins here, or there was a fault */
	JSON_IS_OBJECT,
	JSON_IS_ARRAY,
	JSON_IS_TEXT,
	JSON_IS_NUMBER,
	JSON_IS_BOOL,
	JSON_IS_NULL,
};

struct json_reader {
	char *p, *end;
	const char *problem; /* NULL: none so far; else one of our own words */
	bool first;          /* nothing was read of the innermost container yet */
};

/* *end must be 0, as it is behind a string. */
void json_reader_init(struct json_reader *r, char *text, size_t len);

/* What the next value is. */
enum json_kind json_peek(struct json_reader *r);

/* Each reads one value; of another kind than that it is a fault, and false, NULL or 0 is returned.
 */
bool json_enter_object(struct json_reader *r);
bool json_enter_array(struct json_reader *r);
/* Cleaned, in arena a. */
const char *json_take_text(struct json_reader *r, struct arena *a);
/* Decoded in place: valid UTF-8 only where the text is, with whatever control characters. */
const char *json_take_raw(struct json_reader *r);
bool json_take_bool(struct json_reader *r);
int64_t json_take_integer(struct json_reader *r);
void json_skip(struct json_reader *r);

/* The next key, whose value is to be read next; NULL: the object has ended and was left. */
const char *json_next_key(struct json_reader *r);
/* Whether there is another element, which is to be read next; else the array was left. */
bool json_next_element(struct json_reader *r);
/* Whether nothing follows but blanks, and there was no fault. */
bool json_at_end(struct json_reader *r);

#endif

/*
 * Writes JSON as it goes: nothing is kept but a buffer, so a document may be of any length. Texts
 * are sanitised and escaped, keys too where any_keys is set; the layout is that of jansson's
 * JSON_COMPACT, or JSON_INDENT(2). With in_page, set after json_writer_init(), it can stand in a
 * <script> of a page: no string then has '<', '>', '&' or a line separator of JavaScript (U+2028,
 * U+2029) as it is.
 *
 * Each value takes its key, NULL where it is an element of an array or the document itself.
 * Objects and arrays are closed by the caller, in the order that they were opened.
 */
#ifndef RUNTIMES_SAVED_JSON_WRITER_H
#define RUNTIMES_SAVED_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of a tree of futures, twice its depth and a little more; deeper levels are left out as null. */
enum { JSON_MAX_DEPTH = 1024, JSON_BUFFER = 32 * 1024 };

struct json_writer {
	FILE *f; /* borrowed; what went wrong with it, ferror() says */
	bool compact;
	bool first;        /* nothing was written in the innermost container yet */
	unsigned depth;    /* containers that are open */
	unsigned left_out; /* of them, innermost ones that are too deep */
	bool any_keys; /* the keys that follow may hold anything; false: they are names of ours */
	bool in_page;  /* text that HTML or a script could take for its own is escaped too */
	size_t n;
	char buffer[JSON_BUFFER];
};

void json_writer_init(struct json_writer *w, FILE *f, bool compact);
/* After a document, whose containers are all closed: the next value begins another one. */
void json_end_line(struct json_writer *w);
/* Hands over what was written so far. */
void json_flush(struct json_writer *w);

void json_open_object(struct json_writer *w, const char *key);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w, const char *key);
void json_close_array(struct json_writer *w);

void json_put_null(struct json_writer *w, const char *key);
void json_put_bool(struct json_writer *w, const char *key, bool yes);
void json_put_int(struct json_writer *w, const char *key, int64_t number);
/* Six significant digits; never an infinity. */
void json_put_real(struct json_writer *w, const char *key, double number);
/* null for NULL. */
void json_put_text(struct json_writer *w, const char *key, const char *text);
/* An array of such. */
void json_put_list(struct json_writer *w, const char *key, const char *const *list, size_t n);
/* "0x7f00"; null for 0. */
void json_put_address(struct json_writer *w, const char *key, uint64_t addr);

#endif

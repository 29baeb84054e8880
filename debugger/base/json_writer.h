/*
 * A streaming JSON writer. It keeps only a buffer, so a document may have any length. Texts are
 * sanitized and escaped, keys too when any_keys is set. The layout is that of jansson's
 * JSON_COMPACT or JSON_INDENT(2). With in_page, set after json_writer_init(), the document can be
 * embedded in a <script> of a page: '<', '>', '&' and the line separators of JavaScript (U+2028,
 * U+2029) are escaped in strings.
 *
 * Each value takes a key; NULL for an element of an array and for the document itself. The caller
 * closes objects and arrays, the innermost first.
 */
#ifndef DEBUGGER_BASE_JSON_WRITER_H
#define DEBUGGER_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A tree of futures needs a little more than twice its depth. Deeper containers are written as
 * null.
 */
enum { JSON_MAX_DEPTH = 1024, JSON_BUFFER = 32 * 1024 };

struct json_writer {
	FILE *f; /* borrowed; ferror() reports write errors */
	bool compact;
	bool first;        /* the innermost container is empty so far */
	unsigned depth;    /* number of open containers */
	unsigned left_out; /* the number of them, innermost, that are too deep */
	bool any_keys;     /* keys that follow may be any text; false: they are constants */
	bool in_page;      /* also escape text that HTML or a script could interpret */
	size_t n;
	char buffer[JSON_BUFFER];
};

void json_writer_init(struct json_writer *w, FILE *f, bool compact);
/* Ends a document after all containers are closed. The next value begins another document. */
void json_end_line(struct json_writer *w);
/* Writes the buffer to f. */
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
/*
 * A text of several lines, or what a program printed: control characters are kept, as escapes. What
 * else json_put_text() sanitizes is sanitized.
 */
void json_put_lines(struct json_writer *w, const char *key, const char *text, size_t len);
/* A whole document that another writer has written, without its line break. */
void json_put_document(struct json_writer *w, const char *key, const char *text, size_t len);
/*
 * Members of the innermost object, as another compact writer has written them: without its braces.
 */
void json_put_members(struct json_writer *w, const char *text, size_t len);
/* An array of texts. */
void json_put_list(struct json_writer *w, const char *key, const char *const *list, size_t n);
/* "42", since many readers take numbers for doubles; null for 0. */
void json_put_id(struct json_writer *w, const char *key, uint64_t id);
/* "0x7f00"; null for 0. */
void json_put_address(struct json_writer *w, const char *key, uint64_t addr);

#endif

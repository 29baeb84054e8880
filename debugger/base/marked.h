/*
 * Texts whose variable parts are known: "sleep future, sleeping 3 seconds", of which 3 is a number.
 * Texts that differ in their variable parts only have one pattern, by which tasks are grouped.
 *
 * While a text is put together, control characters enclose its variable parts: it is a marked text,
 * and may be part of others. marked_finish() makes the text for people and the list of its parts.
 */
#ifndef DEBUGGER_BASE_MARKED_H
#define DEBUGGER_BASE_MARKED_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

/* Kinds of variable parts, and the characters before them in a marked text. */
enum marked_kind {
	MARKED_END, /* no kind: see marked_next() */
	MARKED_IS_NUMBER,
	MARKED_IS_ADDRESS, /* of the Internet, with a port or without */
	MARKED_IS_LIST,    /* in parentheses: "(tasks 17, 18)" */
	MARKED_IS_QUEUE,   /* a place: "first in its queue", "2 tasks ahead in its queue" */
	MARKED_IS_PLURAL,  /* "s" or "", for the number before it */
};

/* The marks before and behind parts. */
#define MARKED_BEGIN_LIST  "\3"
#define MARKED_BEGIN_QUEUE "\4"
#define MARKED_CLOSE       "\6"

/* Texts and formats with marks around them. Parts within parts do not count. */
#define MARKED_NUMBER(text)  "\1" text MARKED_CLOSE
#define MARKED_ADDRESS(text) "\2" text MARKED_CLOSE
#define MARKED_LIST(text)    MARKED_BEGIN_LIST text MARKED_CLOSE
#define MARKED_QUEUE(text)   MARKED_BEGIN_QUEUE text MARKED_CLOSE
#define MARKED_PLURAL(text)  "\5" text MARKED_CLOSE

/*
 * A marked text in arena a: the numbers that %d, %u and %x print are marked, with "0x" before them,
 * except within words. Texts that %s prints may be marked.
 */
char *marked_vprintf(struct arena *a, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
char *marked_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The text without marks, sanitised, in arena a. *parts lists its variable parts: the kind, offset
 * and length of each, as "n24+1 q30+18"; NULL: it has none.
 */
const char *marked_finish(struct arena *a, const char *marked, const char **parts);
/* Removes the marks from a text in its place. */
void marked_remove(char *text);

struct marked_part {
	enum marked_kind kind;
	size_t start, len; /* in the text */
};

/*
 * Takes the next part from a list, which may be from a file, of a text of that length. *part is the
 * one before it, zeroed at first; its kind becomes MARKED_END behind the last part that is valid.
 */
bool marked_next(const char **parts, size_t text_len, struct marked_part *part);

#endif

/* A string builder, and sanitising of text from a target or a file. */
#ifndef DEBUGGER_BASE_STR_H
#define DEBUGGER_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "debugger/base/error.h"

struct arena;

struct str {
	char *data; /* NUL-terminated once anything was appended; NULL before */
	size_t len, capacity;
};

void str_append(struct str *s, const char *text);
void str_append_len(struct str *s, const char *text, size_t len);
void str_printf(struct str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number in decimal: str_printf() costs ten times as much. */
void str_append_uint(struct str *s, uint64_t number);
/* Drops all but the first len bytes. */
void str_truncate(struct str *s, size_t len);
void str_free(struct str *s);
/* The text, "" when nothing was appended. */
const char *str_text(const struct str *s);

static inline bool str_begins(const char *s, const char *with)
{
	/* Most strings differ in the first character: this saves the call. */
	return !with[0] || (s[0] == with[0] && strncmp(s, with, strlen(with)) == 0);
}

/* Whether two texts are equal, or both are NULL. */
static inline bool str_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The part of a path behind its last '/'. */
static inline const char *str_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static inline bool str_begins_with_any_(const char *s, const char *const *heads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_begins(s, heads[i]))
			return true;
	}
	return false;
}

/* Whether s begins with one string of an array. */
#define str_begins_with_any(s, heads)                                                              \
	str_begins_with_any_((s), (heads), sizeof(heads) / sizeof((heads)[0]))

/*
 * Whether a character changes the text around it or is invisible, so that text could look like
 * other text. By Unicode 15.1: the general categories Cc (except ASCII controls, which are handled
 * apart), Cf, Zl and Zp of UnicodeData.txt, and Default_Ignorable_Code_Point of
 * DerivedCoreProperties.txt: bidirectional controls, joiners, fillers, variation selectors, tags.
 */
bool str_is_hidden(uint32_t code);

/*
 * Appends text as valid UTF-8 of visible characters, safe for terminals and JSON. A bad byte
 * becomes U+FFFD, an ASCII control character (ESC, newline, DEL) becomes '?', a hidden character
 * becomes its escape, as \u{202e}.
 */
void str_append_clean(struct str *s, const char *text, size_t len);

/*
 * Whether eight bytes are printable ASCII. Adding 1 sets the high bit for DEL; subtracting 0x20
 * borrows for characters below the blank.
 */
static inline bool str_word_is_plain(uint64_t word)
{
	const uint64_t each = UINT64_C(0x0101010101010101), high = each * 0x80;

	return !((word | (word + each) | ((word - each * 0x20) & ~word)) & high);
}

/* Whether the whole text is printable ASCII, so that sanitising would not change it. */
bool str_is_plain(const char *text, size_t len);

/* A sanitised copy, as above, in arena a, of at most len bytes and up to the first NUL. */
char *str_clean(struct arena *a, const char *text, size_t len);

#define STR(name) struct str name CLEANUP(str_free) = { 0 }

#endif

/* Append-only string builder, and the cleaning of text that came from a target or a file. */
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
	/* Most differ here already, and are not worth a call. */
	return !with[0] || (s[0] == with[0] && strncmp(s, with, strlen(with)) == 0);
}

static inline bool str_begins_with_any_(const char *s, const char *const *heads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_begins(s, heads[i]))
			return true;
	}
	return false;
}

/* With one of an array of texts. */
#define str_begins_with_any(s, heads)                                                              \
	str_begins_with_any_((s), (heads), sizeof(heads) / sizeof((heads)[0]))

/*
 * Whether a character acts on what is around it, or takes no room: it could make text look like
 * other text. By Unicode 15.1: the general categories Cc (but for ASCII: those are controls of
 * terminals), Cf, Zl and Zp of UnicodeData.txt, and Default_Ignorable_Code_Point of
 * DerivedCoreProperties.txt: bidirectional controls, joiners, fillers, selectors of variants, tags.
 */
bool str_is_hidden(uint32_t code);

/*
 * Appends text so that it is valid UTF-8 of visible characters: a bad byte becomes U+FFFD, a
 * control character of ASCII (ESC, newline, DEL) becomes '?', a hidden one its escape, as \u{202e}.
 * Terminals and JSON are safe.
 */
void str_append_clean(struct str *s, const char *text, size_t len);

/* Are eight bytes printable ASCII? Adding 1 lifts DEL to the high bit, taking 0x20 borrows for what
 * is below a blank. */
static inline bool str_word_is_plain(uint64_t word)
{
	const uint64_t each = UINT64_C(0x0101010101010101), high = each * 0x80;

	return !((word | (word + each) | ((word - each * 0x20) & ~word)) & high);
}

/* Is it printable ASCII throughout, so that cleaning would not change it? */
bool str_is_plain(const char *text, size_t len);

/* A clean copy, as above, in arena a; at most len bytes and not beyond a NUL are looked at. */
char *str_clean(struct arena *a, const char *text, size_t len);

#define STR(name) struct str name CLEANUP(str_free) = { 0 }

#endif

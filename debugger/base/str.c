#include "debugger/base/str.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/digits.h"

static void str_reserve(struct str *s, size_t extra)
{
	size_t need = s->len + extra + 1;

	if (need <= s->capacity)
		return;
	size_t wanted = s->capacity ? s->capacity : 64;
	while (wanted < need)
		wanted *= 2;
	s->data = realloc(s->data, wanted);
	if (!s->data)
		out_of_memory();
	s->capacity = wanted;
}

void str_append_len(struct str *s, const char *text, size_t len)
{
	str_reserve(s, len);
	memcpy(s->data + s->len, text, len);
	s->len += len;
	s->data[s->len] = '\0';
}

void str_append(struct str *s, const char *text)
{
	str_append_len(s, text, strlen(text));
}

void str_printf(struct str *s, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	str_reserve(s, 0);
	int len = vsnprintf(s->data + s->len, s->capacity - s->len, format, args);
	va_end(args);
	if ((size_t)len >= s->capacity - s->len) {
		str_reserve(s, (size_t)len);
		vsnprintf(s->data + s->len, (size_t)len + 1, format, again);
	}
	va_end(again);
	s->len += (size_t)len;
}

void str_append_uint(struct str *s, uint64_t number)
{
	char digits[DIGITS_MAX];
	const char *first = digits_of(digits, number);

	str_append_len(s, first, (size_t)(digits + DIGITS_MAX - first));
}

void str_truncate(struct str *s, size_t len)
{
	if (len < s->len) {
		s->len = len;
		s->data[len] = '\0';
	}
}

void str_free(struct str *s)
{
	free(s->data);
	*s = (struct str){ 0 };
}

const char *str_text(const struct str *s)
{
	return s->data ? s->data : "";
}

/* Length of the valid UTF-8 sequence at p, 0 when there is none (RFC 3629). */
static size_t utf8_decode(const unsigned char *p, size_t len, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80                   ? 1
	           : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
	           : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
	           : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
	                                         : 0;

	if (n == 0 || n > len)
		return 0;
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	bool surrogate = code >= 0xd800 && code <= 0xdfff;
	*ret = code;
	return code < smallest[n] || code > 0x10ffff || surrogate ? 0 : n;
}

bool str_is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{ 0x80, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },
		{ 0x600, 0x605 },     { 0x61c, 0x61c },     { 0x6dd, 0x6dd },
		{ 0x70f, 0x70f },     { 0x890, 0x891 },     { 0x8e2, 0x8e2 },
		{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
		{ 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },
		{ 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x110bd, 0x110bd },
		{ 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && code >= hidden[i].first; i++) {
		if (code <= hidden[i].last)
			return true;
	}
	return false;
}

/* The number of bytes at p that need no change: most text is all ASCII. */
static size_t plain_length(const unsigned char *p, size_t len)
{
	size_t n = 0;

	for (uint64_t word; n + 8 <= len; n += 8) {
		memcpy(&word, p + n, 8);
		if (!str_word_is_plain(word))
			break;
	}
	while (n < len && p[n] >= 0x20 && p[n] < 0x7f)
		n++;
	return n;
}

bool str_is_plain(const char *text, size_t len)
{
	return plain_length((const unsigned char *)text, len) == len;
}

void str_append_clean(struct str *s, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < len;) {
		size_t plain = plain_length(p + i, len - i);

		if (plain) {
			str_append_len(s, text + i, plain);
			i += plain;
			continue;
		}
		uint32_t code = 0;
		size_t n = utf8_decode(p + i, len - i, &code);

		if (n == 0)
			str_append(s, "\xef\xbf\xbd");
		else if (code < 0x20 || code == 0x7f)
			str_append(s, "?");
		else if (str_is_hidden(code))
			str_printf(s, "\\u{%x}", (unsigned)code);
		else
			str_append_len(s, text + i, n);
		i += n ? n : 1;
	}
}

char *str_clean(struct arena *a, const char *text, size_t len)
{
	STR(s);

	len = strnlen(text, len);
	if (str_is_plain(text, len))
		return arena_strndup(a, text, len);
	str_append_clean(&s, text, len);
	return arena_strdup(a, str_text(&s));
}

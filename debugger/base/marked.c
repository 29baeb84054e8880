#include "debugger/base/marked.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"
#include "debugger/base/str.h"

enum { MARK_CLOSE = 6, MAX_FORMAT = 512 };

/* The letters of the kinds in a list of parts. */
static const char letters[] = "-nalqs";

static bool marked_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the conversion, of len characters, prints a number that is no part of a word. */
static bool is_number(const char *format, const char *conversion, size_t len, bool hex)
{
	return strchr("diuxX", conversion[len - 1]) && !marked_is_word(conversion[len]) &&
	       (hex || conversion == format || !marked_is_word(conversion[-1]));
}

char *marked_vprintf(struct arena *a, const char *format, va_list args)
{
	char marked[MAX_FORMAT], *to = marked;
	const char *from = format, *c = format;

	while (*(c = strchrnul(c, '%'))) {
		size_t len = 2 + strspn(c + 1, "-+ #0123456789.*hjlzt");
		bool hex = c - from >= 2 && c[-2] == '0' && c[-1] == 'x';
		const char *start = c - (hex ? 2 : 0);

		c += len;
		if (!is_number(format, c - len, len, hex))
			continue;
		/* Text whose format is longer has no marks: that is correct, too. */
		if (to - marked + (c - from) + 3 > MAX_FORMAT)
			break;
		to = mempcpy(to, from, (size_t)(start - from));
		*to++ = MARKED_IS_NUMBER;
		to = mempcpy(to, start, (size_t)(c - start));
		*to++ = MARK_CLOSE;
		from = c;
	}
	size_t rest = strlen(from) + 1;
	if (to == marked || to - marked + rest > MAX_FORMAT)
		return arena_vprintf(a, format, args);
	memcpy(to, from, rest);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return arena_vprintf(a, marked, args);
#pragma GCC diagnostic pop
}

char *marked_printf(struct arena *a, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = marked_vprintf(a, format, args);
	va_end(args);
	return text;
}

void marked_remove(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text < MARKED_IS_NUMBER || *text > MARK_CLOSE)
			*to++ = *text;
	}
	*to = '\0';
}

static void append_part(struct str *list, unsigned char kind, size_t start, size_t end)
{
	str_append_len(list, " ", list->len != 0);
	str_append_len(list, &letters[kind], 1);
	str_append_uint(list, start);
	str_append_len(list, "+", 1);
	str_append_uint(list, end - start);
}

/* Splits a marked text; returns NULL if it is to be sanitised first. */
static const char *marked_split(struct arena *a, const char *marked, bool clean, const char **parts)
{
	STR(list);
	size_t start = 0, depth = 0;
	unsigned char kind = 0;
	char *text = arena_alloc(a, strlen(marked) + 1), *to = text;

	for (const char *c = marked; *c; c++) {
		if ((unsigned char)(*c - ' ') < 0x7f - ' ') {
			*to++ = *c;
		} else if (*c == MARK_CLOSE) {
			if (depth && --depth == 0)
				append_part(&list, kind, start, (size_t)(to - text));
		} else if (*c >= MARKED_IS_NUMBER && *c < MARK_CLOSE) {
			if (depth++)
				continue;
			kind = (unsigned char)*c;
			start = (size_t)(to - text);
		} else if (clean) {
			*to++ = *c;
		} else {
			return NULL;
		}
	}
	*to = '\0';
	*parts = list.len ? arena_strdup(a, list.data) : NULL;
	return text;
}

const char *marked_finish(struct arena *a, const char *marked, const char **parts)
{
	const char *text = marked_split(a, marked, false, parts);
	STR(clean);

	while (!text && *marked) {
		size_t len = strcspn(marked, "\1\2\3\4\5\6");

		str_append_clean(&clean, marked, len);
		str_append_len(&clean, marked + len, marked[len] != '\0');
		marked += len + (marked[len] != '\0');
	}
	return text ? text : marked_split(a, str_text(&clean), true, parts);
}

bool marked_next(const char **parts, size_t text_len, struct marked_part *part)
{
	size_t from = part->start + part->len;
	const char *letter = *parts && **parts ? strchr(letters, **parts) : NULL;
	char *end;

	part->kind = MARKED_END;
	if (!letter)
		return false;
	part->start = strtoul(*parts + 1, &end, 10);
	part->len = *end == '+' ? strtoul(end + 1, &end, 10) : SIZE_MAX;
	if (part->start < from || part->start > text_len || part->len > text_len - part->start)
		return false;
	*parts = end + (*end == ' ');
	part->kind = (enum marked_kind)(letter - letters);
	return part->kind != MARKED_END;
}

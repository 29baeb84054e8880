#include "debugger/base/json_reader.h"

#include <string.h>

#include "debugger/base/str.h"

void json_reader_init(struct json_reader *r, char *text, size_t len)
{
	*r = (struct json_reader){ .p = text, .end = text + len };
}

/* Records the error and moves to the end of the text, so that nothing more is found. */
static void json_reader_fail(struct json_reader *r, const char *problem)
{
	if (!r->problem)
		r->problem = problem;
	r->p = r->end;
}

static void json_reader_skip_blanks(struct json_reader *r)
{
	while (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r')
		r->p++;
}

enum json_kind json_peek(struct json_reader *r)
{
	json_reader_skip_blanks(r);
	switch (*r->p) {
	case '{':
		return JSON_IS_OBJECT;
	case '[':
		return JSON_IS_ARRAY;
	case '"':
		return JSON_IS_TEXT;
	case 't':
	case 'f':
		return JSON_IS_BOOL;
	case 'n':
		return JSON_IS_NULL;
	default:
		return *r->p == '-' || (*r->p >= '0' && *r->p <= '9') ? JSON_IS_NUMBER
		                                                      : JSON_IS_NOTHING;
	}
}

/* Skips the character c if it is next; returns whether it was. */
static bool json_reader_take(struct json_reader *r, char c)
{
	json_reader_skip_blanks(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

bool json_enter_object(struct json_reader *r)
{
	if (!json_reader_take(r, '{'))
		json_reader_fail(r, "is not an object");
	r->first = true;
	return !r->problem;
}

bool json_enter_array(struct json_reader *r)
{
	if (!json_reader_take(r, '['))
		json_reader_fail(r, "is not a list");
	r->first = true;
	return !r->problem;
}

/* ---- strings ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* Reads four hexadecimal digits; false when they are missing. */
static bool take_unit(struct json_reader *r, uint32_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(*r->p);

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (uint32_t)digit;
		r->p++;
	}
	return true;
}

static char *json_reader_put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/*
 * Decodes a character after \u, of one or two UTF-16 units. An unpaired surrogate and NUL become
 * U+FFFD.
 */
static char *take_character(struct json_reader *r, char *to)
{
	enum { REPLACEMENT = 0xfffd };
	uint32_t high, low;

	if (!take_unit(r, &high)) {
		json_reader_fail(r, "has a bad escape");
		return to;
	}
	if (high >= 0xd800 && high < 0xdc00 && r->p[0] == '\\' && r->p[1] == 'u') {
		r->p += 2;
		if (!take_unit(r, &low)) {
			json_reader_fail(r, "has a bad escape");
			return to;
		}
		if (low >= 0xdc00 && low < 0xe000)
			return json_reader_put_utf8(to, 0x10000 + ((high - 0xd800) << 10) +
			                                        (low - 0xdc00));
		return json_reader_put_utf8(json_reader_put_utf8(to, REPLACEMENT), REPLACEMENT);
	}
	return json_reader_put_utf8(to, high == 0 || (high >= 0xd800 && high < 0xe000) ? REPLACEMENT
	                                                                               : high);
}

static char *take_escape(struct json_reader *r, char *to)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	char c = *r->p;

	if (c == 'u') {
		r->p++;
		return take_character(r, to);
	}
	const char *letter = c ? strchr(letters, c) : NULL;
	if (!letter) {
		json_reader_fail(r, "has a bad escape");
		return to;
	}
	r->p++;
	*to++ = meanings[letter - letters];
	return to;
}

/*
 * Decodes a string in place and terminates it; *len excludes the NUL. Decoding never lengthens it.
 */
static char *take_string(struct json_reader *r, size_t *len)
{
	if (!json_reader_take(r, '"')) {
		json_reader_fail(r, "is not a string");
		return NULL;
	}
	char *start = r->p, *to = start;

	for (;;) {
		size_t plain = strcspn(r->p, "\"\\");

		if (to != r->p)
			memmove(to, r->p, plain);
		to += plain;
		r->p += plain;
		if (*r->p == '"')
			break;
		if (r->p == r->end || *r->p != '\\') {
			json_reader_fail(r, "has a text without an end");
			return NULL;
		}
		r->p++;
		to = take_escape(r, to);
	}
	r->p++;
	*to = '\0';
	*len = (size_t)(to - start);
	return start;
}

const char *json_take_raw(struct json_reader *r)
{
	size_t len;

	return take_string(r, &len);
}

const char *json_take_text(struct json_reader *r, struct arena *a)
{
	size_t len;
	const char *text = take_string(r, &len);

	return text ? str_clean(a, text, len) : NULL;
}

/* ---- words and numbers ---- */

static bool json_reader_take_word(struct json_reader *r, const char *word)
{
	size_t len = strlen(word);

	json_reader_skip_blanks(r);
	if (strncmp(r->p, word, len) != 0)
		return false;
	r->p += len;
	return true;
}

bool json_take_bool(struct json_reader *r)
{
	if (json_reader_take_word(r, "true"))
		return true;
	if (!json_reader_take_word(r, "false"))
		json_reader_fail(r, "is neither true nor false");
	return false;
}

int64_t json_take_integer(struct json_reader *r)
{
	bool negative = json_reader_take(r, '-'), overflow = false;
	uint64_t number = 0;
	const char *digits = r->p;

	for (; *r->p >= '0' && *r->p <= '9'; r->p++) {
		overflow |= __builtin_mul_overflow(number, UINT64_C(10), &number);
		overflow |= __builtin_add_overflow(number, (uint64_t)(*r->p - '0'), &number);
	}
	overflow |= number > (uint64_t)INT64_MAX + negative;
	if (r->p == digits || *r->p == '.' || *r->p == 'e' || *r->p == 'E' || overflow) {
		json_reader_fail(r, "is not a whole number");
		return 0;
	}
	return negative ? (int64_t)(0 - number) : (int64_t)number;
}

/* ---- containers ---- */

/* Whether another element follows in the container that ends with close. */
static bool json_reader_next(struct json_reader *r, char close)
{
	bool first = r->first;

	r->first = false;
	if (json_reader_take(r, close))
		return false;
	if (!first && !json_reader_take(r, ','))
		json_reader_fail(r, "has no comma where it needs one");
	return !r->problem;
}

const char *json_next_key(struct json_reader *r)
{
	const char *key = json_reader_next(r, '}') ? json_take_raw(r) : NULL;

	if (key && !json_reader_take(r, ':')) {
		json_reader_fail(r, "has a key without a value");
		return NULL;
	}
	return key;
}

bool json_next_element(struct json_reader *r)
{
	return json_reader_next(r, ']');
}

static void skip_scalar(struct json_reader *r, enum json_kind kind)
{
	if (kind == JSON_IS_TEXT)
		json_take_raw(r);
	else if (kind == JSON_IS_BOOL)
		json_take_bool(r);
	else if (kind == JSON_IS_NUMBER)
		r->p += strspn(r->p, "+-.0123456789eE");
	else if (kind != JSON_IS_NULL || !json_reader_take_word(r, "null"))
		json_reader_fail(r, "is not a value");
}

void json_skip(struct json_reader *r)
{
	bool is_object[JSON_MAX_SKIP];
	size_t depth = 0;

	do {
		enum json_kind kind = json_peek(r);

		if (kind != JSON_IS_OBJECT && kind != JSON_IS_ARRAY) {
			skip_scalar(r, kind);
		} else if (depth == JSON_MAX_SKIP) {
			json_reader_fail(r, "is nested too deep");
		} else {
			is_object[depth++] = kind == JSON_IS_OBJECT;
			kind == JSON_IS_OBJECT ? json_enter_object(r) : json_enter_array(r);
		}
		while (depth &&
		       !(is_object[depth - 1] ? json_next_key(r) != NULL : json_next_element(r)))
			depth--;
	} while (depth && !r->problem);
}

bool json_at_end(struct json_reader *r)
{
	json_reader_skip_blanks(r);
	return !r->problem && r->p == r->end;
}

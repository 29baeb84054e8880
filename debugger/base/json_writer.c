#include "debugger/base/json_writer.h"

#include <assert.h>
#include <string.h>

#include "debugger/base/digits.h"
#include "debugger/base/str.h"

void json_writer_init(struct json_writer *w, FILE *f, bool compact)
{
	w->f = f;
	w->compact = compact;
	w->first = true;
	w->depth = w->left_out = 0;
	w->any_keys = w->in_page = false;
	w->n = 0;
}

void json_flush(struct json_writer *w)
{
	fwrite(w->buffer, 1, w->n, w->f);
	w->n = 0;
}

static void json_writer_put(struct json_writer *w, const char *bytes, size_t len)
{
	if (len > sizeof(w->buffer) - w->n) {
		json_flush(w);
		if (len > sizeof(w->buffer)) {
			fwrite(bytes, 1, len, w->f);
			return;
		}
	}
	memcpy(w->buffer + w->n, bytes, len);
	w->n += len;
}

static void json_writer_put_char(struct json_writer *w, char c)
{
	if (w->n == sizeof(w->buffer))
		json_flush(w);
	w->buffer[w->n++] = c;
}

static void new_line(struct json_writer *w)
{
	static const char blanks[] = "                                ";

	json_writer_put_char(w, '\n');
	for (size_t left = (size_t)w->depth * 2; left;) {
		size_t n = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;

		json_writer_put(w, blanks, n);
		left -= n;
	}
}

void json_end_line(struct json_writer *w)
{
	assert(w->depth == 0 && w->left_out == 0);
	json_writer_put_char(w, '\n');
	w->first = true;
}

/* Whether a byte of the word equals n. */
static bool has_byte(uint64_t word, uint64_t n)
{
	const uint64_t each = UINT64_C(0x0101010101010101);

	word ^= each * n;
	return (word - each) & ~word & (each * 0x80);
}

/* The number of bytes, of len, that need no escape. */
static size_t json_writer_plain_length(const char *p, size_t len)
{
	size_t n = 0;

	for (uint64_t word; n + 8 <= len; n += 8) {
		memcpy(&word, p + n, 8);
		if (!str_word_is_plain(word) || has_byte(word, '"') || has_byte(word, '\\'))
			break;
	}
	while (n < len && p[n] >= 0x20 && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
		n++;
	return n;
}

/* Sanitized text has no control characters: only two ASCII characters need an escape. */
static void json_writer_put_escaped(struct json_writer *w, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			json_writer_put_char(w, '\\');
		json_writer_put_char(w, text[i]);
	}
}

static void put_control(struct json_writer *w, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	const char escape[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

	json_writer_put(w, escape, sizeof(escape));
}

/*
 * json_writer_put_escaped() for a string within a page: escapes what an HTML parser could take for
 * a tag or an entity.
 */
static void put_in_page(struct json_writer *w, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '<') {
			json_writer_put(w, "\\u003c", 6);
		} else if (text[i] == '>') {
			json_writer_put(w, "\\u003e", 6);
		} else if (text[i] == '&') {
			json_writer_put(w, "\\u0026", 6);
		} else {
			json_writer_put_escaped(w, text + i, 1);
		}
	}
}

static void put_string(struct json_writer *w, const char *text)
{
	size_t len = strlen(text), plain = w->in_page ? 0 : json_writer_plain_length(text, len);

	json_writer_put_char(w, '"');
	json_writer_put(w, text, plain);
	if (plain < len) {
		STR(clean);

		str_append_clean(&clean, text + plain, len - plain);
		(w->in_page ? put_in_page : json_writer_put_escaped)(w, clean.data, clean.len);
	}
	json_writer_put_char(w, '"');
}

/*
 * Most keys are constants and fit in the buffer. Escaping each of them would take half the time of
 * a document.
 */
static void put_key(struct json_writer *w, const char *key)
{
	size_t len = strlen(key);

	if (w->in_page || w->any_keys || len + 4 > sizeof(w->buffer)) {
		put_string(w, key);
		json_writer_put(w, ": ", w->compact ? 1 : 2);
		return;
	}
	if (len + 4 > sizeof(w->buffer) - w->n)
		json_flush(w);
	char *at = w->buffer + w->n;
	*at++ = '"';
	memcpy(at, key, len);
	at += len;
	*at++ = '"';
	*at++ = ':';
	*at = ' ';
	w->n += len + (w->compact ? 3 : 4);
}

/*
 * Writes what precedes a value: comma, line break, key. False: the value is too deep and is left
 * out.
 */
static bool json_writer_begin_value(struct json_writer *w, const char *key)
{
	if (w->left_out)
		return false;
	if (!w->first)
		json_writer_put_char(w, ',');
	if (!w->compact && w->depth)
		new_line(w);
	w->first = false;
	if (key)
		put_key(w, key);
	return true;
}

static void open(struct json_writer *w, const char *key, char bracket)
{
	if (w->left_out || w->depth == JSON_MAX_DEPTH) {
		json_put_null(w, key);
		w->left_out++;
		return;
	}
	json_writer_begin_value(w, key);
	json_writer_put_char(w, bracket);
	w->depth++;
	w->first = true;
}

static void close(struct json_writer *w, char bracket)
{
	if (w->left_out) {
		w->left_out--;
		return;
	}
	assert(w->depth);
	w->depth--;
	if (!w->compact && !w->first)
		new_line(w);
	json_writer_put_char(w, bracket);
	w->first = false;
}

void json_open_object(struct json_writer *w, const char *key)
{
	open(w, key, '{');
}

void json_close_object(struct json_writer *w)
{
	close(w, '}');
}

void json_open_array(struct json_writer *w, const char *key)
{
	open(w, key, '[');
}

void json_close_array(struct json_writer *w)
{
	close(w, ']');
}

void json_put_null(struct json_writer *w, const char *key)
{
	if (json_writer_begin_value(w, key))
		json_writer_put(w, "null", 4);
}

void json_put_bool(struct json_writer *w, const char *key, bool yes)
{
	if (json_writer_begin_value(w, key))
		json_writer_put(w, yes ? "true" : "false", yes ? 4 : 5);
}

static void put_digits(struct json_writer *w, uint64_t number)
{
	char digits[DIGITS_MAX];
	const char *first = digits_of(digits, number);

	json_writer_put(w, first, (size_t)(digits + DIGITS_MAX - first));
}

void json_put_int(struct json_writer *w, const char *key, int64_t number)
{
	if (!json_writer_begin_value(w, key))
		return;
	if (number < 0)
		json_writer_put_char(w, '-');
	put_digits(w, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void json_put_id(struct json_writer *w, const char *key, uint64_t id)
{
	if (!id) {
		json_put_null(w, key);
		return;
	}
	if (!json_writer_begin_value(w, key))
		return;
	json_writer_put_char(w, '"');
	put_digits(w, id);
	json_writer_put_char(w, '"');
}

/*
 * Writes a number that no reader takes for an integer, with no '+' or leading zeros in its
 * exponent.
 */
void json_put_real(struct json_writer *w, const char *key, double number)
{
	char text[40];
	int len = snprintf(text, sizeof(text), "%.6g", number);
	char *e = memchr(text, 'e', (size_t)len);

	if (!json_writer_begin_value(w, key))
		return;
	if (!e) {
		json_writer_put(w, text, (size_t)len);
		if (!memchr(text, '.', (size_t)len))
			json_writer_put(w, ".0", 2);
		return;
	}
	const char *digits = e + 1 + (e[1] == '-' || e[1] == '+');
	json_writer_put(w, text, (size_t)(e - text) + 1 + (e[1] == '-'));
	digits += strspn(digits, "0");
	json_writer_put(w, digits, strlen(digits));
}

void json_put_text(struct json_writer *w, const char *key, const char *text)
{
	if (!text)
		json_put_null(w, key);
	else if (json_writer_begin_value(w, key))
		put_string(w, text);
}

void json_put_lines(struct json_writer *w, const char *key, const char *text, size_t len)
{
	size_t from = 0;

	if (!json_writer_begin_value(w, key))
		return;
	json_writer_put_char(w, '"');
	for (size_t i = 0; i <= len; i++) {
		STR(clean);

		if (i < len && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f)
			continue;
		str_append_clean(&clean, text + from, i - from);
		(w->in_page ? put_in_page : json_writer_put_escaped)(w, str_text(&clean),
		                                                     clean.len);
		from = i + 1;
		if (i < len)
			put_control(w, (unsigned char)text[i]);
	}
	json_writer_put_char(w, '"');
}

void json_put_document(struct json_writer *w, const char *key, const char *text, size_t len)
{
	while (len && text[len - 1] == '\n')
		len--;
	if (json_writer_begin_value(w, key))
		json_writer_put(w, text, len);
}

void json_put_members(struct json_writer *w, const char *text, size_t len)
{
	if (len && json_writer_begin_value(w, NULL))
		json_writer_put(w, text, len);
}

void json_put_list(struct json_writer *w, const char *key, const char *const *list, size_t n)
{
	json_open_array(w, key);
	for (size_t i = 0; i < n; i++)
		json_put_text(w, NULL, list[i]);
	json_close_array(w);
}

void json_put_address(struct json_writer *w, const char *key, uint64_t addr)
{
	char digits[16 + 1];
	size_t at = sizeof(digits);

	if (!addr) {
		json_put_null(w, key);
		return;
	}
	if (!json_writer_begin_value(w, key))
		return;
	digits[--at] = '"';
	for (; addr; addr >>= 4)
		digits[--at] = "0123456789abcdef"[addr & 15];
	json_writer_put(w, "\"0x", 3);
	json_writer_put(w, digits + at, sizeof(digits) - at);
}

#include "runtimes/query/literal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"

enum { MAX_WRAPPERS = 16, MAX_DIGITS = 128, LAST_CHAR = 0x10ffff };

static struct error *literal_is_no(const struct type *t, const char *text, const char *hint)
{
	SCRATCH(tmp);

	return error_new(ERR_USAGE, "\"%s\" is not a value of type %s%s", text,
	                 name_short(&tmp, type_name(t)), hint);
}

static void literal_put(struct literal *ret, uint64_t value)
{
	memcpy(ret->bytes, &value, sizeof(ret->bytes));
}

/* ---- numbers ---- */

/* Copies digits without the underscores between them; false: too many. */
static bool copy_digits(const char *text, char digits[MAX_DIGITS])
{
	size_t n = 0;

	for (; *text; text++) {
		if (*text == '_')
			continue;
		if (n + 1 == MAX_DIGITS)
			return false;
		digits[n++] = *text;
	}
	digits[n] = '\0';
	return true;
}

/* Reads "1_000", "0x1f", "0o17", "0b1". *fits: whether it is one of 64 bits. */
static bool read_magnitude(const char *text, uint64_t *ret, bool *fits)
{
	static const struct {
		const char *prefix;
		int base;
	} bases[] = { { "0x", 16 }, { "0o", 8 }, { "0b", 2 }, { "", 10 } };
	char digits[MAX_DIGITS], *end;
	size_t i = 0;

	while (!str_begins(text, bases[i].prefix))
		i++;
	text += strlen(bases[i].prefix);
	if (!isxdigit((unsigned char)*text) || !copy_digits(text, digits))
		return false;
	errno = 0;
	*ret = strtoull(digits, &end, bases[i].base);
	*fits = errno == 0;
	return *end == '\0' && (!errno || errno == ERANGE);
}

static struct error *read_integer(const struct type *t, const char *text, bool is_signed,
                                  struct literal *ret)
{
	bool minus = *text == '-';
	unsigned bits = 8 * (unsigned)ret->size;
	uint64_t value, most = UINT64_MAX >> (64 - bits);
	bool fits;

	if (is_signed)
		most = (most >> 1) + minus;
	if (!read_magnitude(text + minus, &value, &fits))
		return literal_is_no(t, text, "");
	if (!fits || (minus && !is_signed && value) || value > most)
		return literal_is_no(t, text, ": it is out of range");
	literal_put(ret, minus ? 0 - value : value);
	return NULL;
}

static struct error *read_float(const struct type *t, const char *text, struct literal *ret)
{
	char digits[MAX_DIGITS], *end;

	if (isspace((unsigned char)*text) || !*text || strpbrk(text, "xXpP") ||
	    !copy_digits(text, digits))
		return literal_is_no(t, text, "");
	double value = strtod(digits, &end);
	bool is_infinite = strstr(text, "inf") != NULL;
	if (*end)
		return literal_is_no(t, text, "");
	float narrow = (float)value;
	if (!is_infinite && (isinf(value) || (ret->size == sizeof(narrow) && isinf(narrow))))
		return literal_is_no(t, text, ": it is out of range");
	if (ret->size == sizeof(narrow))
		memcpy(ret->bytes, &narrow, sizeof(narrow));
	else
		memcpy(ret->bytes, &value, sizeof(value));
	return NULL;
}

/* ---- characters ---- */

/* Decodes one character of UTF-8; 0: it is none. */
static size_t literal_decode(const char *text, uint32_t *ret)
{
	unsigned char first = (unsigned char)text[0];
	size_t len = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	*ret = len == 1 ? first : first & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*ret = *ret << 6 | (text[i] & 0x3f);
	}
	return first ? len : 0;
}

/* Decodes an escape behind its backslash; 0: it is none. */
static size_t decode_escape(const char *text, uint32_t *ret)
{
	static const char letters[] = "nrt0\\'\"", meant[] = "\n\r\t\0\\'\"";
	const char *at = *text ? strchr(letters, *text) : NULL;
	char *end;

	if (at) {
		*ret = (unsigned char)meant[at - letters];
		return 1;
	}
	if (!str_begins(text, "u{") || !isxdigit((unsigned char)text[2]))
		return 0;
	unsigned long code = strtoul(text + 2, &end, 16);
	*ret = code > LAST_CHAR ? LAST_CHAR + 1 : (uint32_t)code;
	return *end == '}' ? (size_t)(end + 1 - text) : 0;
}

static struct error *read_char(const struct type *t, const char *text, struct literal *ret)
{
	uint32_t code = 0;
	size_t len = 0;

	if (text[0] == '\'' && text[1] == '\\') {
		len = decode_escape(text + 2, &code);
		len += len ? 1 : 0;
	} else if (text[0] == '\'' && text[1] != '\'') {
		len = literal_decode(text + 1, &code);
	}
	if (!len || strcmp(text + 1 + len, "'") != 0)
		return literal_is_no(t, text, ": write it as 'x'");
	if (code > LAST_CHAR || (code >= 0xd800 && code < 0xe000))
		return literal_is_no(t, text, ": it is not a Unicode character");
	literal_put(ret, code);
	return NULL;
}

/* ---- others ---- */

static struct error *read_bool(const struct type *t, const char *text, struct literal *ret)
{
	bool yes = strcmp(text, "true") == 0;

	if (!yes && strcmp(text, "false") != 0)
		return literal_is_no(t, text, ": it is true or false");
	literal_put(ret, yes);
	return NULL;
}

static struct error *literal_read_variant(const struct type *t, const char *text,
                                          struct literal *ret)
{
	size_t n;
	const struct enumerator *list = type_enumerators(t, &n);
	const char *name = qualified_last(text);
	STR(names);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0) {
			literal_put(ret, list[i].value);
			return NULL;
		}
		if (i < 16)
			str_printf(&names, "%s%s", i ? ", " : "", list[i].name);
	}
	return error_new(ERR_USAGE, "\"%s\" is not a variant of it; there are: %s", text,
	                 str_text(&names));
}

static bool is_zero(const struct literal *l)
{
	for (size_t i = 0; i < l->size; i++) {
		if (l->bytes[i])
			return false;
	}
	return true;
}

static struct error *literal_encode_text(const struct type *t, const char *text,
                                         struct literal *ret)
{
	enum type_kind kind = type_kind(t);
	uint64_t size = type_size(t);

	ret->size = (size_t)size;
	if (size == 0 || size > LITERAL_BYTES)
		return error_new(ERR_USAGE, "a value of %" PRIu64 " bytes cannot be set", size);
	if (kind == TYPE_BOOL)
		return read_bool(t, text, ret);
	if (kind == TYPE_CHAR && size == 4)
		return read_char(t, text, ret);
	if (kind == TYPE_INT || kind == TYPE_UINT)
		return read_integer(t, text, kind == TYPE_INT, ret);
	if (kind == TYPE_FLOAT && (size == 4 || size == 8))
		return read_float(t, text, ret);
	if (kind == TYPE_CENUM)
		return literal_read_variant(t, text, ret);
	return error_new(
		ERR_USAGE,
		"only numbers, bool, char and enum variants without data can be set, not %s",
		type_name(t));
}

struct error *literal_encode(const struct type *t, const char *text, struct literal *ret)
{
	bool never_zero = false;

	*ret = (struct literal){ 0 };
	for (int i = 0; i < MAX_WRAPPERS && type_kind(t) == TYPE_STRUCT; i++) {
		const struct member *m = type_single_member(t);

		if (!m || !m->type || type_size(m->type) != type_size(t))
			break;
		never_zero |= str_begins(type_name(t), "core::num::nonzero::");
		ret->offset += m->offset;
		t = m->type;
	}
	TRY(literal_encode_text(t, text, ret));
	if (never_zero && is_zero(ret))
		return error_new(ERR_USAGE, "its type has no value 0");
	return NULL;
}

#include "dwarf/names/secrets.h"

#include <ctype.h>
#include <string.h>

static const char *const known[] = { "token", "secret", "password", "key", "authorization" };

enum { MAX_KEY = 64 /* bytes; a longer string is not taken for a name */ };

static bool is_word_letter(char c)
{
	/* Non-ASCII bytes are part of a word and have no case. */
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool is_word(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > SECRET_WORD_MAX)
		return false;
	for (const char *p = text; *p; p++) {
		if (!islower((unsigned char)*p))
			return false;
	}
	return true;
}

void secrets_add_known(struct secrets *s)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		*vec_push(&s->words) = known[i];
}

bool secrets_add(struct secrets *s, const char *text)
{
	if (!is_word(text))
		return false;
	*vec_push(&s->words) = text;
	return true;
}

bool secrets_remove(struct secrets *s, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < s->words.n; i++) {
		if (strcmp(s->words.data[i], text) != 0)
			s->words.data[n++] = s->words.data[i];
	}
	s->words.n = n;
	return is_word(text);
}

void secrets_free(struct secrets *s)
{
	vec_free(&s->words);
}

static bool secrets_is_listed(const struct secrets *s, const char *word, size_t len)
{
	for (size_t i = 0; i < s->words.n; i++) {
		const char *listed = s->words.data[i];
		size_t n = strlen(listed);

		if (len < n || strncasecmp(word, listed, n) != 0)
			continue;
		if (len == n || (len == n + 1 && (word[n] == 's' || word[n] == 'S')))
			return true;
	}
	return false;
}

/* Does the ith letter begin a word? True for the K of "apiKey" and of "APIKey". */
static bool begins_word(const char *name, size_t len, size_t i)
{
	if (!isupper((unsigned char)name[i]))
		return false;
	if (!isupper((unsigned char)name[i - 1]))
		return true;
	/* The "s" of "KEYs" and "APIs" begins no word. */
	return i + 2 < len && islower((unsigned char)name[i + 1]) &&
	       islower((unsigned char)name[i + 2]);
}

bool secrets_has(const struct secrets *s, const char *name, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t start = i;

		if (!is_word_letter(name[i])) {
			i++;
			continue;
		}
		for (i++; i < len && is_word_letter(name[i]) && !begins_word(name, len, i);)
			i++;
		if (secrets_is_listed(s, name + start, i - start))
			return true;
	}
	return false;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* The end of the string whose opening quote is text[0]; len if it is not closed. */
static size_t string_end(const char *text, size_t len)
{
	size_t i = 1;

	while (i < len && text[i] != '"')
		i += text[i] == '\\' && i + 1 < len ? 2 : 1;
	return i < len ? i : len;
}

static bool string_has(const struct secrets *s, const char *text, size_t len)
{
	if (len > MAX_KEY)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_name(text[i]))
			return false;
	}
	return secrets_has(s, text, len);
}

bool secrets_has_text(const struct secrets *s, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t start = i;

		if (text[i] == '"') {
			i += string_end(text + i, len - i);
			if (string_has(s, text + start + 1, i - start - 1))
				return true;
			i++;
		} else if (is_name(text[i])) {
			while (i < len && is_name(text[i]))
				i++;
			bool opens =
				i < len && (text[i] == '(' || text[i] == ':' ||
			                    (text[i] == ' ' && i + 1 < len && text[i + 1] == '{'));
			/* The b of b"..." is a prefix, not a name. */
			if (!opens && secrets_has(s, text + start, i - start))
				return true;
		} else {
			i++;
		}
	}
	return false;
}

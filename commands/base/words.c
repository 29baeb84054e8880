#include "commands/base/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"

struct splitter {
	struct arena *a;
	const char *p; /* rest of the line */
	VEC(const char *) words;
	VEC(struct words) commands;
};

static void splitter_deinit(struct splitter *s)
{
	vec_free(&s->words);
	vec_free(&s->commands);
}

static void end_command(struct splitter *s)
{
	if (s->words.n == 0)
		return;

	struct words *command = vec_push(&s->commands);
	command->n = s->words.n;
	command->word = arena_memdup(s->a, s->words.data, s->words.n * sizeof(*s->words.data));
	s->words.n = 0;
}

/* Whether the command gives a variable a value: "set PATH = LITERAL". */
static bool is_assignment(const struct splitter *s)
{
	size_t n = s->words.n;

	return n && strcmp(s->words.data[0], "set") == 0 &&
	       (n == 1 || strcmp(s->words.data[1], "source-map") != 0);
}

static struct error *words_take(struct splitter *s)
{
	STR(word);

	for (; *s->p && *s->p != ';' && !isspace((unsigned char)*s->p); s->p++) {
		if (*s->p != '\'' && *s->p != '"') {
			str_append_len(&word, s->p, 1);
			if (*s->p != '=' || !is_assignment(s))
				continue;
			/* The rest is a literal. */
			s->p++;
			break;
		}
		const char *close = strchr(s->p + 1, *s->p);

		if (!close)
			return error_new(ERR_USAGE, "missing closing quote %c", *s->p);
		str_append_len(&word, s->p + 1, (size_t)(close - s->p - 1));
		s->p = close;
	}
	*vec_push(&s->words) = arena_strdup(s->a, str_text(&word));
	return NULL;
}

/* Whether a condition follows: behind `if`, and behind the number of `condition`. */
static bool begins_condition(const struct splitter *s)
{
	size_t n = s->words.n;
	const char *command = n ? s->words.data[0] : "";

	return (n > 2 && strcmp(s->words.data[n - 1], "if") == 0) ||
	       (n == 2 && strlen(command) > 3 && str_begins("condition", command));
}

/* The length of the rest of the command, without the blanks at its end. */
static struct error *condition_length(const char *p, size_t *ret)
{
	*ret = 0;
	for (size_t i = 0; p[i] && p[i] != ';'; i++) {
		const char *close = p[i] && strchr("'\"`", p[i]) ? strchr(p + i + 1, p[i]) : p + i;

		if (!close)
			return error_new(ERR_USAGE, "missing closing quote %c", p[i]);
		if (p[i] == '#' && isspace((unsigned char)p[i - 1]))
			return NULL;
		i = (size_t)(close - p);
		if (!isspace((unsigned char)p[i]))
			*ret = i + 1;
	}
	return NULL;
}

/* A condition is one word, in which quotes stay: they are those of texts. */
static struct error *take_condition(struct splitter *s)
{
	size_t len;

	TRY(condition_length(s->p, &len));
	char quote = s->p[0];
	bool whole = (quote == '\'' || quote == '"') && strchr(s->p + 1, quote) == s->p + len - 1;
	*vec_push(&s->words) = arena_strndup(s->a, s->p + whole, len - 2 * whole);
	s->p += len;
	return NULL;
}

/* Whether the literal of an assignment follows. */
static bool begins_literal(const struct splitter *s)
{
	const char *last = s->words.n > 1 ? s->words.data[s->words.n - 1] : "";
	size_t len = strlen(last);

	return len && last[len - 1] == '=' && is_assignment(s);
}

/* The end of a text in quotes, of which \ escapes the next character; NULL: it has none. */
static const char *end_of_quoted(const char *p)
{
	char quote = *p++;

	while (*p && *p != quote)
		p += *p == '\\' && p[1] ? 2 : 1;
	return *p ? p : NULL;
}

/* A literal is one word, in which the quotes of a character stay. */
static struct error *take_literal(struct splitter *s)
{
	const char *p = s->p, *end = p;
	bool whole = *p == '"';

	for (; *p && *p != ';' && (*p != '#' || !isspace((unsigned char)p[-1])); p++) {
		const char *close = *p == '\'' || *p == '"' ? end_of_quoted(p) : p;

		if (!close)
			return error_new(ERR_USAGE, "missing closing quote %c", *p);
		whole = whole && (p == s->p || isspace((unsigned char)*p));
		p = close;
		if (!isspace((unsigned char)*p))
			end = p + 1;
	}
	*vec_push(&s->words) =
		arena_strndup(s->a, s->p + whole, (size_t)(end - s->p) - 2 * (size_t)whole);
	s->p = p;
	return NULL;
}

static struct error *take_next(struct splitter *s)
{
	if (begins_condition(s))
		return take_condition(s);
	return begins_literal(s) ? take_literal(s) : words_take(s);
}

struct error *words_split(struct arena *a, const char *line, struct words **ret, size_t *nret)
{
	struct splitter s CLEANUP(splitter_deinit) = { .a = a, .p = line };

	while (*s.p) {
		if (*s.p == '#')
			break;
		if (*s.p == ';') {
			end_command(&s);
			s.p++;
		} else if (isspace((unsigned char)*s.p)) {
			s.p++;
		} else {
			TRY(take_next(&s));
		}
	}
	end_command(&s);
	*nret = s.commands.n;
	*ret = arena_memdup(a, s.commands.data, s.commands.n * sizeof(*s.commands.data));
	return NULL;
}

/*
 * Parses a whole word as a number. It must begin with a digit, because strtoull accepts signs and
 * blanks.
 */
static bool words_parse_digits(const char *digits, int base, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(digits, &end, base);
	return isxdigit((unsigned char)*digits) && *end == '\0' && errno == 0;
}

struct error *words_number(const char *word, const char *what, uint64_t max, uint64_t *ret)
{
	if (!words_parse_digits(word, 10, ret) || *ret > max)
		return error_new(ERR_USAGE, "\"%s\" is not %s", word, what);
	return NULL;
}

struct error *words_size(const char *word, uint64_t max, uint64_t *ret)
{
	static const char units[] = "KMG";
	SCRATCH(tmp);
	size_t len = strlen(word);
	const char *unit = len > 1 ? strchr(units, word[len - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (!words_parse_digits(arena_strndup(&tmp, word, len - (unit != NULL)), 10, ret) ||
	    *ret > max >> shift)
		return error_new(ERR_USAGE, "\"%s\" is not a size: 65536, 64K, 16M, 2G", word);
	*ret <<= shift;
	return NULL;
}

struct error *words_file(const char *word)
{
	return *word ? NULL : error_new(ERR_USAGE, "the file name is empty");
}

struct error *words_address(const char *word, uint64_t *ret)
{
	bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');

	/* strtoull would accept another 0x after 0x. */
	if (hex ? isxdigit((unsigned char)word[2]) && !strpbrk(word + 2, "xX") &&
	                    words_parse_digits(word + 2, 16, ret)
	        : words_parse_digits(word, 10, ret))
		return NULL;
	return error_new(ERR_USAGE, "\"%s\" is not an address such as 0x7f00 or 32512", word);
}

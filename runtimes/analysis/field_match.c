/* Parses the VALUE of a field filter and matches values of tasks against it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/analysis/field.h"

static bool regex_passes(const struct field_test *t, const char *text)
{
	return regexec(&t->regex, text, 0, NULL, 0) == 0;
}

static bool number_passes(const struct field_test *t, int64_t number)
{
	return (number >= t->min && number <= t->max) != t->inverse;
}

/* Parses an integer at *text and advances *text past it. */
static bool field_match_take_number(const char **text, int64_t *ret)
{
	char *end;

	if (!strchr("-0123456789", **text))
		return false;
	errno = 0;
	*ret = strtoll(*text, &end, 10);
	if (errno || end == *text)
		return false;
	*text = end;
	return true;
}

/* Returns false when the value is neither a number nor a comparison with one. */
static bool field_match_parse_number(const char *value, struct field_test *ret)
{
	static const char *const operators[] = { ">=", "<=", "!=", ">", "<", "=" };
	const char *operator= "=";
	int64_t n;

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (strncmp(value, operators[i], strlen(operators[i])) != 0)
			continue;
		operator= operators[i];
		value += strlen(operator);
		break;
	}
	value += strspn(value, " ");
	if (!*value || !field_match_take_number(&value, &n))
		return false;
	*ret = (struct field_test){ .min = INT64_MIN, .max = INT64_MAX };
	if (*operator!= '<')
		ret->min = n;
	if (*operator!= '>')
		ret->max = n;
	if (strcmp(operator, ">") == 0 && __builtin_add_overflow(n, 1, &ret->min))
		return false;
	if (strcmp(operator, "<") == 0 && __builtin_sub_overflow(n, 1, &ret->max))
		return false;
	ret->inverse = *operator== '!';
	if (*operator== '=' && strncmp(value, "..", 2) == 0) {
		value += 2;
		return *value && field_match_take_number(&value, &ret->max) && !*value;
	}
	return !*value;
}

struct error *field_test_parse(const struct field *field, const char *value, struct field_test *ret)
{
	enum { REASON_SIZE = 128 };
	char reason[REASON_SIZE];

	*ret = (struct field_test){ 0 };
	if (field->numbers && field_match_parse_number(value, ret)) {
		if (ret->min > ret->max)
			return error_new(ERR_USAGE, "%s contains no number", value);
		ret->number = number_passes;
		return NULL;
	}
	if (!field->texts)
		return error_new(ERR_USAGE,
		                 "%s is a number: use 5, '!=5', '>5', '>=5', '<5', '<=5' or 5..9, "
		                 "not \"%s\"",
		                 field->name, value);
	int code = regcomp(&ret->regex, value, REG_EXTENDED | REG_NOSUB);
	if (!code) {
		ret->text = regex_passes;
		return NULL;
	}
	regerror(code, &ret->regex, reason, sizeof(reason));
	return error_new(ERR_USAGE, "\"%s\" is not a valid regular expression: %s", value, reason);
}

void field_test_free(struct field_test *t)
{
	if (t->text)
		regfree(&t->regex);
	*t = (struct field_test){ 0 };
}

bool field_passes(const struct field *field, const struct field_of *of, const struct field_test *t)
{
	return t->text ? field->texts(of, t) : field->numbers(of, t);
}

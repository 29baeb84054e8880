#include "runtimes/hits/predicate.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"

struct predicate_parser {
	struct arena *a;
	const char *text, *rest; /* the whole, and what is not parsed yet */
	unsigned depth;
};

static struct error *predicate_parse_or(struct predicate_parser *p, const struct predicate **ret)
	MUST_CHECK;

/* ---- parts of the text ---- */

static void predicate_skip_blanks(struct predicate_parser *p)
{
	while (*p->rest == ' ' || *p->rest == '\t')
		p->rest++;
}

static bool predicate_take(struct predicate_parser *p, const char *what)
{
	predicate_skip_blanks(p);
	if (!str_begins(p->rest, what))
		return false;
	p->rest += strlen(what);
	return true;
}

static struct error *predicate_not_understood(const struct predicate_parser *p)
{
	SCRATCH(tmp);

	if (!*p->rest)
		return error_new(ERR_USAGE, "the condition \"%s\" ends too early",
		                 str_clean(&tmp, p->text, strlen(p->text)));
	return error_new(ERR_USAGE, "cannot parse \"%s\" in a condition",
	                 str_clean(&tmp, p->rest, strlen(p->rest)));
}

static struct predicate *predicate_node(struct predicate_parser *p, enum predicate_op op,
                                        const struct predicate *left, const struct predicate *right)
{
	struct predicate *c = NEW(p->a, struct predicate);

	c->op = op;
	c->left = left;
	c->right = right;
	return c;
}

/* ---- literals ---- */

static bool predicate_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static int predicate_digit_of(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isalpha((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : INT8_MAX;
}

/* Digits of a base, with _ between them. False: it is too large a number. */
static bool take_digits(struct predicate_parser *p, int base, uint64_t *ret)
{
	bool fits = true;

	for (*ret = 0; predicate_digit_of(*p->rest) < base || *p->rest == '_'; p->rest++) {
		if (*p->rest == '_')
			continue;
		fits &= !__builtin_mul_overflow(*ret, (uint64_t)base, ret);
		fits &= !__builtin_add_overflow(*ret, (uint64_t)predicate_digit_of(*p->rest), ret);
	}
	return fits;
}

/* Whether a number with a point begins: "1.5", "2e9". */
static bool is_real(const char *s)
{
	while (isdigit((unsigned char)*s))
		s++;
	return (*s == '.' && isdigit((unsigned char)s[1])) ||
	       ((*s == 'e' || *s == 'E') &&
	        isdigit((unsigned char)s[1 + (s[1] == '-' || s[1] == '+')]));
}

static struct error *predicate_parse_number(struct predicate_parser *p, struct predicate_value *ret)
{
	const char *start = p->rest;
	bool negative = *p->rest == '-', fits = true;
	int base = 10;

	p->rest += negative;
	if (p->rest[0] == '0' && p->rest[1])
		base = p->rest[1] == 'x' ? 16 : p->rest[1] == 'o' ? 8 : p->rest[1] == 'b' ? 2 : 10;
	if (base == 10 && is_real(p->rest)) {
		char *end;

		ret->kind = PREDICATE_REAL;
		ret->real = strtod(p->rest, &end);
		ret->real = negative ? -ret->real : ret->real;
		p->rest = end;
	} else {
		p->rest += base == 10 ? 0 : 2;
		ret->kind = PREDICATE_NUMBER;
		fits = predicate_digit_of(*p->rest) < base && take_digits(p, base, &ret->number);
		ret->negative = negative && ret->number;
	}
	if (fits && !predicate_is_name(*p->rest) && *p->rest != '.')
		return NULL;
	while (predicate_is_name(*p->rest) || *p->rest == '.')
		p->rest++;
	return error_new(ERR_USAGE, "%.*s is not a number, or too large a one",
	                 (int)(p->rest - start), start);
}

static struct error *parse_text(struct predicate_parser *p, struct predicate_value *ret)
{
	char quote = *p->rest++;
	STR(text);

	for (; *p->rest && *p->rest != quote; p->rest++) {
		static const char plain[] = "nrt0", meant[] = "\n\r\t";
		const char *c = p->rest;
		const char *escape = NULL;

		if (*c == '\\' && c[1]) {
			c = ++p->rest;
			escape = strchr(plain, *c);
		}
		if (escape && *c == '0')
			return error_new(ERR_USAGE, "a string in a condition cannot contain \\0");
		str_append_len(&text, escape ? &meant[escape - plain] : c, 1);
	}
	if (!*p->rest)
		return error_new(ERR_USAGE, "missing closing quote %c", quote);
	p->rest++;
	ret->kind = PREDICATE_TEXT;
	ret->text = arena_strdup(p->a, str_text(&text));
	return NULL;
}

/* ---- paths ---- */

/* The length of a path: "*a.b[0].1", "app::{closure#0}::N". 0: there is none. */
static size_t predicate_path_length(const char *s)
{
	size_t n = strspn(s, "*");

	if (!predicate_is_name(s[n]) || isdigit((unsigned char)s[n]))
		return 0;
	for (;;) {
		size_t index = s[n] == '[' ? strspn(s + n + 1, "0123456789abcdefx.") : 0;

		if (predicate_is_name(s[n]) || s[n] == '{' || s[n] == '}' || s[n] == '#')
			n++;
		else if (s[n] == ':' && s[n + 1] == ':')
			n += 2;
		else if (s[n] == '.' && predicate_is_name(s[n + 1]))
			n++;
		else if (index && s[n + 1 + index] == ']')
			n += index + 2;
		else
			return n;
	}
}

static const struct predicate *of_path(struct predicate_parser *p, const char *path)
{
	struct predicate *c;

	if (strcmp(path, "true") == 0 || strcmp(path, "false") == 0) {
		c = predicate_node(p, PREDICATE_LITERAL, NULL, NULL);
		c->value =
			(struct predicate_value){ .kind = PREDICATE_BOOL, .truth = path[0] == 't' };
	} else if (strcmp(path, "task.id") == 0) {
		c = predicate_node(p, PREDICATE_TASK_ID, NULL, NULL);
	} else if (strcmp(path, "task.type") == 0) {
		c = predicate_node(p, PREDICATE_TASK_TYPE, NULL, NULL);
	} else if (strcmp(path, "task.name") == 0) {
		c = predicate_node(p, PREDICATE_TASK_NAME, NULL, NULL);
	} else {
		c = predicate_node(p, PREDICATE_PATH, NULL, NULL);
		c->path = path;
	}
	return c;
}

static struct error *parse_backquoted(struct predicate_parser *p, const struct predicate **ret)
{
	const char *close = strchr(p->rest + 1, '`');
	struct predicate *c = predicate_node(p, PREDICATE_PATH, NULL, NULL);

	if (!close || close == p->rest + 1)
		return error_new(ERR_USAGE, close ? "nothing between the backquotes"
		                                  : "missing closing backquote");
	c->path = arena_strndup(p->a, p->rest + 1, (size_t)(close - p->rest - 1));
	p->rest = close + 1;
	*ret = c;
	return NULL;
}

/* ---- the grammar ---- */

static struct error *parse_operand(struct predicate_parser *p, const struct predicate **ret)
{
	struct predicate_value value = { 0 };

	predicate_skip_blanks(p);
	bool number = isdigit((unsigned char)p->rest[*p->rest == '-']);
	bool text = *p->rest == '"' || *p->rest == '\'';
	size_t len = predicate_path_length(p->rest);

	if (number || text) {
		TRY((number ? predicate_parse_number : parse_text)(p, &value));
		struct predicate *c = predicate_node(p, PREDICATE_LITERAL, NULL, NULL);
		c->value = value;
		*ret = c;
		return NULL;
	}
	if (*p->rest == '`')
		return parse_backquoted(p, ret);
	if (!len)
		return predicate_not_understood(p);
	*ret = of_path(p, arena_strndup(p->a, p->rest, len));
	p->rest += len;
	return NULL;
}

static struct error *parse_primary(struct predicate_parser *p, const struct predicate **ret)
{
	if (!predicate_take(p, "("))
		return parse_operand(p, ret);
	TRY(predicate_parse_or(p, ret));
	return predicate_take(p, ")") ? NULL : predicate_not_understood(p);
}

static struct error *parse_not(struct predicate_parser *p, const struct predicate **ret)
{
	bool negated = false, any = false;

	for (predicate_skip_blanks(p); p->rest[0] == '!' && p->rest[1] != '=';
	     predicate_skip_blanks(p)) {
		p->rest++;
		negated = !negated;
		any = true;
	}
	TRY(parse_primary(p, ret));
	if (any)
		*ret = predicate_node(p, PREDICATE_NOT, *ret, NULL);
	if (any && !negated)
		*ret = predicate_node(p, PREDICATE_NOT, *ret, NULL);
	return NULL;
}

static bool take_comparison(struct predicate_parser *p, enum predicate_op *ret)
{
	static const struct {
		const char *text;
		enum predicate_op op;
	} list[] = { { "==", PREDICATE_EQUAL },    { "!=", PREDICATE_DIFFERS },
		     { "<=", PREDICATE_AT_MOST },  { "<", PREDICATE_LESS },
		     { ">=", PREDICATE_AT_LEAST }, { ">", PREDICATE_MORE } };

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		*ret = list[i].op;
		if (predicate_take(p, list[i].text))
			return true;
	}
	return false;
}

static struct error *parse_comparison(struct predicate_parser *p, const struct predicate **ret)
{
	const struct predicate *right;
	enum predicate_op op;

	TRY(parse_not(p, ret));
	if (!take_comparison(p, &op))
		return NULL;
	TRY(parse_not(p, &right));
	*ret = predicate_node(p, op, *ret, right);
	if (take_comparison(p, &op))
		return error_new(ERR_USAGE, "comparisons must be joined by && or ||");
	return NULL;
}

static struct error *parse_and(struct predicate_parser *p, const struct predicate **ret)
{
	const struct predicate *right;

	TRY(parse_comparison(p, ret));
	while (predicate_take(p, "&&")) {
		TRY(parse_comparison(p, &right));
		*ret = predicate_node(p, PREDICATE_AND, *ret, right);
	}
	return NULL;
}

static struct error *predicate_parse_or(struct predicate_parser *p, const struct predicate **ret)
{
	const struct predicate *right;

	if (p->depth++ > PREDICATE_DEPTH)
		return error_new(ERR_USAGE, "too many parentheses in the condition");
	TRY(parse_and(p, ret));
	while (predicate_take(p, "||")) {
		TRY(parse_and(p, &right));
		*ret = predicate_node(p, PREDICATE_OR, *ret, right);
	}
	p->depth--;
	return NULL;
}

struct error *predicate_parse(struct arena *a, const char *text, const struct predicate **ret)
{
	struct predicate_parser p = { .a = a, .text = text, .rest = text };

	if (strlen(text) > PREDICATE_LENGTH)
		return error_new(ERR_USAGE, "a condition may have at most %d bytes",
		                 PREDICATE_LENGTH);
	TRY(predicate_parse_or(&p, ret));
	predicate_skip_blanks(&p);
	return *p.rest ? predicate_not_understood(&p) : NULL;
}

/* ---- evaluation ---- */

static struct error *predicate_value_of(const struct predicate *c, predicate_find *find, void *arg,
                                        struct predicate_value *ret)
{
	*ret = (struct predicate_value){ 0 };
	if (c->op == PREDICATE_LITERAL) {
		*ret = c->value;
		return NULL;
	}
	if (c->op > PREDICATE_LITERAL)
		return find(arg, c, ret);
	ret->kind = PREDICATE_BOOL;
	return predicate_evaluate(c, find, arg, &ret->truth);
}

static bool predicate_is_number(const struct predicate_value *v)
{
	return v->kind == PREDICATE_NUMBER || v->kind == PREDICATE_REAL;
}

/* Numbers of 64 bits are exact. */
static long double real_of(const struct predicate_value *v)
{
	long double number = (long double)v->number;

	if (v->kind == PREDICATE_REAL)
		return v->real;
	return v->negative ? -number : number;
}

static int sign(bool more, bool less)
{
	return more - less;
}

static int compare_numbers(const struct predicate_value *x, const struct predicate_value *y)
{
	int way = sign(x->number > y->number, x->number < y->number);

	if (x->negative != y->negative)
		return x->negative ? -1 : 1;
	return x->negative ? -way : way;
}

/* Compares two values; *ret < 0, 0, > 0. *ordered false: neither is the larger one. */
static struct error *predicate_compare(const struct predicate_value *x,
                                       const struct predicate_value *y, int *ret, bool *ordered)
{
	static const char *const names[] = { "nothing", "a bool", "a number", "a number",
		                             "a text" };

	*ordered = true;
	if (x->kind == PREDICATE_NUMBER && y->kind == PREDICATE_NUMBER) {
		*ret = compare_numbers(x, y);
	} else if (predicate_is_number(x) && predicate_is_number(y)) {
		long double a = real_of(x), b = real_of(y);

		*ret = isnan(a) || isnan(b) ? 1 : sign(a > b, a < b);
		*ordered = !isnan(a) && !isnan(b);
	} else if (x->kind == PREDICATE_TEXT && y->kind == PREDICATE_TEXT) {
		*ret = strcmp(x->text, y->text);
	} else if (x->kind == PREDICATE_BOOL && y->kind == PREDICATE_BOOL) {
		*ret = x->truth - y->truth;
	} else if (x->kind == PREDICATE_NOTHING || y->kind == PREDICATE_NOTHING) {
		*ret = x->kind != y->kind;
		*ordered = false;
	} else {
		return error_new(ERR_USAGE, "it compares %s with %s", names[x->kind],
		                 names[y->kind]);
	}
	return NULL;
}

/* Whether a text is the function of a type of tasks: "svc::f" of "svc::f::{async_fn_env#0}". */
static bool is_function_of(const struct predicate *operand, const struct predicate_value *type,
                           const struct predicate_value *text)
{
	SCRATCH(tmp);

	return operand->op == PREDICATE_TASK_TYPE && type->kind == PREDICATE_TEXT &&
	       text->kind == PREDICATE_TEXT &&
	       strcmp(name_function(&tmp, type->text), text->text) == 0;
}

static struct error *evaluate_comparison(const struct predicate *c, predicate_find *find, void *arg,
                                         bool *ret)
{
	struct predicate_value x, y;
	bool ordered;
	int way = 0;

	TRY(predicate_value_of(c->left, find, arg, &x));
	TRY(predicate_value_of(c->right, find, arg, &y));
	TRY(predicate_compare(&x, &y, &way, &ordered));
	if (is_function_of(c->left, &x, &y) || is_function_of(c->right, &y, &x))
		way = 0;
	switch (c->op) {
	case PREDICATE_EQUAL:
		*ret = way == 0;
		break;
	case PREDICATE_DIFFERS:
		*ret = way != 0;
		break;
	case PREDICATE_LESS:
		*ret = ordered && way < 0;
		break;
	case PREDICATE_AT_MOST:
		*ret = ordered && way <= 0;
		break;
	case PREDICATE_MORE:
		*ret = ordered && way > 0;
		break;
	default:
		*ret = ordered && way >= 0;
		break;
	}
	return NULL;
}

struct error *predicate_evaluate(const struct predicate *c, predicate_find *find, void *arg,
                                 bool *ret)
{
	struct predicate_value v;

	switch (c->op) {
	case PREDICATE_OR:
	case PREDICATE_AND:
		TRY(predicate_evaluate(c->left, find, arg, ret));
		if (*ret == (c->op == PREDICATE_OR))
			return NULL;
		return predicate_evaluate(c->right, find, arg, ret);
	case PREDICATE_NOT:
		TRY(predicate_evaluate(c->left, find, arg, ret));
		*ret = !*ret;
		return NULL;
	case PREDICATE_LITERAL:
	case PREDICATE_PATH:
	case PREDICATE_TASK_ID:
	case PREDICATE_TASK_TYPE:
	case PREDICATE_TASK_NAME:
		TRY(predicate_value_of(c, find, arg, &v));
		*ret = v.truth;
		return v.kind == PREDICATE_BOOL ? NULL
		                                : error_new(ERR_USAGE, "%s is not a bool",
		                                            c->path ? c->path : "an operand");
	default:
		return evaluate_comparison(c, find, arg, ret);
	}
}

bool predicate_needs_task(const struct predicate *c)
{
	if (c->op == PREDICATE_TASK_TYPE || c->op == PREDICATE_TASK_NAME)
		return true;
	return (c->left && predicate_needs_task(c->left)) ||
	       (c->right && predicate_needs_task(c->right));
}

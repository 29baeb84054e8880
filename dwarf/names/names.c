/*
 * Shortens Rust type and function names. It is one recursive descent over the text, which writes
 * output while it reads and then cuts parts of the output.
 */
#include "dwarf/names/names.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"

enum mode {
	SHORT,    /* name_short() */
	PLAIN,    /* name_without_generics() */
	FUNCTION, /* name_function() */
};

struct names_parser {
	const char *p, *end;
	struct str *out;
	enum mode mode;
	unsigned depth;
	unsigned parts;  /* number of parts of the last type if it was a path, else 0 */
	size_t self_len; /* offset in out of the end of a method's self type, 0 unknown */
};

/* POINTEE is after & and *, where "dyn A + B" needs its parentheses. */
enum names_place { TOP, NESTED, POINTEE };

/* The state of reading one path. Offsets are in out. */
struct path_state {
	size_t start, last; /* start of the path, and of its last part */
	size_t type;        /* its first part with a capital, when has_type */
	bool has_type;
	size_t self_len;      /* as in struct names_parser */
	const char *source;   /* the path in the input */
	const char *kind;     /* "async fn" when a part is a coroutine */
	const char *kind_end; /* end of that part in the input */
	size_t kind_tail;     /* what follows that part and its generics */
	bool env;             /* that part is the coroutine's type: "Suspend0" may follow */
	unsigned parts;
};

static bool names_type(struct names_parser *ps, enum names_place place);
static bool names_path(struct names_parser *ps, enum names_place place);

static void names_erase(struct str *s, size_t from, size_t to)
{
	memmove(s->data + from, s->data + to, s->len - to);
	str_truncate(s, s->len - (to - from));
}

/* Inlined together with the text: the first character nearly always decides. */
static inline bool names_looking_at(const struct names_parser *ps, const char *text)
{
	if (ps->p >= ps->end || *ps->p != *text)
		return false;
	size_t len = strlen(text);
	return (size_t)(ps->end - ps->p) >= len && memcmp(ps->p, text, len) == 0;
}

static inline bool names_eat(struct names_parser *ps, const char *text)
{
	if (!names_looking_at(ps, text))
		return false;
	ps->p += strlen(text);
	return true;
}

/* Does what names_eat() does, and writes the text. */
static inline bool names_copy(struct names_parser *ps, const char *text)
{
	if (!names_eat(ps, text))
		return false;
	str_append_len(ps->out, text, strlen(text));
	return true;
}

static void names_spaces(struct names_parser *ps)
{
	while (ps->p < ps->end && *ps->p == ' ')
		ps->p++;
}

static inline bool is_ident(char c)
{
	static const bool idents[UCHAR_MAX + 1] = {
		['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true,   ['_'] = true,
		['$'] = true,         ['.'] = true,         [0x80 ... 0xff] = true,
	};

	return idents[(unsigned char)c];
}

static size_t ident_length(const struct names_parser *ps)
{
	const char *q = ps->p;

	while (q < ps->end && is_ident(*q))
		q++;
	return (size_t)(q - ps->p);
}

/* 'a, '_ and 'static; false for a character constant. */
static bool names_lifetime(struct names_parser *ps)
{
	const char *q = ps->p;

	if (q == ps->end || *q != '\'')
		return false;
	for (q++; q < ps->end && is_ident(*q); q++)
		;
	if (q == ps->p + 1 || (q < ps->end && *q == '\''))
		return false;
	str_append_len(ps->out, ps->p, (size_t)(q - ps->p));
	ps->p = q;
	return true;
}

/* A number, or a character in quotes. */
static bool literal(struct names_parser *ps)
{
	const char *q = ps->p;

	if (*q == '\'') {
		q += q + 1 < ps->end && q[1] == '\\' ? 3 : 2;
		while (q < ps->end && *q != '\'')
			q++;
		if (q >= ps->end)
			return false;
		q++;
	} else {
		q += *q == '-';
		while (q < ps->end && (isalnum((unsigned char)*q) || *q == '_' || *q == '.'))
			q++;
	}
	str_append_len(ps->out, ps->p, (size_t)(q - ps->p));
	ps->p = q;
	return true;
}

/* "for<'a, 'b> " */
static bool names_binder(struct names_parser *ps)
{
	if (!names_copy(ps, "for<"))
		return true;
	while (names_lifetime(ps) && names_copy(ps, ", "))
		;
	return names_copy(ps, "> ");
}

static bool is_default_argument(const char *text, size_t len)
{
	static const char *const defaults[] = { "alloc::alloc::Global", "std::alloc::System",
		                                "std::hash::random::RandomState",
		                                "std::collections::hash::map::RandomState" };

	while (len && *text == '&') {
		text++;
		len--;
	}
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		if (strlen(defaults[i]) == len && memcmp(defaults[i], text, len) == 0)
			return true;
	return false;
}

/* "Output=()" and "Output = ()" before a type. */
static void binding(struct names_parser *ps)
{
	size_t len = ident_length(ps);
	const char *q = ps->p + len;

	while (q < ps->end && *q == ' ')
		q++;
	if (len == 0 || q == ps->end || *q != '=')
		return;
	str_append_len(ps->out, ps->p, len);
	str_append(ps->out, "=");
	ps->p = q + 1;
	names_spaces(ps);
}

/* Reads types up to close, and close itself. Counts them in n; leaves out default arguments. */
static bool names_list(struct names_parser *ps, const char *close, size_t *n)
{
	*n = 0;
	for (names_spaces(ps); !names_eat(ps, close); (*n)++) {
		size_t before = ps->out->len;
		const char *source;

		if (*n)
			str_append(ps->out, ", ");
		if (names_eat(ps, "...")) {
			str_append(ps->out, "...");
		} else {
			source = ps->p;
			binding(ps);
			if (!names_type(ps, NESTED))
				return false;
			if (*n && *close == '>' &&
			    is_default_argument(source, (size_t)(ps->p - source)))
				str_truncate(ps->out, before);
		}
		names_spaces(ps);
		if (!names_eat(ps, ",") && !names_looking_at(ps, close))
			return false;
		names_spaces(ps);
	}
	return true;
}

/* Skips text past the matching ">", by brackets alone. */
static bool skip_generics(struct names_parser *ps)
{
	unsigned open = 1;

	for (const char *q = ps->p; q < ps->end; q++) {
		switch (*q) {
		case '<':
		case '(':
		case '[':
			open++;
			break;
		case '>':
			open -= q[-1] != '-';
			break;
		case ')':
		case ']':
			open--;
			break;
		case '\'':
		case '"':
			return false;
		default:
			break;
		}
		if (open == 0 && *q != '>')
			return false;
		if (open == 0) {
			ps->p = q + 1;
			return true;
		}
	}
	return false;
}

/* Reads generic arguments after "<". */
static bool generics(struct names_parser *ps)
{
	size_t before = ps->out->len, n;

	if (ps->mode != SHORT && skip_generics(ps))
		return true;
	str_append(ps->out, "<");
	if (!names_list(ps, ">", &n))
		return false;
	str_append(ps->out, ">");
	if (ps->mode != SHORT)
		str_truncate(ps->out, before);
	return true;
}

static bool dyn(struct names_parser *ps)
{
	bool more;

	do {
		if (!names_lifetime(ps) && (!names_binder(ps) || !names_path(ps, NESTED)))
			return false;
		/* Legacy symbols have "A+B". */
		more = names_eat(ps, " + ") || names_eat(ps, "+");
		if (more)
			str_append(ps->out, " + ");
	} while (more);
	return true;
}

/* Reads "unsafe extern "C" fn(u8) -> u8"; does not touch anything else. */
static bool fn_pointer(struct names_parser *ps, bool *found)
{
	const char *start = ps->p;
	size_t before = ps->out->len, n;

	if (!names_binder(ps))
		return false;
	names_copy(ps, "unsafe ");
	if (names_copy(ps, "extern \"")) {
		const char *quote = memchr(ps->p, '"', (size_t)(ps->end - ps->p));

		if (!quote)
			return false;
		str_append_len(ps->out, ps->p, (size_t)(quote - ps->p));
		ps->p = quote;
		names_copy(ps, "\" ");
	}
	*found = names_copy(ps, "fn(");
	if (!*found) {
		ps->p = start;
		str_truncate(ps->out, before);
		return true;
	}
	if (!names_list(ps, ")", &n))
		return false;
	str_append(ps->out, ")");
	return !names_copy(ps, " -> ") || names_type(ps, NESTED);
}

/* Reads what follows "(": a tuple, or a type in parentheses. */
static bool tuple(struct names_parser *ps, enum names_place place)
{
	size_t open = ps->out->len, n;
	bool is_dyn = names_looking_at(ps, "dyn ");

	str_append(ps->out, "(");
	if (!names_list(ps, ")", &n))
		return false;
	bool needed =
		place == POINTEE && memmem(ps->out->data + open, ps->out->len - open, " + ", 3);
	if (is_dyn && n == 1 && !needed)
		names_erase(ps->out, open, open + 1);
	else
		str_append(ps->out, n == 1 && ps->p[-2] == ',' ? ",)" : ")");
	return true;
}

/* Reads an array or a slice after "[". */
static bool array(struct names_parser *ps)
{
	str_append(ps->out, "[");
	if (!names_type(ps, NESTED))
		return false;
	names_spaces(ps);
	if (names_eat(ps, ";")) {
		str_append(ps->out, "; ");
		names_spaces(ps);
		if (!names_type(ps, NESTED))
			return false;
	}
	return names_copy(ps, "]");
}

/*
 * Reads "T>" and "T as Trait>" after "<", and "T>" and "Trait for T>" after "<impl ". The brackets
 * around a self type that is a path are removed if there is no trait. With a trait they stay,
 * because the type may have a function of that name.
 */
static bool qualified(struct names_parser *ps, bool is_impl)
{
	size_t start = ps->out->len;
	STR(trait);

	str_append(ps->out, "<");
	if (!names_type(ps, TOP))
		return false;
	if (is_impl && names_eat(ps, " for ")) {
		str_printf(&trait, " as %s", ps->out->data + start + 1);
		str_truncate(ps->out, start + 1);
		if (!names_type(ps, TOP))
			return false;
	}
	unsigned self_parts = ps->parts;
	size_t self = ps->out->len;
	if (names_looking_at(ps, " as ")) {
		names_copy(ps, " as ");
		if (!names_type(ps, NESTED))
			return false;
	} else if (trait.len) {
		str_append(ps->out, str_text(&trait));
	}
	bool has_trait = ps->out->len > self;
	str_append(ps->out, ">");
	if (!has_trait && self_parts > 0) {
		str_truncate(ps->out, self);
		names_erase(ps->out, start, start + 1);
	}
	return names_eat(ps, ">");
}

/* The kind of a part such as "{async_fn_env#0}"; *env: it is the coroutine's type. */
static const char *coroutine_kind(const char *text, size_t len, bool *env)
{
	static const struct {
		const char *start, *kind;
	} kinds[] = {
		{ "{async_fn", "async fn" },
		{ "{async_block", "async block" },
		{ "{async_closure", "async closure" },
		{ "{closure", "closure" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].start);

		if (len <= n || memcmp(text, kinds[i].start, n) != 0)
			continue;
		*env = len > n + 5 && memcmp(text + n, "_env#", 5) == 0;
		if (*env || text[n] == '#')
			return kinds[i].kind;
	}
	return NULL;
}

/* Length of "{...}" at p with balanced braces; 0 if it does not end. */
static size_t braced_length(const char *p, const char *end)
{
	unsigned open = 0;

	for (const char *q = p; q < end; q++) {
		if (*q == '{')
			open++;
		else if (*q == '}' && --open == 0)
			return (size_t)(q + 1 - p);
	}
	return 0;
}

/* Writes "{async_block_env#1}" as "{async_block#1}", and nothing for the body of an async fn. */
static void write_coroutine(struct names_parser *ps, const struct path_state *st, const char *text,
                            size_t len, bool env)
{
	bool body = strncmp(text, "{async_fn", 9) == 0 || strncmp(text, "{async_closure", 14) == 0;
	const char *hash = memchr(text, '#', len);

	if (body && ps->out->len > st->start) {
		str_truncate(ps->out, ps->out->len - strlen("::"));
		return;
	}
	str_append_len(ps->out, text, (size_t)(hash - text) - (env ? strlen("_env") : 0));
	str_append_len(ps->out, hash, len - (size_t)(hash - text));
}

/* Reads one part of a path, without its generics. */
static bool names_part(struct names_parser *ps, struct path_state *st)
{
	const char *text = ps->p;
	bool brace = text < ps->end && *text == '{', env = false;
	size_t len = brace ? braced_length(text, ps->end) : ident_length(ps);
	const char *kind = brace ? coroutine_kind(text, len, &env) : NULL;

	if (len == 0)
		return false;
	ps->p += len;
	st->parts++;
	st->last = ps->out->len;
	if (!st->has_type && isupper((unsigned char)*text)) {
		st->has_type = true;
		st->type = ps->out->len;
	}
	if (!st->env) {
		st->kind = kind;
		st->kind_end = ps->p;
		st->env = env;
	}
	if (ps->mode == FUNCTION && kind)
		write_coroutine(ps, st, text, len, env);
	else if (ps->mode == SHORT && len > 7 && memcmp(text, "{CONST#", 7) == 0)
		str_append(ps->out, "_");
	else
		str_append_len(ps->out, text, len);
	return true;
}

/* Reads one part with its generics, "<impl Trait for T>", or "<u8>" after "::". */
static bool part_or_group(struct names_parser *ps, struct path_state *st)
{
	if (!names_eat(ps, "<"))
		return names_part(ps, st) && (!names_eat(ps, "<") || generics(ps));
	bool is_impl = names_eat(ps, "impl ");
	if (!is_impl && st->parts) {
		str_truncate(ps->out, ps->out->len - strlen("::"));
		return generics(ps);
	}
	/* The self type replaces the module that contains its impl block. */
	str_truncate(ps->out, st->start);
	if (!qualified(ps, is_impl))
		return false;
	st->parts++;
	st->has_type = true;
	st->type = st->start;
	st->self_len = ps->out->len;
	return true;
}

static bool has_std_root(const char *source, const char *end)
{
	static const char *const roots[] = { "core::", "alloc::", "std::" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		size_t len = strlen(roots[i]);

		if ((size_t)(end - source) > len && memcmp(source, roots[i], len) == 0)
			return true;
	}
	return false;
}

/* Cuts the output of a path to the parts that a reader needs. */
static void cut_path(struct names_parser *ps, const struct path_state *st, enum names_place place)
{
	if (st->kind) {
		size_t len = (size_t)(st->kind_end - st->source);
		STR(text);
		struct names_parser inner = {
			.p = st->source, .end = st->kind_end, .mode = FUNCTION, .out = &text
		};

		str_append(&text, st->kind);
		str_append(&text, " ");
		if (!names_path(&inner, TOP))
			str_append_len(&text, st->source, len);
		str_append_len(&text, ps->out->data + st->kind_tail, ps->out->len - st->kind_tail);
		str_truncate(ps->out, st->start);
		str_append(ps->out, str_text(&text));
	} else if (place != TOP || (st->has_type && has_std_root(st->source, ps->p))) {
		names_erase(ps->out, st->start, st->has_type ? st->type : st->last);
	}
}

static bool names_path(struct names_parser *ps, enum names_place place)
{
	struct path_state st = { .start = ps->out->len, .source = ps->p };

	do {
		bool complete = st.env;

		if (!part_or_group(ps, &st))
			return false;
		if (!complete)
			st.kind_tail = ps->out->len;
	} while (names_copy(ps, "::"));
	if (ps->mode == SHORT)
		cut_path(ps, &st, place);
	ps->parts = st.parts;
	ps->self_len = st.self_len;
	return true;
}

static bool pointer(struct names_parser *ps)
{
	if (names_copy(ps, "&")) {
		if (names_lifetime(ps))
			names_copy(ps, " ");
		names_copy(ps, "mut ");
		return true;
	}
	return names_copy(ps, "*const ") || names_copy(ps, "*mut ");
}

static bool names_type_of(struct names_parser *ps, enum names_place place, bool *is_path)
{
	bool found = false;

	*is_path = false;
	if (pointer(ps))
		return names_type(ps, POINTEE);
	if (names_eat(ps, "("))
		return tuple(ps, place);
	if (names_eat(ps, "["))
		return array(ps);
	if (names_copy(ps, "!") || names_lifetime(ps))
		return true;
	if (names_copy(ps, "dyn "))
		return dyn(ps);
	if (ps->p < ps->end && (isdigit((unsigned char)*ps->p) || strchr("-'", *ps->p)))
		return literal(ps);
	if (!fn_pointer(ps, &found))
		return false;
	*is_path = !found;
	return found || names_path(ps, place);
}

static bool names_type(struct names_parser *ps, enum names_place place)
{
	if (ps->depth == NAME_MAX_DEPTH)
		return false;
	ps->depth++;
	bool is_path;
	bool ok = names_type_of(ps, place, &is_path);
	ps->depth--;
	if (!is_path)
		ps->parts = 0;
	return ok;
}

/*
 * Writes the sanitised conversion of full in mode to out. False when full does not parse; out is
 * then the sanitised full.
 */
static bool convert(struct str *out, const char *full, enum mode mode, size_t *self_len)
{
	size_t len = strnlen(full, NAME_MAX_LENGTH + 1);
	STR(clean);
	struct names_parser ps = { .mode = mode, .out = out };

	str_append_clean(&clean, full, len > NAME_MAX_LENGTH ? NAME_MAX_LENGTH : len);
	ps.p = str_text(&clean);
	ps.end = ps.p + clean.len;
	*self_len = 0;
	if (len <= NAME_MAX_LENGTH && names_type(&ps, TOP) && ps.p == ps.end) {
		*self_len = ps.self_len;
		return true;
	}
	str_truncate(out, 0);
	str_append(out, str_text(&clean));
	if (len > NAME_MAX_LENGTH)
		str_append(out, "...");
	return false;
}

static const char *names_converted(struct arena *a, const char *full, enum mode mode)
{
	size_t self_len;
	STR(out);

	convert(&out, full, mode, &self_len);
	return arena_strdup(a, str_text(&out));
}

const char *name_short(struct arena *a, const char *full)
{
	return names_converted(a, full, SHORT);
}

const char *name_without_generics(struct arena *a, const char *full)
{
	return names_converted(a, full, PLAIN);
}

const char *name_function(struct arena *a, const char *full)
{
	return names_converted(a, full, FUNCTION);
}

bool name_parse_plain(struct str *out, const char *full, size_t *self_len)
{
	return convert(out, full, PLAIN, self_len);
}

bool name_is_pinned_box(const char *full)
{
	return str_begins(full, "core::pin::Pin<alloc::boxed::Box<");
}

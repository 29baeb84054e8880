#include "dwarf/names/rust_v0.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/names/demangle.h"
#include "dwarf/names/punycode.h"

enum {
	MAX_DEPTH = 4 * NAME_MAX_DEPTH, /* a generic argument costs up to four of our calls */
	MAX_STEPS = 1 << 18,
};

struct v0 {
	const char *sym; /* after "_R": back references count from here */
	size_t pos, len;
	struct str *out;
	size_t out_start;
	unsigned depth, steps;
	uint64_t lifetimes; /* bound by the enclosing binders */
	bool silent;        /* parse only: nothing is printed, no back reference is followed */
	bool failed;
	bool full; /* the text reached its limit */
};

struct ident {
	const char *text;
	size_t len;
	bool punycode;
	uint64_t disambiguator;
};

static void rust_v0_path(struct v0 *v, bool in_value);
static void rust_v0_type(struct v0 *v);
static void rust_v0_constant(struct v0 *v);

static bool rust_v0_stopped(const struct v0 *v)
{
	return v->failed || v->full;
}

static bool rust_v0_enter(struct v0 *v)
{
	if (++v->depth > MAX_DEPTH || ++v->steps > MAX_STEPS)
		v->failed = true;
	return !rust_v0_stopped(v);
}

static void rust_v0_print_len(struct v0 *v, const char *text, size_t len)
{
	if (v->silent || rust_v0_stopped(v))
		return;
	if (v->out->len - v->out_start + len > NAME_MAX_LENGTH) {
		str_append(v->out, "...");
		v->full = true;
		return;
	}
	str_append_len(v->out, text, len);
}

static void rust_v0_print(struct v0 *v, const char *text)
{
	rust_v0_print_len(v, text, strlen(text));
}

static char rust_v0_peek(const struct v0 *v)
{
	return v->pos < v->len ? v->sym[v->pos] : '\0';
}

static bool rust_v0_eat(struct v0 *v, char c)
{
	if (rust_v0_peek(v) != c || c == '\0')
		return false;
	v->pos++;
	return true;
}

static char rust_v0_next(struct v0 *v)
{
	char c = rust_v0_peek(v);

	if (c == '\0')
		v->failed = true;
	else
		v->pos++;
	return c;
}

/* "_" is 0, "0_" is 1, ... */
static uint64_t rust_v0_base62(struct v0 *v)
{
	uint64_t value = 0;

	if (rust_v0_eat(v, '_'))
		return 0;
	while (!rust_v0_eat(v, '_')) {
		char c = rust_v0_next(v);
		uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
		                 : c >= 'a' && c <= 'z' ? 10 + (uint64_t)(c - 'a')
		                 : c >= 'A' && c <= 'Z' ? 36 + (uint64_t)(c - 'A')
		                                        : 62;
		if (digit == 62 || __builtin_mul_overflow(value, 62, &value) ||
		    __builtin_add_overflow(value, digit, &value)) {
			v->failed = true;
			return 0;
		}
	}
	if (value == UINT64_MAX)
		v->failed = true;
	return value + 1;
}

/* An optional number after a tag: 0 if absent, else counted from 1. */
static uint64_t rust_v0_tagged_base62(struct v0 *v, char tag)
{
	if (!rust_v0_eat(v, tag))
		return 0;
	uint64_t value = rust_v0_base62(v);
	if (value == UINT64_MAX)
		v->failed = true;
	return value + 1;
}

static struct ident rust_v0_plain_ident(struct v0 *v)
{
	struct ident id = { .punycode = rust_v0_eat(v, 'u') };
	size_t len = 0;

	if (rust_v0_peek(v) < '0' || rust_v0_peek(v) > '9') {
		v->failed = true;
		return id;
	}
	/* A leading zero is a complete number. */
	if (!rust_v0_eat(v, '0'))
		while (rust_v0_peek(v) >= '0' && rust_v0_peek(v) <= '9' && len <= v->len)
			len = len * 10 + (size_t)(rust_v0_next(v) - '0');
	rust_v0_eat(v, '_');
	if (len > v->len - v->pos) {
		v->failed = true;
		return id;
	}
	id.text = v->sym + v->pos;
	id.len = len;
	v->pos += len;
	return id;
}

static struct ident v0_ident(struct v0 *v)
{
	uint64_t disambiguator = rust_v0_tagged_base62(v, 's');
	struct ident id = rust_v0_plain_ident(v);

	id.disambiguator = disambiguator;
	return id;
}

static void append_utf8(struct str *s, uint32_t c)
{
	char b[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		b[i] = (char)(0x80 | (c & 0x3f));
	b[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xff) | c);
	str_append_len(s, b, n);
}

static void rust_v0_print_ident(struct v0 *v, const struct ident *id)
{
	uint32_t chars[PUNYCODE_MAX];
	STR(text);

	if (v->silent || rust_v0_stopped(v))
		return;
	size_t n = id->punycode ? punycode_decode(id->text, id->len, chars) : 0;
	for (size_t i = 0; i < n; i++)
		append_utf8(&text, chars[i]);
	rust_v0_print_len(v, n ? str_text(&text) : id->text, n ? text.len : id->len);
}

static void rust_v0_print_number(struct v0 *v, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	rust_v0_print(v, text);
}

/* Prints a lifetime by its index: 1 is the innermost bound lifetime. */
static void rust_v0_print_lifetime(struct v0 *v, uint64_t index)
{
	if (index > v->lifetimes) {
		v->failed = true;
		return;
	}
	uint64_t depth = v->lifetimes - index;
	char letter = (char)('a' + depth % 26);

	rust_v0_print(v, "'");
	if (index == 0)
		rust_v0_print(v, "_");
	else if (depth < 26)
		rust_v0_print_len(v, &letter, 1);
	else {
		rust_v0_print(v, "_");
		rust_v0_print_number(v, depth);
	}
}

/* Opens a binder, for<'a, 'b>; the caller restores v->lifetimes after it. */
static void rust_v0_binder(struct v0 *v)
{
	uint64_t count = rust_v0_tagged_base62(v, 'G');

	if (count == 0 || rust_v0_stopped(v))
		return;
	rust_v0_print(v, "for<");
	for (uint64_t i = 0; i < count && !rust_v0_stopped(v); i++) {
		if (++v->steps > MAX_STEPS)
			v->failed = true;
		if (i)
			rust_v0_print(v, ", ");
		v->lifetimes++;
		rust_v0_print_lifetime(v, 1);
	}
	rust_v0_print(v, "> ");
}

/* Jumps to an earlier place. A target at or after the reference would recurse forever. */
static bool rust_v0_back_reference(struct v0 *v, size_t *resume)
{
	size_t here = v->pos - 1;
	uint64_t target = rust_v0_base62(v);

	if (target >= here)
		v->failed = true;
	if (rust_v0_stopped(v) || v->silent)
		return false;
	*resume = v->pos;
	v->pos = (size_t)target;
	return true;
}

static void generic_argument(struct v0 *v)
{
	if (rust_v0_eat(v, 'L'))
		rust_v0_print_lifetime(v, rust_v0_base62(v));
	else if (rust_v0_eat(v, 'K'))
		rust_v0_constant(v);
	else
		rust_v0_type(v);
}

/* Prints items up to 'E', separated by ", ". Returns their number. */
static size_t rust_v0_list(struct v0 *v, void (*item)(struct v0 *v))
{
	size_t n = 0;

	for (; !rust_v0_stopped(v) && !rust_v0_eat(v, 'E'); n++) {
		if (n)
			rust_v0_print(v, ", ");
		item(v);
	}
	return n;
}

/* Skips the path of the impl block: the self type is printed instead. */
static void skip_impl_path(struct v0 *v)
{
	bool silent = v->silent;

	v->silent = true;
	rust_v0_tagged_base62(v, 's');
	rust_v0_path(v, false);
	v->silent = silent;
}

static void nested_path(struct v0 *v, bool in_value)
{
	char namespace = rust_v0_next(v);
	char letter[] = { namespace, '\0' };

	rust_v0_path(v, in_value);
	struct ident id = v0_ident(v);
	if (namespace >= 'a' && namespace <= 'z') {
		if (id.len)
			rust_v0_print(v, "::");
		rust_v0_print_ident(v, &id);
	} else if (namespace >= 'A' && namespace <= 'Z') {
		rust_v0_print(v, "::{");
		rust_v0_print(v, namespace == 'C' ? "closure" : namespace == 'S' ? "shim" : letter);
		if (id.len)
			rust_v0_print(v, ":");
		rust_v0_print_ident(v, &id);
		rust_v0_print(v, "#");
		rust_v0_print_number(v, id.disambiguator);
		rust_v0_print(v, "}");
	} else {
		v->failed = true;
	}
}

static void rust_v0_path_of(struct v0 *v, char tag, bool in_value)
{
	struct ident id;
	size_t resume;

	switch (tag) {
	case 'C':
		id = v0_ident(v);
		rust_v0_print_ident(v, &id);
		break;
	case 'N':
		nested_path(v, in_value);
		break;
	case 'M':
	case 'X':
		skip_impl_path(v);
		/* fallthrough */
	case 'Y':
		rust_v0_print(v, "<");
		rust_v0_type(v);
		if (tag != 'M') {
			rust_v0_print(v, " as ");
			rust_v0_path(v, false);
		}
		rust_v0_print(v, ">");
		break;
	case 'I':
		rust_v0_path(v, in_value);
		rust_v0_print(v, in_value ? "::<" : "<");
		rust_v0_list(v, generic_argument);
		rust_v0_print(v, ">");
		break;
	case 'B':
		if (rust_v0_back_reference(v, &resume)) {
			rust_v0_path(v, in_value);
			v->pos = resume;
		}
		break;
	default:
		v->failed = true;
	}
}

static void rust_v0_path(struct v0 *v, bool in_value)
{
	if (rust_v0_enter(v))
		rust_v0_path_of(v, rust_v0_next(v), in_value);
	v->depth--;
}

static const char *basic_type(char tag)
{
	static const char *const names[] = {
		['a'] = "i8",  ['b'] = "bool", ['c'] = "char",  ['d'] = "f64",   ['e'] = "str",
		['f'] = "f32", ['h'] = "u8",   ['i'] = "isize", ['j'] = "usize", ['l'] = "i32",
		['m'] = "u32", ['n'] = "i128", ['o'] = "u128",  ['p'] = "_",     ['s'] = "i16",
		['t'] = "u16", ['u'] = "()",   ['v'] = "...",   ['x'] = "i64",   ['y'] = "u64",
		['z'] = "!",
	};

	return (unsigned char)tag < sizeof(names) / sizeof(*names) ? names[(unsigned char)tag]
	                                                           : NULL;
}

static void fn_type(struct v0 *v)
{
	uint64_t outer = v->lifetimes;

	rust_v0_binder(v);
	if (rust_v0_eat(v, 'U'))
		rust_v0_print(v, "unsafe ");
	if (rust_v0_eat(v, 'K')) {
		struct ident abi = { .text = "C", .len = 1 };

		if (!rust_v0_eat(v, 'C'))
			abi = rust_v0_plain_ident(v);
		rust_v0_print(v, "extern \"");
		for (size_t i = 0; i < abi.len; i++)
			rust_v0_print_len(v, abi.text[i] == '_' ? "-" : abi.text + i, 1);
		rust_v0_print(v, "\" ");
	}
	rust_v0_print(v, "fn(");
	rust_v0_list(v, rust_v0_type);
	rust_v0_print(v, ")");
	if (!rust_v0_eat(v, 'u')) {
		rust_v0_print(v, " -> ");
		rust_v0_type(v);
	}
	v->lifetimes = outer;
}

/*
 * Prints a trait's path and leaves its argument list open for the bindings that follow; true if it
 * is open.
 */
static bool open_path(struct v0 *v)
{
	size_t resume;
	bool open = false;

	if (!rust_v0_enter(v)) {
		v->depth--;
		return false;
	}
	if (rust_v0_eat(v, 'B')) {
		if (rust_v0_back_reference(v, &resume)) {
			open = open_path(v);
			v->pos = resume;
		}
	} else if (rust_v0_eat(v, 'I')) {
		rust_v0_path(v, false);
		rust_v0_print(v, "<");
		rust_v0_list(v, generic_argument);
		open = true;
	} else {
		rust_v0_path(v, false);
	}
	v->depth--;
	return open;
}

static void dyn_type(struct v0 *v)
{
	uint64_t outer = v->lifetimes;

	rust_v0_print(v, "dyn ");
	rust_v0_binder(v);
	for (size_t i = 0; !rust_v0_stopped(v) && !rust_v0_eat(v, 'E'); i++) {
		if (i)
			rust_v0_print(v, " + ");
		bool open = open_path(v);
		while (!rust_v0_stopped(v) && rust_v0_eat(v, 'p')) {
			struct ident name = rust_v0_plain_ident(v);

			rust_v0_print(v, open ? ", " : "<");
			open = true;
			rust_v0_print_ident(v, &name);
			rust_v0_print(v, " = ");
			rust_v0_type(v);
		}
		if (open)
			rust_v0_print(v, ">");
	}
	v->lifetimes = outer;
	if (!rust_v0_eat(v, 'L'))
		v->failed = true;
	uint64_t index = rust_v0_base62(v);
	if (index) {
		rust_v0_print(v, " + ");
		rust_v0_print_lifetime(v, index);
	}
}

static void reference_type(struct v0 *v, bool mutable)
{
	rust_v0_print(v, "&");
	if (rust_v0_eat(v, 'L')) {
		uint64_t index = rust_v0_base62(v);

		if (index) {
			rust_v0_print_lifetime(v, index);
			rust_v0_print(v, " ");
		}
	}
	rust_v0_print(v, mutable ? "mut " : "");
	rust_v0_type(v);
}

static void rust_v0_type_of(struct v0 *v, char tag)
{
	size_t resume;

	switch (tag) {
	case 'R':
	case 'Q':
		reference_type(v, tag == 'Q');
		break;
	case 'P':
	case 'O':
		rust_v0_print(v, tag == 'P' ? "*const " : "*mut ");
		rust_v0_type(v);
		break;
	case 'A':
	case 'S':
		rust_v0_print(v, "[");
		rust_v0_type(v);
		if (tag == 'A') {
			rust_v0_print(v, "; ");
			rust_v0_constant(v);
		}
		rust_v0_print(v, "]");
		break;
	case 'T':
		rust_v0_print(v, "(");
		if (rust_v0_list(v, rust_v0_type) == 1)
			rust_v0_print(v, ",");
		rust_v0_print(v, ")");
		break;
	case 'F':
		fn_type(v);
		break;
	case 'D':
		dyn_type(v);
		break;
	case 'B':
		if (rust_v0_back_reference(v, &resume)) {
			rust_v0_type(v);
			v->pos = resume;
		}
		break;
	default:
		rust_v0_path_of(v, tag, false);
	}
}

static void rust_v0_type(struct v0 *v)
{
	if (rust_v0_enter(v)) {
		char tag = rust_v0_next(v);
		const char *name = basic_type(tag);

		if (name)
			rust_v0_print(v, name);
		else
			rust_v0_type_of(v, tag);
	}
	v->depth--;
}

static void print_char(struct v0 *v, uint32_t c)
{
	STR(text);

	if (c == '\'' || c == '\\')
		str_append(&text, "\\");
	if (c < 0x20 || c == 0x7f)
		str_printf(&text, "\\u{%x}", c);
	else
		append_utf8(&text, c);
	rust_v0_print(v, "'");
	rust_v0_print_len(v, str_text(&text), text.len);
	rust_v0_print(v, "'");
}

/* Prints the value of a constant: hexadecimal digits up to '_'. */
static void constant_value(struct v0 *v, char tag)
{
	const char *digits = v->sym + v->pos;
	uint64_t value = 0;
	size_t n = 0;

	for (; !rust_v0_stopped(v) && !rust_v0_eat(v, '_'); n++) {
		char c = rust_v0_next(v);

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			v->failed = true;
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (tag == 'b' && value < 2) {
		rust_v0_print(v, value ? "true" : "false");
	} else if (tag == 'c') {
		if (value > 0x10ffff)
			v->failed = true;
		else
			print_char(v, (uint32_t)value);
	} else if (n > 16) {
		rust_v0_print(v, "0x");
		rust_v0_print_len(v, digits, n);
	} else {
		rust_v0_print_number(v, value);
	}
}

static void rust_v0_constant(struct v0 *v)
{
	size_t resume;

	if (rust_v0_enter(v)) {
		char tag = rust_v0_next(v);

		if (tag == 'B') {
			if (rust_v0_back_reference(v, &resume)) {
				rust_v0_constant(v);
				v->pos = resume;
			}
		} else if (tag == 'p') {
			rust_v0_print(v, "_");
		} else if (tag != '\0' && strchr("hjmotyailnsxbc", tag)) {
			if (rust_v0_eat(v, 'n'))
				rust_v0_print(v, "-");
			constant_value(v, tag);
		} else {
			v->failed = true;
		}
	}
	v->depth--;
}

bool rust_v0_demangle(struct str *out, const char *symbol)
{
	size_t before = out->len;

	if (strncmp(symbol, "_R", 2) != 0 || symbol[2] < 'A' || symbol[2] > 'Z')
		return false;
	struct v0 v = { .sym = symbol + 2, .out = out, .out_start = before };
	/* No identifier contains '.' or '$': what follows is the suffix of a tool. */
	v.len = strcspn(v.sym, ".$");
	rust_v0_path(&v, true);
	/* The crate that instantiated a generic is not printed. */
	if (!rust_v0_stopped(&v) && rust_v0_peek(&v) >= 'A' && rust_v0_peek(&v) <= 'Z') {
		v.silent = true;
		rust_v0_path(&v, false);
	}
	if (v.failed || (!v.full && v.pos != v.len)) {
		str_truncate(out, before);
		return false;
	}
	return true;
}

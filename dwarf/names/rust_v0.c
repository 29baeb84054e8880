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

static void path(struct v0 *v, bool in_value);
static void type(struct v0 *v);
static void constant(struct v0 *v);

static bool stopped(const struct v0 *v)
{
	return v->failed || v->full;
}

static bool enter(struct v0 *v)
{
	if (++v->depth > MAX_DEPTH || ++v->steps > MAX_STEPS)
		v->failed = true;
	return !stopped(v);
}

static void print_len(struct v0 *v, const char *text, size_t len)
{
	if (v->silent || stopped(v))
		return;
	if (v->out->len - v->out_start + len > NAME_MAX_LENGTH) {
		str_append(v->out, "...");
		v->full = true;
		return;
	}
	str_append_len(v->out, text, len);
}

static void print(struct v0 *v, const char *text)
{
	print_len(v, text, strlen(text));
}

static char peek(const struct v0 *v)
{
	return v->pos < v->len ? v->sym[v->pos] : '\0';
}

static bool eat(struct v0 *v, char c)
{
	if (peek(v) != c || c == '\0')
		return false;
	v->pos++;
	return true;
}

static char next(struct v0 *v)
{
	char c = peek(v);

	if (c == '\0')
		v->failed = true;
	else
		v->pos++;
	return c;
}

/* "_" is 0, "0_" is 1, ... */
static uint64_t base62(struct v0 *v)
{
	uint64_t value = 0;

	if (eat(v, '_'))
		return 0;
	while (!eat(v, '_')) {
		char c = next(v);
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
static uint64_t tagged_base62(struct v0 *v, char tag)
{
	if (!eat(v, tag))
		return 0;
	uint64_t value = base62(v);
	if (value == UINT64_MAX)
		v->failed = true;
	return value + 1;
}

static struct ident plain_ident(struct v0 *v)
{
	struct ident id = { .punycode = eat(v, 'u') };
	size_t len = 0;

	if (peek(v) < '0' || peek(v) > '9') {
		v->failed = true;
		return id;
	}
	/* A leading zero is a complete number. */
	if (!eat(v, '0'))
		while (peek(v) >= '0' && peek(v) <= '9' && len <= v->len)
			len = len * 10 + (size_t)(next(v) - '0');
	eat(v, '_');
	if (len > v->len - v->pos) {
		v->failed = true;
		return id;
	}
	id.text = v->sym + v->pos;
	id.len = len;
	v->pos += len;
	return id;
}

static struct ident ident(struct v0 *v)
{
	uint64_t disambiguator = tagged_base62(v, 's');
	struct ident id = plain_ident(v);

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

static void print_ident(struct v0 *v, const struct ident *id)
{
	uint32_t chars[PUNYCODE_MAX];
	STR(text);

	if (v->silent || stopped(v))
		return;
	size_t n = id->punycode ? punycode_decode(id->text, id->len, chars) : 0;
	for (size_t i = 0; i < n; i++)
		append_utf8(&text, chars[i]);
	print_len(v, n ? str_text(&text) : id->text, n ? text.len : id->len);
}

static void print_number(struct v0 *v, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	print(v, text);
}

/* Prints a lifetime by its index: 1 is the innermost bound lifetime. */
static void print_lifetime(struct v0 *v, uint64_t index)
{
	if (index > v->lifetimes) {
		v->failed = true;
		return;
	}
	uint64_t depth = v->lifetimes - index;
	char letter = (char)('a' + depth % 26);

	print(v, "'");
	if (index == 0)
		print(v, "_");
	else if (depth < 26)
		print_len(v, &letter, 1);
	else {
		print(v, "_");
		print_number(v, depth);
	}
}

/* Opens a binder, for<'a, 'b>; the caller restores v->lifetimes after it. */
static void binder(struct v0 *v)
{
	uint64_t count = tagged_base62(v, 'G');

	if (count == 0 || stopped(v))
		return;
	print(v, "for<");
	for (uint64_t i = 0; i < count && !stopped(v); i++) {
		if (++v->steps > MAX_STEPS)
			v->failed = true;
		if (i)
			print(v, ", ");
		v->lifetimes++;
		print_lifetime(v, 1);
	}
	print(v, "> ");
}

/* Jumps to an earlier place. A target at or after the reference would recurse forever. */
static bool back_reference(struct v0 *v, size_t *resume)
{
	size_t here = v->pos - 1;
	uint64_t target = base62(v);

	if (target >= here)
		v->failed = true;
	if (stopped(v) || v->silent)
		return false;
	*resume = v->pos;
	v->pos = (size_t)target;
	return true;
}

static void generic_argument(struct v0 *v)
{
	if (eat(v, 'L'))
		print_lifetime(v, base62(v));
	else if (eat(v, 'K'))
		constant(v);
	else
		type(v);
}

/* Prints items up to 'E', separated by ", ". Returns their number. */
static size_t list(struct v0 *v, void (*item)(struct v0 *v))
{
	size_t n = 0;

	for (; !stopped(v) && !eat(v, 'E'); n++) {
		if (n)
			print(v, ", ");
		item(v);
	}
	return n;
}

/* Skips the path of the impl block: the self type is printed instead. */
static void skip_impl_path(struct v0 *v)
{
	bool silent = v->silent;

	v->silent = true;
	tagged_base62(v, 's');
	path(v, false);
	v->silent = silent;
}

static void nested_path(struct v0 *v, bool in_value)
{
	char namespace = next(v);
	char letter[] = { namespace, '\0' };

	path(v, in_value);
	struct ident id = ident(v);
	if (namespace >= 'a' && namespace <= 'z') {
		if (id.len)
			print(v, "::");
		print_ident(v, &id);
	} else if (namespace >= 'A' && namespace <= 'Z') {
		print(v, "::{");
		print(v, namespace == 'C' ? "closure" : namespace == 'S' ? "shim" : letter);
		if (id.len)
			print(v, ":");
		print_ident(v, &id);
		print(v, "#");
		print_number(v, id.disambiguator);
		print(v, "}");
	} else {
		v->failed = true;
	}
}

static void path_of(struct v0 *v, char tag, bool in_value)
{
	struct ident id;
	size_t resume;

	switch (tag) {
	case 'C':
		id = ident(v);
		print_ident(v, &id);
		break;
	case 'N':
		nested_path(v, in_value);
		break;
	case 'M':
	case 'X':
		skip_impl_path(v);
		/* fallthrough */
	case 'Y':
		print(v, "<");
		type(v);
		if (tag != 'M') {
			print(v, " as ");
			path(v, false);
		}
		print(v, ">");
		break;
	case 'I':
		path(v, in_value);
		print(v, in_value ? "::<" : "<");
		list(v, generic_argument);
		print(v, ">");
		break;
	case 'B':
		if (back_reference(v, &resume)) {
			path(v, in_value);
			v->pos = resume;
		}
		break;
	default:
		v->failed = true;
	}
}

static void path(struct v0 *v, bool in_value)
{
	if (enter(v))
		path_of(v, next(v), in_value);
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

	binder(v);
	if (eat(v, 'U'))
		print(v, "unsafe ");
	if (eat(v, 'K')) {
		struct ident abi = { .text = "C", .len = 1 };

		if (!eat(v, 'C'))
			abi = plain_ident(v);
		print(v, "extern \"");
		for (size_t i = 0; i < abi.len; i++)
			print_len(v, abi.text[i] == '_' ? "-" : abi.text + i, 1);
		print(v, "\" ");
	}
	print(v, "fn(");
	list(v, type);
	print(v, ")");
	if (!eat(v, 'u')) {
		print(v, " -> ");
		type(v);
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

	if (!enter(v)) {
		v->depth--;
		return false;
	}
	if (eat(v, 'B')) {
		if (back_reference(v, &resume)) {
			open = open_path(v);
			v->pos = resume;
		}
	} else if (eat(v, 'I')) {
		path(v, false);
		print(v, "<");
		list(v, generic_argument);
		open = true;
	} else {
		path(v, false);
	}
	v->depth--;
	return open;
}

static void dyn_type(struct v0 *v)
{
	uint64_t outer = v->lifetimes;

	print(v, "dyn ");
	binder(v);
	for (size_t i = 0; !stopped(v) && !eat(v, 'E'); i++) {
		if (i)
			print(v, " + ");
		bool open = open_path(v);
		while (!stopped(v) && eat(v, 'p')) {
			struct ident name = plain_ident(v);

			print(v, open ? ", " : "<");
			open = true;
			print_ident(v, &name);
			print(v, " = ");
			type(v);
		}
		if (open)
			print(v, ">");
	}
	v->lifetimes = outer;
	if (!eat(v, 'L'))
		v->failed = true;
	uint64_t index = base62(v);
	if (index) {
		print(v, " + ");
		print_lifetime(v, index);
	}
}

static void reference_type(struct v0 *v, bool mutable)
{
	print(v, "&");
	if (eat(v, 'L')) {
		uint64_t index = base62(v);

		if (index) {
			print_lifetime(v, index);
			print(v, " ");
		}
	}
	print(v, mutable ? "mut " : "");
	type(v);
}

static void type_of(struct v0 *v, char tag)
{
	size_t resume;

	switch (tag) {
	case 'R':
	case 'Q':
		reference_type(v, tag == 'Q');
		break;
	case 'P':
	case 'O':
		print(v, tag == 'P' ? "*const " : "*mut ");
		type(v);
		break;
	case 'A':
	case 'S':
		print(v, "[");
		type(v);
		if (tag == 'A') {
			print(v, "; ");
			constant(v);
		}
		print(v, "]");
		break;
	case 'T':
		print(v, "(");
		if (list(v, type) == 1)
			print(v, ",");
		print(v, ")");
		break;
	case 'F':
		fn_type(v);
		break;
	case 'D':
		dyn_type(v);
		break;
	case 'B':
		if (back_reference(v, &resume)) {
			type(v);
			v->pos = resume;
		}
		break;
	default:
		path_of(v, tag, false);
	}
}

static void type(struct v0 *v)
{
	if (enter(v)) {
		char tag = next(v);
		const char *name = basic_type(tag);

		if (name)
			print(v, name);
		else
			type_of(v, tag);
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
	print(v, "'");
	print_len(v, str_text(&text), text.len);
	print(v, "'");
}

/* Prints the value of a constant: hexadecimal digits up to '_'. */
static void constant_value(struct v0 *v, char tag)
{
	const char *digits = v->sym + v->pos;
	uint64_t value = 0;
	size_t n = 0;

	for (; !stopped(v) && !eat(v, '_'); n++) {
		char c = next(v);

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			v->failed = true;
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (tag == 'b' && value < 2) {
		print(v, value ? "true" : "false");
	} else if (tag == 'c') {
		if (value > 0x10ffff)
			v->failed = true;
		else
			print_char(v, (uint32_t)value);
	} else if (n > 16) {
		print(v, "0x");
		print_len(v, digits, n);
	} else {
		print_number(v, value);
	}
}

static void constant(struct v0 *v)
{
	size_t resume;

	if (enter(v)) {
		char tag = next(v);

		if (tag == 'B') {
			if (back_reference(v, &resume)) {
				constant(v);
				v->pos = resume;
			}
		} else if (tag == 'p') {
			print(v, "_");
		} else if (tag != '\0' && strchr("hjmotyailnsxbc", tag)) {
			if (eat(v, 'n'))
				print(v, "-");
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
	path(&v, true);
	/* The crate that instantiated a generic is not printed. */
	if (!stopped(&v) && peek(&v) >= 'A' && peek(&v) <= 'Z') {
		v.silent = true;
		path(&v, false);
	}
	if (v.failed || (!v.full && v.pos != v.len)) {
		str_truncate(out, before);
		return false;
	}
	return true;
}

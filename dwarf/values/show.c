#include "dwarf/values/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show_private.h"
#include "dwarf/values/unwrap_newtype.h"
#include "dwarf/values/wide_value.h"

void show_free(struct show_cache *cache)
{
	map_free(&cache->paths);
	map_free(&cache->plans);
	map_free(&cache->counts);
	arena_free(&cache->arena);
	vec_free(&cache->rows);
}

void show_put(struct show *s, const char *text)
{
	size_t len = strlen(text);

	if (s->full)
		return;
	if (s->out.len + len > SHOW_BYTES) {
		str_append(&s->out, "...");
		s->full = true;
		return;
	}
	str_append_len(&s->out, text, len);
}

void show_printf(struct show *s, const char *format, ...)
{
	va_list args;
	SCRATCH(tmp);

	va_start(args, format);
	show_put(s, arena_vprintf(&tmp, format, args));
	va_end(args);
}

void show_type(struct show *s, const struct type *t)
{
	SCRATCH(tmp);

	show_printf(s, "{%s}", name_short(&tmp, type_name(t)));
}

/* The counts of the memory as it is. */
static struct map *counts(const struct show *s)
{
	struct show_cache *c = s->cache;

	if (c->counts_epoch != s->target->epoch)
		map_clear(&c->counts);
	c->counts_epoch = s->target->epoch;
	return &c->counts;
}

bool show_count_get(struct show *s, uint64_t addr, uint64_t *ret)
{
	struct map *known = counts(s);

	*ret = (uint64_t)(uintptr_t)map_get(known, addr);
	return map_has(known, addr);
}

void show_count_put(struct show *s, uint64_t addr, uint64_t count)
{
	map_put(counts(s), addr, (void *)(uintptr_t)count);
}

struct target *show_target(const struct show *s)
{
	return s->target;
}

void *show_context(const struct show *s)
{
	return s->cache->context;
}

bool show_next(struct show *s, uint64_t index)
{
	if (index)
		show_put(s, ", ");
	if (index >= SHOW_ELEMENTS)
		show_put(s, "...");
	return index < SHOW_ELEMENTS && !s->full;
}

void show_elements(struct show *s, const struct type *element, uint64_t addr, uint64_t count)
{
	uint64_t size = type_size(element);

	for (uint64_t i = 0; i < count && show_next(s, i); i++)
		show_inner(s, (struct value){ element, addr + i * size });
}

/* ---- paths ---- */

struct show_known_path {
	const struct type *from;
	const char *expr;
	const struct path *path; /* NULL: the type does not have the path */
};

static const struct path *show_find_path(struct show_cache *cache, const struct type *from,
                                         const char *expr)
{
	uint64_t key = map_key_of_pair((uintptr_t)from, (uintptr_t)expr);
	struct show_known_path *known = map_get(&cache->paths, key);

	if (known && known->from == from && known->expr == expr)
		return known->path;
	known = NEW(&cache->arena, struct show_known_path);
	known->from = from;
	known->expr = expr;
	error_free(path_resolve(&cache->arena, from, expr, &known->path));
	map_put(&cache->paths, key, known);
	return known->path;
}

struct error *show_place(struct target *t, struct show_cache *cache, struct value v,
                         const char *expr, struct value *ret)
{
	const struct path *p = show_find_path(cache, v.type, expr);
	bool found;

	if (!p)
		return error_new(ERR_LAYOUT, "%s has no '%s'", type_name(v.type), expr);
	TRY(path_eval(t, p, v, ret, &found));
	if (!found)
		return error_new(ERR_CORRUPT, "%s leads nowhere in %s", expr, type_name(v.type));
	return NULL;
}

struct error *show_uint(struct target *t, struct show_cache *cache, struct value v,
                        const char *expr, uint64_t *ret)
{
	struct value place;

	TRY(show_place(t, cache, v, expr, &place));
	return value_uint(t, place, ret);
}

/* ---- scalars ---- */

static void show_wide(struct show *s, unsigned __int128 n, bool negative)
{
	char digits[48], *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + (int)(n % 10));
		n /= 10;
	} while (n);
	show_printf(s, "%s%s", negative ? "-" : "", p);
}

static void show_integer(struct show *s, const unsigned char *bytes, uint64_t size, bool is_signed)
{
	unsigned __int128 n = 0;
	unsigned bits = (unsigned)size * 8;
	bool negative;

	memcpy(&n, bytes, size);
	negative = is_signed && (n >> (bits - 1)) & 1;
	if (negative) {
		n = -n;
		if (bits < 128)
			n &= ((unsigned __int128)1 << bits) - 1;
	}
	show_wide(s, n, negative);
}

/* The fewest digits that read back as the same number: "d.ddde+XX". */
static void shortest(double d, bool is_single, char *text, size_t size)
{
	for (int precision = 0; precision <= 17; precision++) {
		snprintf(text, size, "%.*e", precision, d);
		if (is_single ? strtof(text, NULL) == (float)d : strtod(text, NULL) == d)
			return;
	}
}

/*
 * Writes as core::fmt does (float.rs, float_to_general_debug): exponents from 1e16 and below 1e-4.
 */
static void show_float(struct show *s, double d, bool is_single)
{
	char text[48], digits[32];
	size_t n = 0;

	if (isnan(d) || isinf(d)) {
		show_put(s, isnan(d) ? "NaN" : d < 0 ? "-inf" : "inf");
		return;
	}
	shortest(fabs(d), is_single, text, sizeof(text));
	int exponent = atoi(strchr(text, 'e') + 1);
	for (const char *p = text; *p != 'e'; p++) {
		if (*p != '.')
			digits[n++] = *p;
	}
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	show_put(s, signbit(d) ? "-" : "");
	/* Compare the limits in the number's own precision: 0.0001f32 is not below 1e-4. */
	bool tiny = d != 0 && (is_single ? (float)fabs(d) < 1e-4f : fabs(d) < 1e-4);
	bool large = is_single ? (float)fabs(d) >= 1e16f : fabs(d) >= 1e16;
	if (tiny || large)
		show_printf(s, "%c%s%se%d", digits[0], n > 1 ? "." : "", digits + 1, exponent);
	else if (exponent < 0)
		show_printf(s, "0.%.*s%s", -exponent - 1, "0000", digits);
	else if ((size_t)exponent + 1 >= n)
		show_printf(s, "%s%.*s.0", digits, exponent + 1 - (int)n, "0000000000000000");
	else
		show_printf(s, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

/* Is the character not printable: a control, an invisible mark, private use or no character? */
static bool is_hidden(uint32_t c)
{
	return c < 0x20 || c == 0x7f || (c >= 0xd800 && c <= 0xf8ff) || c == 0xfffe ||
	       c == 0xffff || c >= 0xe0000 || str_is_hidden(c);
}

static void encode(uint32_t c, char *ret)
{
	if (c < 0x80) {
		*ret++ = (char)c;
	} else if (c < 0x800) {
		*ret++ = (char)(0xc0 | c >> 6);
		*ret++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*ret++ = (char)(0xe0 | c >> 12);
		*ret++ = (char)(0x80 | (c >> 6 & 0x3f));
		*ret++ = (char)(0x80 | (c & 0x3f));
	} else {
		*ret++ = (char)(0xf0 | c >> 18);
		*ret++ = (char)(0x80 | (c >> 12 & 0x3f));
		*ret++ = (char)(0x80 | (c >> 6 & 0x3f));
		*ret++ = (char)(0x80 | (c & 0x3f));
	}
	*ret = '\0';
}

/* Like char::escape_debug; combining marks are escaped where they would combine with a quote. */
static void show_escaped(struct show *s, uint32_t c, char quote, bool first)
{
	char text[8];

	switch (c) {
	case '\0':
		show_put(s, "\\0");
		return;
	case '\t':
		show_put(s, "\\t");
		return;
	case '\r':
		show_put(s, "\\r");
		return;
	case '\n':
		show_put(s, "\\n");
		return;
	case '\\':
		show_put(s, "\\\\");
		return;
	default:
		break;
	}
	encode(c, text);
	if (c == (unsigned char)quote)
		show_printf(s, "\\%c", quote);
	else if (is_hidden(c) || (first && c >= 0x300 && c <= 0x36f))
		show_printf(s, "\\u{%" PRIx32 "}", c);
	else
		show_put(s, text);
}

/* Decodes one character of UTF-8. Returns its length, 0 when the bytes are not valid. */
static size_t decode(const unsigned char *p, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80       ? 1
	           : p[0] >> 5 == 6  ? 2
	           : p[0] >> 4 == 14 ? 3
	           : p[0] >> 3 == 30 ? 4
	                             : 0;

	if (n == 0 || n > len)
		return 0;
	uint32_t c = n == 1 ? p[0] : p[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return n;
}

static void show_text(struct show *s, const unsigned char *bytes, size_t len, bool more)
{
	for (size_t i = 0; i < len && !s->full;) {
		uint32_t c = 0;
		size_t n = decode(bytes + i, len - i, &c);

		/* A character that is cut by the limit is not an error. */
		if (n == 0 && more && len - i < 4)
			break;
		if (n)
			show_escaped(s, c, '"', i == 0);
		else
			show_printf(s, "\\x%02x", bytes[i]);
		i += n ? n : 1;
	}
}

/* Like core::ascii::escape_default, and \0: this is how the crate `bytes` prints. */
static void show_byte_string(struct show *s, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len && !s->full; i++) {
		static const char named[] = "\nn\rr\tt\\\\\"\"";
		const char *name = memchr(named, bytes[i], sizeof(named) - 1);

		if (bytes[i] == '\0')
			show_put(s, "\\0");
		else if (name && (name - named) % 2 == 0)
			show_printf(s, "\\%c", name[1]);
		else if (bytes[i] >= 0x20 && bytes[i] < 0x7f)
			show_printf(s, "%c", bytes[i]);
		else
			show_printf(s, "\\x%02x", bytes[i]);
	}
}

struct error *show_quoted(struct show *s, uint64_t addr, uint64_t len, enum quoting how)
{
	unsigned char bytes[SHOW_STRING];
	bool more = len > sizeof(bytes);

	if (more)
		len = sizeof(bytes);
	if (len)
		TRY(target_read(s->target, addr, bytes, len));
	show_put(s, how == QUOTE_BYTES ? "b\"" : "\"");
	if (how != QUOTE_STR)
		show_byte_string(s, bytes, len);
	else
		show_text(s, bytes, len, more);
	show_put(s, more ? "\"..." : "\"");
	return NULL;
}

static struct error *show_scalar(struct show *s, const struct type *t, const unsigned char *bytes)
{
	uint64_t size = type_size(t);
	uint32_t c = 0;
	float single;
	double d;

	switch (type_kind(t)) {
	case TYPE_BOOL:
		if (bytes[0] > 1)
			return error_new(ERR_CORRUPT, "bool");
		show_put(s, bytes[0] ? "true" : "false");
		break;
	case TYPE_CHAR:
		memcpy(&c, bytes, size < sizeof(c) ? size : sizeof(c));
		if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return error_new(ERR_CORRUPT, "char");
		show_put(s, "'");
		show_escaped(s, c, '\'', true);
		show_put(s, "'");
		break;
	case TYPE_FLOAT:
		memcpy(&single, bytes, sizeof(single));
		memcpy(&d, bytes, sizeof(d));
		if (size == 4 || size == 8)
			show_float(s, size == 4 ? (double)single : d, size == 4);
		else
			show_type(s, t);
		break;
	default:
		show_integer(s, bytes, size, type_kind(t) == TYPE_INT);
	}
	return NULL;
}

static struct error *read_scalar(struct show *s, struct value v)
{
	unsigned char bytes[16] = { 0 };
	uint64_t size = type_size(v.type);

	if (size == 0 && strcmp(type_name(v.type), "()") == 0) {
		show_put(s, "()");
		return NULL;
	}
	if (size == 0 || size > sizeof(bytes) || (size & (size - 1))) {
		show_type(s, v.type);
		return NULL;
	}
	TRY(target_read(s->target, v.addr, bytes, size));
	return show_scalar(s, v.type, bytes);
}

/* ---- structs and enums ---- */

static bool is_positional(const struct member *members, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!members[i].name || strncmp(members[i].name, "__", 2) != 0 ||
		    members[i].name[2] < '0' || members[i].name[2] > '9')
			return false;
	}
	return n > 0;
}

static void show_redact(struct show *s)
{
	show_put(s, REDACTED);
	s->redacted = true;
}

void show_named(struct show *s, const char *name, struct value v)
{
	if (s->secrets && secrets_has(s->secrets, name, strlen(name)))
		show_redact(s);
	else
		show_inner(s, v);
}

void show_keyed(struct show *s, size_t from, size_t end, struct value v)
{
	if (s->secrets && from < end &&
	    secrets_has_text(s->secrets, str_text(&s->out) + from, end - from))
		show_redact(s);
	else
		show_inner(s, v);
}

/*
 * Is it the entry struct of a library's table? Its member `key` names the content of `value`, and
 * is not secret itself: http::header::map::Bucket, indexmap::Bucket. Further values of a header are
 * in ExtraValue, which has no key: any of them may be secret.
 */
static bool is_entry(const struct type *t)
{
	static const char *const names[] = { "Bucket", "Entry", "KeyValue" };
	static const char extra[] = "ExtraValue";
	const char *last = qualified_last(type_name(t));
	size_t len = qualified_base_len(last);

	if (!type_member(t, "value"))
		return false;
	for (size_t i = 0; type_member(t, "key") && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == len && memcmp(names[i], last, len) == 0)
			return true;
	}
	return strlen(extra) == len && memcmp(extra, last, len) == 0;
}

/* The text of a printed key, in s->out. */
struct key_text {
	size_t from, end;
};

/*
 * Prints the value of a struct's member, after its name. key: the key of an entry; NULL: no entry.
 */
static void show_member(struct show *s, const struct member *m, struct value v,
                        struct key_text *key)
{
	const char *name = m->name ? m->name : "?";
	STR(clean);

	str_append_clean(&clean, name, strlen(name));
	show_printf(s, "%s: ", str_text(&clean));
	if (!m->type) {
		show_put(s, "?");
	} else if (key && strcmp(name, "key") == 0) {
		key->from = s->out.len;
		show_inner(s, v);
		key->end = s->out.len;
	} else if (key && strcmp(name, "value") == 0) {
		if (key->end)
			show_keyed(s, key->from, key->end, v);
		else
			show_redact(s);
	} else {
		show_named(s, name, v);
	}
}

/* Is the value a pair like ("authorization", "Bearer ..."), whose first part names the second? */
static bool is_named_pair(struct show *s, const struct key_text *first)
{
	const char *text = str_text(&s->out) + first->from;

	return first->from < first->end && text[*text == 'b'] == '"';
}

/* " { a: 1, b: 2 }" or "(1, 2)" or nothing. */
static void show_members(struct show *s, struct value v, bool is_tuple)
{
	size_t n;
	const struct member *members = type_members(v.type, &n);
	bool positional = is_tuple || is_positional(members, n);

	if (n == 0 && !is_tuple)
		return;
	show_put(s, positional ? "(" : " { ");
	bool entry = s->secrets && !positional && is_entry(v.type);
	struct key_text key = { s->out.len, 0 };
	for (size_t i = 0; i < n && show_next(s, i); i++) {
		struct value part = { members[i].type, v.addr + members[i].offset };

		if (!positional)
			show_member(s, &members[i], part, entry ? &key : NULL);
		else if (!members[i].type)
			show_put(s, "?");
		else if (is_tuple && n == 2 && i == 1 && is_named_pair(s, &key))
			show_keyed(s, key.from, key.end, part);
		else
			show_inner(s, part);
		if (positional && i == 0)
			key.end = s->out.len;
	}
	show_put(s, positional ? is_tuple && n == 1 ? ",)" : ")" : " }");
}

static void show_own_name(struct show *s, const char *name)
{
	SCRATCH(tmp);
	STR(clean);
	const char *last = qualified_last(name);

	str_append_clean(&clean, last, qualified_base_len(last));
	show_put(s, str_text(&clean));
}

void show_type_last(struct show *s, const struct type *t)
{
	show_own_name(s, type_name(t));
}

static void show_struct(struct show *s, struct value v)
{
	const char *name = type_name(v.type);
	const char *last = qualified_last(name);

	if (type_is_object(v.type)) {
		show_type(s, v.type);
	} else if (name[0] == '(') {
		show_members(s, v, true);
	} else if (last[0] == '{') {
		show_type(s, v.type);
	} else {
		show_own_name(s, name);
		show_members(s, v, false);
	}
}

static struct error *show_enum(struct show *s, struct value v)
{
	const struct variant *active;

	TRY(value_variant(s->target, v, &active));
	show_own_name(s, active->name ? active->name : "?");
	show_members(s, value_payload(v, active), false);
	return NULL;
}

static struct error *show_enumerator(struct show *s, struct value v)
{
	const char *name;

	TRY(value_enum_name(s->target, v, &name));
	if (!name)
		return error_new(ERR_CORRUPT, "%s", type_name(v.type));
	show_own_name(s, name);
	return NULL;
}

/* ---- pointers ---- */

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* References and boxes print as their targets; raw and function pointers print as addresses. */
static bool is_looked_through(const struct type *t)
{
	const char *name = type_name(t);

	return name[0] == '&' || starts(name, "alloc::boxed::Box<");
}

static struct error *show_pointer_word(struct show *s, const struct type *t, uint64_t addr)
{
	const struct type *target = type_target(t);

	if (!is_looked_through(t) || !target || type_kind(target) == TYPE_FUNCTION) {
		show_printf(s, "0x%" PRIx64, addr);
		return NULL;
	}
	if (addr == 0)
		return error_new(ERR_CORRUPT, "null");
	show_behind(s, (struct value){ target, addr });
	return NULL;
}

static struct error *show_pointer(struct show *s, struct value v)
{
	uint64_t addr;

	TRY(target_read_uint(s->target, v.addr, 8, &addr));
	return show_pointer_word(s, v.type, addr);
}

struct error *show_read_fat(struct target *t, struct value v, struct fat *ret)
{
	struct wide_value w;

	TRY(wide_value_read(t, v, &w));
	*ret = (struct fat){ .element = w.wide.pointee,
		             .addr = w.data,
		             .count = w.meta,
		             .is_text = w.wide.kind == WIDE_STR };
	return NULL;
}

static struct error *show_fat(struct show *s, struct value v)
{
	struct fat fat;

	TRY(show_read_fat(s->target, v, &fat));
	if (type_name(v.type)[0] == '*') {
		show_printf(s, "0x%" PRIx64, fat.addr);
		return NULL;
	}
	if (fat.count > INT64_MAX)
		return error_new(ERR_CORRUPT, "length");
	if (fat.is_text)
		return show_quoted(s, fat.addr, fat.count, QUOTE_STR);
	if (!fat.element) {
		show_type(s, v.type);
		return NULL;
	}
	show_put(s, "[");
	show_elements(s, fat.element, fat.addr, fat.count);
	show_put(s, "]");
	return NULL;
}

/*
 * A reference or box of a trait object, or of a struct with an unsized tail. Raw pointers print as
 * addresses; those of Rc and Arc are never printed themselves.
 */
static struct error *show_unsized(struct show *s, struct value v)
{
	struct value behind;
	struct wide_value w;
	bool found;

	if (type_name(v.type)[0] == '*') {
		TRY(wide_value_read(s->target, v, &w));
		show_printf(s, "0x%" PRIx64, w.data);
		return NULL;
	}
	TRY(wide_value_behind(s->target, v, &behind, &found));
	if (found)
		show_behind(s, behind);
	else
		show_type(s, v.type);
	return NULL;
}

static struct error *show_array(struct show *s, struct value v)
{
	enum tail_text text = type_tail_text(v.type);

	if (text != TAIL_ELEMENTS)
		return show_quoted(s, v.addr, type_count(v.type),
		                   text == TAIL_STR ? QUOTE_STR : QUOTE_BYTES);
	show_put(s, "[");
	if (type_target(v.type))
		show_elements(s, type_target(v.type), v.addr, type_count(v.type));
	show_put(s, "]");
	return NULL;
}

/* ---- any value ---- */

static struct error *show_any(struct show *s, struct value v)
{
	bool done;
	struct error *err = show_std(s, v, &done);

	if (err && err->kind == ERR_LAYOUT)
		error_free(err); /* an unknown version of std: print it as any other struct */
	else if (err || done)
		return err;
	switch (type_kind(v.type)) {
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_INT:
	case TYPE_UINT:
	case TYPE_FLOAT:
		return read_scalar(s, v);
	case TYPE_POINTER:
		return show_pointer(s, v);
	case TYPE_ARRAY:
		return show_array(s, v);
	case TYPE_STRUCT:
		if (type_is_slice(v.type))
			return show_fat(s, v);
		if (type_wide_kind(v.type) != WIDE_NONE)
			return show_unsized(s, v);
		show_struct(s, v);
		return NULL;
	case TYPE_ENUM:
		if (!type_is_coroutine(v.type))
			return show_enum(s, v);
		show_type(s, v.type);
		return NULL;
	case TYPE_CENUM:
		return show_enumerator(s, v);
	default:
		show_type(s, v.type);
		return NULL;
	}
}

void show_behind(struct show *s, struct value v)
{
	unsigned depth = s->depth;

	s->depth = depth ? depth - 1 : 0;
	show_inner(s, v);
	s->depth = depth;
}

static void show_problem(struct show *s, struct error *err)
{
	if (err)
		show_put(s, err->kind == ERR_FAULT    ? "<unreadable>"
		            : err->kind == ERR_LAYOUT ? "<not understood>"
		                                      : "<invalid>");
	error_free(err);
}

void show_inner(struct show *s, struct value v)
{
	if (s->full)
		return;
	if (s->depth >= SHOW_DEPTH || ++s->values > SHOW_VALUES) {
		show_put(s, "...");
		return;
	}
	s->depth++;
	show_problem(s, show_any(s, v));
	s->depth--;
}

static struct show begin(struct target *t, struct debuginfo *di, struct show_cache *cache,
                         const struct redaction *redaction)
{
	return (struct show){ .target = t,
		              .di = di,
		              .cache = cache,
		              .secrets = redaction ? redaction->secrets : NULL };
}

static const char *show_finish(struct show *s, struct arena *a, struct redaction *redaction)
{
	STR(clean);

	if (redaction)
		redaction->done |= s->redacted;
	str_append_clean(&clean, str_text(&s->out), s->out.len);
	str_free(&s->out);
	return arena_strdup(a, str_text(&clean));
}

const char *show_value(struct target *t, struct debuginfo *di, struct show_cache *cache,
                       struct arena *a, struct value v, struct redaction *redaction)
{
	struct show s = begin(t, di, cache, redaction);

	show_inner(&s, v);
	return show_finish(&s, a, redaction);
}

const char *show_word(struct target *t, struct debuginfo *di, struct show_cache *cache,
                      struct arena *a, const struct type *type, uint64_t word,
                      struct redaction *redaction)
{
	struct show s = begin(t, di, cache, redaction);
	unsigned char bytes[16] = { 0 };

	for (int hop = 0; hop < SHOW_DEPTH && type_kind(type) == TYPE_STRUCT; hop++) {
		const struct member *m = type_single_member(type);

		/*
		 * Not for a struct, whose name would be missing; std's wrappers print as their
		 * content.
		 */
		if (!m || !starts(type_name(type), "core::"))
			return NULL;
		type = m->type;
	}
	memcpy(bytes, &word, sizeof(word));
	switch (type_kind(type)) {
	case TYPE_BOOL:
	case TYPE_CHAR:
	case TYPE_INT:
	case TYPE_UINT:
	case TYPE_FLOAT:
		if (type_size(type) == 0 || type_size(type) > 8 ||
		    (type_size(type) & (type_size(type) - 1)))
			return NULL;
		show_problem(&s, show_scalar(&s, type, bytes));
		break;
	case TYPE_POINTER:
		show_problem(&s, show_pointer_word(&s, type, word));
		break;
	default:
		return NULL;
	}
	return show_finish(&s, a, redaction);
}

#include "dwarf/names/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/names.h"
#include "dwarf/names/rust_v0.h"

enum { MAX_CXX_SYMBOL = 4096 };

struct cxx_output {
	struct str *out;
	jmp_buf too_long;
};

static void cxx_append(const char *text, size_t len, void *arg)
{
	struct cxx_output *o = arg;

	if (o->out->len + len > NAME_MAX_LENGTH)
		longjmp(o->too_long, 1);
	str_append_len(o->out, text, len);
}

/*
 * Demangles a C++ symbol. Substitutions can double the text with every few bytes of the symbol:
 * when it is too long, longjmp leaves libiberty. That is safe because this entry point allocates
 * nothing.
 */
static bool cxx_demangle(struct str *out, const char *symbol)
{
	struct cxx_output o = { .out = out };

	if (strncmp(symbol, "_Z", 2) != 0 || strlen(symbol) > MAX_CXX_SYMBOL)
		return false;
	if (setjmp(o.too_long)) {
		str_append(out, "...");
		return true;
	}
	bool ok = cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, cxx_append, &o) != 0;
	if (!ok)
		str_truncate(out, 0);
	return ok;
}

static bool legacy_demangle(struct str *out, const char *symbol)
{
	if (strncmp(symbol, "_ZN", 3) != 0 || strlen(symbol) > NAME_MAX_LENGTH)
		return false;
	char *text = rust_demangle(symbol, 0);
	if (!text)
		return false;
	str_append(out, text);
	free(text);
	return true;
}

const char *demangle(struct arena *a, const char *symbol)
{
	const char *suffix = strstr(symbol, ".llvm.");
	size_t len = suffix ? (size_t)(suffix - symbol) : strlen(symbol);
	SCRATCH(tmp);
	STR(text);
	STR(clean);

	if (len > NAME_MAX_LENGTH) {
		str_append_clean(&clean, symbol, NAME_MAX_LENGTH);
		str_append(&clean, "...");
		return arena_strndup(a, clean.data, clean.len);
	}
	const char *cut = arena_strndup(&tmp, symbol, len);
	if (!rust_v0_demangle(&text, cut) && !legacy_demangle(&text, cut) &&
	    !cxx_demangle(&text, cut))
		str_append(&text, cut);
	str_append_clean(&clean, str_text(&text), text.len);
	return arena_strdup(a, str_text(&clean));
}

const char *name_without_trait(struct arena *a, const char *name)
{
	const char *as = strstr(name, " as "), *end = strstr(name, ">::");

	if (name[0] != '<' || !as || !end || end < as)
		return name;
	return arena_printf(a, "%.*s%s", (int)(as - name - 1), name + 1, end + 1);
}

/* A part of a path, between "::" outside of braces and brackets. */
struct demangle_part {
	const char *text;
	size_t len;
};

static bool demangle_next_part(const char **p, struct demangle_part *ret)
{
	int open = 0;
	const char *q = *p;

	if (*q == '\0')
		return false;
	for (; *q && (open > 0 || strncmp(q, "::", 2) != 0); q++)
		open += (*q == '{' || *q == '<') - (*q == '}' || *q == '>');
	*ret = (struct demangle_part){ *p, (size_t)(q - *p) };
	*p = *q ? q + 2 : q;
	return true;
}

static bool demangle_is_brace(const struct demangle_part *part)
{
	return part->text[0] == '{';
}

static bool is_impl(const struct demangle_part *part)
{
	return strncmp(part->text, "{impl#", 6) == 0;
}

static bool same(const struct demangle_part *x, const struct demangle_part *y)
{
	return x->len == y->len && memcmp(x->text, y->text, x->len) == 0;
}

static void demangle_append_part(struct str *s, const struct demangle_part *part)
{
	if (s->len)
		str_append(s, "::");
	str_append_len(s, part->text, part->len);
}

/*
 * Do two paths name the same function? Parts in braces are skipped: only DWARF numbers closures and
 * blocks.
 */
static bool tails_agree(const char *dwarf, const char *symbol)
{
	struct demangle_part d, s;

	for (;;) {
		bool more_d = demangle_next_part(&dwarf, &d),
		     more_s = demangle_next_part(&symbol, &s);

		while (more_d && demangle_is_brace(&d))
			more_d = demangle_next_part(&dwarf, &d);
		while (more_s && demangle_is_brace(&s))
			more_s = demangle_next_part(&symbol, &s);
		if (!more_d || !more_s)
			return more_d == more_s;
		if (!same(&d, &s))
			return false;
	}
}

/*
 * Handles "a::T::f" of an inherent impl in the module of its type: appends the parts up to T to out
 * and advances *symbol past them. end is the position of the last `{impl#N}` in dwarf.
 */
static bool take_self(struct str *out, const char *dwarf, const char *end, const char **symbol)
{
	struct demangle_part d, s;

	while (dwarf < end && demangle_next_part(&dwarf, &d)) {
		do {
			if (!demangle_next_part(symbol, &s))
				return false;
		} while (demangle_is_brace(&s) && !demangle_is_brace(&d));
		if (demangle_is_brace(&d) ? !is_impl(&d) && !demangle_is_brace(&s) : !same(&d, &s))
			return false;
		demangle_append_part(out, demangle_is_brace(&s) ? &d : &s);
	}
	if (!demangle_next_part(symbol, &s) || demangle_is_brace(&s))
		return false;
	demangle_append_part(out, &s);
	return true;
}

const char *name_impl_from_linkage(struct arena *a, const char *dwarf_path, const char *linkage)
{
	const char *tail = NULL, *impl = NULL;
	struct demangle_part part;
	size_t self_len;
	STR(plain);
	STR(out);
	SCRATCH(tmp);

	for (const char *p = dwarf_path; demangle_next_part(&p, &part);)
		if (is_impl(&part)) {
			impl = part.text;
			tail = p;
		}
	if (!impl || !name_parse_plain(&plain, demangle(&tmp, linkage), &self_len))
		return NULL;
	const char *symbol = str_text(&plain);
	if (self_len) {
		if (strncmp(symbol + self_len, "::", 2) != 0)
			return NULL;
		str_append_len(&out, symbol, self_len);
		symbol += self_len + 2;
	} else if (!take_self(&out, dwarf_path, impl, &symbol)) {
		return NULL;
	}
	if (!tails_agree(tail, symbol))
		return NULL;
	while (demangle_next_part(&tail, &part))
		demangle_append_part(&out, &part);
	STR(clean);
	str_append_clean(&clean, str_text(&out), out.len);
	return arena_strdup(a, str_text(&clean));
}

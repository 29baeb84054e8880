#include "dwarf/names/impl_header.h"

#include <ctype.h>
#include <string.h>

static const char *const as_trait[] = { "$u20$as$u20$core..future..future..Future$GT$",
	                                "$u20$as$u20$futures_core..stream..Stream$GT$" };
static const char *const for_type[] = { "_$LT$impl$u20$core..future..future..Future$u20$for$u20$",
	                                "_$LT$impl$u20$futures_core..stream..Stream$u20$for$u20$" };

struct impl_header_text {
	const char *p, *end;
};

static bool impl_header_take(struct impl_header_text *t, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(t->end - t->p) < len || memcmp(t->p, word, len) != 0)
		return false;
	t->p += len;
	return true;
}

static size_t identifier_len(const struct impl_header_text *t)
{
	const char *p = t->p;

	while (p < t->end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	return (size_t)(p - t->p);
}

/*
 * Reads "app..module..Foo": two components at least, because the path of a type includes its crate.
 */
static bool take_path(struct impl_header_text *t)
{
	size_t n = 0, len;

	do {
		/* "_$u7b$" starts a component that is no identifier. */
		len = identifier_len(t);
		t->p += len;
		n++;
	} while (len && impl_header_take(t, ".."));
	return len && n > 1;
}

/* Reads a parameter "T", which is spelled differently from paths and primitive types. */
static bool impl_header_take_parameter(struct impl_header_text *t)
{
	size_t len = identifier_len(t);

	if (len == 0 || !isupper((unsigned char)*t->p))
		return false;
	t->p += len;
	return t->p == t->end || *t->p != '.';
}

/* Reads a projection, "<Fut as core::future::future::Future>::Output". */
static bool take_projection(struct impl_header_text *t)
{
	if (!impl_header_take(t, "$LT$") || !impl_header_take_parameter(t) ||
	    !impl_header_take(t, "$u20$as$u20$") || !take_path(t) || !impl_header_take(t, "$GT$.."))
		return false;
	return impl_header_take_parameter(t);
}

/* Are the arguments after "$LT$" all open, and followed by the closing "$GT$" and the end? */
static bool are_open(struct impl_header_text t)
{
	do {
		struct impl_header_text before = t;

		if (!impl_header_take_parameter(&t)) {
			t = before;
			if (!take_projection(&t))
				return false;
		}
	} while (impl_header_take(&t, "$C$"));
	return impl_header_take(&t, "$GT$") && t.p == t.end;
}

/* Reads the self type. It counts as closed when anything unexpected follows its path. */
static struct poll_header read_type(struct impl_header_text t)
{
	struct poll_header ret = { .form = POLL_FORM_VAGUE };
	const char *start = t.p;

	if (!take_path(&t))
		return ret;
	ret.path_len = (size_t)(t.p - start);
	if (t.p == t.end)
		ret.form = POLL_FORM_PLAIN;
	else if (impl_header_take(&t, "$LT$"))
		ret.form = are_open(t) ? POLL_FORM_OPEN : POLL_FORM_CLOSED;
	else
		return (struct poll_header){ .form = POLL_FORM_VAGUE };
	ret.path = start;
	return ret;
}

/* Moves to the last component, by the lengths of all components before it. */
static bool take_start(struct impl_header_text *t)
{
	if (!impl_header_take(t, "_ZN"))
		return false;
	while (t->p < t->end && isdigit((unsigned char)*t->p)) {
		size_t len = 0;

		while (t->p < t->end && isdigit((unsigned char)*t->p) &&
		       len <= (size_t)(t->end - t->p))
			len = len * 10 + (size_t)(*t->p++ - '0');
		if (len >= (size_t)(t->end - t->p))
			return len == (size_t)(t->end - t->p);
		t->p += len;
	}
	return false;
}

/* Removes the word from the end. */
static bool impl_header_drop_end(struct impl_header_text *t, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(t->end - t->p) < len || memcmp(t->end - len, word, len) != 0)
		return false;
	t->end -= len;
	return true;
}

struct poll_header impl_header_read(const char *symbol, size_t len)
{
	static const struct poll_header vague = { .form = POLL_FORM_VAGUE };
	struct impl_header_text t = { symbol, symbol + len };

	if (!take_start(&t))
		return vague;
	if (impl_header_take(&t, for_type[0]) || impl_header_take(&t, for_type[1]))
		return impl_header_drop_end(&t, "$GT$") ? read_type(t) : vague;
	if (!impl_header_take(&t, "_$LT$") ||
	    !(impl_header_drop_end(&t, as_trait[0]) || impl_header_drop_end(&t, as_trait[1])))
		return vague;
	return read_type(t);
}

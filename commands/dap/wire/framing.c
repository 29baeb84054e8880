#include "commands/dap/wire/framing.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

void framing_add(struct framing *f, const void *bytes, size_t len)
{
	str_append_len(&f->bytes, bytes, len);
}

/*
 * Reads "Content-Length: 12" in a line of len bytes; "Content-Type: ..." leaves *ret as it is. No
 * other line is one of this protocol: "POST /:x HTTP/1.1" has a colon, too, and its body could be a
 * message that a web page sends.
 */
static bool read_field(const char *line, size_t len, size_t *ret)
{
	static const char name[] = "Content-Length:", type[] = "Content-Type:";
	size_t at = sizeof(name) - 1, n = 0;

	if (len < at || strncasecmp(line, name, at) != 0)
		return len >= sizeof(type) - 1 && strncasecmp(line, type, sizeof(type) - 1) == 0;
	while (at < len && line[at] == ' ')
		at++;
	if (at == len)
		return false;
	for (; at < len; at++) {
		if (!isdigit((unsigned char)line[at]))
			return false;
		n = n * 10 + (size_t)(line[at] - '0');
		if (n > FRAMING_MAX_CONTENT)
			return false;
	}
	*ret = n;
	return true;
}

/* Reads the header: *size bytes of it, and the length of the content. */
static enum framing_result read_header(const struct framing *f, size_t *size, size_t *content)
{
	const char *p = f->bytes.data;
	size_t limit = f->bytes.len < FRAMING_MAX_HEADER ? f->bytes.len : FRAMING_MAX_HEADER;

	*content = SIZE_MAX;
	for (size_t at = 0; at < limit;) {
		const char *end = memchr(p + at, '\n', limit - at);

		if (!end)
			break;
		if (end == p + at || end[-1] != '\r')
			return FRAMING_BAD;
		size_t len = (size_t)(end - 1 - (p + at));
		if (len && !read_field(p + at, len, content))
			return FRAMING_BAD;
		at += len + 2;
		*size = at;
		if (!len)
			return *content == SIZE_MAX ? FRAMING_BAD : FRAMING_MESSAGE;
	}
	return limit == FRAMING_MAX_HEADER ? FRAMING_BAD : FRAMING_MORE;
}

enum framing_result framing_take(struct framing *f, struct arena *a, char **text, size_t *len)
{
	size_t header, content, left;

	if (!f->bytes.len)
		return FRAMING_MORE;
	enum framing_result ret = read_header(f, &header, &content);
	if (ret != FRAMING_MESSAGE)
		return ret;
	if (f->bytes.len - header < content)
		return FRAMING_MORE;
	*text = arena_alloc(a, content + 1);
	memcpy(*text, f->bytes.data + header, content);
	*len = content;
	left = f->bytes.len - header - content;
	memmove(f->bytes.data, f->bytes.data + header + content, left);
	str_truncate(&f->bytes, left);
	return FRAMING_MESSAGE;
}

bool framing_is_empty(const struct framing *f)
{
	return f->bytes.len == 0;
}

void framing_free(struct framing *f)
{
	str_free(&f->bytes);
	*f = (struct framing){ 0 };
}

#include "runtimes/hits/log_message.h"

#include <ctype.h>
#include <string.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"

struct log_message_parser {
	struct arena *a;
	const char *rest;
	VEC(struct log_piece) pieces;
	size_t npaths;
};

static void log_message_add(struct log_message_parser *p, const char *text, size_t len,
                            bool is_path)
{
	*vec_push(&p->pieces) =
		(struct log_piece){ .text = str_clean(p->a, text, len), .is_path = is_path };
	p->npaths += is_path;
}

/* Text up to a brace that begins a path. */
static struct error *log_message_read_text(struct log_message_parser *p)
{
	STR(text);

	for (; *p->rest && (*p->rest != '{' || p->rest[1] == '{'); p->rest++) {
		if (*p->rest == '}' && p->rest[1] != '}')
			return error_new(ERR_USAGE, "unmatched }; write }} for a } in the text");
		p->rest += *p->rest == '{' || *p->rest == '}';
		str_append_len(&text, p->rest, 1);
	}
	if (text.len)
		log_message_add(p, text.data, text.len, false);
	return NULL;
}

/* The length up to the brace that closes a path; types have braces too: {closure#0}. */
static struct error *log_message_path_length(const char *path, size_t *ret)
{
	size_t depth = 0;

	for (*ret = 0; path[*ret] && (path[*ret] != '}' || depth); ++*ret) {
		depth += path[*ret] == '{';
		depth -= path[*ret] == '}';
	}
	return path[*ret] ? NULL
	                  : error_new(ERR_USAGE, "\"{%s\" has no }; write {{ for a { in the text",
	                              path);
}

static struct error *log_message_read_path(struct log_message_parser *p)
{
	const char *path = p->rest + 1;
	size_t len;

	TRY(log_message_path_length(path, &len));
	p->rest = path + len + 1;
	for (; len && isspace((unsigned char)*path); len--)
		path++;
	while (len && isspace((unsigned char)path[len - 1]))
		len--;
	if (!len)
		return error_new(ERR_USAGE, "{} needs a path, for example {req.count}");
	if (p->npaths == LOG_MESSAGE_PATHS)
		return error_new(ERR_USAGE, "a text may have at most %d paths", LOG_MESSAGE_PATHS);
	log_message_add(p, path, len, true);
	return NULL;
}

static struct error *parse(struct log_message_parser *p)
{
	while (*p->rest) {
		TRY(log_message_read_text(p));
		if (*p->rest)
			TRY(log_message_read_path(p));
	}
	return NULL;
}

struct error *log_message_parse(struct arena *a, const char *text, struct log_message *ret)
{
	struct log_message_parser p = { .a = a, .rest = text };

	if (!*text)
		return error_new(ERR_USAGE, "a logpoint needs a text, for example 'n is {n}'");
	if (strlen(text) > LOG_MESSAGE_LENGTH)
		return error_new(ERR_USAGE, "the text of a logpoint may have at most %d bytes",
		                 LOG_MESSAGE_LENGTH);
	struct error *err = parse(&p);
	ret->n = p.pieces.n;
	ret->npaths = p.npaths;
	ret->pieces = vec_to_arena(&p.pieces, a);
	return err;
}

static void append_value(struct str *text, const struct log_value *v)
{
	str_append(text, v->value);
	if (v->doubt)
		str_printf(text, " (%s)", v->doubt);
}

const char *log_message_text(struct arena *a, const struct log_message *m,
                             const struct log_value *values)
{
	STR(text);

	for (size_t i = 0; i < m->n; i++) {
		const struct log_value *v = m->pieces[i].is_path ? values++ : NULL;

		if (!v)
			str_append(&text, m->pieces[i].text);
		else if (v->value)
			append_value(&text, v);
		else
			str_printf(&text, "{%s: %s}", v->path, v->problem);
	}
	return arena_strdup(a, str_text(&text));
}

/* Builds a line of text; used by all files of the text format. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "commands/out/out_text.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/fold.h"

enum { DIGITS_SIZE = 32 };

static const char *const style_codes[] = {
	[STYLE_PLAIN] = "\033[0m", [STYLE_HEADING] = "\033[1m",  [STYLE_PLACE] = "\033[36m",
	[STYLE_WAIT] = "\033[33m", [STYLE_PROBLEM] = "\033[31m", [STYLE_DOUBT] = "\033[2m",
};

void text_style(struct text *t, enum style style)
{
	if (!t->out.options.color || (style == STYLE_PLAIN && !t->styled))
		return;
	str_append(&t->line, style_codes[style]);
	t->styled = style != STYLE_PLAIN;
}

void text_clean(struct text *t, const char *text)
{
	str_append_clean(&t->line, text, strlen(text));
}

void text_clean_after(struct text *t, const char *before, const char *text)
{
	str_append(&t->line, before);
	text_clean(t, text);
}

void text_name(struct text *t, const char *name)
{
	SCRATCH(tmp);

	text_clean(t, text_short_name(t, &tmp, name));
}

void text_whole_name(struct text *t, const char *name)
{
	SCRATCH(tmp);

	text_clean(t, t->out.options.full_names ? name : name_short(&tmp, name));
}

static const char *out_text_line_short_type(const struct text *t, struct arena *a, const char *name)
{
	name = name_short(a, name);
	return t->out.answer.verbose ? name : name_fold(a, name);
}

const char *text_short_name(const struct text *t, struct arena *a, const char *name)
{
	static const char either[] = " or ";
	STR(all);

	if (t->out.options.full_names)
		return name;
	/* A task whose poll function was merged with others has the types of all. */
	for (const char *next; (next = strstr(name, either)); name = next + strlen(either)) {
		str_append(&all, out_text_line_short_type(
					 t, a, arena_strndup(a, name, (size_t)(next - name))));
		str_append(&all, either);
	}
	if (!all.len)
		return out_text_line_short_type(t, a, name);
	str_append(&all, out_text_line_short_type(t, a, name));
	return arena_strdup(a, str_text(&all));
}

void text_place(struct text *t, const char *file, unsigned line)
{
	if (!file)
		return;
	str_append(&t->line, " at ");
	text_style(t, STYLE_PLACE);
	text_clean(t, file);
	if (line)
		text_number(t, ":", line);
	text_style(t, STYLE_PLAIN);
}

void text_number(struct text *t, const char *before, uint64_t n)
{
	str_append(&t->line, before);
	str_append_uint(&t->line, n);
}

void text_count(struct text *t, uint64_t n, const char *noun)
{
	str_printf(&t->line, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

static void write_bytes(struct text *t, const char *data, size_t len)
{
	/* stdio does not keep the cause of an error. */
	errno = 0;
	if (fwrite(data, 1, len, t->out.options.answers) < len && !t->out.errnum)
		t->out.errnum = errno;
}

void text_end_line(struct text *t)
{
	text_style(t, STYLE_PLAIN);
	str_append(&t->line, "\n");
	write_bytes(t, t->line.data, t->line.len);
	str_truncate(&t->line, 0);
}

void text_at_end(struct text *t, void (*print)(struct text *t, const void *part), const void *part)
{
	t->last = (struct text_last){ print, part };
}

void text_problem(struct text *t, const char *indent, const char *why)
{
	if (!why)
		return;
	str_append(&t->line, indent);
	text_style(t, STYLE_PROBLEM);
	str_append(&t->line, "! ");
	text_clean(t, why);
	text_end_line(t);
}

void text_property(struct text *t, const char *label, const char *value)
{
	if (!value)
		return;
	str_append(&t->line, ", ");
	str_append(&t->line, label);
	text_clean(t, value);
}

/* Digits in groups of three. */
const char *text_big_number(struct arena *a, uint64_t n)
{
	char buffer[DIGITS_SIZE], *p = buffer + sizeof(buffer);
	unsigned digits = 0;

	*--p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		digits++;
	} while (n /= 10);
	return arena_strdup(a, p);
}

void text_big(struct text *t, uint64_t n)
{
	SCRATCH(tmp);

	str_append(&t->line, text_big_number(&tmp, n));
}

void text_big_count(struct text *t, uint64_t n, const char *noun)
{
	text_big(t, n);
	str_printf(&t->line, " %s%s", noun, n == 1 ? "" : "s");
}

void text_source_line(struct text *t, unsigned number, bool current, const char *line)
{
	if (current)
		text_style(t, STYLE_PLACE);
	str_printf(&t->line, "%s %5u  ", current ? "=>" : "  ", number);
	text_clean(t, line);
	text_style(t, STYLE_PLAIN);
	text_end_line(t);
}

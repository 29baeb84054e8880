#include "runtimes/analysis/unsearched.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/fold.h"

enum { EXAMPLES = 3 };

/*
 * A text is "LEAD NAME" or "LEAD NAME: WHY". Two texts have the same reason when their WHYs are
 * equal and their LEADs are; when there is a WHY, only the first words of the LEADs are compared.
 */
struct split {
	const char *text, *name, *why; /* why NULL: none; name: the last word */
	size_t head;                   /* length of "LEAD NAME" */
	size_t lead;                   /* length of the prefix that all texts of the reason share */
};

/* Splits a text. Blanks and colons within generics, parentheses and `names` are not separators. */
static struct split unsearched_split(const char *text)
{
	struct split s = { .text = text, .name = text, .head = strlen(text) };
	size_t depth = 0, first = 0;
	bool quoted = false;

	for (const char *p = text; *p; p++) {
		if (*p == '`')
			quoted = !quoted;
		else if (quoted || (*p == '>' && p > text && p[-1] == '-'))
			continue;
		else if (strchr("<([{", *p))
			depth++;
		else if (strchr(">)]}", *p))
			depth -= depth > 0;
		else if (depth == 0 && *p == ' ')
			s.name = p + 1;
		if (!first && s.name != text)
			first = (size_t)(s.name - text);
		if (depth == 0 && !quoted && p[0] == ':' && p[1] == ' ') {
			s.why = p;
			s.head = (size_t)(p - text);
			break;
		}
	}
	s.lead = s.why ? first : (size_t)(s.name - text);
	return s;
}

static bool same_reason(const struct split *a, const struct split *b)
{
	if (a == b)
		return true;
	return a->lead && a->lead == b->lead && memcmp(a->text, b->text, a->lead) == 0 &&
	       !a->why == !b->why && (!a->why || strcmp(a->why, b->why) == 0);
}

/*
 * Appends one example. The lead is included in the first example, and in each when the reason is
 * not the lead.
 */
static void append_example(struct arena *a, struct str *line, const struct split *s, bool first,
                           enum names names)
{
	const char *from = first || s->why ? s->text : s->name;
	const char *name = arena_printf(a, "%.*s", (int)(s->text + s->head - s->name), s->name);

	str_append_len(line, from, (size_t)(s->name - from));
	name = names == NAMES_FULL ? name : name_short(a, name);
	str_append(line, names == NAMES_FOLDED ? name_fold(a, name) : name);
}

static const char *unsearched_line_of(struct arena *a, const struct split *list, size_t n,
                                      size_t first, enum names names)
{
	size_t alike = 0;
	STR(line);

	for (size_t i = first; i < n; i++) {
		if (!same_reason(&list[first], &list[i]) || alike++ >= EXAMPLES)
			continue;
		str_append(&line, i == first ? "" : "; ");
		append_example(a, &line, &list[i], i == first, names);
	}
	if (alike > EXAMPLES)
		str_printf(&line, "; and %zu more (--json has all)", alike - EXAMPLES);
	str_append(&line, list[first].why ? list[first].why : "");
	return arena_strdup(a, str_text(&line));
}

const char *const *unsearched_lines(struct arena *a, const struct snapshot *s, enum names names,
                                    size_t *n)
{
	struct split *list = NEW_ARRAY(a, struct split, s->nunsearched);
	const char **lines = NEW_ARRAY(a, const char *, s->nunsearched);

	*n = 0;
	for (size_t i = 0; i < s->nunsearched; i++) {
		size_t k = 0;

		list[i] = unsearched_split(s->unsearched[i]);
		while (k < i && !same_reason(&list[k], &list[i]))
			k++;
		if (k == i)
			lines[(*n)++] = s->unsearched[i];
	}
	/* The loop above stored the first text of each reason in lines: build a line for each. */
	for (size_t i = 0, line = 0; i < s->nunsearched && line < *n; i++) {
		if (lines[line] == s->unsearched[i])
			lines[line++] = unsearched_line_of(a, list, s->nunsearched, i, names);
	}
	return lines;
}

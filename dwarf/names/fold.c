#include "dwarf/names/fold.h"

#include <stdbool.h>
#include <string.h>

#include "debugger/base/str.h"

/* Is the character at p a closing bracket? The '>' of "->" is not. */
static bool fold_closes(const char *name, const char *p)
{
	return *p == '>' && (p == name || p[-1] != '-');
}

/* The greatest nesting depth of brackets; 0 also if they are unbalanced. */
static size_t depth_of(const char *name)
{
	size_t depth = 0, deepest = 0;

	for (const char *p = name; *p; p++) {
		if (*p == '<' && ++depth > deepest)
			deepest = depth;
		if (fold_closes(name, p) && depth-- == 0)
			return 0;
	}
	return depth ? 0 : deepest;
}

/* Appends the name without the contents of brackets at that depth. */
static void cut(struct str *out, const char *name, size_t at)
{
	size_t depth = 0;

	for (const char *p = name; *p; p++) {
		if (*p == '<' && ++depth == at)
			str_append(out, "<..");
		if (depth < at || (depth == at && fold_closes(name, p)))
			str_append_len(out, p, 1);
		depth -= fold_closes(name, p);
	}
}

const char *name_fold(struct arena *a, const char *name)
{
	size_t low = 1, high = strlen(name) > FOLD_LENGTH ? depth_of(name) : 0;
	STR(folded);

	if (!high)
		return name;
	/* Searches for the deepest cut that is short enough: a cut further out is never longer. */
	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		str_truncate(&folded, 0);
		cut(&folded, name, middle);
		if (folded.len > FOLD_LENGTH)
			high = middle - 1;
		else
			low = middle;
	}
	str_truncate(&folded, 0);
	cut(&folded, name, low);
	return arena_strdup(a, str_text(&folded));
}

#include "dwarf/qualified.h"

#include <string.h>

/* How the nesting changes at *p; the '>' of "->" closes nothing. */
static int nesting(const char *start, const char *p)
{
	switch (*p) {
	case '<':
	case '(':
	case '[':
		return 1;
	case ')':
	case ']':
		return -1;
	case '>':
		return p > start && p[-1] == '-' ? 0 : -1;
	default:
		return 0;
	}
}

const char *qualified_last(const char *name)
{
	const char *last = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		depth += nesting(name, p);
		if (depth == 0 && p[0] == ':' && p[1] == ':')
			last = p + 2;
	}
	return last;
}

size_t qualified_base_len(const char *component)
{
	return strcspn(component, "<");
}

const char *qualified_first_generic(struct arena *a, const char *name)
{
	const char *last = qualified_last(name), *open = strchr(last, '<');
	int depth = 0;

	for (const char *p = open; p && *p; p++) {
		depth += nesting(name, p);
		if (depth == 0 || (depth == 1 && *p == ','))
			return arena_strndup(a, open + 1, (size_t)(p - open - 1));
	}
	return NULL;
}

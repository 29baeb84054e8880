#include "dwarf/names/qualified.h"

#include <limits.h>
#include <string.h>

#include "debugger/base/vec.h"

/*
 * How the nesting changes at a character. A table, because names are long and are scanned
 * completely.
 */
static const signed char brackets[UCHAR_MAX + 1] = {
	['<'] = 1, ['('] = 1, ['['] = 1, ['>'] = -1, [')'] = -1, [']'] = -1,
};

/* Change of the nesting at *p; the '>' of "->" does not count. */
static int qualified_nesting(const char *start, const char *p)
{
	bool arrow = *p == '>' && p > start && p[-1] == '-';

	return arrow ? 0 : brackets[(unsigned char)*p];
}

const char *qualified_last(const char *name)
{
	const char *last = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		depth += qualified_nesting(name, p);
		if (*p == ':' && depth == 0 && p[1] == ':')
			last = p + 2;
	}
	return last;
}

bool qualified_is_path(const char *name, const char *path)
{
	while (*path && *name == *path) {
		name++;
		path++;
	}
	return !*path && (*name == '\0' || *name == '<');
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
		depth += qualified_nesting(name, p);
		if (depth == 0 || (depth == 1 && *p == ','))
			return arena_strndup(a, open + 1, (size_t)(p - open - 1));
	}
	return NULL;
}

const char *const *qualified_generics(struct arena *a, const char *name, size_t *n)
{
	const char *last = qualified_last(name), *open = strchr(last, '<'), *from = open;
	const char **ret = NULL;
	VEC(const char *) list = { 0 };
	int depth = 0;

	for (const char *p = open; p && *p && (p == open || depth); p++) {
		depth += qualified_nesting(name, p);
		if (depth != 0 && (depth != 1 || *p != ','))
			continue;
		from += 1 + strspn(from + 1, " ");
		*vec_push(&list) = arena_strndup(a, from, (size_t)(p - from));
		from = p;
	}
	*n = list.n;
	ret = vec_to_arena(&list, a);
	return ret;
}

const char *qualified_plain(struct arena *a, const char *name)
{
	char *ret = arena_strdup(a, name), *to = ret;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		int change = qualified_nesting(name, p);

		if (depth == 0 && change == 0)
			*to++ = *p;
		depth += change;
	}
	*to = '\0';
	return ret[0] == ':' && ret[1] == ':' ? ret + 2 : ret;
}

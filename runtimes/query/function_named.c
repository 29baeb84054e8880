#include "runtimes/query/function_named.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "runtimes/future/future.h"

/* Whether a name is the end of a path, by whole components. */
static bool function_named_is_end_of(const char *path, const char *name)
{
	size_t len = strlen(path), n = strlen(name);

	if (n > len || strcmp(path + len - n, name) != 0)
		return false;
	return n == len || (len - n >= 2 && strncmp(path + len - n - 2, "::", 2) == 0);
}

/* As breakpoints are listed, with whole names or with short ones, or as DWARF has it. */
static bool is_shown_as(struct arena *a, const struct code_place *p, const char *name)
{
	const struct location at = { .name = p->function, .linkage = p->linkage };
	const char *shown = coroutine_whole_name(a, &at);

	if (!shown)
		return false;
	if (p->function &&
	    function_named_is_end_of(str_clean(a, p->function, strlen(p->function)), name))
		return true;
	shown = str_clean(a, shown, strlen(shown));
	return function_named_is_end_of(shown, name) ||
	       function_named_is_end_of(name_short(a, shown), name);
}

struct error *function_named_places(struct debuginfo *di, const char *name, struct arena *a,
                                    struct code_places *ret)
{
	size_t n = 0;

	if (!strchr(name, '<'))
		return lookup_function_places(di, name, a, ret);
	TRY(lookup_function_places(di, qualified_plain(a, name), a, ret));
	for (size_t i = 0; i < ret->n; i++) {
		if (is_shown_as(a, &ret->data[i], name))
			ret->data[n++] = ret->data[i];
	}
	ret->n = n;
	return NULL;
}

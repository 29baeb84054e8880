#include "dwarf/frame/generator_type.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"

static bool is_env(const char *env, const char *function)
{
	size_t len = strcspn(function, "#");

	return env && strncmp(env, function, len) == 0 && str_begins(env + len, "_env") &&
	       strcmp(env + len + 4, function + len) == 0;
}

static const struct type *find_env(struct dwarf_module *dm, Dwarf_Die *parent, const char *function)
{
	Dwarf_Die child;

	if (dwarf_child(parent, &child) != 0)
		return NULL;
	do {
		if (dwarf_tag(&child) == DW_TAG_structure_type &&
		    is_env(dwarf_diename(&child), function)) {
			const struct type *t = type_at(dm, dwarf_dieoffset(&child));

			return t && type_is_coroutine(t) ? t : NULL;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return NULL;
}

const struct type *generator_type_of(struct dwarf_module *dm, Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);
	const struct type *ret = NULL;
	Dwarf_Die *scopes = NULL;

	if (!name || !str_begins(name, "{gen_"))
		return NULL;
	if (dwarf_getscopes_die(function, &scopes) > 1)
		ret = find_env(dm, &scopes[1], name);
	free(scopes);
	return ret;
}

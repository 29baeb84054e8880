#include "commands/profile/profile_view.h"

#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"

static const char *clean(struct arena *a, const char *text)
{
	return str_clean(a, text, strlen(text));
}

static const char *type_name(struct arena *a, const struct profile_view *v, const char *type)
{
	if (!type)
		return "unknown type";
	return v->options->full_names ? clean(a, type) : name_short(a, type);
}

const char *profile_view_function(struct arena *a, const struct profile_view *v,
                                  const struct profile_node *node)
{
	if (node->kind == PROFILE_TYPE) {
		bool blocking = v->tree->types[node->type].job == TRACE_BLOCKING;

		return arena_printf(a, "%s%s", type_name(a, v, node->name),
		                    blocking ? " [blocking]" : "");
	}
	if (node->kind == PROFILE_LEAF)
		return type_name(a, v, node->name);
	return clean(a, node->name ? node->name : "unknown function");
}

const char *profile_view_name(struct arena *a, const struct profile_view *v,
                              const struct profile_node *node)
{
	const char *name = profile_view_function(a, v, node);

	if (!node->file)
		return name;
	return arena_printf(a, "%s at %s:%u", name, clean(a, node->file), node->line);
}

struct profile_node *profile_view_next(const struct profile_view *v,
                                       const struct profile_node *node)
{
	if (!node)
		return v->tree->roots;
	if (node->children)
		return node->children;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

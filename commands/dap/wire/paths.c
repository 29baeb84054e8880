#include "commands/dap/wire/paths.h"

#include <string.h>

/* Adds a rule without the slashes at the ends of its texts. */
static void paths_add(struct paths *p, const char *from, const char *to)
{
	struct path_rule *rule = vec_push(&p->rules);
	size_t nfrom = strlen(from), nto = strlen(to);

	while (nfrom > 1 && from[nfrom - 1] == '/')
		nfrom--;
	while (nto > 1 && to[nto - 1] == '/')
		nto--;
	rule->from = arena_strndup(&p->arena, from, nfrom);
	rule->to = arena_strndup(&p->arena, to, nto);
}

struct error *paths_set(struct paths *p, const struct node *map)
{
	for (const struct node *n = node_first(map); n; n = n->next) {
		bool pair = map->kind == JSON_IS_ARRAY;
		const struct node *first = pair ? node_first(n) : NULL;
		const char *from = pair ? node_text(first) : n->key;
		const char *to = node_text(pair && first ? first->next : n);

		if (!from || !to || !*from || !*to)
			return error_new(ERR_USAGE, "sourceMap must be an object or an array of "
			                            "pairs: {\"/build\": \"/home/me/app\"}");
		paths_add(p, from, to);
	}
	return NULL;
}

/* Puts `to` in place of the beginning `from`; NULL: the path has another one. */
static const char *replace(struct arena *a, const char *path, const char *from, const char *to)
{
	size_t len = strlen(from);

	if (strncmp(path, from, len) != 0 || (path[len] != '/' && path[len] != '\0' && len != 1))
		return NULL;
	return arena_printf(a, "%s%s", to, path + len);
}

const char *paths_to_client(const struct paths *p, struct arena *a, const char *file,
                            const char *dir)
{
	const char *path = *file == '/' || !dir ? file : arena_printf(a, "%s/%s", dir, file);

	for (size_t i = 0; i < p->rules.n; i++) {
		const char *there = replace(a, path, p->rules.data[i].from, p->rules.data[i].to);

		if (there)
			return there;
	}
	return NULL;
}

const char *paths_from_client(const struct paths *p, struct arena *a, const char *file)
{
	for (size_t i = 0; i < p->rules.n; i++) {
		const char *there = replace(a, file, p->rules.data[i].to, p->rules.data[i].from);

		if (there)
			return there;
	}
	return file;
}

void paths_free(struct paths *p)
{
	vec_free(&p->rules);
	arena_free(&p->arena);
	*p = (struct paths){ 0 };
}

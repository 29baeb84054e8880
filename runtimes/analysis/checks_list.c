/* Lists of checks as a user writes them: "deadlock, no-waker:possible". */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/analysis/checks.h"

/* A name in the list. */
struct checks_list_listed {
	const char *name; /* its beginning in the list */
	size_t len;       /* without ":possible" */
	bool possible;    /* ":possible" follows */
};

/* Reads the next name of the list, without blanks around it; false at the end. */
static bool checks_list_next(const char **list, struct checks_list_listed *ret)
{
	static const char end[] = ":possible";
	size_t all, len, n = sizeof(end) - 1;

	if (!*list)
		return false;
	all = strcspn(*list, ",");
	ret->name = *list + strspn(*list, " ");
	len = all > (size_t)(ret->name - *list) ? all - (size_t)(ret->name - *list) : 0;
	while (len && ret->name[len - 1] == ' ')
		len--;
	ret->possible = len >= n && memcmp(ret->name + len - n, end, n) == 0;
	ret->len = ret->possible ? len - n : len;
	*list = (*list)[all] ? *list + all + 1 : NULL;
	return true;
}

static bool checks_list_is_named(const struct checks_list_listed *l, const char *check)
{
	return strlen(check) == l->len && memcmp(l->name, check, l->len) == 0;
}

static const struct check *checks_list_find(const struct checks_list_listed *l)
{
	const struct check *c = checks_table;

	while (c->name && !checks_list_is_named(l, c->name))
		c++;
	return c->name ? c : NULL;
}

struct error *checks_list_check(const char *list)
{
	struct checks_list_listed l;
	STR(known);

	while (checks_list_next(&list, &l)) {
		const struct check *check = checks_list_find(&l);

		if (check && l.possible && !check->may_be_unsure)
			return error_new(ERR_USAGE,
			                 "\"%.*s:possible\": that check reports only what is "
			                 "certain; use %s",
			                 (int)l.len, l.name, check->name);
		if (check)
			continue;
		for (const struct check *c = checks_table; c->name; c++)
			str_printf(&known, "%s%s", known.len ? ", " : "", c->name);
		return error_new(ERR_USAGE, "unknown check \"%.*s%s\"; the checks are %s",
		                 (int)l.len, l.name, l.possible ? ":possible" : "",
		                 str_text(&known));
	}
	return NULL;
}

bool checks_list_has(const char *list, const struct finding *f)
{
	struct checks_list_listed l;

	if (!list)
		return f->severity == SEVERITY_ERROR && !f->possible;
	while (checks_list_next(&list, &l)) {
		if (checks_list_is_named(&l, f->check) && (l.possible || !f->possible))
			return true;
	}
	return false;
}

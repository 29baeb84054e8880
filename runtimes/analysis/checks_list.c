/* Lists of checks as a user writes them: "deadlock, no-waker:possible". */
#include <string.h>

#include "debugger/base/str.h"
#include "runtimes/analysis/checks.h"

/* One name of the list. */
struct listed {
	const char *name; /* its beginning in the list */
	size_t len;       /* without ":possible" */
	bool possible;    /* ":possible" follows */
};

/* Reads the next name of the list, without blanks around it; false at the end. */
static bool next(const char **list, struct listed *ret)
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

static bool is_named(const struct listed *l, const char *check)
{
	return strlen(check) == l->len && memcmp(l->name, check, l->len) == 0;
}

static const struct check *find(const struct listed *l)
{
	const struct check *c = checks_table;

	while (c->name && !is_named(l, c->name))
		c++;
	return c->name ? c : NULL;
}

struct error *checks_list_check(const char *list)
{
	struct listed l;
	STR(known);

	while (next(&list, &l)) {
		const struct check *check = find(&l);

		if (check && l.possible && !check->may_be_unsure)
			return error_new(ERR_USAGE,
			                 "\"%.*s:possible\": what that check finds is never only "
			                 "possible; say %s",
			                 (int)l.len, l.name, check->name);
		if (check)
			continue;
		for (const struct check *c = checks_table; c->name; c++)
			str_printf(&known, "%s%s", known.len ? ", " : "", c->name);
		return error_new(ERR_USAGE, "\"%.*s%s\" is no check; there are %s", (int)l.len,
		                 l.name, l.possible ? ":possible" : "", str_text(&known));
	}
	return NULL;
}

bool checks_list_has(const char *list, const struct finding *f)
{
	struct listed l;

	if (!list)
		return f->severity == SEVERITY_ERROR && !f->possible;
	while (next(&list, &l)) {
		if (is_named(&l, f->check) && (l.possible || !f->possible))
			return true;
	}
	return false;
}

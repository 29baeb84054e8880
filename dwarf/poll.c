/* From a future's type to its poll function. */
#include <dwarf.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/lookup.h"
#include "dwarf/type.h"

/* "{async_fn_env#0}<T>" is polled by "{async_fn#0}" or "{async_fn#0}<T>". */
static bool polls(const char *function, const char *env)
{
	const char *cut = strstr(env, "_env#");
	size_t head = cut ? (size_t)(cut - env) : 0;
	size_t tail;

	if (!cut || strncmp(function, env, head) != 0)
		return false;
	tail = strcspn(cut + 4, "}") + 1; /* "#0}" */
	const char *rest = function + head;
	return strncmp(rest, cut + 4, tail) == 0 && (rest[tail] == '\0' || rest[tail] == '<');
}

/* The linkage name of a poll function of env, a child of a scope called path, in one unit. */
static const char *linkage_in_unit(struct dwarf_module *dm, struct unit *u, const char *path,
                                   const char *env)
{
	size_t path_len = strlen(path);

	debuginfo_scan(dm, u);
	for (size_t i = 0; i < u->nscopes; i++) {
		const struct scope *s = &u->scopes[i];
		const char *name;

		if (s->tag != DW_TAG_subprogram || !s->name || !s->linkage || !polls(s->name, env))
			continue;
		name = lookup_die_name(dm, s->die);
		if (name && strncmp(name, path, path_len) == 0 &&
		    strcmp(name + path_len, s->name) == 0)
			return s->linkage;
	}
	return NULL;
}

/* Do two units come from one crate: is what stands before "/@/" the same? */
static bool same_crate(const struct unit *a, const struct unit *b)
{
	const char *at = a->name ? strstr(a->name, "/@/") : NULL;

	return at && b->name && strncmp(a->name, b->name, (size_t)(at - a->name) + 3) == 0;
}

const char *lookup_poll_linkage(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);
	struct unit *here = debuginfo_scanned_unit_of(dm, type_die(coroutine));
	uint32_t self = here ? scan_scope_at(here, type_die(coroutine)) : SCOPE_NONE;
	const char *full = type_name(coroutine), *env, *found;
	SCRATCH(tmp);

	if (self == SCOPE_NONE || !here->scopes[self].name)
		return NULL;
	env = here->scopes[self].name;
	size_t env_len = strlen(env), full_len = strlen(full);
	if (full_len < env_len)
		return NULL;
	const char *path = arena_strndup(&tmp, full, full_len - env_len);
	found = linkage_in_unit(dm, here, path, env);
	/* The type may stand in many units of the crate, its function in one. */
	for (size_t i = 0; !found && i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];
		const char *crate;
		size_t len;
		bool named = unit_crate(u, &crate, &len) && strncmp(full, crate, len) == 0 &&
		             strncmp(full + len, "::", 2) == 0;

		if (u != here && (named || same_crate(here, u)))
			found = linkage_in_unit(dm, u, path, env);
	}
	return found;
}

/* T of a first argument Pin<&mut T>. */
static const struct type *polled_type(struct dwarf_module *dm, uint64_t die)
{
	const struct function *f = lookup_function_die(dm, die);
	const struct type *t = f ? function_first_argument(f) : NULL;

	if (!t || !type_is(t, "core::pin::Pin"))
		return NULL;
	const struct member *m = type_single_member(t);
	return m && type_kind(m->type) == TYPE_POINTER ? type_target(m->type) : NULL;
}

/* The types that functions of this unit poll; by DIE. */
static void read_polled(struct dwarf_module *dm, struct unit *u)
{
	u->polled_read = true;
	for (size_t i = 0; i < u->nscopes; i++) {
		const struct scope *s = &u->scopes[i];

		if (s->tag != DW_TAG_subprogram || !s->name || strncmp(s->name, "poll", 4) != 0 ||
		    (s->name[4] != '\0' && s->name[4] != '<'))
			continue;
		const struct type *t = polled_type(dm, s->die);
		if (t)
			map_put(&dm->polled, type_die(t), NULL);
	}
}

bool lookup_has_poll(const struct type *t)
{
	struct dwarf_module *dm = type_module(t);
	struct unit *u = debuginfo_scanned_unit_of(dm, type_die(t));

	if (!u)
		return false;
	if (!u->polled_read)
		read_polled(dm, u);
	return map_has(&dm->polled, type_die(t));
}

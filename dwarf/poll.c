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

const char *lookup_poll_linkage(const struct type *coroutine)
{
	struct dwarf_module *dm = type_module(coroutine);
	struct unit *u = debuginfo_scanned_unit_of(dm, type_die(coroutine));
	uint32_t self = u ? scan_scope_at(u, type_die(coroutine)) : SCOPE_NONE;

	if (self == SCOPE_NONE || !u->scopes[self].name)
		return NULL;
	for (size_t i = 0; i < u->nscopes; i++) {
		const struct scope *s = &u->scopes[i];

		if (s->tag == DW_TAG_subprogram && s->parent == u->scopes[self].parent &&
		    s->name && s->linkage && polls(s->name, u->scopes[self].name))
			return s->linkage;
	}
	return NULL;
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

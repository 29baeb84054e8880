#include "commands/base/seen_variables.h"

#include <stdbool.h>
#include <string.h>

#include "debugger/base/str.h"

static size_t count_of(const struct native_frame *f)
{
	return f && f->found ? f->nlocals : 0;
}

/* Addresses are compared, too: a shadowed variable has the same name at another address. */
static bool seen_variables_is_same(const struct local *a, const struct local *b)
{
	return a->addr == b->addr && str_same(a->name, b->name) && str_same(a->type, b->type);
}

/* The number of entries before one of the list that look like the same variable. */
static size_t count_before(const struct local *list, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += seen_variables_is_same(&list[i], &list[at]);
	return n;
}

/*
 * The kept entry of a variable. Several in registers look alike: they are matched by their order.
 */
static const struct local *seen_variables_find(const struct seen_variables *seen,
                                               const struct local *list, size_t at)
{
	size_t left = count_before(list, at);

	for (size_t i = 0; i < seen->n; i++) {
		if (seen_variables_is_same(&seen->list[i], &list[at]) && left-- == 0)
			return &seen->list[i];
	}
	return NULL;
}

static bool is_kept(const struct resumed_object *o, const struct local *l)
{
	return !o->size || (o->addr && l->addr >= o->addr && l->addr - o->addr < o->size);
}

/* Whether a variable of that name had the value at another place, as one that was shadowed. */
static bool had_value(const struct seen_variables *seen, const struct local *l)
{
	for (size_t i = 0; i < seen->n; i++) {
		const struct local *old = &seen->list[i];

		if (str_same(old->name, l->name) && str_same(old->type, l->type) &&
		    str_same(old->value, l->value))
			return true;
	}
	return false;
}

static const char *seen_variables_keep_text(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

struct changed_variable *seen_variables_changed(const struct seen_variables *seen,
                                                const char *function,
                                                const struct native_frame *now,
                                                const struct resumed_object *resumed,
                                                struct arena *a, size_t *n)
{
	size_t all = count_of(now);

	*n = 0;
	if (!seen->function || !function || strcmp(seen->function, function) != 0)
		return NULL;
	struct changed_variable *ret = NEW_ARRAY(a, struct changed_variable, all);

	for (size_t i = 0; i < all; i++) {
		const struct local *l = &now->locals[i];
		const struct local *old = seen_variables_find(seen, now->locals, i);
		bool same = old ? str_same(old->value, l->value) : had_value(seen, l);

		if (!l->value || same || !is_kept(resumed, l))
			continue;
		/* An old value that an await may have lost is not shown: it may have been wrong. */
		ret[*n].now = l;
		if (old && !old->may_be_lost && !old->may_be_unset && !old->may_be_stale)
			ret[*n].before = seen_variables_keep_text(a, old->value);
		(*n)++;
	}
	return ret;
}

void seen_variables_keep(struct seen_variables *seen, const char *function,
                         const struct native_frame *now)
{
	struct seen_variables fresh = { .n = count_of(now) };

	fresh.function = seen_variables_keep_text(&fresh.arena, function);
	fresh.list = NEW_ARRAY(&fresh.arena, struct local, fresh.n);
	for (size_t i = 0; i < fresh.n; i++) {
		const struct local *l = &now->locals[i];

		fresh.list[i] =
			(struct local){ .name = seen_variables_keep_text(&fresh.arena, l->name),
			                .type = seen_variables_keep_text(&fresh.arena, l->type),
			                .value = seen_variables_keep_text(&fresh.arena, l->value),
			                .addr = l->addr,
			                .may_be_lost = l->may_be_lost,
			                .may_be_unset = l->may_be_unset,
			                .may_be_stale = l->may_be_stale };
	}
	seen_variables_free(seen);
	*seen = fresh;
}

void seen_variables_free(struct seen_variables *seen)
{
	arena_free(&seen->arena);
	*seen = (struct seen_variables){ 0 };
}

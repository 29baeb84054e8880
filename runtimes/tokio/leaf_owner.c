/*
 * Finds the object around a primitive (a Mutex around its semaphore) by the futures around the
 * leaf.
 */
#include <string.h>

#include "runtimes/tokio/leaf_sync.h"

/*
 * Is it a future that tokio itself wraps around its leaves? poll_fn is std's or tokio's; tokio's
 * own tracing (tokio_unstable) adds an Instrumented.
 */
static bool is_tokios(const struct type *t)
{
	static const char *const own[] = { "tokio::", "tokio_util::",
		                           "core::future::poll_fn::PollFn<tokio",
		                           "tracing::instrument::Instrumented<tokio" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strncmp(type_name(t), own[i], strlen(own[i])) == 0)
			return true;
	}
	return false;
}

/* The value with the members of a future: of a coroutine those of its current state. */
static struct error *leaf_owner_members_of(const struct leaf *l, struct value v, struct value *ret)
{
	const struct variant *active;

	*ret = v;
	if (!type_is_coroutine(v.type))
		return NULL;
	TRY(value_variant(l->d->c->in->target, v, &active));
	if (active->payload)
		*ret = value_payload(v, active);
	return NULL;
}

static struct error *try_row(const struct leaf *l, const struct owner_row *row,
                             const struct ancestor *a, uint64_t primitive, struct owner *ret,
                             bool *found)
{
	struct value reference, part;

	*found = false;
	TRY(leaf_owner_members_of(l, a->v, &ret->frame));
	if (!leaf_has_path(l, ret->frame.type, row->member))
		return NULL;
	TRY(leaf_place(l, ret->frame, row->member, &reference, found));
	if (*found)
		TRY(leaf_strip_to(l, reference, row->type, &ret->object, found));
	if (!*found || !leaf_has_path(l, ret->object.type, row->part)) {
		*found = false;
		return NULL;
	}
	TRY(leaf_place(l, ret->object, row->part, &part, found));
	/* The primitive may lie inside the part: a BigNotify has eight Notifys. */
	*found = *found && primitive - part.addr < type_size(part.type);
	ret->frame_name = type_name(a->v.type);
	return NULL;
}

bool leaf_owner_find(const struct leaf *l, const struct owner_row *rows, uint64_t primitive,
                     struct owner *ret)
{
	bool any = false;

	for (const struct ancestor *a = l->d->above; a && is_tokios(a->v.type); a = a->up) {
		for (size_t i = 0; rows[i].frame; i++) {
			struct owner o = { .row = i };
			bool found = false;

			if (strncmp(type_name(a->v.type), rows[i].frame, strlen(rows[i].frame)))
				continue;
			/* An unreadable future is skipped. */
			error_free(try_row(l, &rows[i], a, primitive, &o, &found));
			if (!found || (any && o.row == ret->row))
				continue;
			*ret = o;
			any = true;
		}
	}
	return any;
}

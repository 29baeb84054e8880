/*
 * Places where tasks were spawned. Executors that want to know it, as that of gpui, give each task
 * a `&'static Location` as its metadata, or a struct that has one.
 */

#include "runtimes/async_executor/executor.h"

static bool is_location(const struct type *t)
{
	return t && type_kind(t) == TYPE_POINTER && type_target(t) &&
	       type_is(type_target(t), "core::panic::location::Location");
}

static const struct path *executor_spawned_resolve(struct inspector *in, const struct type *header,
                                                   const char *expr)
{
	const struct path *path = NULL;

	error_free(path_resolve(&in->arena, header, expr, &path));
	return path;
}

const struct path *async_executor_location_path(struct inspector *in, const struct type *header)
{
	const struct member *m = type_member(header, "metadata");
	const struct member *members;
	size_t n;

	if (!m || !m->type)
		return NULL;
	if (is_location(m->type))
		return executor_spawned_resolve(in, header, "metadata");
	if (type_kind(m->type) != TYPE_STRUCT)
		return NULL;
	members = type_members(m->type, &n);
	for (size_t i = 0; i < n; i++) {
		if (members[i].name && is_location(members[i].type))
			return executor_spawned_resolve(
				in, header,
				arena_printf(&in->arena, "metadata.%s", members[i].name));
	}
	return NULL;
}

/* The name of the file, which may end with a NUL; NULL: it is none. */
static const char *executor_spawned_read_file(struct collector *c, struct value location)
{
	/* core::panic::Location: std 1.91 | 1.89 | before */
	static const char file_path[] = "filename.pointer | file_bytes_with_nul | file";
	struct value place;
	bool found = false;
	struct error *err = inspector_eval(c->in, location, file_path, &place, &found);

	found &= !err;
	error_free(err);
	return found ? inspector_slice_text(c, place) : NULL;
}

static void read_location(struct collector *c, struct value location, struct source_place *ret)
{
	static const char line_path[] = "line";
	struct value place;
	uint64_t line = 0;
	bool found = false;
	struct error *err = inspector_eval(c->in, location, line_path, &place, &found);

	if (!err && found)
		err = value_uint(c->in->target, place, &line);
	if (!err && line && line <= UINT32_MAX)
		ret->file = executor_spawned_read_file(c, location);
	error_free(err);
	if (!ret->file)
		return;
	struct dwarf_module *dm = inspector_module_at(c->in, location.addr);

	ret->file_short = inspector_location(c->in, c->a, dm, ret->file).text;
	ret->line = (unsigned)line;
}

const struct source_place *async_executor_spawned_at(struct collector *c,
                                                     const struct async_executor_header *h)
{
	struct map *known = &async_executor_walk(c)->locations;
	const struct path *path = h->plan->location;
	struct value header = { h->plan->header, h->addr };
	struct source_place *place;
	uint64_t addr = 0;
	bool found = false;

	if (!path)
		return NULL;
	struct error *err = path_uint(c->in->target, path, header, &addr, &found);
	error_free(err);
	if (err || !found || !addr)
		return NULL;
	place = map_get(known, addr);
	if (!place) {
		place = NEW(c->a, struct source_place);
		map_put(known, addr, place);
		read_location(c, (struct value){ type_target(path_type(path)), addr }, place);
	}
	return place->line ? place : NULL;
}

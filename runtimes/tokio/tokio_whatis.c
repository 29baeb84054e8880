/* Answers "what is at this address?" for handles of runtimes and cells of tasks. */
#include <inttypes.h>
#include <string.h>

#include "runtimes/query/whatis_place.h"
#include "runtimes/tokio/tokio.h"

static void tokio_whatis_add_runtime(struct whatis *a, const struct tokio_runtime *r)
{
	struct collector *c = a->c;
	const struct path *p;
	struct value pointer, inner = r->handle;
	bool found = false;
	struct error *err = NULL;

	/* Include the Arc's counts, where an Arc is known. */
	if (r->arc.type)
		err = inspector_path(c->in, r->arc.type, "ptr.pointer", &p);
	if (r->arc.type && !err)
		err = path_eval(c->in->target, p, r->arc, &pointer, &found);
	if (!err && found && type_target(pointer.type)) {
		inner.type = type_target(pointer.type);
		err = target_read_uint(c->in->target, pointer.addr, 8, &inner.addr);
	}
	if (!err && place_covers(a, inner.addr, type_size(inner.type)))
		place_add(a, "runtime", inner.addr,
		          arena_printf(c->a, "handle of runtime %u%s", r->info->index,
		                       place_inside(a, inner, PLACE_MAX_STEPS)));
	error_free(err);
}

/* The part of a task's cell that the address is in (runtime/task/core.rs: repr(C) since 1.0). */
static const char *part_of_cell(struct whatis *a, struct value cell)
{
	static const struct {
		const char *begins, *part;
	} parts[] = {
		{ "header", "its header" },   { "core.scheduler", "its scheduler's handle" },
		{ "core.task_id", "its id" }, { "core.stage", "its future or output" },
		{ "trailer", "its trailer" },
	};
	const char *path = place_member(a, cell, PLACE_MAX_STEPS);

	for (size_t i = 0; path && i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(parts[i].begins);

		if (strncmp(path, parts[i].begins, len) != 0)
			continue;
		/* The future gets no path: its frames are printed after it. */
		return path[len] != '.' || strcmp(parts[i].begins, "core.stage") == 0
		               ? parts[i].part
		               : arena_printf(a->c->a, "%s: %s", parts[i].part, path + len + 1);
	}
	return path ? path : "padding";
}

/* Cells do not overlap: only the nearest one below the address can contain it. */
static void tokio_whatis_add_task(struct whatis *a)
{
	struct collector *c = a->c;
	const struct tokio_runtime *r = NULL;
	const struct task *task = NULL;
	struct tokio_header h;

	for (size_t i = 0; i < c->out->ntasks; i++) {
		const struct task *other = c->out->tasks[i];
		const struct tokio_runtime *its = tokio_runtime_at(c, other->runtime);

		if (!its || other->addr > a->addr || (task && other->addr < task->addr))
			continue;
		task = other;
		r = its;
	}
	if (!r)
		return;
	struct tokio *k = r->tokio;
	struct error *err = tokio_read_header(c->in->target, k, task->addr, &h);
	const struct task_plan *plan = err ? NULL : tokio_task_plan(c->in, k, h.poll);
	error_free(err);
	if (!plan || !plan->cell || !place_covers(a, task->addr, type_size(plan->cell)))
		return;
	struct value cell = { plan->cell, task->addr };
	struct place *p =
		place_add(a, "task", task->addr,
	                  arena_printf(c->a, "cell of task %s, +%" PRIu64 " in it: %s", task->id,
	                               a->addr - task->addr, part_of_cell(a, cell)));
	p->task = task->id;
}

void tokio_whatis(struct whatis *a)
{
	const struct tokio_walk *w = tokio_walk(a->c);

	for (size_t i = 0; i < w->nruntimes; i++)
		tokio_whatis_add_runtime(a, &w->runtimes[i]);
	tokio_whatis_add_task(a);
}

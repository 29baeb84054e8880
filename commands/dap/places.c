#include "commands/dap/places.h"

#include <inttypes.h>
#include <string.h>

#include "commands/dap/frames.h"
#include "commands/dap/values.h"

static struct error *places_of_expression(struct dap *d, const struct request *r, int64_t frame,
                                          const char *expression, struct dap_place *ret)
{
	struct typed_local found;

	TRY(frames_evaluate(d, frame, expression, r->a, &found));
	if (found.shown.redacted)
		return error_new(ERR_STATE, "its name suggests a secret");
	if (!found.type || !found.in_memory || !found.shown.addr)
		return error_new(ERR_STATE, "%s is in a register, and has no address", expression);
	*ret = (struct dap_place){ .value = { found.type, found.shown.addr },
		                   .text = arena_strdup(r->a, expression),
		                   .global = found.shown.global,
		                   .frame = frame };
	return NULL;
}

/* The row "state" of a task: at which await its future is. */
static struct error *of_task(struct dap *d, const struct request *r, int64_t frame,
                             struct dap_place *ret)
{
	const struct id_thread *id;
	const struct snapshot *snap;

	if (!frames_find(d, frame, &id))
		return error_new(ERR_STATE, "this frame no longer exists");
	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	const struct task *task = ids_find_task(id, snap);
	const struct future *f = task ? task->root : NULL;
	if (!f || !f->addr || !f->type)
		return error_new(ERR_STATE, "the address of the task's future is not known");
	const char *type = arena_strdup(r->a, f->type), *number = arena_strdup(r->a, task->id);
	TRY(places_of_expression(d, r, 0, arena_printf(r->a, "0x%" PRIx64 " as %s", f->addr, type),
	                         ret));
	ret->state = true;
	ret->text = arena_printf(r->a, "--state of task %s, %s", number, type);
	return NULL;
}

static struct error *of_scope(struct dap *d, const struct request *r, const struct id_variables *v,
                              const char *name, struct dap_place *ret)
{
	switch (v->scope) {
	case SCOPE_TASK:
		if (strcmp(name, "state") == 0)
			return of_task(d, r, v->frame, ret);
		return error_new(ERR_STATE, "it is not a variable of the program");
	case SCOPE_REGISTERS:
		return error_new(ERR_STATE, "a register has no address");
	default:
		return places_of_expression(d, r, v->frame, name, ret);
	}
}

struct error *places_find(struct dap *d, const struct request *r, const char *expression,
                          struct dap_place *ret)
{
	int64_t number = dap_number(r, "variablesReference", 0);
	const struct id_variables *known = ids_variables(&d->ids, number);

	if (!expression || !*expression)
		return error_new(ERR_USAGE, "\"%s\" needs a name", r->command);
	if (!number)
		return places_of_expression(d, r, dap_number(r, "frameId", 0), expression, ret);
	if (!known)
		return error_new(ERR_STATE, "value %" PRId64 " no longer exists", number);
	const struct id_variables v = *known; /* it may move */
	if (v.is_scope)
		return of_scope(d, r, &v, expression, ret);
	*ret = (struct dap_place){ .frame = v.frame };
	TRY(values_find_part(d, r->a, &v, expression, &ret->value, &ret->text));
	return NULL;
}

/*
 * scopes and variables. A value is opened one level at a time; its number stands for its type and
 * address, and is valid until the program runs on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/dap/frames.h"
#include "commands/dap/source.h"
#include "commands/dap/stack.h"
#include "commands/dap/values.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"

/* ---- scopes ---- */

static void variables_put_scope(struct dap *d, struct json_writer *w, int frame,
                                enum scope_kind kind)
{
	static const struct {
		const char *name, *hint;
		bool expensive;
	} scopes[] = {
		[SCOPE_LOCALS] = { "Locals", "locals", false },
		[SCOPE_TASK] = { "Task", NULL, true },
		[SCOPE_REGISTERS] = { "Registers", "registers", true },
	};
	const struct id_variables v = { .is_scope = true, .scope = kind, .frame = frame };

	json_open_object(w, NULL);
	json_put_text(w, "name", scopes[kind].name);
	if (scopes[kind].hint)
		json_put_text(w, "presentationHint", scopes[kind].hint);
	json_put_int(w, "variablesReference", ids_of_variables(&d->ids, &v));
	json_put_bool(w, "expensive", scopes[kind].expensive);
	json_close_object(w);
}

struct error *dap_scopes(struct dap *d, struct request *r)
{
	int64_t number = dap_number(r, "frameId", 0);
	const struct id_frame *frame = ids_frame(&d->ids, number);
	const struct id_thread *id = frame ? ids_thread(&d->ids, frame->thread) : NULL;
	const struct snapshot *snap;

	if (!id)
		return error_new(ERR_STATE, "frame %" PRId64 " no longer exists", number);
	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	json_open_array(r->w, "scopes");
	if (frame->kind != FRAME_LABEL)
		variables_put_scope(d, r->w, (int)number, SCOPE_LOCALS);
	if (ids_find_task(id, snap))
		variables_put_scope(d, r->w, (int)number, SCOPE_TASK);
	if (frame->kind == FRAME_NATIVE && asyncdbg_target(d->s->handle))
		variables_put_scope(d, r->w, (int)number, SCOPE_REGISTERS);
	json_close_array(r->w);
	return NULL;
}

/* ---- variables of a future ---- */

static void variables_put_local(struct dap *d, struct request *r, const struct typed_local *l)
{
	const struct local *shown = &l->shown;
	const char *text = shown->value ? shown->value
	                                : arena_printf(r->a, "<%s>",
	                                               shown->problem ? shown->problem : "unknown");
	const char *doubt = local_uncertainty(shown);
	struct dap_source declared = { 0 };
	source_of_file(d, r->a, l->file, l->comp_dir, l->line, &declared);
	struct shown_value v = { .name = shown->name,
		                 .text = text,
		                 .type = values_type(r, shown->type, doubt),
		                 .expression = shown->name,
		                 .declared = &declared };

	if (l->in_memory && l->type && shown->value) {
		v.value = (struct value){ l->type, shown->addr };
		v.in_memory = true;
	}
	values_put(d, r, NULL, &v);
}

/* A saved snapshot has only the texts of values. */
static struct error *saved_locals(struct dap *d, struct request *r, const struct id_thread *id,
                                  const struct id_frame *frame)
{
	const struct future *root, *f;
	const struct snapshot *snap;

	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	const struct task *task = ids_find_task(id, snap);
	const struct thread_info *th = ids_find_thread(id, snap);
	root = task ? task->root : th ? th->root : NULL;
	f = root ? future_frame(root, frame->number, NULL) : NULL;
	for (unsigned i = 0; f && i < f->nlocals; i++)
		variables_put_local(d, r, &(struct typed_local){ .shown = f->locals[i] });
	return NULL;
}

static struct error *future_locals(struct dap *d, struct request *r, const struct id_thread *id,
                                   const struct id_frame *frame)
{
	struct typed_locals list = { 0 };
	struct question question = { .frame = frame->number, .typed = &list };
	const struct snapshot *snap;

	if (asyncdbg_kind(d->s->handle) == ASYNCDBG_SAVED)
		return saved_locals(d, r, id, frame);
	TRY(frames_ask(d, id, &question, &snap));
	for (size_t i = 0; i < list.n; i++)
		variables_put_local(d, r, &list.data[i]);
	return NULL;
}

/* ---- of a native frame ---- */

/* *any: whether it has variables; not all may have values. */
static struct error *native_locals(struct dap *d, struct request *r, const struct id_thread *id,
                                   const struct id_frame *frame, bool *any)
{
	struct typed_locals list = { 0 };
	struct question question = { .native = true, .frame = frame->number, .typed = &list };
	const struct snapshot *snap;

	if (!asyncdbg_inspector(d->s->handle))
		return error_new(ERR_STATE, "a saved snapshot has no native variables");
	TRY(frames_ask(d, id, &question, &snap));
	for (size_t i = 0; i < list.n; i++)
		variables_put_local(d, r, &list.data[i]);
	*any = list.n != 0;
	return NULL;
}

static struct error *registers(struct dap *d, struct request *r, const struct id_thread *id,
                               const struct id_frame *frame)
{
	struct question question = { .native = true, .frame = frame->number };
	const struct snapshot *snap;

	if (!asyncdbg_inspector(d->s->handle))
		return error_new(ERR_STATE, "a saved snapshot has no registers");
	TRY(frames_ask(d, id, &question, &snap));
	const struct native_frame *native = snap->native;
	if (!native || !native->found)
		return error_new(ERR_STATE, "%s",
		                 native && native->problem ? native->problem
		                                           : "this frame no longer exists");
	for (unsigned i = 0; i < native->nregisters; i++) {
		const struct native_register *reg = &native->registers[i];
		struct shown_value v = { .name = reg->name };

		if (!reg->known || !reg->name)
			continue;
		v.text = arena_printf(r->a, "0x%" PRIx64, reg->value);
		values_put(d, r, NULL, &v);
	}
	return NULL;
}

/* ---- the task ---- */

static void variables_put_detail(struct dap *d, struct request *r, const char *name,
                                 const char *text)
{
	if (text)
		values_put(d, r, NULL, &(struct shown_value){ .name = name, .text = text });
}

static void variables_put_place(struct dap *d, struct request *r, const char *name,
                                const struct source_place *p)
{
	struct dap_source at = { 0 };

	if (!p || !p->file)
		return;
	source_of_file(d, r->a, p->file, NULL, p->line, &at);
	values_put(d, r, NULL,
	           &(struct shown_value){
			   .name = name,
			   .text = arena_printf(r->a, "%s:%u",
	                                        p->file_short ? p->file_short : p->file, p->line),
			   .place = &at });
}

static struct error *variables_task_details(struct dap *d, struct request *r,
                                            const struct id_thread *id)
{
	const struct snapshot *snap;
	size_t others;

	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	const struct task *task = ids_find_task(id, snap);
	if (!task)
		return NULL;
	variables_put_detail(d, r, "id", task->id);
	variables_put_detail(d, r, "name", task_name(task));
	variables_put_detail(d, r, "state", task_state_name(task->state));
	variables_put_detail(d, r, "waiting on", task_waiting_on(r->a, snap, task, false, &others));
	variables_put_detail(d, r, "type", task->type);
	variables_put_detail(d, r, "size",
	                     task->size ? arena_printf(r->a, "%" PRIu64, task->size) : NULL);
	variables_put_place(d, r, "spawned at", task->spawned_at);
	variables_put_place(d, r, "defined at", task->defined_at);
	variables_put_detail(d, r, "header",
	                     task->addr ? arena_printf(r->a, "0x%" PRIx64, task->addr) : NULL);
	if (task->has_wakers)
		variables_put_detail(d, r, "wakers", arena_printf(r->a, "%" PRIu64, task->wakers));
	variables_put_detail(d, r, "problem", task->problem);
	return NULL;
}

/* ---- variables ---- */

static struct error *scope(struct dap *d, struct request *r, const struct id_variables *v)
{
	const struct id_frame *frame = ids_frame(&d->ids, v->frame);
	const struct id_thread *id = frame ? ids_thread(&d->ids, frame->thread) : NULL;

	if (!id)
		return error_new(ERR_STATE, "this frame no longer exists");
	if (v->scope == SCOPE_TASK)
		return variables_task_details(d, r, id);
	if (v->scope == SCOPE_REGISTERS)
		return registers(d, r, id, frame);
	struct id_frame of = *frame;
	bool is_future, any = false;
	TRY(frames_future(d, id, frame, &of.number, &is_future));
	/*
	 * Variables of a running coroutine are read from its native frame: there each has a value
	 * or a reason.
	 */
	if (frame->kind == FRAME_NATIVE && (asyncdbg_inspector(d->s->handle) || !is_future))
		TRY(native_locals(d, r, id, frame, &any));
	return any || !is_future ? NULL : future_locals(d, r, id, &of);
}

struct error *dap_variables(struct dap *d, struct request *r)
{
	int64_t number = dap_number(r, "variablesReference", 0);
	int64_t first = dap_number(r, "start", 0), count = dap_number(r, "count", 0);
	const struct id_variables *known = ids_variables(&d->ids, number);
	const char *filter = dap_text(r, "filter");

	if (!known)
		return error_new(ERR_STATE, "value %" PRId64 " no longer exists", number);
	if (first < 0 || count < 0)
		return error_new(ERR_USAGE, "start and count must be at least 0");
	struct id_variables v = *known;

	json_open_array(r->w, "variables");
	if (v.is_scope)
		TRY(scope(d, r, &v));
	else
		TRY(values_put_parts(d, r, &v, filter, (uint64_t)first, (uint64_t)count));
	json_close_array(r->w);
	return NULL;
}

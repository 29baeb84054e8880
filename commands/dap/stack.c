#include "commands/dap/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/dap/context.h"
#include "commands/dap/source.h"
#include "dwarf/names/demangle.h"
#include "runtimes/model/names.h"

/* ---- rows ---- */

static struct stack_row *stack_add(struct stack_rows *s, enum frame_kind kind)
{
	struct stack_row *row = vec_push(&s->rows);

	row->kind = kind;
	row->number = (unsigned)s->rows.n - 1;
	return row;
}

static void stack_add_label(struct stack_rows *s, const struct future *f, const char *text)
{
	struct stack_row *row = stack_add(s, FRAME_LABEL);

	row->text = text;
	row->future = f;
}

static bool stack_is_full(const struct stack_rows *s)
{
	return s->rows.n >= STACK_MAX_ROWS;
}

static const char *edge_text(struct arena *a, const struct future *f)
{
	const char *what = f->edge ? f->edge : "future";

	if (f->branch == BRANCH_POLLED)
		return what;
	return arena_printf(a, "%s, %s", what, branch_name(f->branch));
}

static void stack_add_futures(struct stack_rows *s, const struct future *f);

static bool is_only_polled(const struct future *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->nchildren; i++)
		n += f->children[i]->branch == BRANCH_POLLED;
	return n == 1;
}

/* The futures below one that has several. */
static void add_arms(struct stack_rows *s, const struct future *f)
{
	bool only = is_only_polled(f);

	for (unsigned i = 0; i < f->nchildren && !stack_is_full(s); i++) {
		if (i == STACK_MAX_ARMS) {
			stack_add_label(s, f,
			                arena_printf(s->a, "... and %u more", f->nchildren - i));
			return;
		}
		if (!only || f->children[i]->branch != BRANCH_POLLED)
			stack_add_label(s, f->children[i], edge_text(s->a, f->children[i]));
		stack_add_futures(s, f->children[i]);
	}
}

/* A future, after those that it polls. */
static void stack_add_futures(struct stack_rows *s, const struct future *f)
{
	if (stack_is_full(s))
		return;
	if (f->wait && f->wait->phrase)
		stack_add_label(s, f, arena_printf(s->a, "waiting: %s", f->wait->phrase));
	if (f->problem)
		stack_add_label(s, f, arena_printf(s->a, "! %s", f->problem));
	if (f->nchildren == 1 && f->children[0]->branch == BRANCH_POLLED)
		stack_add_futures(s, f->children[0]);
	else
		add_arms(s, f);
	struct stack_row *row = stack_add(s, FRAME_AWAIT);
	row->future = f;
	row->number = f->number;
}

static void add_native(struct stack_rows *s, const struct thread_info *th)
{
	for (size_t i = 0; i < th->nframes && !stack_is_full(s); i++) {
		struct stack_row *row = stack_add(s, FRAME_NATIVE);

		row->native = &th->frames[i];
		row->number = th->frames[i].number;
	}
	if (th->problem)
		stack_add_label(s, NULL, arena_printf(s->a, "! %s", th->problem));
}

void stack_make(const struct id_thread *id, const struct snapshot *snap, struct stack_rows *ret)
{
	const struct task *task = ids_find_task(id, snap);
	const struct thread_info *th = id->kind == ID_GROUP ? NULL : ids_find_thread(id, snap);
	const struct future *root = task ? task->root : th ? th->root : NULL;

	if (th)
		add_native(ret, th);
	if (th && task)
		stack_add_label(ret, root,
		                arena_printf(ret->a, "await stack of task %s", task->id));
	else if (th && root)
		stack_add_label(ret, root, "await stack of block_on");
	if (id->kind == ID_GROUP && task)
		stack_add_label(ret, root, arena_printf(ret->a, "one of them: task %s", task->id));
	if (task && task->problem)
		stack_add_label(ret, root, arena_printf(ret->a, "! %s", task->problem));
	if (root)
		stack_add_futures(ret, root);
}

const struct stack_row *stack_find(const struct stack_rows *rows, const struct id_frame *frame)
{
	for (size_t i = 0; i < rows->rows.n; i++) {
		const struct stack_row *row = &rows->rows.data[i];

		if (row->kind == frame->kind && row->number == frame->number)
			return row;
	}
	return NULL;
}

static bool stack_executes(const struct stack_frame *frame, const struct future *f)
{
	return f->running && f->function && frame->function && f->line == frame->line &&
	       strcmp(f->function, frame->function) == 0;
}

/* The nth (from 0) running future that such a frame executes, from the inside out. */
static const struct future *nth_running(const struct stack_rows *rows,
                                        const struct stack_frame *frame, size_t nth)
{
	for (size_t i = 0; i < rows->rows.n; i++) {
		const struct stack_row *row = &rows->rows.data[i];

		if (row->kind == FRAME_AWAIT && stack_executes(frame, row->future) && nth-- == 0)
			return row->future;
	}
	return NULL;
}

const struct future *stack_future(const struct stack_rows *rows, const struct id_frame *frame)
{
	const struct stack_row *row = stack_find(rows, frame);
	size_t before = 0;

	if (!row || row->kind == FRAME_LABEL)
		return NULL;
	if (row->kind == FRAME_AWAIT)
		return row->future;
	/* A recursive function has a frame for each of its futures. */
	for (const struct stack_row *r = rows->rows.data; r < row; r++)
		before += r->kind == FRAME_NATIVE && r->native->line == row->native->line &&
		          r->native->function && row->native->function &&
		          strcmp(r->native->function, row->native->function) == 0;
	return nth_running(rows, row->native, before);
}

/* ---- stackTrace ---- */

/* The function of a native frame, and those that the linker has merged with it. */
static const char *native_name(struct arena *a, const struct stack_frame *f)
{
	if (!f->function)
		return "?";
	return f->aliases ? arena_printf(a, "%s or %s", f->function, f->aliases) : f->function;
}

/* "async app::serve", "app::serve", "waiting: ..." */
static const char *row_name(struct arena *a, const struct stack_row *row)
{
	const struct future *f = row->future;

	if (row->kind == FRAME_LABEL)
		return row->text;
	if (row->kind == FRAME_NATIVE)
		return native_name(a, row->native);
	const char *name = f->function ? f->function : f->type ? name_short(a, f->type) : "?";
	/* Generics of the type tell such futures apart. */
	if (f->aliases && f->kind == FUTURE_OTHER && f->type)
		name = name_short(a, f->type);
	if (f->aliases)
		name = arena_printf(a, "%s or %s", name, f->aliases);
	else if (f->uncertain)
		name = arena_printf(a, "%s or one that shares its code", name);
	return f->kind == FUTURE_OTHER ? name : arena_printf(a, "async %s", name);
}

static void stack_put_row(struct dap *d, struct request *r, int thread, const struct stack_row *row)
{
	struct json_writer *w = r->w;
	struct dap_source at = { 0 };
	const struct id_frame frame = { thread, row->kind, row->number };
	char pc[32];

	source_of_row(d, r->a, row, &at);
	json_open_object(w, NULL);
	json_put_int(w, "id", ids_of_frame(&d->ids, &frame));
	json_put_text(w, "name", row_name(r->a, row));
	if (row->kind != FRAME_LABEL && at.path)
		source_put(d, w, "source", &at);
	json_put_int(w, "line", row->kind != FRAME_LABEL && at.path ? source_line(d, at.line) : 0);
	json_put_int(w, "column", 0);
	if (row->kind == FRAME_NATIVE && row->native->pc) {
		snprintf(pc, sizeof(pc), "0x%" PRIx64, row->native->pc);
		json_put_text(w, "instructionPointerReference", pc);
	}
	json_put_text(w, "presentationHint",
	              row->kind == FRAME_LABEL ? "label"
	              : at.library             ? "subtle"
	                                       : "normal");
	json_close_object(w);
}

struct error *dap_stack_trace(struct dap *d, struct request *r)
{
	int64_t number = dap_number(r, "threadId", 0), first = dap_number(r, "startFrame", 0);
	int64_t levels = dap_number(r, "levels", 0);
	const struct id_thread *id = ids_thread(&d->ids, number);
	struct stack_rows rows = { .a = r->a };
	const struct snapshot *snap;

	if (!id)
		return error_new(ERR_STATE, "no thread %" PRId64, number);
	if (first < 0 || levels < 0)
		return error_new(ERR_USAGE, "startFrame and levels must be at least 0");
	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING | WANT_STACKS, &snap));
	stack_make(id, snap, &rows);
	if (!rows.rows.n) {
		vec_free(&rows.rows);
		return error_new(ERR_STATE, id->kind == ID_THREAD ? "this thread has ended"
		                                                  : "this task has ended");
	}
	json_open_array(r->w, "stackFrames");
	for (size_t i = (size_t)first; i < rows.rows.n; i++) {
		if (levels && i - (size_t)first >= (size_t)levels)
			break;
		stack_put_row(d, r, (int)number, &rows.rows.data[i]);
	}
	json_close_array(r->w);
	json_put_int(r->w, "totalFrames", (int64_t)rows.rows.n);
	vec_free(&rows.rows);
	return NULL;
}

/* The frame in focus, values in it, and its registers. */
#include <inttypes.h>

#include "commands/base/focus.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

struct shown_frame {
	struct focus focus;
	bool verbose; /* with its variables */
};

struct printed {
	struct focus focus;
	const struct local *value;
};

struct shown_registers {
	struct focus focus;
	const bool *shown;
};

static void put_focus(struct json_writer *w, const struct focus *f)
{
	json_open_object(w, "focus");
	out_json_number_if(w, "thread", f->thread, f->thread ? f->thread->number : 0);
	json_put_text(w, "task", f->task ? f->task->id : NULL);
	out_json_number_if(w, "frame", f->frame, f->frame ? f->frame->number : 0);
	if (f->native)
		json_put_int(w, "native_frame", f->native->number);
	json_close_object(w);
}

/* A native frame, and its variables where the answer is verbose. */
static void focus_text_native(struct text *t, const struct focus *f)
{
	const struct native_frame *values = f->values;
	const struct future with = { .locals = values->locals,
		                     .nlocals = (unsigned)values->nlocals };

	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "Thread #%u (pid: %d", f->thread->number, (int)f->thread->tid);
	text_property(t, "name: ", f->thread->name);
	str_append(&t->line, ")");
	text_end_line(t);
	text_native_frame(t, f->native);
	if (!t->out.answer.verbose)
		return;
	text_locals(t, &with, "   ");
	if (values->problem) {
		text_problem(t, "   ", values->problem);
	} else if (!values->nlocals) {
		str_append(&t->line, "     it has no variables here");
		text_end_line(t);
	}
}

static void focus_text_frame(struct text *t, const void *part)
{
	const struct shown_frame *shown = part;
	const struct focus *f = &shown->focus;

	if (f->native) {
		focus_text_native(t, f);
		return;
	}
	if (f->task)
		text_task_line(t, f->task);
	else
		text_thread_line(t, f->thread);
	if (f->frame) {
		text_future(t, f->frame);
		text_end_line(t);
		text_problem(t, "   ", f->frame->problem);
	}
	if (f->task && !f->frame)
		text_problem(t, "   ", f->task->problem);
	if (!f->frame || !shown->verbose)
		return;
	text_locals(t, f->frame, "   ");
	if (!f->frame->nlocals) {
		str_append(&t->line, "     no variables are known here");
		text_end_line(t);
	}
}

static void focus_json_frame(struct json_writer *w, const void *part)
{
	const struct shown_frame *shown = part;
	const struct focus *f = &shown->focus;

	put_focus(w, f);
	if (f->native)
		out_json_native_frame(w, "native_frame", f, shown->verbose);
	else
		out_json_future(w, "frame", f->frame, shown->verbose);
}

static const struct part_kind frame_part = { sizeof(struct shown_frame), focus_text_frame,
	                                     focus_json_frame };

void part_frame(struct out *o, const struct focus *f)
{
	out_part(o, &frame_part, &(struct shown_frame){ *f, o->answer.verbose });
}

static void printed_text(struct text *t, const void *part)
{
	const struct printed *p = part;

	text_local(t, p->value);
	text_end_line(t);
}

static void printed_json(struct json_writer *w, const void *part)
{
	const struct printed *p = part;

	put_focus(w, &p->focus);
	out_json_local(w, "printed", p->value);
}

static const struct part_kind printed_part = { sizeof(struct printed), printed_text, printed_json };

void part_printed(struct out *o, const struct focus *f, const struct local *value)
{
	out_part(o, &printed_part, &(struct printed){ *f, value });
}

static void registers_text(struct text *t, const void *part)
{
	const struct shown_registers *p = part;

	for (size_t i = 0; i < p->focus.values->nregisters; i++) {
		const struct native_register *r = &p->focus.values->registers[i];

		if (!p->shown[i])
			continue;
		str_printf(&t->line, "%-8s ", r->name);
		if (r->known)
			str_printf(&t->line, "0x%-16" PRIx64 "  %" PRId64, r->value,
			           (int64_t)r->value);
		else
			str_append(&t->line, "not known in this frame");
		text_end_line(t);
	}
}

static void registers_json(struct json_writer *w, const void *part)
{
	const struct shown_registers *p = part;
	SCRATCH(tmp);

	put_focus(w, &p->focus);
	json_open_object(w, "registers");
	for (size_t i = 0; i < p->focus.values->nregisters; i++) {
		const struct native_register *r = &p->focus.values->registers[i];

		if (p->shown[i])
			json_put_text(w, r->name,
			              r->known ? arena_printf(&tmp, "0x%" PRIx64, r->value) : NULL);
	}
	json_close_object(w);
}

static const struct part_kind registers_part = { sizeof(struct shown_registers), registers_text,
	                                         registers_json };

void part_registers(struct out *o, const struct focus *f, const bool *shown)
{
	out_part(o, &registers_part, &(struct shown_registers){ *f, shown });
}

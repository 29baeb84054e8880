/* Prints the frame in focus, and values in it. */
#include <inttypes.h>

#include "commands/base/focus.h"
#include "commands/out/out_text.h"

/* A native frame, and its variables where the answer is verbose. */
static void native(struct text *t, const struct focus *f)
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

void text_frame(struct out *o, const struct focus *f)
{
	struct text *t = (struct text *)o;

	if (f->native) {
		native(t, f);
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
	if (!f->frame || !o->answer.verbose)
		return;
	text_locals(t, f->frame, "   ");
	if (!f->frame->nlocals) {
		str_append(&t->line, "     no variables are known here");
		text_end_line(t);
	}
}

void text_printed(struct out *o, const struct focus *f, const struct local *value)
{
	struct text *t = (struct text *)o;

	(void)f;
	text_local(t, value);
	text_end_line(t);
}

void text_place_op(struct out *o, const struct place *place)
{
	struct text *t = (struct text *)o;

	if (place->addr)
		str_printf(&t->line, "0x%016" PRIx64 "  ", place->addr);
	else
		str_printf(&t->line, "%20s", "");
	text_clean(t, place->phrase ? place->phrase : place->what ? place->what : "?");
	text_end_line(t);
}

/* A runtime, as text alone: a JSON document always has every runtime. */
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

struct shown_runtime {
	const struct runtime_info *runtime;
	enum runtime_view view;
};

static void runtime_text(struct text *t, const void *part)
{
	const struct shown_runtime *shown = part;
	const struct runtime_info *r = shown->runtime;

	if (shown->view == RUNTIME_ROW) {
		text_runtime_row(t, r);
		return;
	}
	text_style(t, STYLE_HEADING);
	str_printf(&t->line, "Runtime %u (", r->index);
	text_runtime(t, r);
	str_append(&t->line, ")");
	text_runtime_tasks(t, ": ", r);
	text_runtime_completeness(t, r);
	text_end_line(t);
}

static const struct part_kind runtime_part = { sizeof(struct shown_runtime), runtime_text, NULL };

void part_runtime(struct out *o, const struct runtime_info *r, enum runtime_view view)
{
	out_part(o, &runtime_part, &(struct shown_runtime){ r, view });
}

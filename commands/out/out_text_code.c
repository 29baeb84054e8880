/* Source text, machine code, memory and registers as text. */
#include <inttypes.h>

#include "commands/base/code_listing.h"
#include "commands/base/examine.h"
#include "commands/base/focus.h"
#include "commands/base/listing.h"
#include "commands/out/out_text.h"
#include "dwarf/code/memory_dump.h"

void text_source_line(struct text *t, unsigned number, bool current, const char *line)
{
	if (current)
		text_style(t, STYLE_PLACE);
	str_printf(&t->line, "%s %5u  ", current ? "=>" : "  ", number);
	text_clean(t, line);
	text_style(t, STYLE_PLAIN);
	text_end_line(t);
}

void text_listing(struct out *o, const struct listing *l)
{
	struct text *t = (struct text *)o;

	text_style(t, STYLE_HEADING);
	text_clean(t, l->file);
	text_style(t, STYLE_PLAIN);
	if (l->moved) {
		str_append(&t->line, ", read from ");
		text_clean(t, l->path);
	}
	text_end_line(t);
	for (size_t i = 0; i < l->nlines; i++) {
		unsigned number = l->first + (unsigned)i;

		text_source_line(t, number, number == l->current, l->lines[i]);
	}
}

static void code_heading(struct text *t, const struct code_range *r)
{
	text_style(t, STYLE_HEADING);
	if (r->function)
		text_name(t, r->function);
	else
		str_append(&t->line, "code");
	text_style(t, STYLE_PLAIN);
	str_printf(&t->line, ", 0x%" PRIx64 " to 0x%" PRIx64, r->low, r->high);
	text_end_line(t);
}

static void code_line(struct text *t, const struct code_listing_row *row)
{
	text_style(t, STYLE_PLACE);
	text_clean(t, row->file);
	str_printf(&t->line, ":%u", row->row->line);
	text_style(t, STYLE_PLAIN);
	if (row->source) {
		str_append(&t->line, "  ");
		text_clean(t, row->source);
	}
	text_end_line(t);
}

static void code_row(struct text *t, const struct code_listing *l,
                     const struct code_listing_row *row)
{
	const struct instruction *in = &row->row->insn;
	uint64_t start = l->code->range.start;

	str_printf(&t->line, "%s 0x%016" PRIx64, row->current ? "=>" : "  ", in->addr);
	if (start)
		str_printf(&t->line, " <+%" PRIu64 ">", in->addr - start);
	str_append(&t->line, ":");
	for (unsigned i = 0; l->bytes && i < in->size; i++)
		str_printf(&t->line, " %02x", row->row->bytes[i]);
	str_append(&t->line, "  ");
	text_clean(t, in->text);
	if (in->has_target && !in->is_branch)
		str_printf(&t->line, "  # 0x%" PRIx64, in->target);
	if (row->row->symbol) {
		str_append(&t->line, " <");
		text_name(t, row->row->symbol);
		str_append(&t->line, ">");
	}
	if (row->row->pointee) {
		str_append(&t->line, " -> ");
		text_name(t, row->row->pointee);
	}
	text_end_line(t);
}

void text_disassembly(struct out *o, const struct code_listing *l)
{
	struct text *t = (struct text *)o;

	code_heading(t, &l->code->range);
	for (size_t i = 0; i < l->code->nrows; i++) {
		if (l->lines && l->rows[i].new_line)
			code_line(t, &l->rows[i]);
		code_row(t, l, &l->rows[i]);
	}
	text_problem(t, "   ", l->code->problem);
}

void text_registers(struct out *o, const struct focus *f, const bool *shown)
{
	struct text *t = (struct text *)o;

	for (size_t i = 0; i < f->values->nregisters; i++) {
		const struct native_register *r = &f->values->registers[i];

		if (!shown[i])
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

/* How many units stand on a line. */
static size_t per_line(const struct memory_format *f)
{
	if (f->letter == 's' || f->letter == 'i')
		return 1;
	if (f->letter == 'a')
		return 2;
	if (f->letter == 't')
		return f->size == 8 ? 1 : 8 / f->size;
	return f->size <= 2 ? 8 : 16 / f->size;
}

void text_memory(struct out *o, const struct examine_shown *m)
{
	struct text *t = (struct text *)o;
	size_t n = per_line(m->format);

	for (size_t i = 0; i < m->dump->n; i++) {
		const struct memory_unit *u = &m->dump->units[i];

		if (i % n == 0) {
			str_printf(&t->line, "0x%" PRIx64, u->addr);
			if (i == 0 && m->symbol) {
				str_append(&t->line, " <");
				text_name(t, m->symbol);
				str_append(&t->line, ">");
			}
			str_append(&t->line, ":");
		}
		str_append(&t->line, "  ");
		text_clean(t, u->text);
		if (u->symbol) {
			str_append(&t->line, " <");
			text_name(t, u->symbol);
			str_append(&t->line, ">");
		}
		if (i % n == n - 1 || i + 1 == m->dump->n)
			text_end_line(t);
	}
	text_problem(t, "   ", m->dump->problem);
}

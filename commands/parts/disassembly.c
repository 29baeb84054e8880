/* Machine code. */
#include <inttypes.h>

#include "commands/base/code_listing.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"

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

static void disassembly_row(struct text *t, const struct code_listing *l,
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

static void disassembly_text(struct text *t, const void *part)
{
	const struct code_listing *l = part;

	code_heading(t, &l->code->range);
	for (size_t i = 0; i < l->code->nrows; i++) {
		if (l->lines && l->rows[i].new_line)
			code_line(t, &l->rows[i]);
		disassembly_row(t, l, &l->rows[i]);
	}
	text_problem(t, "   ", l->code->problem);
}

static void put_bytes(struct json_writer *w, const struct code_row *row)
{
	STR(text);

	for (unsigned i = 0; i < row->insn.size; i++)
		str_printf(&text, "%s%02x", i ? " " : "", row->bytes[i]);
	json_put_text(w, "bytes", str_text(&text));
}

static void put_instruction(struct json_writer *w, const struct code_listing_row *shown)
{
	const struct code_row *row = shown->row;

	json_open_object(w, NULL);
	json_put_address(w, "address", row->insn.addr);
	put_bytes(w, row);
	json_put_text(w, "text", row->insn.text);
	json_put_address(w, "target", row->insn.has_target ? row->insn.target : 0);
	json_put_text(w, "symbol", row->symbol);
	json_put_text(w, "pointee", row->pointee);
	json_put_bool(w, "current", shown->current);
	json_put_text(w, "file", shown->file);
	out_json_number_if(w, "line", shown->file != NULL, row->line);
	json_close_object(w);
}

static void disassembly_json(struct json_writer *w, const void *part)
{
	const struct code_listing *l = part;
	const struct code_range *r = &l->code->range;

	json_open_object(w, "disassembly");
	json_put_text(w, "function", r->function);
	json_put_address(w, "low", r->low);
	json_put_address(w, "high", r->high);
	json_put_text(w, "problem", l->code->problem);
	json_open_array(w, "instructions");
	for (size_t i = 0; i < l->code->nrows; i++)
		put_instruction(w, &l->rows[i]);
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind disassembly_part = { sizeof(struct code_listing), disassembly_text,
	                                           disassembly_json };

void part_disassembly(struct out *o, const struct code_listing *l)
{
	out_part(o, &disassembly_part, l);
}

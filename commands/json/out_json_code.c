/* Source text, machine code, memory and registers as JSON. */
#include <inttypes.h>

#include "commands/base/code_listing.h"
#include "commands/base/examine.h"
#include "commands/base/focus.h"
#include "commands/base/listing.h"
#include "commands/json/out_json.h"
#include "debugger/base/str.h"
#include "dwarf/code/memory_dump.h"

void out_json_listing(struct json_writer *w, const struct listing *l)
{
	json_open_object(w, "listing");
	json_put_text(w, "file", l->file);
	json_put_text(w, "path", l->path);
	out_json_number_if(w, "current", l->current != 0, l->current);
	json_open_array(w, "lines");
	for (size_t i = 0; i < l->nlines; i++) {
		json_open_object(w, NULL);
		json_put_int(w, "line", (int64_t)(l->first + i));
		json_put_text(w, "text", l->lines[i]);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
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

void out_json_disassembly(struct json_writer *w, const struct code_listing *l)
{
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

void out_json_registers(struct json_writer *w, const struct focus *f, const bool *shown)
{
	SCRATCH(tmp);

	json_open_object(w, "registers");
	for (size_t i = 0; i < f->values->nregisters; i++) {
		const struct native_register *r = &f->values->registers[i];

		if (shown[i])
			json_put_text(w, r->name,
			              r->known ? arena_printf(&tmp, "0x%" PRIx64, r->value) : NULL);
	}
	json_close_object(w);
}

void out_json_memory(struct json_writer *w, const struct examine_shown *m)
{
	bool has_size = m->format->letter != 's' && m->format->letter != 'i';
	SCRATCH(tmp);

	json_open_object(w, "memory");
	json_put_text(w, "format", arena_printf(&tmp, "%c", m->format->letter));
	out_json_number_if(w, "size", has_size, m->format->size);
	json_put_text(w, "symbol", m->symbol);
	json_put_text(w, "problem", m->dump->problem);
	json_open_array(w, "units");
	for (size_t i = 0; i < m->dump->n; i++) {
		const struct memory_unit *u = &m->dump->units[i];

		json_open_object(w, NULL);
		json_put_address(w, "address", u->addr);
		json_put_text(w, "value", u->text);
		json_put_text(w, "symbol", u->symbol);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

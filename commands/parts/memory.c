/* Memory, unit by unit. */
#include <inttypes.h>

#include "commands/base/examine.h"
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "dwarf/code/memory_dump.h"

/* The number of units on a line. */
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

static void memory_text(struct text *t, const void *part)
{
	const struct examine_shown *m = part;
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

static void memory_json(struct json_writer *w, const void *part)
{
	const struct examine_shown *m = part;
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

static const struct part_kind memory_part = { sizeof(struct examine_shown), memory_text,
	                                      memory_json };

void part_memory(struct out *o, const struct examine_shown *m)
{
	out_part(o, &memory_part, m);
}

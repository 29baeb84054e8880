/* Counts of tasks by the value of a field. */
#include <inttypes.h>
#include <string.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/out/out_text_chain.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/count_by.h"

struct shown_counts {
	const struct count_by *tally;
	size_t n;
};

static void count_by_text(struct text *t, const void *part)
{
	const struct shown_counts *counts = part;
	const struct count_by *tally = counts->tally;
	struct arena *a = &t->out.arena;
	SCRATCH(tmp);
	STR(title);

	for (const char *c = tally->field->name; *c; c++)
		str_printf(&title, "%c", *c == '_' ? ' ' : *c - 'a' + 'A');
	struct column *columns = NEW_ARRAY(a, struct column, 5);

	columns[0] = (struct column){ "TASKS", true, 0 };
	columns[1] = (struct column){ arena_strdup(a, str_text(&title)), false, 16 };
	columns[2] = (struct column){ "OLDEST", true, 0 };
	columns[3] = (struct column){ "NEWEST", true, 0 };
	columns[4] = (struct column){ "STATE", false, 8 };
	table_init(&t->table, columns, 5);
	for (size_t i = 0; i < counts->n; i++) {
		const struct count_by_row *row = &tally->rows[i];
		STR(states);

		text_append_states(&tmp, &states, &row->count);
		const char *value = row->value;

		if (value && strcmp(tally->field->name, "type") == 0)
			value = text_short_name(t, &tmp, value);
		const bool ages = !row->count.keyed;
		const char *cells[] = { text_big_number(&tmp, row->count.tasks), value,
			                ages ? row->count.oldest->id : NULL,
			                ages ? row->count.newest->id : NULL, str_text(&states) };

		table_row(&t->table, cells);
	}
}

static void count_by_json(struct json_writer *w, const void *part)
{
	const struct shown_counts *counts = part;
	const struct count_by *tally = counts->tally;

	json_open_object(w, "tally");
	json_put_text(w, "field", tally->field->name);
	json_open_array(w, "rows");
	for (size_t i = 0; i < counts->n; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "value", tally->rows[i].value);
		out_json_group_count(w, &tally->rows[i].count);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

static const struct part_kind count_by_part = { sizeof(struct shown_counts), count_by_text,
	                                        count_by_json };

void part_count_by(struct out *o, const struct count_by *tally, size_t n)
{
	out_part(o, &count_by_part, &(struct shown_counts){ tally, n });
}

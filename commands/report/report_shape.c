/* The shapes of a report: each distinct tree of futures is written once. */
#include "commands/report/report_parts.h"

#include "debugger/base/vec.h"
#include "dwarf/names/demangle.h"
#include "runtimes/model/names.h"

/* A row of report.shapes. The page has one more column after TYPE: the short name of the type. */
enum shape_column {
	SHAPE_FUNCTION,
	SHAPE_TYPE,
	SHAPE_FILE,
	SHAPE_FILE_SHORT,
	SHAPE_LINE,
	SHAPE_AWAIT_POINT, /* + 1, 0 none */
	SHAPE_EDGE,
	SHAPE_ALIASES,
	SHAPE_WAIT, /* kind of the wait */
	SHAPE_BITS,
	SHAPE_NCHILDREN,
	SHAPE_COLUMNS,
};

/* SHAPE_BITS: enums below, flags above. */
enum shape_bit {
	BIT_KIND = 0,   /* 2 bits */
	BIT_STATE = 2,  /* 3 bits */
	BIT_BRANCH = 5, /* 3 bits */
	BIT_RUNNING = 8,
	BIT_DYN,
	BIT_INFERRED,
	BIT_UNCERTAIN,
	BIT_WITHIN,
	BIT_ANONYMOUS,
	BIT_WAIT, /* the details have: phrase, object, task */
	BIT_NOTE, /* then the details have: note */
	BIT_PROBLEM,
	BIT_WRAPS,
};

static const char *report_shape_note_of(const struct future *f)
{
	return f->note ? f->note : f->properties ? f->properties->phrase : NULL;
}

static uint32_t bits(const struct future *f)
{
	return (uint32_t)f->kind << BIT_KIND | (uint32_t)f->state << BIT_STATE |
	       (uint32_t)f->branch << BIT_BRANCH | (uint32_t)f->running << BIT_RUNNING |
	       (uint32_t)f->dyn << BIT_DYN | (uint32_t)f->inferred << BIT_INFERRED |
	       (uint32_t)f->uncertain << BIT_UNCERTAIN |
	       (uint32_t)(f->wait && f->wait->within) << BIT_WITHIN |
	       (uint32_t)(f->wait && f->wait->anonymous) << BIT_ANONYMOUS |
	       (uint32_t)(f->wait != NULL) << BIT_WAIT |
	       (uint32_t)(report_shape_note_of(f) != NULL) << BIT_NOTE |
	       (uint32_t)(f->problem != NULL) << BIT_PROBLEM | (uint32_t)f->wraps << BIT_WRAPS;
}

uint32_t report_shape(struct report *r, const struct future *f)
{
	uint32_t few[SHAPE_COLUMNS + 16];
	SCRATCH(tmp);

	if (!f)
		return 0;
	size_t n = SHAPE_COLUMNS + f->nchildren;
	uint32_t *row = n * sizeof(*row) <= sizeof(few) ? few : NEW_ARRAY(&tmp, uint32_t, n);

	row[SHAPE_FUNCTION] = report_name(r, f->function);
	row[SHAPE_TYPE] = report_name(r, f->type);
	row[SHAPE_FILE] = report_name(r, f->file);
	row[SHAPE_FILE_SHORT] = report_name(r, f->file_short);
	row[SHAPE_LINE] = f->line;
	row[SHAPE_AWAIT_POINT] = (uint32_t)(f->await_point + 1);
	row[SHAPE_EDGE] = report_string(r, f->edge);
	row[SHAPE_ALIASES] = report_string(r, f->aliases);
	row[SHAPE_WAIT] = report_string(r, f->wait ? f->wait->kind : NULL);
	row[SHAPE_BITS] = bits(f);
	row[SHAPE_NCHILDREN] = f->nchildren;
	for (size_t i = 0; i < f->nchildren; i++)
		row[SHAPE_COLUMNS + i] = report_shape(r, f->children[i]) - 1;
	return report_table_row(&r->shapes, row, n * sizeof(*row)) + 1;
}

void report_put_details(struct report *r, const struct future *f)
{
	struct json_writer *w = &r->w;

	if (f->wait) {
		json_put_int(w, NULL, report_string(r, f->wait->phrase));
		json_put_int(w, NULL, report_address(r, f->wait->object));
		json_put_int(w, NULL, report_string(r, f->wait->task));
	}
	if (report_shape_note_of(f))
		json_put_int(w, NULL, report_string(r, report_shape_note_of(f)));
	if (f->problem)
		json_put_int(w, NULL, report_string(r, f->problem));
	for (size_t i = 0; i < f->nchildren; i++)
		report_put_details(r, f->children[i]);
}

void report_put_shapes(struct report *r)
{
	json_open_array(&r->w, "shapes");
	for (size_t i = 0; i < r->shapes.n; i++) {
		const uint32_t *row = r->shapes.data[i].bytes;
		const char *type = r->strings.data[row[SHAPE_TYPE]].bytes;
		SCRATCH(tmp);

		for (size_t c = 0; c < SHAPE_COLUMNS + row[SHAPE_NCHILDREN]; c++) {
			json_put_int(&r->w, NULL, row[c]);
			if (c == SHAPE_TYPE)
				json_put_int(&r->w, NULL, report_string(r, name_short(&tmp, type)));
		}
	}
	json_close_array(&r->w);
}

/* Writes the names of the enum values 0..n-1. */
#define PUT_WORDS(w, key, n, name, type)                                                           \
	do {                                                                                       \
		json_open_array(w, key);                                                           \
		for (unsigned i_ = 0; i_ < (n); i_++)                                              \
			json_put_text(w, NULL, name((type)i_));                                    \
		json_close_array(w);                                                               \
	} while (0)

void report_put_words(struct json_writer *w)
{
	json_open_object(w, "words");
	PUT_WORDS(w, "kind", FUTURE_OTHER + 1, future_kind_name, enum future_kind);
	PUT_WORDS(w, "future", FUTURE_PANICKED + 1, future_state_name, enum future_state);
	PUT_WORDS(w, "branch", BRANCH_HELD + 1, branch_name, enum branch);
	PUT_WORDS(w, "task", TASK_CANCELLED + 1, task_state_name, enum task_state);
	json_close_object(w);
}

#include "commands/out_json.h"
#include "commands/report_parts.h"

enum holding_flag {
	FLAG_DECLARED = 1,
	FLAG_UNCERTAIN = 2,
	FLAG_SOLE = 4,
	FLAG_GRANTED = 8,
	FLAG_PARTIAL = 16,
};

static uint32_t flags_of(const struct holding *h)
{
	return (h->declared ? FLAG_DECLARED : 0) | (h->uncertain ? FLAG_UNCERTAIN : 0) |
	       (h->sole ? FLAG_SOLE : 0) | (h->granted ? FLAG_GRANTED : 0) |
	       (h->partial ? FLAG_PARTIAL : 0);
}

static void put_holding(struct report *r, const struct holding *h)
{
	const uint32_t row[] = {
		h->role,
		report_name(r, h->kind),
		report_name(r, h->type),
		report_address(r, h->addr),
		report_address(r, h->object),
		report_task(r, h->task),
		h->thread,
		h->future ? h->future->number + 1 : 0,
		report_string(r, h->path),
		report_name(r, h->file_short),
		h->line,
		flags_of(h),
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		json_put_int(&r->w, NULL, row[i]);
	json_put_int(&r->w, NULL, h->permits < INT32_MAX ? (int64_t)h->permits : INT32_MAX);
}

void report_put_holdings(struct report *r)
{
	json_open_array(&r->w, "holdings");
	for (size_t i = 0; i < r->snap->nholdings; i++)
		put_holding(r, &r->snap->holdings[i]);
	json_close_array(&r->w);
	json_put_list(&r->w, "unsearched", r->snap->unsearched, r->snap->nunsearched);
}

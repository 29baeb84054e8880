#include "commands/out_json.h"
#include "commands/report_parts.h"

enum holding_flag { FLAG_DECLARED = 1, FLAG_UNCERTAIN = 2 };

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
		(h->declared ? FLAG_DECLARED : 0) | (h->uncertain ? FLAG_UNCERTAIN : 0),
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

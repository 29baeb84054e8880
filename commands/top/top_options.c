#include "commands/top/top_options.h"

#include <string.h>

#include "commands/base/interval.h"
#include "debugger/base/nearest.h"
#include "debugger/base/str.h"

enum { MAX_NUMBER = 1000000000 /* of frames and rows */ };

static struct error *read_sort(const struct call *call, struct top_view *view)
{
	const char *names[TOP_NFIELDS], *name = option_value(call, "sort");

	view->sort = TOP_BUSY;
	if (!name || top_view_field_named(name, &view->sort))
		return NULL;
	for (size_t i = 0; i < TOP_NFIELDS; i++)
		names[i] = top_view_field_name((enum top_field)i);
	return nearest_error("--sort has no field", name, names, NULL, TOP_NFIELDS);
}

static struct error *read_group(const struct call *call, struct top_view *view)
{
	static const char *const names[] = { "type", "place" };
	const char *name = option_value(call, "group");

	if (!name)
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		if (strcmp(name, names[i]) == 0) {
			view->grouping = i ? TOP_BY_PLACE : TOP_BY_TYPE;
			return NULL;
		}
	}
	return nearest_error("--group has no field", name, names, NULL, 2);
}

static struct error *top_options_read_filter(const struct call *call, struct top_view *view)
{
	static const char *const names[] = { "id", "type", "place" };
	static const enum top_field fields[] = { TOP_ID, TOP_TYPE, TOP_PLACE };

	view->filter_field = TOP_NFIELDS;
	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];

		if (strcmp(o->option->name, "with") != 0)
			continue;
		for (size_t j = 0; j < 3; j++) {
			if (strcmp(o->values[0], names[j]) == 0)
				view->filter_field = fields[j];
		}
		if (view->filter_field == TOP_NFIELDS)
			return nearest_error("--with has no field", o->values[0], names, NULL, 3);
		view->filter = o->values[1];
	}
	return NULL;
}

/* A number of at least one; *ret stays as it is where the option was not given. */
static struct error *top_options_read_number(const struct call *call, const char *name,
                                             const char *what, uint64_t *ret)
{
	const char *word = option_value(call, name);

	if (!word)
		return NULL;
	TRY(words_number(word, what, MAX_NUMBER, ret));
	return *ret ? NULL : error_new(ERR_USAGE, "--%s must be at least 1", name);
}

struct error *top_options_read(const struct call *call, struct top_options *ret)
{
	uint64_t rows = 0;

	*ret = (struct top_options){ .interval = 1, .over = 0.01 };
	TRY(interval_option(call, "interval", &ret->interval));
	TRY(interval_option(call, "over", &ret->over));
	TRY(top_options_read_number(call, "count", "a number of frames", &ret->count));
	TRY(top_options_read_number(call, "rows", "a number of rows", &rows));
	ret->view.limit = rows;
	TRY(read_sort(call, &ret->view));
	TRY(read_group(call, &ret->view));
	return top_options_read_filter(call, &ret->view);
}

struct error *top_options_check(const struct call *call)
{
	struct top_options options;

	return top_options_read(call, &options);
}

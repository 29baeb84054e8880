#include "commands/time/recorder_options.h"

#include <string.h>

#include "commands/base/interval.h"
#include "runtimes/trace/item_ring.h"

enum { MAX_COUNT = 10000 /* files */ };
static const uint64_t max_size = UINT64_C(1) << 40;
static const double default_every = 10;

static struct error *recorder_options_read_conditions(const struct call *call,
                                                      struct recorder_options *ret)
{
	for (size_t i = 0; i < call->noptions; i++) {
		const struct chosen_option *o = &call->options[i];

		if (strcmp(o->option->name, "when") != 0)
			continue;
		if (ret->n == CONDITION_MAX)
			return error_new(ERR_USAGE, "--when may be given at most %d times",
			                 (int)CONDITION_MAX);
		TRY(error_wrap(condition_read(o->values[0], &ret->conditions[ret->n++]), "--when"));
	}
	return NULL;
}

bool recorder_options_have(const struct recorder_options *o, enum condition_kind kind)
{
	for (size_t i = 0; i < o->n; i++) {
		if (o->conditions[i].kind == kind)
			return true;
	}
	return false;
}

static struct error *read_numbers(const struct call *call, struct recorder_options *ret)
{
	const char *count = option_value(call, "count");

	ret->every = default_every;
	ret->count = 1;
	TRY(interval_option(call, "every", &ret->every));
	if (option_has(call, "every") && !recorder_options_have(ret, CONDITION_DEADLOCK))
		return error_new(ERR_USAGE, "--every needs --when deadlock");
	if (count)
		TRY(error_wrap(words_number(count, "a number of files", MAX_COUNT, &ret->count),
		               "--count"));
	return ret->count ? NULL : error_new(ERR_USAGE, "--count must be at least 1");
}

struct error *recorder_options_read(const struct call *call, struct recorder_options *ret)
{
	static const char *const names[] = { "when", "count", "every" };
	const char *size = option_value(call, "ring");

	*ret = (struct recorder_options){ .path = output_file_of(call) };
	for (size_t i = 0; !size && i < sizeof(names) / sizeof(*names); i++) {
		if (option_has(call, names[i]))
			return error_new(ERR_USAGE, "--%s needs --ring SIZE", names[i]);
	}
	if (!size)
		return NULL;
	TRY(error_wrap(words_size(size, max_size, &ret->size), "--ring"));
	if (ret->size < ITEM_RING_MIN)
		return error_new(ERR_USAGE, "--ring must be at least %dK",
		                 (int)ITEM_RING_MIN >> 10);
	if (!ret->path || strcmp(ret->path, "-") == 0)
		return error_new(ERR_USAGE, "--ring needs a file to write to: -o FILE");
	TRY(recorder_options_read_conditions(call, ret));
	return read_numbers(call, ret);
}

void recorder_options_events(const struct recorder_options *o, bool events[TRACE_NEVENTS])
{
	for (size_t i = 0; i < o->n; i++)
		condition_events(&o->conditions[i], events);
}

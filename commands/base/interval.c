#include "commands/base/interval.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SECONDS = 86400 };

static const struct interval_unit {
	const char *word, *text;
	double seconds;
} units[] = {
	{ "s", "s", 1 },    { "ms", "ms", 1e-3 }, { "us", "us", 1e-6 },
	{ "m", "min", 60 }, { "h", "h", 3600 },
};

/* Splits a word into number and unit; NULL: invalid. bare: the unit of a number without one. */
static const struct interval_unit *split(const char *word, const char *bare, double *number,
                                         const char **end)
{
	char *after;

	*number = strtod(word, &after);
	*end = after;
	for (size_t i = 0; after != word && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(*after ? after : bare, units[i].word) == 0)
			return &units[i];
	}
	return NULL;
}

/* Rejects "-0" and NaN, too. */
static bool read_seconds(const char *word, const char *bare, double *seconds)
{
	const char *end;
	double number;
	const struct interval_unit *unit = split(word, bare, &number, &end);

	*seconds = unit ? number * unit->seconds : 0;
	return unit && word[0] != '-' && *seconds >= 0 && *seconds <= MAX_SECONDS;
}

struct error *interval_read(const char *word, double *seconds)
{
	if (read_seconds(word, "s", seconds))
		return NULL;
	return error_new(ERR_USAGE, "\"%s\" is not an interval: 5s, 200ms, 2m, 1h, up to a day",
	                 word);
}

struct error *interval_read_pause(const char *word, double *seconds)
{
	if (read_seconds(word, "ms", seconds))
		return NULL;
	return error_new(ERR_USAGE,
	                 "\"%s\" is not a time: 5ms, 500us, 1s; without a unit milliseconds", word);
}

struct error *interval_option(const struct call *call, const char *name, double *seconds)
{
	const char *word = option_value(call, name);
	double time;

	if (!word)
		return NULL;
	TRY(interval_read(word, &time));
	if (time <= 0)
		return error_new(ERR_USAGE, "--%s needs a time above 0", name);
	*seconds = time;
	return NULL;
}

const char *interval_text(struct arena *a, const char *word)
{
	const char *end;
	double number;
	const struct interval_unit *unit = split(word, "s", &number, &end);

	return unit ? arena_printf(a, "%.*s %s", (int)(end - word), word, unit->text) : word;
}

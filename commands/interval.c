#include "commands/interval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SECONDS = 86400 };

static const struct unit {
	const char *word, *text;
	double seconds;
} units[] = { { "", "s", 1 }, { "s", "s", 1 }, { "ms", "ms", 1e-3 }, { "m", "min", 60 } };

/* NULL where it is not a number and a unit. */
static const struct unit *split(const char *word, double *number, const char **end)
{
	char *after;

	*number = strtod(word, &after);
	*end = after;
	for (size_t i = 0; after != word && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(after, units[i].word) == 0)
			return &units[i];
	}
	return NULL;
}

struct error *interval_read(const char *word, double *seconds)
{
	const char *end;
	double number;
	const struct unit *unit = split(word, &number, &end);

	*seconds = unit ? number * unit->seconds : 0;
	/* "-0", and what is no number, too. */
	if (unit && word[0] != '-' && *seconds >= 0 && *seconds <= MAX_SECONDS)
		return NULL;
	return error_new(ERR_USAGE, "\"%s\" is no interval: 5s, 200ms or 2m, up to a day", word);
}

const char *interval_text(struct arena *a, const char *word)
{
	const char *end;
	double number;
	const struct unit *unit = split(word, &number, &end);

	return unit ? arena_printf(a, "%.*s %s", (int)(end - word), word, unit->text) : word;
}

struct error *interval_wait(double seconds)
{
	struct timespec left = { (time_t)seconds,
		                 (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		TRY(interrupt_check());
	return interrupt_check();
}

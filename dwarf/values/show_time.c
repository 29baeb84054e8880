/* Prints the times of std: Duration, Instant, SystemTime. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dwarf/values/show_private.h"

/* core/src/time.rs, fmt_decimal */
static void show_decimal(struct show *s, uint64_t whole, uint64_t rest, int digits,
                         const char *unit)
{
	char text[32] = "";

	if (rest) {
		snprintf(text, sizeof(text), ".%0*" PRIu64, digits, rest);
		for (size_t n = strlen(text); text[n - 1] == '0'; n--)
			text[n - 1] = '\0';
	}
	show_printf(s, "%" PRIu64 "%s%s", whole, text, unit);
}

struct error *show_duration(struct show *s, struct value v, const struct std_row *row)
{
	uint64_t secs, nanos;

	(void)row;
	TRY(show_row_number(s, v, "secs", &secs));
	TRY(show_row_number(s, v, "nanos", &nanos));
	if (nanos >= 1000000000)
		return error_new(ERR_CORRUPT, "nanoseconds");
	if (secs)
		show_decimal(s, secs, nanos, 9, "s");
	else if (nanos >= 1000000)
		show_decimal(s, nanos / 1000000, nanos % 1000000, 6, "ms");
	else if (nanos >= 1000)
		show_decimal(s, nanos / 1000, nanos % 1000, 3, "\u00b5s");
	else
		show_decimal(s, nanos, 0, 0, "ns");
	return NULL;
}

static struct error *read_time(struct show *s, struct value v, int64_t *secs, uint64_t *nanos)
{
	uint64_t number;

	TRY(show_row_number(s, v, "tv_sec", &number));
	TRY(show_row_number(s, v, "tv_nsec", nanos));
	*secs = (int64_t)number;
	return *nanos >= 1000000000 ? error_new(ERR_CORRUPT, "nanoseconds") : NULL;
}

struct error *show_instant(struct show *s, struct value v, const struct std_row *row)
{
	uint64_t nanos;
	int64_t secs;

	(void)row;
	TRY(read_time(s, v, &secs, &nanos));
	show_printf(s, "Instant { tv_sec: %" PRId64 ", tv_nsec: %" PRIu64 " }", secs, nanos);
	return NULL;
}

/* ISO 8601, in UTC; as tv_sec and tv_nsec where the year has more than four digits. */
struct error *show_system_time(struct show *s, struct value v, const struct std_row *row)
{
	char text[32];
	uint64_t nanos;
	int64_t secs;
	struct tm tm;

	(void)row;
	TRY(read_time(s, v, &secs, &nanos));
	time_t t = (time_t)secs;
	if (!gmtime_r(&t, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900) {
		show_printf(s, "SystemTime { tv_sec: %" PRId64 ", tv_nsec: %" PRIu64 " }", secs,
		            nanos);
		return NULL;
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	show_put(s, text);
	if (nanos)
		show_printf(s, ".%09" PRIu64, nanos);
	show_put(s, "Z");
	return NULL;
}

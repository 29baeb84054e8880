#include "debugger/base/progress.h"

#include <inttypes.h>
#include <stdbool.h>

#include "debugger/base/clock.h"

static struct {
	FILE *f;              /* NULL: off */
	uint64_t delay, next; /* ns; next: earliest time of the next update */
	bool shown;
} line;

void progress_enable(FILE *f, unsigned delay_ms)
{
	line.f = f;
	line.delay = delay_ms * UINT64_C(1000000);
	line.shown = false;
	progress_begin();
}

void progress_begin(void)
{
	if (line.f)
		line.next = clock_now_ns() + line.delay;
}

static uint64_t percent(uint64_t done, uint64_t total)
{
	return done < total ? (uint64_t)((double)done / (double)total * 100) : 100;
}

void progress(const char *what, uint64_t done, uint64_t total)
{
	uint64_t t;

	if (!line.f || (t = clock_now_ns()) < line.next)
		return;
	line.next = t + PROGRESS_EACH_MS * UINT64_C(1000000);
	line.shown = true;
	fprintf(line.f, "\r%s: %" PRIu64, what, done);
	if (total)
		fprintf(line.f, " of %" PRIu64 " (%" PRIu64 "%%)", total, percent(done, total));
	fputs("\033[K", line.f);
	fflush(line.f);
}

void progress_end(void)
{
	if (!line.f || !line.shown)
		return;
	line.shown = false;
	fputs("\r\033[K", line.f);
	fflush(line.f);
}

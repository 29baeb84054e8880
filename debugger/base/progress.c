#include "debugger/base/progress.h"

#include <inttypes.h>
#include <stdbool.h>

#include "debugger/base/clock.h"

static struct {
	FILE *f; /* NULL: off, or there is a listener */
	progress_listener *listener;
	void *arg;
	uint64_t delay, next; /* ns; next: earliest time of the next update */
	bool shown;
} line;

void progress_enable(FILE *f, unsigned delay_ms)
{
	line.f = f;
	line.listener = NULL;
	line.delay = delay_ms * UINT64_C(1000000);
	line.shown = false;
	progress_begin();
}

void progress_listen(progress_listener *fn, void *arg, unsigned delay_ms)
{
	progress_enable(NULL, delay_ms);
	line.listener = fn;
	line.arg = arg;
	progress_begin();
}

static bool progress_is_on(void)
{
	return line.f || line.listener;
}

void progress_begin(void)
{
	if (progress_is_on())
		line.next = clock_now_ns() + line.delay;
}

static uint64_t percent(uint64_t done, uint64_t total)
{
	return done < total ? (uint64_t)((double)done / (double)total * 100) : 100;
}

void progress(const char *what, uint64_t done, uint64_t total)
{
	uint64_t t;

	if (!progress_is_on() || (t = clock_now_ns()) < line.next)
		return;
	line.next = t + PROGRESS_EACH_MS * UINT64_C(1000000);
	line.shown = true;
	if (line.listener) {
		line.listener(line.arg, what, done, total);
		return;
	}
	fprintf(line.f, "\r%s: %" PRIu64, what, done);
	if (total)
		fprintf(line.f, " of %" PRIu64 " (%" PRIu64 "%%)", total, percent(done, total));
	fputs("\033[K", line.f);
	fflush(line.f);
}

void progress_end(void)
{
	if (!progress_is_on() || !line.shown)
		return;
	line.shown = false;
	if (line.listener) {
		line.listener(line.arg, NULL, 0, 0);
		return;
	}
	fputs("\r\033[K", line.f);
	fflush(line.f);
}

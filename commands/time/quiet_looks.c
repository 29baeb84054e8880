#include "commands/time/quiet_looks.h"

#include <stdlib.h>
#include <time.h>

#include "debugger/base/clock.h"

enum {
	SHARE = 10,           /* a look every so many times that it takes */
	MIN_NS = 10 * 1000000 /* between two looks */
};

static uint64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Lengths vary, by half, so that periodic events are not always missed. */
static void set_next(struct quiet_looks *q, uint64_t used)
{
	uint64_t length = used * SHARE > MIN_NS ? used * SHARE : MIN_NS;

	q->next = clock_now_ns() + length / 2 + length * (uint64_t)(rand() % 1000) / 1000;
}

struct error *quiet_looks_begin(const struct session *s, unsigned wants, struct quiet_looks *q,
                                const struct snapshot **ret)
{
	struct asyncdbg_options options = *s->options;

	*q = (struct quiet_looks){ .wants = wants };
	*ret = NULL;
	options.target.stop = (struct stop_options){ .never = true };
	TRY(session_open(&options, &q->session));
	return session_snapshot(&q->session, wants, NULL, ret);
}

struct error *quiet_looks_take(struct quiet_looks *q, const struct snapshot **ret)
{
	uint64_t before = processor_ns();
	struct error *err = session_snapshot(&q->session, q->wants, NULL, ret);

	set_next(q, clock_between(before, processor_ns()));
	return err;
}

void quiet_looks_end(struct quiet_looks *q)
{
	session_close(&q->session);
}

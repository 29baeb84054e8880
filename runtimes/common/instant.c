#include "runtimes/common/instant.h"

#include <inttypes.h>

#include "debugger/base/clock.h"

enum { SECOND = 1000000000 };

const char *instant_text(struct collector *c, uint64_t ns)
{
	if (!c->clock.known || c->clock.paused)
		return NULL;
	bool past = ns < c->clock.now_ns;
	uint64_t distance =
		past ? clock_between(ns, c->clock.now_ns) : clock_between(c->clock.now_ns, ns);
	const char *seconds =
		distance < UINT64_C(10) * SECOND
			? arena_printf(&c->scratch, "%" PRIu64 ".%" PRIu64 " seconds",
	                               distance / SECOND, distance % SECOND / (SECOND / 10))
			: arena_printf(&c->scratch, "%" PRIu64 " seconds", distance / SECOND);

	if (past)
		return arena_printf(&c->scratch, "%s%s ago", c->clock.is_bound ? "at least " : "",
		                    seconds);
	return arena_printf(&c->scratch, "in %s%s", c->clock.is_bound ? "at most " : "", seconds);
}

static struct error *read_parts(struct inspector *in, struct value v, uint64_t *secs,
                                uint64_t *nanos)
{
	static const char *const parts[] = { "tv_sec", "tv_nsec" };
	uint64_t *const to[] = { secs, nanos };

	for (int i = 0; i < 2; i++) {
		const struct path *p;
		bool found;

		TRY(inspector_path(in, v.type, parts[i], &p));
		TRY(path_uint(in->target, p, v, to[i], &found));
		if (!found)
			return error_new(ERR_CORRUPT, "the instant is not set");
	}
	if (*secs > INT64_MAX / SECOND || *nanos >= SECOND)
		return error_new(ERR_CORRUPT, "%s is not a time", type_name(v.type));
	return NULL;
}

struct error *instant_read(struct inspector *in, struct value v, uint64_t *ns)
{
	uint64_t secs, nanos;

	TRY(read_parts(in, v, &secs, &nanos));
	*ns = secs * SECOND + nanos;
	return NULL;
}

/* Shows an instant as `{:?}` does, and where it lies from now. */
static struct error *show_instant(struct show *s, struct value v, const struct show_row *row)
{
	struct collector *c = show_context(s);
	uint64_t secs, nanos;
	const char *when;

	(void)row;
	if (!c)
		return error_new(ERR_LAYOUT, "no snapshot");
	TRY(read_parts(c->in, v, &secs, &nanos));
	/*
	 * A time behind the lower bound of a core's own time may be in the past or in the future.
	 */
	bool open = c->clock.is_bound && secs * SECOND + nanos > c->clock.now_ns;
	when = open ? NULL : instant_text(c, secs * SECOND + nanos);
	show_printf(s, "Instant { tv_sec: %" PRIu64 ", tv_nsec: %" PRIu64 "%s%s }", secs, nanos,
	            when ? ", " : "", when ? when : "");
	return NULL;
}

const struct show_row instant_shown[] = {
	{ "Instant", "std::time", SHOW_OWN, { NULL }, show_instant },
	{ 0 },
};

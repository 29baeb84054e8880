/* Prints values of the crates futures by what they mean. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/values/show_rows.h"
#include "runtimes/leaves/leaves.h"

/* The place behind an Option; *found false: it is None. */
static struct error *futures_show_behind(struct show *s, struct value v, const char *expr,
                                         struct value *ret, bool *found)
{
	struct error *err = show_row_place(s, v, expr, ret);

	*found = !err;
	if (!err || err->kind != ERR_CORRUPT)
		return err;
	error_free(err);
	return NULL;
}

/* futures_channel::mpsc; expr: what the ends share, behind an Option */
static struct error *futures_show_mpsc(struct show *s, struct value v, const struct show_row *row)
{
	static const uint64_t open = UINT64_C(1)
	                             << 63; /* of state; below it is the number queued */
	struct value inner;
	uint64_t state, senders;
	bool found;

	TRY(futures_show_behind(s, v, row->expr[0], &inner, &found));
	if (found) {
		TRY(show_row_number(s, inner, "state", &state));
		TRY(show_row_number(s, inner, "num_senders", &senders));
	}
	show_type_last(s, v.type);
	if (found)
		show_printf(s, " { queued: %" PRIu64 ", senders: %" PRIu64 "%s }", state & ~open,
		            senders, state & open ? "" : ", closed");
	else
		show_put(s, " { closed }");
	return NULL;
}

/* futures_channel::oneshot */
static struct error *futures_show_oneshot_sender(struct show *s, struct value v,
                                                 const struct show_row *row)
{
	uint64_t complete;

	TRY(show_row_number(s, v, row->expr[0], &complete));
	show_printf(s, "Sender { %s }", complete ? "closed" : "open");
	return NULL;
}

static struct error *futures_show_oneshot_receiver(struct show *s, struct value v,
                                                   const struct show_row *row)
{
	struct value data;
	uint64_t complete;
	bool found;

	TRY(show_row_number(s, v, row->expr[0], &complete));
	TRY(futures_show_behind(s, v, row->expr[1], &data, &found));
	if (!found) {
		show_printf(s, "Receiver { %s }", complete ? "sender gone" : "sender alive");
		return NULL;
	}
	show_put(s, "Receiver { value: ");
	show_inner(s, data);
	show_put(s, " }");
	return NULL;
}

/* expr: the newest node of the list of all; the length of the list in it */
static struct error *show_set(struct show *s, struct value v, const struct show_row *row)
{
	struct value head;
	uint64_t addr, n = 0;

	TRY(show_row_place(s, v, row->expr[0], &head));
	TRY(value_uint(show_target(s), head, &addr));
	if (addr)
		TRY(show_row_number(s, head, row->expr[1], &n));
	show_printf(s, "FuturesUnordered { futures: %" PRIu64 " }", n);
	return NULL;
}

/* expr: what the clones share, behind an Option; the state in it */
static struct error *show_shared(struct show *s, struct value v, const struct show_row *row)
{
	static const char *const states[] = { "not polled", "polled", "complete", "panicked" };
	struct value inner, output;
	uint64_t state = 0;
	bool found, has_output = false;

	TRY(futures_show_behind(s, v, row->expr[0], &inner, &found));
	if (found) {
		TRY(show_row_number(s, inner, row->expr[1], &state));
		if (state >= sizeof(states) / sizeof(states[0]))
			return error_new(ERR_CORRUPT, "state");
		TRY(futures_show_behind(s, inner, "future_or_output.Output.0", &output,
		                        &has_output));
	}
	show_put(s, "Shared { ");
	if (has_output) {
		show_put(s, "output: ");
		show_inner(s, output);
	} else {
		show_put(s, found ? states[state] : "taken");
	}
	show_put(s, " }");
	return NULL;
}

/* expr: what it holds, its state */
static struct error *futures_show_mutex(struct show *s, struct value v, const struct show_row *row)
{
	enum { LOCKED = 1 };
	struct value inner;
	uint64_t state;

	TRY(show_row_place(s, v, row->expr[0], &inner));
	TRY(show_row_number(s, v, row->expr[1], &state));
	show_put(s, "Mutex { data: ");
	show_inner(s, inner);
	show_put(s, state & LOCKED ? ", locked }" : " }");
	return NULL;
}

#define MPSC    "futures_channel::mpsc"
#define ONESHOT "futures_channel::oneshot"
#define OWN(t, w, function, ...)                                                                   \
	{                                                                                          \
		t, w, SHOW_OWN, { __VA_ARGS__ }, function                                          \
	}

const struct show_row futures_shown[] = {
	OWN("Sender", MPSC, futures_show_mpsc, "0.Some.0.inner"),
	OWN("UnboundedSender", MPSC, futures_show_mpsc, "0.Some.0.inner"),
	OWN("Receiver", MPSC, futures_show_mpsc, "inner.Some.0"),
	OWN("UnboundedReceiver", MPSC, futures_show_mpsc, "inner.Some.0"),
	OWN("Sender", ONESHOT, futures_show_oneshot_sender, "inner.complete"),
	OWN("Receiver", ONESHOT, futures_show_oneshot_receiver, "inner.complete",
	    "inner.data.data.data.Some.0"),
	OWN("FuturesUnordered", "futures_util::stream", show_set, "head_all", "len_all"),
	OWN("Shared", "futures_util::future", show_shared, "inner.Some.0", "notifier.state"),
	OWN("Mutex", "futures_util::lock", futures_show_mutex, "value", "state"),
	{ 0 },
};

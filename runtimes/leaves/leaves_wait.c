#include "runtimes/leaves/leaves_wait.h"

#include <inttypes.h>

const char *leaves_channel_queue(const struct leaf *l, const struct leaves_channel *ch)
{
	if (ch->bounded)
		return leaf_text(l, "%" PRIu64 " queued of %" PRIu64, ch->queued, ch->capacity);
	return leaf_text(l, "%" PRIu64 " queued", ch->queued);
}

static void leaves_wait_add_details(struct leaf *l, const struct leaves_channel *ch, uint64_t own)
{
	wait_int(l, "queued", (int64_t)ch->queued);
	if (ch->bounded)
		wait_int(l, "capacity", (int64_t)ch->capacity);
	wait_int(l, "senders", (int64_t)ch->senders);
	wait_int(l, "receivers", (int64_t)ch->receivers);
	wait_bool(l, "closed", ch->closed);
	if (ch->weak)
		wait_int(l, "weak_ends", (int64_t)ch->weak);
	if (ch->closable && own > 1)
		wait_int(l, "may_close", (int64_t)own - 1);
}

/* "2 senders alive" */
static const char *leaves_wait_ends(const struct leaf *l, uint64_t n, const char *what)
{
	if (!n)
		return leaf_text(l, "no %s left", what);
	return leaf_text(l, "%s alive", leaf_count(l, n, what));
}

void leaves_channel_recv(struct leaf *l, const struct leaves_channel *ch)
{
	l->w->kind = "channel_recv";
	leaves_wait_add_details(l, ch, ch->receivers);
	wait_phrase(l, "%s receive, %s, %s%s", ch->name, leaves_channel_queue(l, ch),
	            leaves_wait_ends(l, ch->senders, "sender"),
	            ch->closed && ch->senders ? ", closed" : "");
}

void leaves_channel_send(struct leaf *l, const struct leaves_channel *ch)
{
	l->w->kind = "channel_send";
	leaves_wait_add_details(l, ch, ch->senders);
	wait_bool(l, "granted", ch->granted);
	wait_phrase(l, "%s send, %s, %s%s%s", ch->name, leaves_channel_queue(l, ch),
	            leaves_wait_ends(l, ch->receivers, "receiver"),
	            ch->closed && ch->receivers ? ", closed" : "", ch->granted ? ", sent" : "");
}

void leaves_channel_closed(struct leaf *l, const struct leaves_channel *ch)
{
	l->w->kind = "channel_closed";
	leaves_wait_add_details(l, ch, ch->senders);
	wait_phrase(l, "%s close, %s, %s", ch->name,
	            ch->closed ? "it is closed" : leaves_wait_ends(l, ch->receivers, "receiver"),
	            leaves_channel_queue(l, ch));
}

void leaves_describe_body(const struct leaf *l, bool has_part, bool open)
{
	wait_bool(l, "value_there", has_part);
	wait_bool(l, "sender_alive", open);
	wait_phrase(l, "HTTP body, %s%s", has_part ? "chunk ready" : "no chunk ready",
	            open ? "" : ", ended by its connection");
}

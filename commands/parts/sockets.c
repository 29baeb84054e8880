/* Sockets, and the tasks and threads that wait for them or own them. */
#include <inttypes.h>

#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/socket_use.h"

struct socket_list {
	const struct socket_use *uses;
	size_t n;
};

static const struct column socket_columns[] = {
	{ "FD", true, 0 },      { "KIND", false, 0 },           { "LOCAL", false, 0 },
	{ "PEER", false, 0 },   { "STATE", false, 0 },          { "SEND-Q", true, 0 },
	{ "RECV-Q", true, 0 },  { "UNACKED", true, 0 },         { "WINDOW", true, 0 },
	{ "RETRANS", true, 0 }, { "WAITED FOR BY", false, 16 }, { "HELD BY", false, 16 },
};

/* "task 5, thread #1 (block_on)" */
static const char *waiters_cell(const struct text *t, struct arena *a, const struct socket_use *use)
{
	STR(s);

	for (size_t i = 0; i < use->nwaiters; i++) {
		const struct socket_waiter *w = &use->waiters[i];

		str_append(&s, s.len ? ", " : "");
		if (w->task)
			str_printf(&s, "task %s", text_clean_cell(a, w->task->id));
		else
			str_printf(&s, "thread #%u", w->thread->number);
	}
	if (!s.len)
		return t->out.answer.snapshot->complete ? "nobody" : "nobody that was found";
	return arena_strdup(a, str_text(&s));
}

/* "task 5 (`conn.stream`), maybe thread #1"; NULL: no owner was found. */
static const char *owners_cell(struct arena *a, const struct socket_use *use)
{
	enum { MAX_OWNERS = 4 };
	STR(s);

	for (size_t i = 0; i < use->nowners && i < MAX_OWNERS; i++) {
		const struct holding *h = use->owners[i];

		str_append(&s, s.len ? ", " : "");
		str_append(&s, h->uncertain ? "maybe " : "");
		if (h->task)
			str_printf(&s, "task %s", text_clean_cell(a, h->task->id));
		else
			str_printf(&s, "thread #%u", h->thread);
		if (h->path)
			str_printf(&s, " (`%s`)", text_clean_cell(a, h->path));
	}
	if (use->nowners > MAX_OWNERS)
		str_printf(&s, " and %zu more", use->nowners - MAX_OWNERS);
	return s.len ? arena_strdup(a, str_text(&s)) : NULL;
}

static const char *socket_bytes_cell(struct arena *a, uint64_t bytes)
{
	return bytes ? arena_printf(a, "%" PRIu64, bytes) : NULL;
}

/* A window of 0 is worth a number only where something waits to be sent. */
static const char *window_cell(struct arena *a, const struct socket_info *s)
{
	bool shown = s->has_window && (s->peer_window || s->unsent);

	return shown ? arena_printf(a, "%" PRIu64, s->peer_window) : NULL;
}

static void sockets_text(struct text *t, const void *part)
{
	const struct socket_list *list = part;
	SCRATCH(tmp);

	TEXT_USE_TABLE(t, socket_columns);
	for (size_t i = 0; i < list->n; i++) {
		const struct socket_info *s = list->uses[i].socket;
		const char *cells[] = {
			arena_printf(&tmp, "%d", s->fd),
			text_clean_cell(&tmp, s->kind),
			text_clean_cell(&tmp, s->local),
			text_clean_cell(&tmp, s->peer),
			text_clean_cell(&tmp, s->state),
			socket_bytes_cell(&tmp, s->unsent),
			socket_bytes_cell(&tmp, s->unread),
			socket_bytes_cell(&tmp, s->unacknowledged),
			window_cell(&tmp, s),
			socket_bytes_cell(&tmp, s->retransmits),
			waiters_cell(t, &tmp, &list->uses[i]),
			owners_cell(&tmp, &list->uses[i]),
		};

		table_row(&t->table, cells);
	}
}

static void put_socket(struct json_writer *w, const struct socket_use *use)
{
	const struct socket_info *s = use->socket;

	json_open_object(w, NULL);
	json_put_int(w, "fd", s->fd);
	json_put_text(w, "kind", s->kind);
	json_put_text(w, "local", s->local);
	json_put_text(w, "peer", s->peer);
	json_put_text(w, "state", s->state);
	json_put_int(w, "unsent", (int64_t)s->unsent);
	json_put_int(w, "unread", (int64_t)s->unread);
	out_json_number_if(w, "unacknowledged", s->has_sent, s->unacknowledged);
	out_json_number_if(w, "retransmits", s->has_sent, s->retransmits);
	out_json_number_if(w, "peer_window", s->has_window, s->peer_window);
	json_open_array(w, "waiters");
	for (size_t i = 0; i < use->nwaiters; i++) {
		const struct socket_waiter *waiter = &use->waiters[i];

		json_open_object(w, NULL);
		json_put_text(w, "task", waiter->task ? waiter->task->id : NULL);
		out_json_number_if(w, "thread", waiter->thread,
		                   waiter->thread ? waiter->thread->number : 0);
		json_put_text(w, "phrase", waiter->wait->phrase);
		json_close_object(w);
	}
	json_close_array(w);
	json_open_array(w, "owners");
	for (size_t i = 0; i < use->nowners; i++)
		out_json_holding(w, use->owners[i]);
	json_close_array(w);
	json_close_object(w);
}

static void sockets_json(struct json_writer *w, const void *part)
{
	const struct socket_list *list = part;

	json_open_array(w, "sockets");
	for (size_t i = 0; i < list->n; i++)
		put_socket(w, &list->uses[i]);
	json_close_array(w);
}

static const struct part_kind sockets_part = { sizeof(struct socket_list), sockets_text,
	                                       sockets_json };

void part_sockets(struct out *o, const struct socket_use *uses, size_t n)
{
	out_part(o, &sockets_part, &(struct socket_list){ uses, n });
}

#include "commands/dap/wire/message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/arena.h"

void sender_init(struct sender *s, int fd)
{
	*s = (struct sender){ .fd = fd };
	pthread_mutex_init(&s->lock, NULL);
}

bool sender_is_gone(struct sender *s)
{
	pthread_mutex_lock(&s->lock);
	bool gone = s->gone;
	pthread_mutex_unlock(&s->lock);
	return gone;
}

static bool message_write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* Sends a document, which begins with a brace. Its number stands in front of its members. */
static void send_text(struct sender *s, const char *text, size_t len)
{
	char header[64], seq[40];

	pthread_mutex_lock(&s->lock);
	int nseq = snprintf(seq, sizeof(seq), "{\"seq\":%" PRId64 ",", ++s->seq);
	int nheader = snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n",
	                       (size_t)nseq + len - 1);
	if (!s->gone)
		s->gone = !message_write_all(s->fd, header, (size_t)nheader) ||
		          !message_write_all(s->fd, seq, (size_t)nseq) ||
		          !message_write_all(s->fd, text + 1, len - 1);
	pthread_mutex_unlock(&s->lock);
}

static struct message *message_begin(const char *type)
{
	struct message *m = alloc_zeroed(sizeof(*m));

	m->f = open_memstream(&m->text, &m->len);
	if (!m->f)
		out_of_memory();
	json_writer_init(&m->w, m->f, true);
	json_open_object(&m->w, NULL);
	json_put_text(&m->w, "type", type);
	return m;
}

struct message *message_event(const char *event)
{
	struct message *m = message_begin("event");

	json_put_text(&m->w, "event", event);
	json_open_object(&m->w, "body");
	return m;
}

static struct message *begin_response(int64_t request_seq, const char *command, bool success)
{
	struct message *m = message_begin("response");

	json_put_int(&m->w, "request_seq", request_seq);
	json_put_bool(&m->w, "success", success);
	json_put_text(&m->w, "command", command);
	return m;
}

struct message *message_response(int64_t request_seq, const char *command)
{
	struct message *m = begin_response(request_seq, command, true);

	json_open_object(&m->w, "body");
	return m;
}

void message_drop(struct message *m)
{
	fclose(m->f);
	free(m->text);
	free(m);
}

void message_send(struct message *m, struct sender *s)
{
	json_close_object(&m->w);
	json_close_object(&m->w);
	json_flush(&m->w);
	if (fflush(m->f) != 0)
		out_of_memory();
	send_text(s, m->text, m->len);
	message_drop(m);
}

void message_send_failure(struct sender *s, int64_t request_seq, const char *command,
                          const char *why)
{
	struct message *m = begin_response(request_seq, command, false);

	json_put_lines(&m->w, "message", why, strlen(why));
	json_open_object(&m->w, "body");
	json_open_object(&m->w, "error");
	json_put_int(&m->w, "id", 1);
	json_put_text(&m->w, "format", "{why}");
	json_open_object(&m->w, "variables");
	json_put_lines(&m->w, "why", why, strlen(why));
	json_close_object(&m->w);
	json_put_bool(&m->w, "showUser", true);
	json_close_object(&m->w);
	message_send(m, s);
}

void message_send_output(struct sender *s, const char *category, const char *text, size_t len)
{
	struct message *m = message_event("output");

	json_put_text(&m->w, "category", category);
	json_put_lines(&m->w, "output", text, len);
	message_send(m, s);
}

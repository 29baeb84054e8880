#include "commands/dap/wire/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/arena.h"

enum { OUTPUT_BYTES = 8192, UTF8_MAX = 4 };

static const char *const categories[2] = { "stdout", "stderr" };

/* Bytes of one pipe; kept: a character of which the end is missing. */
struct stream {
	char bytes[OUTPUT_BYTES + UTF8_MAX];
	size_t kept;
};

static void output_close_fd(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

struct error *output_open(struct output *o, struct sender *sender, int write_ends[2])
{
	int fds[3][2] = { { 0 } };

	*o = (struct output){ .sender = sender };
	for (int i = 0; i < 3; i++) {
		if (pipe2(fds[i], O_CLOEXEC) == 0)
			continue;
		int errnum = errno;
		for (int j = 0; j < i; j++) {
			output_close_fd(&fds[j][0]);
			output_close_fd(&fds[j][1]);
		}
		return error_os(errnum, "pipes for the program's output");
	}
	for (int i = 0; i < 2; i++) {
		o->fds[i] = fds[i][0];
		write_ends[i] = fds[i][1];
		o->quit[i] = fds[2][i];
		fcntl(fds[i][0], F_SETFL, O_NONBLOCK);
	}
	return NULL;
}

/* The number of bytes at the end of a text that begin a character which is not complete. */
static size_t output_incomplete(const char *text, size_t len)
{
	for (size_t n = 1; n < UTF8_MAX && n <= len; n++) {
		unsigned char c = (unsigned char)text[len - n];
		size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if (c < 0x80 || c >= 0xc0)
			return size > n ? n : 0;
	}
	return 0;
}

/* Sends the contents of a pipe; false: it has ended. */
static bool output_pass(struct output *o, int which, struct stream *s)
{
	ssize_t n = read(o->fds[which], s->bytes + s->kept, OUTPUT_BYTES);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	size_t len = s->kept + (size_t)n;
	s->kept = n ? output_incomplete(s->bytes, len) : 0;
	len -= s->kept;
	if (len)
		message_send_output(o->sender, categories[which], s->bytes, len);
	memmove(s->bytes, s->bytes + len, s->kept);
	return n > 0;
}

/* Sends the contents of the pipes, until they are empty. */
static void output_drain(struct output *o, struct stream *streams, const bool *open)
{
	enum { DRAIN_MAX = 65536 / OUTPUT_BYTES + 1 }; /* a pipe has 64 KB */

	for (int i = 0; i < 2; i++) {
		struct pollfd fd = { .fd = o->fds[i], .events = POLLIN };

		for (int n = 0; open[i] && n < DRAIN_MAX && poll(&fd, 1, 0) > 0; n++) {
			if (!output_pass(o, i, &streams[i]))
				break;
		}
	}
}

static void *output_main(void *arg)
{
	struct output *o = arg;
	struct stream *streams = alloc_zeroed(2 * sizeof(*streams));
	bool open[2] = { true, true };

	for (;;) {
		struct pollfd fds[] = { { .fd = open[0] ? o->fds[0] : -1, .events = POLLIN },
			                { .fd = open[1] ? o->fds[1] : -1, .events = POLLIN },
			                { .fd = o->quit[0], .events = POLLIN } };

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			break;
		if (fds[2].revents) {
			output_drain(o, streams, open);
			break;
		}
		for (int i = 0; i < 2; i++) {
			if (open[i] && fds[i].revents)
				open[i] = output_pass(o, i, &streams[i]);
		}
	}
	free(streams);
	return NULL;
}

struct error *output_start(struct output *o)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int errnum = pthread_create(&o->thread, NULL, output_main, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errnum)
		return error_os(errnum, "starting a thread");
	o->started = true;
	return NULL;
}

void output_close(struct output *o)
{
	output_close_fd(&o->quit[1]);
	if (o->started)
		pthread_join(o->thread, NULL);
	for (int i = 0; i < 2; i++)
		output_close_fd(&o->fds[i]);
	output_close_fd(&o->quit[0]);
	o->started = false;
}

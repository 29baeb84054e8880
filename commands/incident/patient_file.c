#include "commands/incident/patient_file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/str.h"

struct patient_file {
	FILE *stream;
	int fd;
	double wait_s;   /* the time left */
	bool is_gone;    /* the reader is gone */
	struct str kept; /* bytes that the reader has not taken */
};

/* Whether the descriptor takes bytes, now or within that time. */
static bool has_room(int fd, double wait_s)
{
	struct pollfd ready = { fd, POLLOUT, 0 };

	return poll(&ready, 1, wait_s > 0 ? (int)(wait_s * 1e3) + 1 : 0) > 0;
}

/* A pipe that can be written to has room for PIPE_BUF bytes. */
ssize_t patient_file_write(int fd, const void *bytes, size_t len)
{
	size_t size = len < PIPE_BUF ? len : PIPE_BUF;

	if (!has_room(fd, 0)) {
		errno = EAGAIN;
		return -1;
	}
	ssize_t n = send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, bytes, size) : n;
}

/* Writes until the reader takes nothing for *wait_s; returns how many bytes it has taken. */
static size_t write_on(struct patient_file *p, const char *bytes, size_t len, double wait_s)
{
	size_t done = 0;

	while (done < len && !p->is_gone) {
		ssize_t n = patient_file_write(p->fd, bytes + done, len - done);

		done += n > 0 ? (size_t)n : 0;
		if (n >= 0 || errno == EINTR)
			continue;
		p->is_gone = errno != EAGAIN;
		if (!p->is_gone && !has_room(p->fd, wait_s))
			break;
	}
	return done;
}

static ssize_t patient_file_put(void *cookie, const char *bytes, size_t len)
{
	struct patient_file *p = cookie;
	uint64_t begin = clock_now_ns();
	size_t done = p->kept.len ? 0 : write_on(p, bytes, len, p->wait_s);

	p->wait_s -= (double)clock_since(begin) * 1e-9;
	str_append_len(&p->kept, bytes + done, len - done);
	return (ssize_t)len;
}

struct patient_file *patient_file_new(int fd, double wait_s)
{
	struct patient_file *p = alloc_zeroed(sizeof(*p));

	p->fd = fd;
	p->wait_s = wait_s;
	p->stream = fopencookie(p, "w", (cookie_io_functions_t){ .write = patient_file_put });
	if (!p->stream)
		out_of_memory();
	setvbuf(p->stream, NULL, _IOLBF, BUFSIZ);
	return p;
}

FILE *patient_file_stream(struct patient_file *p)
{
	return p->stream;
}

void patient_file_end(struct patient_file *p, double wait_s)
{
	fclose(p->stream);
	write_on(p, p->kept.data, p->kept.len, wait_s);
	str_free(&p->kept);
	free(p);
}

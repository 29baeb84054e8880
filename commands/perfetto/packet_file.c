#include "commands/perfetto/packet_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void packet_file_init(struct packet_file *f, int fd)
{
	struct stat st;

	f->fd = fd;
	f->failed = false;
	f->start = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	f->written = 0;
	f->len = f->n = 0;
}

/* Writes all of the buffer or returns the errno; *done: bytes that are in the file. */
static int write_buffer(const struct packet_file *f, size_t *done)
{
	for (*done = 0; *done < f->len;) {
		ssize_t n = write(f->fd, f->buffer + *done, f->len - *done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		*done += (size_t)n;
	}
	return 0;
}

/* The end of the last packet that is within the first done bytes. */
static size_t whole_packets(const struct packet_file *f, size_t done)
{
	size_t n = f->n;

	while (n > 0 && f->ends[n - 1] > done)
		n--;
	return n > 0 ? f->ends[n - 1] : 0;
}

struct error *packet_file_flush(struct packet_file *f)
{
	size_t done;

	if (f->failed)
		return NULL;
	int errnum = write_buffer(f, &done);
	size_t whole = errnum ? whole_packets(f, done) : f->len;
	f->written += whole;
	if (f->start >= 0)
		f->start += (off_t)whole;
	f->len = f->n = 0;
	if (!errnum)
		return NULL;
	f->failed = true;
	/* If that fails too, the file ends with a part of a packet. */
	if (f->start >= 0 && ftruncate(f->fd, f->start) == 0)
		lseek(f->fd, f->start, SEEK_SET);
	return error_os(errnum, "cannot write the trace; %llu bytes are written",
	                (unsigned long long)f->written);
}

struct error *packet_file_add(struct packet_file *f, const void *data, size_t len)
{
	if (f->failed)
		return NULL;
	if (f->n == PACKET_FILE_PACKETS || len > PACKET_FILE_BUFFER - f->len)
		TRY(packet_file_flush(f));
	memcpy(f->buffer + f->len, data, len);
	f->len += len;
	f->ends[f->n++] = (uint32_t)f->len;
	return NULL;
}

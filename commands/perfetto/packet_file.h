/*
 * A file of packets, each of which is there whole or not at all: a file cut short by a full disk
 * can still be read. Packets are buffered.
 */
#ifndef COMMANDS_PERFETTO_PACKET_FILE_H
#define COMMANDS_PERFETTO_PACKET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"

enum { PACKET_FILE_BUFFER = 1 << 17, PACKET_FILE_PACKETS = 1 << 12 };

struct packet_file {
	int fd; /* borrowed */
	bool failed;
	off_t start;      /* of the buffer in the file; -1: not a file that can be cut off */
	uint64_t written; /* bytes of whole packets in the file */
	size_t len, n;    /* bytes and packets in the buffer */
	uint32_t ends[PACKET_FILE_PACKETS];
	unsigned char buffer[PACKET_FILE_BUFFER];
};

/* Writes from the current place of fd on. */
void packet_file_init(struct packet_file *f, int fd);

/*
 * Adds one packet of at most PACKET_FILE_BUFFER bytes. The first error of writing is returned,
 * ERR_OS, by this function or the next one; then the file is cut off behind its last whole packet,
 * where it can be (not a pipe), and all later calls do nothing and return NULL.
 */
struct error *packet_file_add(struct packet_file *f, const void *data, size_t len) MUST_CHECK;
/* Writes the buffer to the file. */
struct error *packet_file_flush(struct packet_file *f) MUST_CHECK;

#endif

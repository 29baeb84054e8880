/*
 * Reads memory that somebody serves (served_memory.h) by a process of its own, which is left behind
 * where nobody does: a thread could not be, since FUSE may keep it, and with it the end of
 * asyncdbg, until its request is answered.
 */
#ifndef DEBUGGER_LIVE_SERVED_READER_H
#define DEBUGGER_LIVE_SERVED_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SERVED_READER_MAX = 64 << 10 /* bytes of one read */ };

/* -1 in socket: there is none yet, or the last one was left behind. */
struct served_reader {
	int socket;
};

/*
 * Reads up to len bytes (at most SERVED_READER_MAX) as process_vm_readv() does; returns how many.
 * -1 with errno: EAGAIN if it took longer than half a second.
 */
ssize_t served_reader_read(struct served_reader *r, pid_t pid, uint64_t addr, void *buf,
                           size_t len);
/* Starts the reading process, so that a read need not. */
void served_reader_start(struct served_reader *r);
void served_reader_close(struct served_reader *r);

#endif

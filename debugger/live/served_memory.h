/*
 * Memory whose absent pages somebody serves: the process itself, through userfaultfd, or a file
 * system in user space (FUSE). A read of such a page waits until it is served, and cannot be
 * interrupted. While its process stands still, nobody serves it, and reader and process wait for
 * each other.
 */
#ifndef DEBUGGER_LIVE_SERVED_MEMORY_H
#define DEBUGGER_LIVE_SERVED_MEMORY_H

#include "debugger/base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct served_span {
	uint64_t start, end;
};

struct served_memory {
	VEC(struct served_span) spans; /* by address */
	int pagemap;                   /* -1: no page is known to be present */
};

/* The number of a device on which a FUSE file system is mounted, as maps has it: "0:45". */
struct fuse_device {
	char number[24];
};

typedef VEC(struct fuse_device) fuse_devices;

/* Adds the FUSE devices of a process's mountinfo. The caller frees ret. */
void served_memory_find_fuse(FILE *mountinfo, fuse_devices *ret);

/* Finds the mappings of that kind. Into *m, which is zero or holds those of an earlier moment. */
void served_memory_find(struct served_memory *m, pid_t pid);
void served_memory_free(struct served_memory *m);
/*
 * How many of len bytes from addr on (not 0) are of one kind; *served says whether it is this kind.
 */
size_t served_memory_part(const struct served_memory *m, uint64_t addr, size_t len, bool *served);
/* How many of len bytes from addr on can be read without waiting for anybody. */
size_t served_memory_present(const struct served_memory *m, uint64_t addr, size_t len);

#endif

/*
 * Files whose names come from a user, a target or another file: only regular files are opened, and
 * whole files are read with a size limit. new_file.h writes files.
 */
#ifndef DEBUGGER_BASE_FILE_H
#define DEBUGGER_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/error.h"

/*
 * Cleanup functions for CLEANUP(). Nothing happens if the descriptor is negative or the pointer is
 * NULL.
 */
void file_close(int *fd);
void file_bytes_free(uint8_t **bytes);

/*
 * Opens a regular file for reading. No other file is opened, even briefly: opening a FIFO, a device
 * or a socket can block forever or affect the process at the other end. -1 with errno; EINVAL: not
 * a regular file (open(2) never returns that for reading). Below /proc/PID/root, links lead to
 * files of that root (path.h).
 */
int file_open_regular(const char *path);
/* Opens a name in an open folder, where no symbolic link is followed: ELOOP. */
int file_open_regular_at(int folder, const char *name);
/* file_open_regular() with an error message: ERR_OS, or ERR_USAGE if it is not a regular file. */
struct error *file_open(const char *path, int *ret) MUST_CHECK;

/*
 * Reads a regular file of at most max bytes; the caller frees the bytes. The file is not mapped,
 * since one that shrinks would cause SIGBUS; if it shrinks, *size is what could be read. name is
 * for error messages: ERR_OS, or ERR_USAGE if it is not a regular file, too large or empty.
 */
struct error *file_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *size)
	MUST_CHECK;

/* Writes all of data. ERR_OS. */
struct error *file_write(int fd, const char *name, const uint8_t *data, size_t size) MUST_CHECK;

/* Lets this process have as many descriptors as it may: many shells allow 1024 at first. */
void file_raise_limit(void);

#endif

/*
 * Files whose names come from a user, a target or another file: only regular files are opened.
 * Whole files are read with a size limit, and written so that no reader ever sees an incomplete
 * one.
 */
#ifndef DEBUGGER_BASE_FILE_H
#define DEBUGGER_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/error.h"

/* For CLEANUP(). Nothing happens if the descriptor is negative or the pointer is NULL. */
void file_close(int *fd);
void file_bytes_free(uint8_t **bytes);

/*
 * Opens a regular file for reading. No other file is opened, even briefly: opening a FIFO, a device
 * or a socket can block forever or affect the process at the other end. -1 with errno; EINVAL: not
 * a regular file (open(2) never returns that for reading).
 */
int file_open_regular(const char *path);
/* The same with an error message: ERR_OS, or ERR_USAGE if it is not a regular file. */
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

/* A new file that replaces the old one only when it is complete. */
struct new_file {
	char *path,
		*temporary; /* NULL temporary: path is no regular file, and is written in place */
	FILE *f;            /* the stream to write to; NULL: not open */
};

/*
 * Creates a temporary file next to path, or if path is a link, next to its target, with these
 * permissions (minus the umask). A device or a pipe is written directly, and so is standard output
 * if path is "-". An existing file is replaced only if it is empty or starts with begins (NULL:
 * always), so that a mistyped name does not overwrite a core. ERR_USAGE or ERR_OS leaves no file
 * behind; after success the caller must call new_file_drop().
 */
struct error *new_file_open(const char *path, mode_t mode, const char *begins, struct new_file *ret)
	MUST_CHECK;
/* Moves the complete file to its path. ERR_OS if that or any earlier write failed. */
struct error *new_file_finish(struct new_file *file) MUST_CHECK;
/* For CLEANUP(): removes the temporary file if new_file_finish() was not called. */
void new_file_drop(struct new_file *file);

/* Lets this process have as many descriptors as it may: many shells allow 1024 at first. */
void file_raise_limit(void);

#endif

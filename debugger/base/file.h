/*
 * Files that are named by a user, a target or a file: only regular ones are opened. Whole files:
 * read with a limit, written so that nobody ever sees half of one.
 */
#ifndef DEBUGGER_BASE_FILE_H
#define DEBUGGER_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/error.h"

/* For CLEANUP(): nothing where it is negative, or NULL. */
void file_close(int *fd);
void file_bytes_free(uint8_t **bytes);

/*
 * Opens a regular file for reading. Nothing else is opened even for a moment: to open a FIFO, a
 * device or a socket can wait without end, and can act on who has the other end. -1 with errno;
 * EINVAL: it is no regular file (open(2) does not say so for reading).
 */
int file_open_regular(const char *path);
/* The same with an error in words: ERR_OS, ERR_USAGE where it is no regular file. */
struct error *file_open(const char *path, int *ret) MUST_CHECK;

/*
 * The bytes of a regular file of at most max bytes, which the caller frees. Not mapped: a file that
 * shrinks meanwhile would be a SIGBUS; it is what there was. name is for errors: ERR_OS, ERR_USAGE
 * where it is no such file or empty.
 */
struct error *file_read(int fd, const char *name, size_t max, uint8_t **ret, size_t *size)
	MUST_CHECK;

/* All of it. ERR_OS. */
struct error *file_write(int fd, const char *name, const uint8_t *data, size_t size) MUST_CHECK;

/* A file that takes the place of another only when it is complete. */
struct new_file {
	char *path,
		*temporary; /* temporary NULL: path is no regular file, and is written in place */
	FILE *f;            /* to be written to; NULL: none is open */
};

/*
 * A file beside path, with these permissions (less the umask); where path is a link, beside what
 * it leads to. A device or a pipe is written itself, and so is standard output where path is "-".
 * What is there is only replaced if it is empty or begins so (NULL: whatever it is): a core is not
 * to be lost by a slip. ERR_USAGE, ERR_OS, and no file is left behind; else new_file_drop() must
 * follow.
 */
struct error *new_file_open(const char *path, mode_t mode, const char *begins, struct new_file *ret)
	MUST_CHECK;
/* Puts it in its place. ERR_OS for this and for all that went wrong while it was written. */
struct error *new_file_finish(struct new_file *file) MUST_CHECK;
/* For CLEANUP(): removes what was not finished. */
void new_file_drop(struct new_file *file);

#endif

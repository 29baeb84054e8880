/*
 * Every file that asyncdbg writes is opened here: the folder first (path.h), then a new file in it
 * under a temporary name, which takes the place of the old one only when it is complete. So neither
 * a link that somebody else put there is followed, nor is a device or a pipe opened, nor does
 * anybody see an incomplete file.
 */
#ifndef DEBUGGER_BASE_NEW_FILE_H
#define DEBUGGER_BASE_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "debugger/base/error.h"

/* How files of one format are recognised by their start, which is as much as fits into size. */
struct file_format {
	const char *begins;                                /* the first bytes; NULL: see is_own */
	bool (*is_own)(const uint8_t *start, size_t size); /* NULL: begins says all */
};

/* The first n bytes of what gzip compressed. False: it is something else, or shorter. */
bool file_format_inflate(const uint8_t *start, size_t size, unsigned char *ret, size_t n);

struct new_file {
	char *path;             /* for messages */
	char *name, *temporary; /* in the folder; NULL temporary: nothing is renamed at the end */
	int folder;             /* where the stream is open, and there is a temporary name */
	bool is_lasting;        /* it is on the disk before it takes the place of the old one */
	FILE *f;                /* the stream to write to, which can be read, too; NULL: not open */
};

/*
 * Creates a file in the folder of path, with these permissions (minus the umask), or opens standard
 * output if path is "-", or /dev/null. An existing file is replaced only if it is a regular one and
 * empty or of this format, so that a mistyped name does not overwrite a core. A symbolic link as
 * the last name is followed if it belongs to the effective user, and never in the root of another
 * process. ERR_USAGE or ERR_OS leaves no file behind; after success the caller must call
 * new_file_drop().
 */
struct error *new_file_open(const char *path, mode_t mode, const struct file_format *format,
                            struct new_file *ret) MUST_CHECK;
/* Opens a file in an open folder of ours that can be made again: any file there is replaced. */
struct error *new_file_open_at(int folder, const char *name, mode_t mode, struct new_file *ret)
	MUST_CHECK;
/* Moves a file that others read while it is written to its path, already now. ERR_OS. */
struct error *new_file_show(struct new_file *file) MUST_CHECK;
/* Gives away the stream of a file that was shown. */
FILE *new_file_take(struct new_file *file);
/* Moves the complete file to its path. ERR_OS if that or any earlier write failed. */
struct error *new_file_finish(struct new_file *file) MUST_CHECK;
/* Removes the temporary file if new_file_finish() was not called; for CLEANUP(). */
void new_file_drop(struct new_file *file);

#endif

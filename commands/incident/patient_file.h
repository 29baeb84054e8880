/*
 * Writing for a reader that may not read: a pipe that is full, a terminal that was stopped by ^S.
 * Descriptors are not made non-blocking, which other processes would see, too.
 */
#ifndef COMMANDS_INCIDENT_PATIENT_FILE_H
#define COMMANDS_INCIDENT_PATIENT_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Writes as much as can be written without blocking; at most len bytes. -1 with errno: EAGAIN,
 * where there is no room.
 */
ssize_t patient_file_write(int fd, const void *bytes, size_t len);

/* A stream to a descriptor, which is borrowed. */
struct patient_file;
/*
 * A new stream. All its writes together wait for the reader for wait_s seconds; text that is
 * written after that is kept in memory.
 */
struct patient_file *patient_file_new(int fd, double wait_s);
/* Written to like any other; closed by patient_file_end(). */
FILE *patient_file_stream(struct patient_file *p);
/* Writes the kept bytes, until the reader takes nothing for wait_s seconds, and frees the file. */
void patient_file_end(struct patient_file *p, double wait_s);

#endif

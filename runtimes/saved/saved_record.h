/* Internal to runtimes/saved: reads a snapshot line by line. */
#ifndef RUNTIMES_SAVED_SAVED_RECORD_H
#define RUNTIMES_SAVED_SAVED_RECORD_H

#include "debugger/base/json_reader.h"
#include "debugger/base/vec.h"
#include "runtimes/saved/saved_lines.h"

/* A snapshot that is being read. */
struct loader {
	struct snapshot *s;
	struct arena *a; /* of s */
	struct json_reader r;
	uint64_t lines; /* lines read so far, including the current one */
	/* Values from the header. */
	int64_t version;
	uint64_t ntasks;
	struct saved_info info;
	bool has_header, has_snapshot, has_target, ended;
	bool has_parts; /* its phrases and problems have lists of their variable parts */
	/* Moved into the snapshot by publish(). */
	VEC(const char *) names;
	VEC(struct runtime_info) runtimes;
	VEC(struct thread_info) threads;
	VEC(struct job) jobs;
	VEC(struct layout_info) layout;
	VEC(struct socket_info) sockets;
	VEC(struct task *) tasks;
	VEC(struct holding) holdings, descriptors;
	/*
	 * Memory in bytes: budget is allowed for the part of the file that was read, listed is
	 * charged for elements of lists. The arena accounts for the rest.
	 */
	size_t budget, listed;
	unsigned depth, frames; /* of the tree being read */
	const char *key;        /* the member being read, NULL none */
};

/*
 * Reads one line and changes its text. Returns a description of the error in arena a, or NULL.
 * *late: the snapshot is usable without this line and those after it.
 */
const char *saved_record(struct loader *l, struct arena *a, char *line, size_t len, bool *late);

#endif

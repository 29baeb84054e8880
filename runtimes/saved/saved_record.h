/* Within saved snapshots: what is read of one, line by line. Not for others. */
#ifndef RUNTIMES_SAVED_SAVED_RECORD_H
#define RUNTIMES_SAVED_SAVED_RECORD_H

#include "debugger/base/vec.h"
#include "runtimes/saved/json_reader.h"
#include "runtimes/saved/saved_lines.h"

/* A snapshot in the making. */
struct loader {
	struct snapshot *s;
	struct arena *a; /* of s */
	struct json_reader r;
	uint64_t lines; /* read so far, with the one at hand */
	/* As the header has it. */
	int64_t version;
	uint64_t ntasks;
	struct saved_info info;
	bool has_header, has_snapshot, has_target, ended;
	/* What becomes the snapshot's: see publish(). */
	VEC(const char *) names;
	VEC(struct runtime_info) runtimes;
	VEC(struct thread_info) threads;
	VEC(struct layout_info) layout;
	VEC(struct socket_info) sockets;
	VEC(struct task *) tasks;
	VEC(struct holding) holdings;
	/*
	 * Bytes: what the file may take by what was read of it, and what elements of lists took.
	 * The arena has the rest.
	 */
	size_t budget, listed;
	unsigned depth, frames; /* of the tree that is being read */
	const char *key;        /* the member that is being read, NULL none */
};

/*
 * Takes in one line, which is changed. Returns what is wrong with it, in arena a, or NULL; *late:
 * then what stands before it is of use without it.
 */
const char *saved_record(struct loader *l, struct arena *a, char *line, size_t len, bool *late);

#endif

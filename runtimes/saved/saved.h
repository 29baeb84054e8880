/*
 * Saved snapshots: the model in a small file that any later asyncdbg can print, on any machine. The
 * file has the decoded data and none of the program's memory. It has values of variables only on
 * request.
 *
 * The format, version 2: JSON Lines, compressed with gzip (read without too). Each line is an
 * object with one member, in this order:
 *
 *   {"format": "asyncdbg-snapshot", ...}  the first one: see struct saved_info; "version"; how many
 *                                         "tasks" follow; "parts": whether variable parts of texts
 *                                         are known (debugger/base/marked.h)
 *   {"names": ["app::run", ...]}          anywhere before it is needed: names go on counting from 0
 *   {"snapshot": {...}}, {"target": {...}}, {"reading": {...}}
 *   {"runtime": {...}}, {"thread": {...}}, {"job": {...}}, {"layout": {...}}, {"socket": {...}},
 *   {"task": {...}}, {"holding": {...}}
 *                                         one each, in the order of the snapshot
 *   {"end": N}                            the last one: lines before it
 *
 * Keys are the members of the structs in runtimes/model/model.h; saved_fields.h lists them for the
 * writer and the reader. Members that are zero, false or absent are left out. A name is written as
 * its index in the list of names. Addresses are "0x7f00", enums the words of docs/json.md. A reader
 * ignores unknown keys. It refuses unknown keys of wait.details, because those become keys of JSON
 * output.
 *
 * A file is hostile input. Lines, tasks, frames and depths are bounded, and memory is bounded by
 * the size of the file. Ids are digits, all text is sanitized, every index is checked.
 */
#ifndef RUNTIMES_SAVED_SAVED_H
#define RUNTIMES_SAVED_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/error.h"
#include "runtimes/model/model.h"

struct saved_info {
	unsigned wants; /* flags of enum want that the snapshot was taken with */
	bool values;    /* the file has the values of variables */
	int64_t when;   /* seconds since 1970 UTC */
};

/* The file that a snapshot was read from. */
struct saved_origin {
	const char *file; /* as the user named it */
	int64_t when;     /* seconds since 1970 UTC, 0 unknown */
};

/* "2026-11-21 18:43:30 UTC" in arena a; NULL when unknown. */
const char *saved_time(struct arena *a, int64_t when);

/* Whether the file begins like a saved snapshot; false also when it cannot be read. */
bool saved_is(const char *path);
/* The format of a saved snapshot, for a file that is to be replaced. */
extern const struct file_format saved_format;

/*
 * Writes a snapshot atomically: path never has a partial file. The
 * file is readable by the user only. ERR_USAGE when path is an existing file that is no saved
 * snapshot, so that a mistake does not overwrite a core. info->values false: variables have a
 * struct local.problem instead of a value.
 */
struct error *saved_write(const char *path, const struct snapshot *s, const struct saved_info *info)
	MUST_CHECK;

/*
 * Reads a snapshot. When the file is truncated or damaged after its threads, *ret has the tasks
 * before the damage, is marked incomplete and has a note. ERR_CORRUPT when the file is unusable,
 * ERR_UNSUPPORTED when a newer asyncdbg wrote it. *ret is freed with snapshot_free() and borrows
 * nothing. info may be NULL.
 */
struct error *saved_read(const char *path, struct snapshot **ret, struct saved_info *info)
	MUST_CHECK;

/*
 * The names that the program gives to awaited objects (wait.name). A live snapshot has them only
 * when it was taken with WANT_HOLDINGS. To give the same answers, a saved snapshot hides them from
 * commands that do not want holdings.
 */
struct saved_names {
	struct saved_name {
		struct wait *wait;
		const char *name;
	} * list; /* in the snapshot's arena */
	size_t n;
};
void saved_find_names(struct snapshot *s, struct saved_names *ret);
void saved_show_names(const struct saved_names *names, bool shown);

#endif

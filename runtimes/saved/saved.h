/*
 * Saved snapshots: a model as a small file that any later asyncdbg prints from, on any machine.
 * It has what was decoded and none of the program's memory; the values of variables only where that
 * was asked for.
 *
 * The format, version 1: JSON Lines, compressed with gzip (read without too). Each line is an
 * object with one member, in this order:
 *
 *   {"format": "asyncdbg-snapshot", ...}  the first one: see struct saved_info; "version"; how many
 *                                         "tasks" follow
 *   {"names": ["app::run", ...]}          anywhere before it is needed: names go on counting from 0
 *   {"snapshot": {...}}, {"target": {...}}, {"reading": {...}}
 *   {"runtime": {...}}, {"thread": {...}}, {"layout": {...}}, {"socket": {...}}, {"task": {...}},
 *   {"holding": {...}}
 *                                         one each, in the order of the snapshot
 *   {"end": N}                            the last one: lines before it
 *
 * Keys are the members of runtimes/model/model.h: saved_fields.h lists them for both ways. What is
 * zero, false or absent is left out. A name is a number: which of the names. Addresses are
 * "0x7f00", enums the words of docs/json.md. A reader ignores keys that it does not know, but for
 * those of wait.details, which become keys of documents: it refuses them.
 *
 * A file is hostile input: lines, tasks, frames and depths are bounded, and all memory by the size
 * of the file; ids are digits; all text is cleaned, every index is checked.
 */
#ifndef RUNTIMES_SAVED_SAVED_H
#define RUNTIMES_SAVED_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/error.h"
#include "runtimes/model/model.h"

struct saved_info {
	unsigned wants; /* enum want: what the snapshot was taken for */
	bool values;    /* the values of variables are in it */
	int64_t when;   /* seconds since 1970 UTC */
};

/* A file that a snapshot was read from. */
struct saved_origin {
	const char *file; /* as the user named it */
	int64_t when;     /* seconds since 1970 UTC, 0 unknown */
};

/* "2026-11-21 18:43:30 UTC" in arena a; NULL where it is not known. */
const char *saved_time(struct arena *a, int64_t when);

/* Whether the file begins as a saved snapshot does; false also where it cannot be read. */
bool saved_is(const char *path);

/*
 * Writes it so that path never has a part of it only; it may be a pipe or a device. Only the user
 * may read the file. ERR_USAGE where path is a file that is no saved snapshot: a core is not to be
 * lost by a slip. info->values false: variables have a struct local.problem instead of a value.
 */
struct error *saved_write(const char *path, const struct snapshot *s, const struct saved_info *info)
	MUST_CHECK;

/*
 * Reads one. Where the file ends too early or is damaged behind its threads, *ret has the tasks
 * before that and says so: it is not complete. ERR_CORRUPT where it is of no use, ERR_UNSUPPORTED
 * where a newer asyncdbg made it. *ret is freed with snapshot_free() and borrows nothing. info may
 * be NULL.
 */
struct error *saved_read(const char *path, struct snapshot **ret, struct saved_info *info)
	MUST_CHECK;

/*
 * What the program calls the objects that are waited for is only known where holdings were asked
 * for: of a command that does not ask for them, an answer has no wait.name.
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

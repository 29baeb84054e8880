/*
 * Runtimes and LocalSets of tokio that no thread is inside. No thread-local leads to them, but the
 * header of each of their tasks does: its cell has the scheduler, an Arc of the runtime's Handle or
 * of the LocalSet's Shared (runtime/task/core.rs: Core.scheduler). Headers are met while tasks are
 * decoded (struct task_lead), and found by looking through the program's memory (tokio_scan.c).
 *
 * What was found is a root: it stays known for the walks of one answer, and each of them reads it
 * anew. A walk that meets a root which is not known yet is repeated with it, until none is new.
 */
#ifndef RUNTIMES_TOKIO_TOKIO_ROOT_H
#define RUNTIMES_TOKIO_TOKIO_ROOT_H

#include "runtimes/tokio/tokio.h"

struct tokio_root {
	struct tokio *tokio;               /* the inspector's own; see tokio_root_tokio() */
	const struct tokio_flavor *flavor; /* NULL: it is a LocalSet */
	uint64_t addr;                     /* of the Handle, or of the LocalSet's Shared */
	uint64_t strong;                   /* address of the count of its Arc */
	uint64_t owned_id;                 /* of its list of tasks */
	uint64_t static_addr; /* of a word in a static that refers to it, 0 none known */
	const char *found_by; /* "the join handle in task 5", "a scan of memory" */
};

struct tokio_roots {
	VEC(struct tokio_root) list;
	const char *cut; /* why not all memory was looked through, with advice; NULL: it was */
};

/* Makes tokio_of(in)->roots anew, empty; frees it. */
void tokio_roots_open(struct inspector *in);
void tokio_roots_close(struct inspector *in);
/* Notes why not all memory was looked through. */
void tokio_note_roots(struct collector *c);

/*
 * Looks through the writable memory of the target for headers of tasks, as it is now, and makes
 * tokio_of(in)->roots of what they lead to; forgets earlier ones. It ends after SCAN_MIB, after
 * SCAN_MS of processor time, or ten times that by the wall clock; $ASYNCDBG_SCAN says otherwise:
 * "MIB", "MIB,MS"; 0: do not look. Fails only when the target is gone, and at ^C.
 */
enum { SCAN_MIB = 1024, SCAN_MS = 200 };
struct error *tokio_scan(struct inspector *in) MUST_CHECK;

/* That copy of tokio as c's inspector knows it. */
struct tokio *tokio_root_tokio(const struct collector *c, const struct tokio_root *root);
/*
 * Is it what it was when it was found, and not shut down? Its list may be empty. Memory that was
 * freed is used for something else sooner or later: the count and the list's id tell.
 */
bool tokio_root_lives(struct collector *c, const struct tokio_root *root);

/*
 * Adds what the scheduler of a task is, if it is not known yet: poll is the task's poll function,
 * arc the address of the scheduler's Arc in the task's cell, owner the id of the list that the task
 * says to be in. Returns the root; NULL where it leads to none. The type of the scheduler is the
 * poll function's S (runtime/task/raw.rs: poll<T, S>).
 */
struct tokio_root *tokio_root_add(struct inspector *in, struct tokio *k, uint64_t poll,
                                  uint64_t arc, uint64_t owner);

/* Whatever is decoded now leads to the task of that header. */
void tokio_lead(struct collector *c, uint64_t header, enum lead_kind kind);
/* The same of the task that a waker with that data is of, if it is a task. */
void tokio_waker_met(struct collector *c, uint64_t data);
/*
 * The same of a variable: a Runtime, a Handle, or a struct that has one. What was moved from there
 * may still look like one.
 */
void tokio_handle_lead(struct collector *c, struct value v);
/*
 * Once all tasks are decoded: says by what each runtime that no thread is inside was found, and
 * follows what leads elsewhere. c->leads_left: to new roots.
 */
void tokio_follow_leads(struct collector *c);
/* Its LocalSet at root->addr; type NULL: it cannot be read. */
struct value tokio_root_set(struct collector *c, const struct tokio_root *root);

#endif

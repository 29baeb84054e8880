/*
 * Finds runtimes and LocalSets of tokio that no thread has entered. No thread-local leads to them,
 * but the header of each of their tasks does: its cell has the scheduler, an Arc of the runtime's
 * Handle or of the LocalSet's Shared (runtime/task/core.rs: Core.scheduler). Headers are found
 * while tasks are decoded (struct task_lead), and by a scan of the program's memory (tokio_scan.c).
 *
 * What was found is a root. It stays known for all walks of one command, and each walk reads it
 * again. A walk that finds a new root is repeated with it, until there is no new one.
 */
#ifndef RUNTIMES_TOKIO_TOKIO_ROOT_H
#define RUNTIMES_TOKIO_TOKIO_ROOT_H

#include "runtimes/tokio/tokio.h"

struct tokio_root {
	struct tokio *tokio; /* of the inspector that found it; see tokio_root_tokio() */
	const struct tokio_flavor *flavor; /* NULL: it is a LocalSet */
	uint64_t addr;                     /* of the Handle, or of the LocalSet's Shared */
	uint64_t strong;                   /* address of its Arc's strong count */
	uint64_t owned_id;                 /* of its list of tasks */
	uint64_t static_addr;              /* a word in a static that refers to it, 0 none known */
	const char *found_by;              /* "the join handle in task 5", "a scan of memory" */
};

struct tokio_roots {
	VEC(struct tokio_root) list;
	const char *cut; /* why the scan did not cover all memory, with advice; NULL: it did */
	bool full;       /* there was no room for a further one */
};

/* Creates an empty tokio_of(in)->roots; frees it. */
void tokio_roots_open(struct inspector *in);
void tokio_roots_close(struct inspector *in);
/* Adds a note to the snapshot when the scan did not cover all memory, and where roots are left out.
 */
void tokio_note_roots(struct collector *c);

/*
 * Scans the current writable memory of the target for headers of tasks, and fills
 * tokio_of(in)->roots from them; earlier roots are dropped. Its limits are those of
 * heap_scan_run(). Fails only when the target is gone, and at ^C.
 */
struct error *tokio_scan(struct inspector *in) MUST_CHECK;

/* The copy of tokio in c's inspector that corresponds to the root's. */
struct tokio *tokio_root_tokio(const struct collector *c, const struct tokio_root *root);
/*
 * Is the root still the same object as when it was found, and not shut down? Its list may be empty.
 * Freed memory is reused sooner or later: the Arc's count and the list's id show that.
 */
bool tokio_root_lives(struct collector *c, const struct tokio_root *root);

/*
 * Adds the scheduler of a task as a root, unless it is known. poll: the task's poll function; arc:
 * the address of the scheduler's Arc in the task's cell; owner: the id of the list that the task
 * claims to be in. Returns the root; NULL where the scheduler is not valid. The type of the
 * scheduler is the poll function's S (runtime/task/raw.rs: poll<T, S>).
 */
struct tokio_root *tokio_root_add(struct inspector *in, struct tokio *k, uint64_t poll,
                                  uint64_t arc, uint64_t owner);

/* Records that the value which is being decoded refers to the task of that header. */
void tokio_lead(struct collector *c, uint64_t header, enum lead_kind kind);
/* tokio_lead() for the task of a waker with that data, if it is a task's. */
void tokio_waker_met(struct collector *c, uint64_t data);
/*
 * tokio_lead() for a variable: a Runtime, a Handle, or a struct that has one. A value that was
 * moved away may still look like one.
 */
void tokio_handle_lead(struct collector *c, struct value v);
/*
 * Call it when all tasks are decoded. Fills found_by of each runtime that no thread has entered,
 * and follows the remaining leads. Sets c->leads_left when that adds roots.
 */
void tokio_follow_leads(struct collector *c);
/* The Shared of a root that is a LocalSet; type NULL: it cannot be read. */
struct value tokio_root_set(struct collector *c, const struct tokio_root *root);

#endif

/*
 * Reads futures_executor's LocalPool (futures-executor 0.3). A pool is a value on the stack of the
 * thread that runs it: only a pool that runs is found. Its tasks are the nodes of a
 * FuturesUnordered, and trait objects in a Vec that were spawned since the pool was polled last.
 */
#ifndef RUNTIMES_FUTURES_EXECUTOR_LOCAL_POOL_H
#define RUNTIMES_FUTURES_EXECUTOR_LOCAL_POOL_H

#include "debugger/base/vec.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/waker.h"
#include "runtimes/thread/stack.h"

enum local_pool_row {
	LOCAL_POOL_SET,
	LOCAL_POOL_HEAD,
	LOCAL_POOL_LENGTH,
	LOCAL_POOL_QUEUE,
	LOCAL_POOL_WAKER,
	LOCAL_POOL_INCOMING,
	LOCAL_POOL_NROWS,
};

/* A copy of the crate. */
struct local_pool_copy {
	struct local_pool_copy *next;
	struct dwarf_module *dm;
	const char *module; /* base name of the ELF file */
	const char *version;
	const struct type *pool;    /* LocalPool */
	const struct type *node;    /* of the set; NULL: unknown */
	const struct type *object;  /* LocalFutureObj, which owns a task's future; NULL: unknown */
	struct thread_local notify; /* CURRENT_THREAD_NOTIFY; type NULL: none */
	const struct type *notify_type; /* ThreadNotify; NULL: unknown */
	struct bindings layout;
};

/* State of LocalPool in an inspector. */
struct local_pool_inspector {
	struct local_pool_copy *copies;
};

/* A thread that runs a pool. */
struct local_pool_thread {
	const struct local_pool_copy *copy; /* NULL: it runs none */
	struct value pool;                  /* addr 0: it was not found */
	uint64_t waker;                     /* data of the thread's waker; 0: unknown */
	struct runtime_info *info;          /* NULL: not listed */
	struct task *running;               /* the task that it polls; NULL: none, or unknown */
};

/* State of LocalPool in a snapshot. Threads are by index of target->threads. */
struct local_pool_walk {
	struct local_pool_thread *threads;
	struct map objects; /* task -> address of its LocalFutureObj */
};

extern const char local_pool_name[];
extern const struct runtime local_pool_table;
extern const struct crate_types local_pool_types;
struct local_pool_walk *local_pool_walk(const struct collector *c);
void local_pool_detect_unused(struct inspector *in);
bool local_pool_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret);

/* local_pool.c: the phases of a walk. */
void local_pool_list(struct collector *c);
void local_pool_decode(struct collector *c, struct task *task);
void local_pool_free(struct collector *c);
/* The thread whose pool has that task, which must be of a pool. */
const struct local_pool_thread *local_pool_thread_of(const struct collector *c,
                                                     const struct task *task);

/* Adds the tasks of a pool that is listed, but for the one that is polled. */
void local_pool_list_tasks(struct collector *c, struct local_pool_thread *t);

/* local_pool_find.c: the copy that has the type LocalPool. */
const struct local_pool_copy *local_pool_copy_of(struct inspector *in, const struct type *pool);
/* Finds the pool that a thread runs; false: it runs none. */
bool local_pool_find(struct collector *c, size_t thread, struct local_pool_thread *ret);
/* The mark of the loop of a pool; NULL: there is none. */
const struct mark *local_pool_loop(const struct marks *marks);
/*
 * The node of the task that a thread polls, which is off the list meanwhile; the others must be
 * listed. *polls: whether the thread polls its pool. *found false: it polls no task, or the debug
 * info does not tell which.
 */
struct error *local_pool_find_running(struct collector *c, const struct thread_stack *s,
                                      const struct local_pool_thread *t, struct value *ret,
                                      bool *polls, bool *found) MUST_CHECK;

/* local_pool_thread.c */
void local_pool_describe_threads(struct collector *c);

/* local_pool_whatis.c: finds the pool or task that an address lies in. */
void local_pool_whatis(struct whatis *a);

#endif

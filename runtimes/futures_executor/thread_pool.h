/*
 * Reads futures_executor's ThreadPool (futures-executor 0.3, src/thread_pool.rs, unpark_mutex.rs).
 *
 * A pool keeps no list of its tasks. A task that was spawned or woken is a message in the pool's
 * channel; one that is polled is on the stack of a thread of the pool; one that waits is in its own
 * WakeHandle, to which only its wakers lead. Wakers are found by a scan of memory for the vtable of
 * this kind of waker. The threads lead to the pools.
 *
 * The identity of a task is the address of its WakeHandle, which is the data of its wakers.
 */
#ifndef RUNTIMES_FUTURES_EXECUTOR_THREAD_POOL_H
#define RUNTIMES_FUTURES_EXECUTOR_THREAD_POOL_H

#include "debugger/base/vec.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/inspector.h"
#include "runtimes/thread/stack.h"

enum thread_pool_row {
	THREAD_POOL_SIZE,
	THREAD_POOL_SENDER,
	THREAD_POOL_RECEIVER,
	THREAD_POOL_HEAD,
	THREAD_POOL_BLOCK,
	THREAD_POOL_TAIL,
	THREAD_POOL_NROWS,
};

/* States of a WakeHandle's UnparkMutex. */
enum thread_pool_status {
	THREAD_POOL_WAITING, /* the task is inside, or was not polled yet */
	THREAD_POOL_POLLING, /* it is in the channel, or polled */
	THREAD_POOL_REPOLL,  /* woken while it is polled */
	THREAD_POOL_COMPLETE,
};

/* A copy of the crate. */
struct thread_pool_copy {
	struct thread_pool_copy *next;
	struct dwarf_module *dm;
	const char *module; /* base name of the ELF file */
	const char *version;
	const struct type *state;  /* PoolState */
	const struct type *block;  /* of the channel; NULL: unknown */
	const struct type *slot;   /* in a block; NULL: unknown */
	const struct type *task;   /* Task; NULL: unknown */
	const struct type *object; /* LocalFutureObj in it; NULL: unknown */
	const struct type *arc;    /* ArcInner<WakeHandle>; NULL: unknown */
	const struct type *handle; /* WakeHandle; NULL: unknown */
	const struct type *vtable; /* RawWakerVTable; NULL: unknown */
	uint64_t strong, data;     /* offsets in arc */
	uint64_t state_data;       /* offset of the PoolState in its ArcInner */
	struct bindings layout;
	uint64_t *vtables; /* of wakers: the compiler may make several */
	size_t nvtables;
	bool scanned;   /* vtables were looked for */
	bool too_large; /* not among all constants, or there are too many of them */
};

/* The address of what may be a WakeHandle. */
struct thread_pool_lead {
	struct thread_pool_copy *copy;
	uint64_t handle;
};

/* State of ThreadPool in an inspector. */
struct thread_pool_inspector {
	struct thread_pool_copy *copies;
	VEC(struct thread_pool_lead) leads; /* each once */
	const char *cut; /* why the scan did not cover all memory; NULL: it did */
};

struct thread_pool {
	const struct thread_pool_copy *copy;
	uint64_t state; /* address of its PoolState */
	struct runtime_info *info;
};

/* A thread of a pool. */
struct thread_pool_thread {
	const struct thread_pool_copy *copy; /* NULL: it is of none */
	const struct thread_pool *pool;      /* NULL: it was not found */
	bool polls;
	struct task *running; /* the task that it polls; NULL: none, or unknown */
};

/* Place of the future of a task. */
struct thread_pool_task {
	const struct thread_pool_copy *copy;
	struct value object; /* its LocalFutureObj; addr 0: unknown */
	uint64_t vtable;     /* of the future, which a thread polls; 0: see object, or unknown */
};

/* State of ThreadPool in a snapshot. */
struct thread_pool_walk {
	struct thread_pool_thread *threads; /* by index of target->threads */
	VEC(struct thread_pool) pools;
	struct map tasks; /* struct task -> struct thread_pool_task */
};

/* A WakeHandle, as read and checked. */
struct thread_pool_handle {
	uint64_t addr, status, references;
	uint64_t pool;     /* address of the PoolState */
	struct value task; /* the Task inside; addr 0: none */
};

/* The beginning of the function of its wakers that is called most (futures-task 0.3, src/waker.rs).
 */
#define THREAD_POOL_WAKE                                                                           \
	"futures_task::waker::wake_by_ref_arc_raw<futures_executor::thread_pool::WakeHandle"

extern const char thread_pool_name[];
extern const char thread_pool_state_path[]; /* of PoolState */
extern const struct runtime thread_pool_table;
extern const struct crate_types thread_pool_types;
struct thread_pool_inspector *thread_pool_inspector(const struct inspector *in);
struct thread_pool_walk *thread_pool_walk(const struct collector *c);

/* thread_pool_copy.c: the copy with that PoolState. *fresh: it was not known before. */
struct thread_pool_copy *thread_pool_copy_of(struct inspector *in, const struct type *state,
                                             bool *fresh);
void thread_pool_detect_unused(struct inspector *in);
bool thread_pool_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret);
void thread_pool_close(struct inspector *in);
/* Is there a PoolState at an address? */
bool thread_pool_is_state(struct target *t, const struct thread_pool_copy *copy, uint64_t addr);
/* Reads the WakeHandle at an address. ERR_CORRUPT: there is none that exists. */
struct error *thread_pool_read_handle(struct collector *c, const struct thread_pool_copy *copy,
                                      uint64_t addr, struct thread_pool_handle *ret) MUST_CHECK;
/* The address of the WakeHandle to which a Task refers. */
struct error *thread_pool_handle_of(struct collector *c, const struct thread_pool_copy *copy,
                                    struct value task, uint64_t *ret) MUST_CHECK;

/* thread_pool_scan.c: finds what wakers lead to; without a copy it does nothing. */
struct error *thread_pool_scan(struct inspector *in) MUST_CHECK;
void thread_pool_note(struct collector *c);

/* thread_pool_list.c: the phases of a walk. */
void thread_pool_list(struct collector *c);
void thread_pool_decode(struct collector *c, struct task *task);
void thread_pool_free(struct collector *c);
/* Adds a task of a pool; its LocalFutureObj may be unknown. */
struct task *thread_pool_add_task(struct collector *c, const struct thread_pool *pool,
                                  uint64_t handle, struct value object, enum task_state state);

/* Place of a task's future, as noted with the task; NULL: it is none of a pool. */
struct thread_pool_task *thread_pool_task_of(const struct collector *c, const struct task *task);

/* thread_pool_queue.c: adds the tasks in the channel of a pool. */
struct error *thread_pool_list_queue(struct collector *c, const struct thread_pool *pool)
	MUST_CHECK;

/* thread_pool_thread.c */
/* The pool that a thread works for, and whether it polls a task; false: it is of none. */
bool thread_pool_find(struct collector *c, size_t thread, struct thread_pool_thread *ret,
                      uint64_t *state, bool *fresh);
/* Adds the tasks that threads poll, when those in channels are listed. */
void thread_pool_list_running(struct collector *c);
void thread_pool_describe_threads(struct collector *c);

/* thread_pool_whatis.c: finds the pool or task that an address lies in. */
void thread_pool_whatis(struct whatis *a);

#endif

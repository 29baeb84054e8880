/*
 * tokio, as one copy of it is linked into the target. All knowledge of its data structures is
 * the table in tokio.c; the other tokio_*.c files walk what it found.
 */
#ifndef RUNTIMES_TOKIO_TOKIO_H
#define RUNTIMES_TOKIO_TOKIO_H

#include "debugger/base/vec.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/runtime.h"

enum tokio_row {
	TOKIO_TLS_STATE,
	TOKIO_HANDLE_MT,
	TOKIO_HANDLE_CT,
	TOKIO_TASK_ID,
	TOKIO_CONTEXT_WORKER,
	TOKIO_WORKER_INDEX,
	TOKIO_WORKER_LIFO,
	TOKIO_MT_HANDLE,
	TOKIO_MT_STRONG,
	TOKIO_MT_SHARED,
	TOKIO_MT_OWNED,
	TOKIO_MT_SHARDS,
	TOKIO_MT_SHARD_HEAD,
	TOKIO_MT_SHARD_TAIL,
	TOKIO_MT_LIST_HEAD,
	TOKIO_MT_LIST_TAIL,
	TOKIO_MT_OWNED_ID,
	TOKIO_MT_CLOSED,
	TOKIO_MT_COUNT,
	TOKIO_MT_NAME,
	TOKIO_MT_REMOTES,
	TOKIO_QUEUE_HEAD,
	TOKIO_QUEUE_TAIL,
	TOKIO_PARK_STATE,
	TOKIO_MT_INJECT,
	TOKIO_MT_BLOCKING_THREADS,
	TOKIO_MT_BLOCKING_IDLE,
	TOKIO_MT_BLOCKING_QUEUE,
	TOKIO_MT_BLOCKING_JOBS,
	TOKIO_MT_TIME_START,
	TOKIO_MT_TIME_ELAPSED,
	TOKIO_MT_CLOCK_UNFROZEN,
	TOKIO_CT_HANDLE,
	TOKIO_CT_STRONG,
	TOKIO_CT_SHARED,
	TOKIO_CT_OWNED,
	TOKIO_CT_SHARDS,
	TOKIO_CT_SHARD_HEAD,
	TOKIO_CT_SHARD_TAIL,
	TOKIO_CT_LIST_HEAD,
	TOKIO_CT_LIST_TAIL,
	TOKIO_CT_OWNED_ID,
	TOKIO_CT_CLOSED,
	TOKIO_CT_COUNT,
	TOKIO_CT_NAME,
	TOKIO_CT_INJECT,
	TOKIO_CT_BLOCKING_THREADS,
	TOKIO_CT_BLOCKING_IDLE,
	TOKIO_CT_BLOCKING_QUEUE,
	TOKIO_CT_BLOCKING_JOBS,
	TOKIO_CT_TIME_START,
	TOKIO_CT_TIME_ELAPSED,
	TOKIO_CT_CLOCK_UNFROZEN,
	TOKIO_STATE,
	TOKIO_POLL,
	TOKIO_TRAILER_OFFSET,
	TOKIO_ID_OFFSET,
	TOKIO_SCHEDULER_OFFSET,
	TOKIO_OWNER_ID,
	TOKIO_NEXT,
	TOKIO_PREV,
	TOKIO_NROWS,
};

/* The rows that differ between the two schedulers, so that one walk serves both. */
struct tokio_flavor {
	enum runtime_flavor flavor;
	enum tokio_row arc, handle, strong, closed, shared, owned, shards, shard_head, shard_tail,
		list_head, list_tail, owned_id, count, name, inject, blocking_threads,
		blocking_idle, blocking_queue, blocking_jobs, time_start, time_elapsed,
		clock_unfrozen;
};
extern const struct tokio_flavor tokio_flavors[2];

/* What a task's poll function says about it. */
struct task_plan {
	const struct type *future;  /* T of Cell<T, S>, NULL unknown */
	const char *future_name;    /* of T, from the type or the function's name; NULL unknown */
	const char *type;           /* the same, sanitised */
	const struct path *running; /* Cell -> the future in Stage::Running; NULL unknown */
	const struct type *cell;
	const char *problem; /* why the future cannot be read */
	const char *aliases; /* other futures that this poll function may serve; NULL none */
};

/* One copy of tokio. */
struct tokio {
	struct tokio *next;
	struct dwarf_module *dm;
	const char *module;             /* base name of the ELF file */
	const char *version;            /* NULL unknown */
	struct thread_local context;    /* runtime::context::CONTEXT */
	struct thread_local worker_tls; /* up to 1.28: scheduler's own CURRENT; type NULL: none */
	struct thread_local parker;     /* runtime::park::CURRENT_PARKER; type NULL: none */
	struct thread_local local_set;  /* task::local::CURRENT; type NULL: none */
	struct bindings layout;
	struct map plans; /* poll address -> struct task_plan */
	/* Of task headers; offset of the pointer to them, when all that is read there is behind it.
	 */
	uint64_t vtable_offset;
	bool has_vtable_offset;
	struct map vtables; /* address -> struct tokio_vtable, in this snapshot */
	struct arena vtables_arena;
};

/* The vtable of a task's header, as read and checked. */
struct tokio_vtable {
	uint64_t poll, trailer, id;   /* address, and two offsets in the cell */
	uint64_t scheduler;           /* the same; 0 where this version does not say */
	const char *problem;          /* NULL: it is one */
	const struct task_plan *plan; /* NULL: not asked for yet */
};

/* One runtime found in this snapshot. */
struct tokio_runtime {
	struct tokio *tokio;
	const struct tokio_flavor *flavor;
	struct value arc;    /* an Arc of it in some thread's context; type NULL: none */
	struct value handle; /* the Handle that the Arc shares */
	uint64_t shared;     /* address of Handle.shared: its identity */
	uint64_t owned_id;
	const struct tokio_root *root; /* what led to it; NULL: a thread is inside */
	struct runtime_info *info;
};

/* What a thread's context says. */
struct tokio_thread {
	struct tokio *tokio;  /* NULL: the thread has no context */
	struct value context; /* the thread-local's place */
	struct value arc;     /* Arc<Handle> it has entered; type NULL: none */
	struct value handle;  /* the Handle that it shares */
	uint64_t shared;
	const struct tokio_flavor *flavor;
	uint64_t task_id;    /* current_task_id, 0 none */
	struct value worker; /* worker::Context; type NULL: no worker */
	uint64_t worker_index;
};

/* A task's header, as read and checked. */
struct tokio_header {
	uint64_t addr, poll, trailer, id_addr, id;
	uint64_t scheduler; /* address of its Arc in the cell; 0 unknown */
	uint64_t state;
	struct tokio_vtable *known; /* valid until the next snapshot; NULL: not kept */
};
enum {
	TOKIO_RUNNING = 1,
	TOKIO_COMPLETE = 2,
	TOKIO_NOTIFIED = 4,
	TOKIO_JOIN_INTEREST = 8,
	TOKIO_CANCELLED = 32,
	TOKIO_REF_SHIFT = 6,
};

/* How somebody leads to a runtime: the first of these is what an answer names. */
enum lead_kind { LEAD_JOIN_HANDLE, LEAD_JOIN_SET, LEAD_HANDLE, LEAD_WAKER };

/*
 * A task's header or a runtime's Handle that was met: of a runtime or LocalSet that no thread may
 * be inside.
 */
struct task_lead {
	uint64_t header; /* 0: a Handle */
	uint64_t handle; /* its address; of a header 0, as are these: */
	uint64_t strong; /* address of the count of its Arc */
	const struct tokio_flavor *flavor;
	const struct module *module; /* whose type it has */
	enum lead_kind kind;
	const struct task *task; /* whose future led there; NULL: the one that thread drives */
	unsigned thread;         /* number, 0 unknown */
};

/* A LocalSet that nobody was seen to drive. */
struct found_set {
	uint64_t list; /* as task.local_set */
	const char *found_by;
};

/* What is kept with an inspector. */
struct tokio_inspector {
	struct tokio *copies;      /* of tokio in the program, linked by next */
	struct tokio_roots *roots; /* see tokio_root.h; NULL: nobody searched yet */
};

/* What is kept with a snapshot in the making. */
struct tokio_walk {
	/* What tokio_collect() found, for leaves; NULL before. Threads by index of
	   target->threads. */
	const struct tokio_thread *threads;
	const struct tokio_runtime *runtimes;
	size_t nruntimes;
	VEC(struct task_lead) leads;      /* met while decoding: see tokio_root.h */
	VEC(struct found_set) found_sets; /* listed because tokio_root.h knows them */
	struct map queued_jobs; /* header address -> place in a blocking pool's queue, once read */
	bool queued_jobs_read;
	struct map queues; /* address of a list of waiters -> what leaf_queue.c saw there */
	size_t waiters;    /* in all of them */
};

extern const char tokio_name[];
extern const struct runtime tokio_table;
struct tokio_inspector *tokio_of(const struct inspector *in);
struct tokio_walk *tokio_walk(const struct collector *c);

/* Finds every copy of tokio in the target and resolves its layout. */
void tokio_detect(struct inspector *in);
void tokio_close(struct inspector *in);
/* Fills runtimes, tasks and what is tokio's of threads; all that must be read in one stop. */
void tokio_collect(struct collector *c);
/* tokio_whatis.c: the handle or task that an address lies in. */
void tokio_whatis(struct whatis *a);

/* tokio_holding.c: what it has that others wait for. */
extern const struct holding_row tokio_holdings[];
extern const struct special_row tokio_specials[];
extern const struct named_row tokio_named[];
struct error *tokio_acquired(const struct leaf *l, struct value v, struct found *ret, bool *found)
	MUST_CHECK;
struct error *tokio_output(struct collector *c, struct value join, struct value *ret, bool *found)
	MUST_CHECK;

/* tokio_future.c: what its futures poll and hold. */
extern const struct combinator_row tokio_combinators[];
extern const struct io_row tokio_directions[];
extern const char *const tokio_pollers[],
	*const tokio_non_future_ends[], *const tokio_non_future_modules[],
						*const tokio_boundaries[], *const tokio_lists[];

/* tokio_context.c: reads the contexts of all threads, finds the runtimes. */
void tokio_read_threads(struct collector *c, struct tokio_thread *threads);
void tokio_find_runtimes(struct collector *c, struct tokio_thread *threads,
                         struct tokio_runtime **ret, size_t *nret);

/* Did the program call tokio::time::pause()? Instants of tokio then are not the system's. */
bool tokio_clock_is_paused(struct target *t, const struct tokio_runtime *r);
/*
 * The moment of the runtime's last timer tick, on the monotonic clock. ERR_LAYOUT where its
 * version keeps none.
 */
struct error *tokio_timer_now(struct inspector *in, const struct tokio_runtime *r, uint64_t *ns)
	MUST_CHECK;
/* A std::time::Instant, or tokio's own around it, in nanoseconds of the monotonic clock. */
struct error *tokio_read_instant(struct inspector *in, struct value v, uint64_t *ns) MUST_CHECK;

/* Which thread each waker of a block_on wakes, into c->wakers. */
void tokio_note_wakers(struct collector *c, const struct tokio_thread *threads);
/* Data of the waker that the block_on of a MARK_BLOCK_ON on this thread polls with; 0 unknown. */
struct mark;
uint64_t tokio_block_on_waker(struct collector *c, const struct tokio_thread *tt,
                              const struct thread *th, const struct mark *block_on);

/* tokio_header.c */
struct value tokio_header_value(const struct tokio *k, uint64_t addr);
/* Before a snapshot: what vtables hold may have changed. */
void tokio_forget_vtables(struct tokio *k);
struct error *tokio_read_header(struct target *t, struct tokio *k, uint64_t addr,
                                struct tokio_header *ret) MUST_CHECK;
enum task_state tokio_task_state(uint64_t state);

/* tokio_task.c */
/* Adds every task of the runtime's owned lists to the snapshot's task vector. */
typedef VEC(struct task *) task_vec;
void tokio_list_tasks(struct collector *c, struct tokio_runtime *r, task_vec *tasks);
/* The same for one list that is not of a runtime: from its two ends. */
void tokio_list_chain(struct collector *c, struct tokio_runtime *r, uint64_t head, uint64_t tail,
                      task_vec *tasks);
/* Fills type and root of a task that no thread is running. */
void tokio_decode_task(struct collector *c, struct tokio *k, struct task *task);
/* The order of a snapshot's tasks: < 0, 0 or > 0. */
int tokio_compare_tasks(const struct task *x, const struct task *y);
const struct task_plan *tokio_task_plan(struct inspector *in, struct tokio *k, uint64_t poll);

/*
 * tokio_alias.c: futures of other types whose poll function became one with f's, joined by ", ";
 * NULL when T is sure. future is f's own T.
 */
const char *tokio_poll_aliases(struct inspector *in, const struct function *f,
                               const struct type *future);

/*
 * tokio_local.c: lists and decodes the tasks of every LocalSet that was met in a future, a frame's
 * variables or a thread's context; they are on no runtime's list.
 */
void tokio_collect_local_sets(struct collector *c, const struct tokio_thread *threads,
                              struct tokio_runtime *runtimes, size_t nruntimes, task_vec *tasks);
/* tokio_blocking.c: a job of a blocking pool, by its task header. */
struct tokio_job {
	const char *function; /* of its closure, readable; NULL unknown */
	const char *aliases;  /* others that it may be, as in struct task_plan; NULL none */
	unsigned thread;      /* number of the thread that runs it, 0 none or unknown */
	bool queued;          /* found in its pool's queue */
	uint64_t ahead;       /* jobs before it there */
};
/* The closure of a spawn_blocking job by the name of its future, in a; NULL when it is none. */
const char *tokio_job_closure(struct arena *a, const char *future);
/* False when the header is of another kind of task. */
bool tokio_read_job(struct collector *c, struct tokio *k, const struct tokio_header *h,
                    struct tokio_job *ret);

/* tokio_thread.c: roles and states of threads, block_on roots, running tasks. */
void tokio_describe_threads(struct collector *c, struct tokio_thread *threads,
                            struct tokio_runtime *runtimes, size_t nruntimes);
/* Ties tasks that are running to the threads that run them, as far as that is not done. */
void tokio_link_running(struct collector *c, const struct tokio_thread *threads);
/* The same by function names alone, for a program whose debug info has no types of tokio. */
void tokio_describe_threads_by_stack(struct collector *c);

#endif

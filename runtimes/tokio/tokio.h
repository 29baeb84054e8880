/*
 * Decodes tokio. A struct tokio is one copy of it that is linked into the target. The layout of its
 * data structures is in the table of tokio.c; the other tokio_*.c files walk them.
 */
#ifndef RUNTIMES_TOKIO_TOKIO_H
#define RUNTIMES_TOKIO_TOKIO_H

#include "debugger/base/vec.h"
#include "dwarf/values/show_rows.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/current_task.h"
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
	TOKIO_MT_BLOCKING_SHARDS,
	TOKIO_MT_BLOCKING_LIMIT,
	TOKIO_MT_TIME_START,
	TOKIO_MT_TIME_ELAPSED,
	TOKIO_MT_CLOCK_UNFROZEN,
	TOKIO_MT_REGISTRATIONS,
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
	TOKIO_CT_LOCAL,
	TOKIO_CT_INJECT,
	TOKIO_CT_BLOCKING_THREADS,
	TOKIO_CT_BLOCKING_IDLE,
	TOKIO_CT_BLOCKING_QUEUE,
	TOKIO_CT_BLOCKING_JOBS,
	TOKIO_CT_BLOCKING_SHARDS,
	TOKIO_CT_BLOCKING_LIMIT,
	TOKIO_CT_TIME_START,
	TOKIO_CT_TIME_ELAPSED,
	TOKIO_CT_CLOCK_UNFROZEN,
	TOKIO_CT_REGISTRATIONS,
	TOKIO_STATE,
	TOKIO_POLL,
	TOKIO_TRAILER_OFFSET,
	TOKIO_ID_OFFSET,
	TOKIO_SCHEDULER_OFFSET,
	TOKIO_OWNER_ID,
	TOKIO_NEXT,
	TOKIO_PREV,
	TOKIO_JOIN_WAKER,
	TOKIO_NROWS,
};

/* The rows that differ between the two schedulers, so that one walk serves both. */
enum tokio_scheduler { TOKIO_MULTI_THREAD, TOKIO_CURRENT_THREAD };

struct tokio_flavor {
	enum tokio_scheduler scheduler;
	enum tokio_row arc, handle, strong, closed, shared, owned, shards, shard_head, shard_tail,
		list_head, list_tail, owned_id, count, name, inject, blocking_threads,
		blocking_idle, blocking_queue, blocking_jobs, blocking_shards, blocking_limit,
		time_start, time_elapsed, clock_unfrozen, registrations;
};
extern const struct tokio_flavor tokio_flavors[2];

/* Future of a task, as its poll function tells. */
struct task_plan {
	const struct type *future; /* T of Cell<T, S>, NULL unknown */
	const char *future_name;   /* of T, from the type or the function's name; NULL unknown */
	const char *type; /* future_name, cleaned for output; "A or B" where aliases is set */
	const struct path *running; /* Cell -> the future in Stage::Running; NULL unknown */
	/*
	 * Cell -> the pointer to the Location of its spawn, and its file and line; NULL: this build
	 * has none.
	 */
	const struct path *spawned, *spawned_file, *spawned_line;
	const struct type *cell;
	const char *problem; /* why the future cannot be read */
	const char *aliases; /* other futures that this poll function may serve; NULL none */
	const struct type *const *others; /* types of these, ended by NULL; NULL none */
	bool doubtful_parts; /* one of others has, or awaits, other types than future */
};

/* A copy of tokio. */
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
	struct map plans;                    /* poll address -> struct task_plan */
	struct tokio_held_futures *unpolled; /* of tokio_alias.c, a crate each */
	/*
	 * Offset of the vtable pointer in a task header, if all vtable rows go through that
	 * pointer.
	 */
	uint64_t vtable_offset;
	bool has_vtable_offset;
	struct map vtables; /* address -> struct tokio_vtable, of this snapshot */
	struct arena vtables_arena;
};

/* The vtable of a task's header, as read and checked. */
struct tokio_vtable {
	uint64_t poll, trailer, id;   /* address, and two offsets in the cell */
	uint64_t scheduler;           /* offset in the cell; 0 where this version has none */
	const char *problem;          /* why it is no valid vtable; NULL: it is one */
	const struct task_plan *plan; /* NULL: not looked up yet */
};

/* A runtime found in this snapshot. */
struct tokio_runtime {
	struct tokio *tokio;
	const struct tokio_flavor *flavor;
	struct value arc;    /* an Arc of it in some thread's context; type NULL: none */
	struct value handle; /* the Handle that the Arc shares */
	uint64_t shared;     /* address of Handle.shared: its identity */
	uint64_t owned_id;
	const struct tokio_root *root; /* how it was found; NULL: a thread has entered it */
	struct runtime_info *info;
};

/* Content of a thread's context. */
struct tokio_thread {
	struct tokio *tokio;  /* NULL: the thread has no context */
	struct value context; /* the thread-local's location */
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
	TOKIO_HAS_JOIN_WAKER = 16,
	TOKIO_CANCELLED = 32,
	TOKIO_REF_SHIFT = 6,
};

/*
 * Kinds of references by which a runtime is found, most preferred first: the output names that one.
 */
enum lead_kind { LEAD_JOIN_HANDLE, LEAD_JOIN_SET, LEAD_HANDLE, LEAD_WAKER };

/*
 * A reference to a task's header or to a runtime's Handle, found while decoding. Its runtime or
 * LocalSet may be one that no thread has entered.
 */
struct task_lead {
	uint64_t header; /* 0: a Handle */
	uint64_t handle; /* its address; this and the next three are 0 for a header */
	uint64_t strong; /* address of its Arc's strong count */
	const struct tokio_flavor *flavor;
	const struct module *module; /* the module that has its type */
	enum lead_kind kind;
	const struct task *task; /* task whose future has it; NULL: see thread */
	unsigned thread;         /* number of the thread that drives it, 0 unknown */
};

/* A LocalSet without a known driver. */
struct found_set {
	uint64_t list; /* as task.local_set */
	const char *found_by;
};

/* tokio's state in an inspector. */
struct tokio_inspector {
	struct tokio *copies;      /* copies of tokio in the program, linked by next */
	struct tokio_roots *roots; /* see tokio_root.h; NULL: not searched yet */
};

/* A job in the queue of a runtime's blocking pool. */
struct tokio_queued {
	const struct tokio_runtime *runtime;
	uint64_t header; /* address */
	uint64_t ahead;  /* jobs before it, or JOB_NO_ORDER */
};

/* tokio's state in a snapshot that is being taken. */
struct tokio_walk {
	/*
	 * Results of tokio_list() that leaves use; NULL before. Threads are by index of
	 * target->threads.
	 */
	struct tokio_thread *threads;
	struct tokio_runtime *runtimes; /* their indices follow each other */
	size_t nruntimes;
	VEC(struct task_lead) leads;      /* found while decoding: see tokio_root.h */
	VEC(struct found_set) found_sets; /* listed through roots (tokio_root.h) alone */
	VEC(struct tokio_queued) queue;   /* jobs in the queues of blocking pools, once read */
	struct map queued_jobs;           /* header address -> index in queue + 1 */
	bool queued_jobs_read;
	unsigned driver;      /* of leaf_driver_met() since it was set to NO_RUNTIME */
	struct map locations; /* address of a Location -> struct source_place of this snapshot */
};

extern const char tokio_name[];
extern const struct runtime tokio_table;
extern const struct crate_types tokio_types;
struct tokio_inspector *tokio_of(const struct inspector *in);
struct tokio_walk *tokio_walk(const struct collector *c);

/* Finds every copy of tokio in the target and resolves its layout. */
void tokio_detect(struct inspector *in, struct dwarf_module *dm);
void tokio_close(struct inspector *in);
/* The phases of a walk: see struct runtime. */
void tokio_list(struct collector *c);
void tokio_decode(struct collector *c, struct task *task);
void tokio_describe_threads(struct collector *c);
void tokio_follow(struct collector *c);
void tokio_registrations(struct collector *c, registration_fn *fn, void *arg);
/* Any one of tokio; NULL: there is none. */
struct tokio_runtime *tokio_any_runtime(const struct collector *c);
/* The runtime of that index in the snapshot; NULL: it is none of tokio's. */
struct tokio_runtime *tokio_runtime_at(const struct collector *c, unsigned index);
/* tokio_whatis.c: finds the handle or task that an address lies in. */
void tokio_whatis(struct whatis *a);

/* tokio_ownership.c: tables of the types that hold what others wait for. */
extern const struct ownership_row tokio_holdings[];
extern const struct special_row tokio_specials[];
extern const struct named_row tokio_named[];
struct error *tokio_acquired(const struct leaf *l, struct value v, struct found *ret, bool *found)
	MUST_CHECK;
struct error *tokio_output(struct collector *c, struct value join, struct value *ret, bool *found)
	MUST_CHECK;

/* tokio_show.c: types with a text of their own. */
extern const struct show_row tokio_shown[];

/* tokio_future.c: tables of what its futures poll and hold. */
extern const struct combinator_row tokio_combinators[];
extern const struct sequence_row tokio_sequences[];
extern const struct io_row tokio_directions[];
extern const char *const tokio_pollers[],
	*const tokio_non_future_ends[], *const tokio_non_future_modules[],
						*const tokio_boundaries[], *const tokio_lists[];

/* tokio_context.c: reads the contexts of all threads and finds the runtimes. */
void tokio_read_threads(struct collector *c, struct tokio_thread *threads);
/* Reads the thread-local context of the only copy, in the executable. */
bool tokio_current_task(struct inspector *in, struct current_task *ret);
void tokio_find_runtimes(struct collector *c, struct tokio_thread *threads,
                         struct tokio_runtime **ret, size_t *nret);

/* Did the program call tokio::time::pause()? tokio's instants then differ from the system's. */
bool tokio_clock_is_paused(struct target *t, const struct tokio_runtime *r);
/*
 * tokio_thread.c: whether some thread of the runtime waits in the kernel for its events and timers:
 * no timer is overdue then. False also where that is not known.
 */
bool tokio_waits_for_timers(struct collector *c, const struct tokio_runtime *r);
/*
 * The time of the runtime's last timer tick, on the monotonic clock. ERR_LAYOUT where its version
 * stores none.
 */
struct error *tokio_timer_now(struct inspector *in, const struct tokio_runtime *r, uint64_t *ns)
	MUST_CHECK;

/* Records in c->wakers which thread each block_on's waker wakes. */
void tokio_note_wakers(struct collector *c, const struct tokio_thread *threads);
/* Data of the waker that the block_on of a MARK_BLOCK_ON on this thread polls with; 0 unknown. */
struct mark;
uint64_t tokio_block_on_waker(struct collector *c, const struct tokio_thread *tt,
                              const struct thread *th, const struct mark *block_on);

/* tokio_header.c */
struct value tokio_header_value(const struct tokio *k, uint64_t addr);
/* Clears the cache of vtables. Call it before each snapshot: their contents may have changed. */
void tokio_forget_vtables(struct tokio *k);
struct error *tokio_read_header(struct target *t, struct tokio *k, uint64_t addr,
                                struct tokio_header *ret) MUST_CHECK;
enum task_state tokio_task_state(uint64_t state);
struct error *tokio_is_cancelled(struct inspector *in, uint64_t task, bool *ret) MUST_CHECK;

/* tokio_task.c */
/* Adds every task of the runtime's owned lists to the collector. */
void tokio_list_tasks(struct collector *c, struct tokio_runtime *r);
/* tokio_list_tasks() for a list that belongs to no runtime, given its two ends. */
void tokio_list_chain(struct collector *c, struct tokio_runtime *r, uint64_t head, uint64_t tail);
/* Fills type and root of a task that no thread is running. */
void tokio_decode_task(struct collector *c, struct tokio *k, struct task *task);
const struct task_plan *tokio_task_plan(struct inspector *in, struct tokio *k, uint64_t poll);
/*
 * Place where the task or job with that header was spawned; NULL: this build does not record it.
 * Lives as long as the snapshot.
 */
const struct source_place *tokio_spawned_at(struct collector *c, const struct task_plan *plan,
                                            uint64_t header);

/*
 * tokio_alias.c: sets aliases of the plan to the other future types whose poll functions were
 * merged with f, as a text separated by commas, and what follows from them. Leaves all as it is
 * where the plan's own future is certain.
 */
void tokio_plan_aliases(struct inspector *in, struct tokio *k, const struct function *f,
                        struct task_plan *plan);

/*
 * tokio_local.c: lists and decodes the tasks of every LocalSet found in a future, a frame's
 * variables or a thread's context. They are on no runtime's list.
 */
void tokio_collect_local_sets(struct collector *c);
/* tokio_blocking.c: a job of a blocking pool, by its task header. */
struct tokio_job {
	const char *function; /* of its closure, readable; NULL unknown */
	const char *aliases;  /* other candidates, as in struct task_plan; NULL none */
	unsigned thread;      /* number of the thread that runs it, 0 none or unknown */
	bool queued;          /* found in its pool's queue */
	bool no_thread;       /* queued in a pool that has no thread, though it may have some */
	uint64_t ahead;       /* jobs before it there, or JOB_NO_ORDER */
};
/*
 * The closure of a spawn_blocking job, from the name of its future, in a; NULL when it is no such
 * job.
 */
const char *tokio_job_closure(struct arena *a, const char *future);
/* Reads a job. False when the header is of another kind of task. */
bool tokio_read_job(struct collector *c, struct tokio *k, const struct tokio_header *h,
                    struct tokio_job *ret);

/*
 * Lists the jobs of blocking pools in the snapshot: those that threads run, and, where tokio's
 * types are known, those in queues. The threads are described already.
 */
void tokio_list_jobs(struct collector *c);

/* tokio_thread.c: links running tasks to the threads that run them, where that is not done yet. */
void tokio_link_running(struct collector *c);
/*
 * Fills roles and states of threads, block_on roots and running tasks by function names alone, for
 * a program whose debug info has no types of tokio.
 */
void tokio_describe_threads_by_stack(struct collector *c);

#endif

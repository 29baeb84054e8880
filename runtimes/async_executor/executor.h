/*
 * Reads tasks of the crate async-task (4.0 on): those of async-executor's Executor and
 * LocalExecutor, on which smol and async-std run.
 *
 * A task is one allocation: a header with state and vtable, the schedule function S, and the future
 * F or its output (async-task, src/raw.rs). Its vtable has the address of RawTask<F, T, S, M>::run,
 * whose generics in debug info tell all types. S of an executor has a reference to the executor's
 * State, which has a slab of the wakers of its live tasks (async-executor, src/lib.rs). So any one
 * task of an executor leads to all of them; the first one is found by a scan of memory for
 * addresses of vtables.
 */
#ifndef RUNTIMES_ASYNC_EXECUTOR_EXECUTOR_H
#define RUNTIMES_ASYNC_EXECUTOR_EXECUTOR_H

#include "debugger/base/vec.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/waker.h"
#include "runtimes/thread/stack.h"

struct code_map;

enum async_executor_row {
	ASYNC_EXECUTOR_RUN,
	ASYNC_EXECUTOR_OFFSET_S,
	ASYNC_EXECUTOR_OFFSET_F,
	ASYNC_EXECUTOR_NTASK_ROWS, /* the rows below are of async-executor */
	ASYNC_EXECUTOR_ACTIVE = ASYNC_EXECUTOR_NTASK_ROWS,
	ASYNC_EXECUTOR_LENGTH,
	ASYNC_EXECUTOR_WAKER,
	ASYNC_EXECUTOR_HEAD,
	ASYNC_EXECUTOR_TAIL,
	ASYNC_EXECUTOR_NROWS,
};

/* Bits of a header's state (async-task 4.0 to 4.7, src/state.rs). */
enum {
	ASYNC_EXECUTOR_SCHEDULED = 1,
	ASYNC_EXECUTOR_RUNNING = 2,
	ASYNC_EXECUTOR_COMPLETED = 4,
	ASYNC_EXECUTOR_CLOSED = 8,
	ASYNC_EXECUTOR_HANDLE = 16, /* its Task exists */
	ASYNC_EXECUTOR_AWAITER = 32,
	ASYNC_EXECUTOR_REF_SHIFT = 8,
};

enum { ASYNC_EXECUTOR_MAX_TABLES = 8, ASYNC_EXECUTOR_MAX_INSIDE = 4 };

/* Data about a task from its vtable; constant. */
struct async_executor_plan {
	uint64_t run;                /* address of its run function */
	const struct type *future;   /* F; NULL: see problem */
	const struct type *schedule; /* S; NULL: unknown */
	const struct type *header;   /* NULL: unknown */
	const struct type *spawned;  /* of what the program gave to spawn(): inside F */
	/*
	 * Paths from F to `spawned`, one after the other; none: F is that type, or a coroutine has
	 * it.
	 */
	const struct path *inside[ASYNC_EXECUTOR_MAX_INSIDE];
	size_t ninside;
	bool merged;  /* other types have this run function too: F may be theirs */
	bool wrapped; /* F is a coroutine of the executor that awaits it */
	const struct path *state, *vtable, *awaiter; /* in the header */
	uint64_t table;              /* offset of the vtable's address in the header */
	const struct path *location; /* in the header, to where it was spawned; NULL: unknown */
	const struct path *executor; /* from S to its reference to a State; NULL: none */
	bool has_reference;          /* the reference to a State is at a fixed place: */
	uint64_t reference;          /* offset in S */
	uint64_t offset_s, offset_f; /* in the task */
	const char *name;            /* of the spawned future; NULL: unknown */
	const char *type;            /* name, sanitised */
	const char *problem;         /* why its future cannot be read; NULL: it can */
};

/* A copy of the crates. */
struct async_executor_copy {
	struct async_executor_copy *next;
	struct dwarf_module *dm;
	const char *module; /* base name of the ELF file */
	const char *version;
	const struct type *vtable; /* TaskVTable */
	const struct type *state;  /* async_executor::State; NULL: the program has none */
	/*
	 * Offsets at which headers have the address of their vtable: they depend on the metadata.
	 */
	uint64_t tables[ASYNC_EXECUTOR_MAX_TABLES];
	size_t ntables;
	struct bindings layout;
	struct map plans; /* address of a vtable -> struct async_executor_plan; NULL: it is none */
};

/* An executor that a task leads to. It stays known until the next scan. */
struct async_executor_root {
	struct async_executor_copy *copy;
	uint64_t state;  /* address of its State */
	uint64_t strong; /* address of its Arc's strong count */
};

/*
 * The address of a possible task whose executor keeps no list of it: a StaticExecutor, an Executor
 * that was leaked, or another crate's.
 */
struct unlisted_tasks {
	struct async_executor_copy *copy;
	uint64_t header;
};

/* State of async-executor in an inspector. */
struct async_executor_inspector {
	struct async_executor_copy *copies;
	VEC(struct async_executor_root) roots;
	VEC(struct unlisted_tasks) loose; /* tasks that lead to no root */
	/*
	 * Addresses that have the vtable of such a task, and no header: most of them of tasks that
	 * were freed.
	 */
	VEC(struct unlisted_tasks) ended;
	const char *cut; /* why the scan did not cover all memory; NULL: it did */
};

/* An executor in a snapshot. */
struct executor {
	struct async_executor_copy *copy;
	uint64_t state;    /* address of its State; 0: it is of another crate */
	const char *crate; /* name of that crate, in the snapshot's arena; NULL: see state */
	bool listed;       /* it has a list of its tasks; false: a scan found them */
	struct runtime_info *info;
};

/* State of async-executor in a snapshot. */
struct async_executor_walk {
	struct executor *executors; /* their indices follow each other */
	size_t nexecutors;
	struct map plans;     /* struct task -> its struct async_executor_plan */
	struct map locations; /* address of a Location -> its struct source_place */
};

/* A task's header, as read and checked. */
struct async_executor_header {
	uint64_t addr, state;
	const struct async_executor_plan *plan;
};

extern const char async_executor_name[];
extern const struct runtime executor_table;
extern const struct crate_types async_executor_types, async_executor_task_types;
extern const struct leaf_row async_executor_own_leaves[],
	async_executor_task_leaves[]; /* executor_leaf.c */
extern const struct combinator_row async_executor_task_combinators[];
struct async_executor_inspector *async_executor_of(const struct inspector *in);
/* The table, as it is registered. */
const struct runtime *async_executor_runtime(const struct inspector *in);
struct async_executor_walk *async_executor_walk(const struct collector *c);

/* executor_plan.c */
void async_executor_detect(struct inspector *in, struct dwarf_module *dm);
void async_executor_close(struct inspector *in);
bool async_executor_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret);
/* Data from the vtable at an address; NULL: there is none of a task. */
const struct async_executor_plan *
async_executor_plan(struct inspector *in, struct async_executor_copy *copy, uint64_t vtable);
/* async_executor_plan() for the vtable that a header at an address has. */
const struct async_executor_plan *
async_executor_plan_at(struct inspector *in, struct async_executor_copy *copy, uint64_t addr);
/* The copy in a module; NULL: it has none. */
struct async_executor_copy *async_executor_copy_of(const struct inspector *in,
                                                   const struct dwarf_module *dm);
/*
 * Was the function merged with others of equal code? The debug info then names one type of several,
 * but each has kept its symbol. In a stripped program a layout file tells it.
 */
bool async_executor_is_merged(const struct function *f);
/* Is it a function of tasks of one type alone? f may be NULL. */
bool async_executor_tells_types(const struct function *f);
/* Fills what the generics of a function of a RawTask tell; without offsets. */
struct error *async_executor_fill_types(struct inspector *in, const struct function *f,
                                        struct async_executor_plan *plan) MUST_CHECK;
/* Fills the offsets of S and F, as the types tell them. */
void async_executor_compute_offsets(const struct function *f, struct async_executor_plan *plan);
/* Place of the task's future; async_executor_is_live() must be true of the header. */
struct error *async_executor_future(struct collector *c, const struct async_executor_header *h,
                                    struct value *ret) MUST_CHECK;
/* Reads the header at an address. ERR_CORRUPT: there is none of a task that exists. */
struct error *async_executor_read_header(struct inspector *in, struct async_executor_copy *copy,
                                         uint64_t addr, struct async_executor_header *ret)
	MUST_CHECK;
struct error *async_executor_is_cancelled(struct inspector *in, uint64_t task, bool *ret)
	MUST_CHECK;
enum task_state async_executor_state(uint64_t state);
/* Does a task in this state still have its future? */
bool async_executor_is_live(uint64_t state);

/* The State that a task's schedule function refers to; 0: none. */
struct error *async_executor_read_state(struct inspector *in, const struct async_executor_header *h,
                                        uint64_t *ret) MUST_CHECK;

/* executor_spawned.c */
/* Path from a header to its reference to a Location: in metadata of async-task 4.4. NULL: none. */
const struct path *async_executor_location_path(struct inspector *in, const struct type *header);
/* Place where a task was spawned; NULL: its metadata do not say it. */
const struct source_place *async_executor_spawned_at(struct collector *c,
                                                     const struct async_executor_header *h);

/* executor_unlisted.c: lists the tasks that no executor lists. Call it when all others are listed.
 */
void async_executor_list_unlisted(struct collector *c);
/* Adds those tasks among them that a runtime of another crate owns. */
typedef bool async_executor_owns_fn(struct collector *c, const struct async_executor_header *h,
                                    void *arg);
void async_executor_list_unlisted_of(struct collector *c, struct runtime_info *info,
                                     async_executor_owns_fn *owns, void *arg);
/*
 * Number of addresses that look to the scan like such tasks, of any runtime, and are none:
 * runtime_info.rejected.
 */
size_t async_executor_count_rejected(struct collector *c);

/* executor_scan.c */
struct error *async_executor_scan(struct inspector *in) MUST_CHECK;
void async_executor_note(struct collector *c);

/* executor_list.c */
void async_executor_list(struct collector *c);
/* Fills the number of tasks in the queue of an executor that has a State. */
void async_executor_read_queue(struct collector *c, struct executor *e);
/* Adds a task to a runtime, which may be another one on async-task. */
struct task *async_executor_add_task(struct collector *c, struct runtime_info *info,
                                     const struct async_executor_header *h);
/* The executor of that index in the snapshot; NULL: it is another runtime. */
const struct executor *async_executor_at(const struct collector *c, unsigned index);
/* The executor with that State; NULL: it is not listed. */
const struct executor *async_executor_of_state(const struct collector *c, uint64_t state);

/* executor_decode.c */
void async_executor_decode(struct collector *c, struct task *task);
/*
 * async_executor_decode() for a task of any runtime on async-task; listed: the runtime has a waker
 * of the task in a list.
 */
void async_executor_decode_of(struct collector *c, struct async_executor_copy *copy, bool listed,
                              struct task *task);

/* executor_thread.c */
/* A run function on a thread's stack. */
struct async_executor_poll {
	struct thread_info *info;
	const struct thread_stack *stack;
	struct mark mark;
	/*
	 * A coroutine is being polled there. Else the function is at its beginning, polls another
	 * future, or is at its end: then its task may be polled by another thread already.
	 */
	bool polls;
	struct task *found; /* task that it seems to run; NULL: none */
	struct task *task;  /* task that it runs; NULL: unknown */
};
struct async_executor_polls {
	VEC(struct async_executor_poll) list;
};

/* A task that runs, and the address of its run function. */
struct async_executor_running {
	struct task *task;
	uint64_t run;
};

/* Whether no other run function seems to run the task that this one has found. */
bool async_executor_is_sole(const struct async_executor_poll *polls, size_t npolls,
                            const struct async_executor_poll *of);
/*
 * The task that a run function must run: the only one of these that no thread is known to run, if
 * no other run function may run it. NULL: unknown.
 */
struct task *async_executor_only_task(const struct async_executor_poll *polls, size_t npolls,
                                      const struct async_executor_poll *of,
                                      const struct async_executor_running *running,
                                      size_t nrunning);
void async_executor_describe_threads(struct collector *c);
/* Fills which executors the futures of block_on run. */
void async_executor_follow(struct collector *c);

/* executor_probe.c: see struct runtime */
extern const struct probe_row async_executor_probes[];
bool async_executor_probe_id(struct inspector *in, size_t n, struct probe_id *ret);
void async_executor_types_of_poll(struct inspector *in, uint64_t poll, struct task_types *ret);
const char *async_executor_type_of_table(struct inspector *in, const struct code_map *code,
                                         uint64_t table);

/* executor_whatis.c: finds the executor or task that an address lies in. */
struct whatis;
void async_executor_whatis(struct whatis *a);

#endif

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
#ifndef RUNTIMES_EXECUTOR_EXECUTOR_H
#define RUNTIMES_EXECUTOR_EXECUTOR_H

#include "debugger/base/vec.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/waker.h"
#include "runtimes/thread/stack.h"

struct code_map;

enum executor_row {
	EXECUTOR_RUN,
	EXECUTOR_OFFSET_S,
	EXECUTOR_OFFSET_F,
	EXECUTOR_NTASK_ROWS, /* the rows below are of async-executor */
	EXECUTOR_ACTIVE = EXECUTOR_NTASK_ROWS,
	EXECUTOR_LENGTH,
	EXECUTOR_WAKER,
	EXECUTOR_HEAD,
	EXECUTOR_TAIL,
	EXECUTOR_NROWS,
};

/* Bits of a header's state (async-task 4.0 to 4.7, src/state.rs). */
enum {
	EXECUTOR_SCHEDULED = 1,
	EXECUTOR_RUNNING = 2,
	EXECUTOR_COMPLETED = 4,
	EXECUTOR_CLOSED = 8,
	EXECUTOR_HANDLE = 16, /* its Task exists */
	EXECUTOR_AWAITER = 32,
	EXECUTOR_REF_SHIFT = 8,
};

enum { EXECUTOR_MAX_TABLES = 8, EXECUTOR_MAX_INSIDE = 4 };

/* What the vtable of a task tells about it; constant. */
struct executor_plan {
	uint64_t run;                /* address of its run function */
	const struct type *future;   /* F; NULL: see problem */
	const struct type *schedule; /* S; NULL: unknown */
	const struct type *header;   /* NULL: unknown */
	const struct type *spawned;  /* of what the program gave to spawn(): inside F */
	/* From F to that, one after the other; none: F is that, or a coroutine has it. */
	const struct path *inside[EXECUTOR_MAX_INSIDE];
	size_t ninside;
	bool merged;  /* other types have this run function too: F may be theirs */
	bool wrapped; /* F is a coroutine of the executor that awaits it */
	const struct path *state, *vtable, *awaiter; /* in the header */
	uint64_t table;              /* offset of the vtable's address in the header */
	const struct path *location; /* in the header, to where it was spawned; NULL: unknown */
	const struct path *executor; /* from S to its reference to a State; NULL: none */
	bool has_reference;          /* that is at a fixed place, reference: */
	uint64_t reference;          /* offset in S */
	uint64_t offset_s, offset_f; /* in the task */
	const char *name;            /* of the spawned future; NULL: unknown */
	const char *type;            /* the same, sanitised */
	const char *problem;         /* why its future cannot be read; NULL: it can */
};

/* One copy of the crates. */
struct executor_copy {
	struct executor_copy *next;
	struct dwarf_module *dm;
	const char *module; /* base name of the ELF file */
	const char *version;
	const struct type *vtable; /* TaskVTable */
	const struct type *state;  /* async_executor::State; NULL: the program has none */
	/* Where headers have the address of their vtable: that depends on their metadata. */
	uint64_t tables[EXECUTOR_MAX_TABLES];
	size_t ntables;
	struct bindings layout;
	struct map plans; /* address of a vtable -> struct executor_plan; NULL: it is none */
};

/* An executor that a task leads to. It stays known until the next scan. */
struct executor_root {
	struct executor_copy *copy;
	uint64_t state;  /* address of its State */
	uint64_t strong; /* address of its Arc's strong count */
};

/*
 * The address of what looks like a task whose executor keeps no list of it: a StaticExecutor, an
 * Executor that was leaked, or another crate's.
 */
struct executor_loose {
	struct executor_copy *copy;
	uint64_t header;
};

/* Its state in an inspector. */
struct executor_inspector {
	struct executor_copy *copies;
	VEC(struct executor_root) roots;
	VEC(struct executor_loose) loose; /* those whose tasks lead to no root too */
	/* What has the vtable of such a task, and no header: of one that was freed, most of them.
	 */
	VEC(struct executor_loose) ended;
	const char *cut; /* why the scan did not cover all memory; NULL: it did */
};

/* An executor in a snapshot. */
struct executor {
	struct executor_copy *copy;
	uint64_t state;    /* address of its State; 0: it is of another crate */
	const char *crate; /* that one, in the snapshot's arena; NULL: see state */
	bool listed;       /* it has a list of its tasks; false: a scan found them */
	struct runtime_info *info;
};

/* Its state in a snapshot. */
struct executor_walk {
	struct executor *executors; /* their indices follow each other */
	size_t nexecutors;
	struct map plans;     /* struct task -> its struct executor_plan */
	struct map locations; /* address of a Location -> its struct source_place */
};

/* A task's header, as read and checked. */
struct executor_header {
	uint64_t addr, state;
	const struct executor_plan *plan;
};

extern const char executor_name[];
extern const struct runtime executor_table;
extern const struct crate_types executor_types, executor_task_types;
extern const struct leaf_row executor_own_leaves[], executor_task_leaves[]; /* executor_leaf.c */
extern const struct combinator_row executor_task_combinators[];
struct executor_inspector *executor_of(const struct inspector *in);
/* The table, as it is registered. */
const struct runtime *executor_runtime(const struct inspector *in);
struct executor_walk *executor_walk(const struct collector *c);

/* executor_plan.c */
void executor_detect(struct inspector *in, struct dwarf_module *dm);
void executor_close(struct inspector *in);
bool executor_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret);
/* What the vtable at an address tells; NULL: there is none of a task. */
const struct executor_plan *executor_plan(struct inspector *in, struct executor_copy *copy,
                                          uint64_t vtable);
/* The same of the vtable that a header at an address has. */
const struct executor_plan *executor_plan_at(struct inspector *in, struct executor_copy *copy,
                                             uint64_t addr);
/* The copy in a module; NULL: it has none. */
struct executor_copy *executor_copy_of(const struct inspector *in, const struct dwarf_module *dm);
/*
 * Was the function merged with others of equal code? The debug info then names one type of several,
 * but each has kept its symbol. In a stripped program a layout file tells it.
 */
bool executor_is_merged(const struct function *f);
/* Is it a function of tasks of one type alone? f may be NULL. */
bool executor_tells_types(const struct function *f);
/* Fills what the generics of a function of a RawTask tell; without offsets. */
struct error *executor_fill_types(struct inspector *in, const struct function *f,
                                  struct executor_plan *plan) MUST_CHECK;
/* Fills them, as the types tell them. */
void executor_compute_offsets(const struct function *f, struct executor_plan *plan);
/* Where the task's future is; executor_is_live() must be true of it. */
struct error *executor_future(struct collector *c, const struct executor_header *h,
                              struct value *ret) MUST_CHECK;
/* Reads the header at an address. ERR_CORRUPT: there is none of a task that exists. */
struct error *executor_read_header(struct inspector *in, struct executor_copy *copy, uint64_t addr,
                                   struct executor_header *ret) MUST_CHECK;
struct error *executor_is_cancelled(struct inspector *in, uint64_t task, bool *ret) MUST_CHECK;
enum task_state executor_state(uint64_t state);
/* Has a task in this state its future still? */
bool executor_is_live(uint64_t state);

/* The State that a task's schedule function refers to; 0: none. */
struct error *executor_read_state(struct inspector *in, const struct executor_header *h,
                                  uint64_t *ret) MUST_CHECK;

/* executor_spawned.c */
/* From a header to its reference to a Location: in metadata of async-task 4.4. NULL: none. */
const struct path *executor_location_path(struct inspector *in, const struct type *header);
/* Where a task was spawned; NULL: its metadata do not say it. */
const struct source_place *executor_spawned_at(struct collector *c,
                                               const struct executor_header *h);

/* executor_loose.c: lists the tasks that no executor lists. Call it when all others are listed. */
void executor_list_loose(struct collector *c);
/* Adds those tasks among them that a runtime of another crate owns. */
typedef bool executor_owns_fn(struct collector *c, const struct executor_header *h, void *arg);
void executor_list_loose_of(struct collector *c, struct runtime_info *info, executor_owns_fn *owns,
                            void *arg);
/* What the scan met that looks like such tasks, of any runtime, and is none: runtime_info.rejected.
 */
size_t executor_count_rejected(struct collector *c);

/* executor_scan.c */
struct error *executor_scan(struct inspector *in) MUST_CHECK;
void executor_note(struct collector *c);

/* executor_list.c */
void executor_list(struct collector *c);
/* Fills the number of tasks in the queue of an executor that has a State. */
void executor_read_queue(struct collector *c, struct executor *e);
/* Adds a task to a runtime, which may be another one on async-task. */
struct task *executor_add_task(struct collector *c, struct runtime_info *info,
                               const struct executor_header *h);
/* The executor of that index in the snapshot; NULL: it is another runtime. */
const struct executor *executor_at(const struct collector *c, unsigned index);
/* The executor with that State; NULL: it is not listed. */
const struct executor *executor_of_state(const struct collector *c, uint64_t state);

/* executor_decode.c */
void executor_decode(struct collector *c, struct task *task);
/* The same of a task of any runtime on async-task; listed: that has a waker of it in a list. */
void executor_decode_of(struct collector *c, struct executor_copy *copy, bool listed,
                        struct task *task);

/* executor_thread.c */
/* A run function on a thread's stack. */
struct executor_poll {
	struct thread_info *info;
	const struct thread_stack *stack;
	struct mark mark;
	/*
	 * A coroutine is being polled there. Else the function is at its beginning, polls another
	 * future, or is at its end: then its task may be polled by another thread already.
	 */
	bool polls;
	struct task *found; /* that it seems to run; NULL: none */
	struct task *task;  /* that it runs; NULL: unknown */
};
struct executor_polls {
	VEC(struct executor_poll) list;
};

/* A task that runs, and the address of its run function. */
struct executor_running {
	struct task *task;
	uint64_t run;
};

/* Whether no other run function seems to run the task that this one has found. */
bool executor_is_sole(const struct executor_poll *polls, size_t npolls,
                      const struct executor_poll *of);
/*
 * The task that a run function must run: the only one of these that no thread is known to run, if
 * no other run function may run it. NULL: unknown.
 */
struct task *executor_only_task(const struct executor_poll *polls, size_t npolls,
                                const struct executor_poll *of,
                                const struct executor_running *running, size_t nrunning);
void executor_describe_threads(struct collector *c);
/* Fills which executors the futures of block_on run. */
void executor_follow(struct collector *c);

/* executor_probe.c: see struct runtime */
extern const struct probe_row executor_probes[];
bool executor_probe_id(struct inspector *in, size_t n, struct probe_id *ret);
void executor_types_of_poll(struct inspector *in, uint64_t poll, struct task_types *ret);
const char *executor_type_of_table(struct inspector *in, const struct code_map *code,
                                   uint64_t table);

/* executor_whatis.c: finds the executor or task that an address lies in. */
struct whatis;
void executor_whatis(struct whatis *a);

#endif

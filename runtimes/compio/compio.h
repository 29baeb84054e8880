/*
 * Reads runtimes of compio (compio 0.12 to 0.19; the crate compio-runtime). A runtime belongs to
 * the thread that is inside it, whose thread-local CURRENT_RUNTIME refers to it (compio-runtime,
 * src/lib.rs, before 0.12 src/runtime/mod.rs). Its tasks are, by the version of compio-runtime:
 *
 *   from 0.12     of compio-executor, in a map of its queue (compio-executor, src/queue.rs)
 *   0.9.5 to 0.11 of async-task; a slab has a waker of each (src/runtime/scheduler/mod.rs)
 *   before        of async-task, without a list: a scan of memory finds them
 *
 * A task of compio-executor is one allocation TaskAlloc<F>: a header, then the future F or its
 * output (src/task/mod.rs). The header's vtable has the address of TaskAlloc<F>::run_future, whose
 * generics in debug info tell F.
 */
#ifndef RUNTIMES_COMPIO_COMPIO_H
#define RUNTIMES_COMPIO_COMPIO_H

#include "runtimes/async_executor/executor.h"
#include "runtimes/common/bindings.h"
#include "runtimes/common/inspector.h"
#include "runtimes/common/waker.h"
#include "runtimes/thread/stack.h"

enum compio_row {
	COMPIO_SLOTS, /* tasks of compio-executor */
	COMPIO_COUNT,
	COMPIO_WAKER,   /* the waker that wakes the thread */
	COMPIO_ENTRIES, /* wakers of tasks of async-task */
	COMPIO_LENGTH,
	COMPIO_QUEUE, /* of ready tasks of async-task: also their schedule functions refer to it */
	COMPIO_TIMERS,
	COMPIO_NROWS,
};

/* Bits of a header's state (compio-executor 0.1, src/task/state.rs). */
enum {
	COMPIO_SCHEDULED = 1,
	COMPIO_NOT_SETTING_WAKER = 4,
	COMPIO_HAS_WAKER = 8,
	COMPIO_COMPLETED = 16,
	COMPIO_NOT_CANCELLED = 64,
	COMPIO_REF_SHIFT = 7,
};

/* A copy of the crates. */
struct compio_copy {
	struct compio_copy *next;
	struct dwarf_module *dm;
	const char *module; /* base name of the ELF file */
	const char *version;
	struct thread_local current; /* CURRENT_RUNTIME */
	const struct type *runtime;
	bool several;              /* copies in this module, of which this is one */
	bool unknown;              /* types of their thread-locals are not known: none is read */
	bool spawns_root;          /* its block_on spawns its future as a task (before 0.10) */
	const struct type *header; /* of a task of compio-executor; NULL: those are of async-task */
	struct bindings layout;
	struct map plans; /* address of a run_future -> struct compio_plan; NULL: it is none */
};

/* State of compio in an inspector. */
struct compio_inspector {
	struct compio_copy *copies;
};

/* Data about a task of compio-executor from its run_future; constant. */
struct compio_plan {
	uint64_t run;
	const struct type *future; /* NULL: unknown */
	uint64_t offset;           /* of the future from the header */
	bool merged;      /* other types have this function too: the future may be theirs */
	const char *type; /* name of the future, sanitised; NULL: unknown */
};

/* A task's header, as read and checked. */
struct compio_header {
	uint64_t addr, state, id;
	const struct compio_plan *plan;
};

/* A thread that is inside a runtime. */
struct compio_thread {
	struct compio_copy *copy;  /* NULL: it is in none */
	struct value runtime;      /* compio_runtime::Runtime */
	uint64_t slots;            /* address of its list of tasks */
	uint64_t waker;            /* data of the waker that wakes it; 0: unknown */
	struct runtime_info *info; /* NULL: another thread has listed it */
	struct task *running;      /* of compio-executor; NULL: none, or unknown */
};

/* A runtime on async-task that no thread is known to be inside: its tasks tell that it exists. */
struct compio_left {
	struct compio_copy *copy; /* NULL: unknown, there are several */
	uint64_t queue; /* of its ready tasks; 0: unknown, of all of that copy that are left */
	struct runtime_info *info;
};

/* State of compio in a snapshot. */
struct compio_walk {
	struct compio_thread *threads; /* by index of target->threads; NULL: there are none */
	struct compio_left *left;
	size_t nleft, nqueues; /* nqueues: those with a queue */
	struct map plans;      /* task of compio-executor -> its struct compio_plan */
};

extern const char compio_name[];
extern const struct runtime compio_table;
extern const struct crate_types compio_types, compio_executor_types;
/* compio_leaf.c */
extern const struct leaf_row compio_leaves[], compio_join_leaves[];
const struct type *compio_leaf_type(const struct type *t, size_t n);
struct compio_inspector *compio_of(const struct inspector *in);
struct compio_walk *compio_walk(const struct collector *c);

/* compio_find.c */
void compio_detect(struct inspector *in, struct dwarf_module *dm);
void compio_close(struct inspector *in);
bool compio_get_copy(const struct inspector *in, size_t n, struct runtime_copy *ret);
/* Fills which runtime each thread is inside. */
void compio_find(struct collector *c, struct compio_thread *threads);

/* compio_task.c: tasks of compio-executor. */
/*
 * Reads the header at an address. ERR_CORRUPT: there is none of a task that exists, or it has
 * another id than the given one (0: any).
 */
struct error *compio_read_header(struct inspector *in, struct compio_copy *copy, uint64_t addr,
                                 uint64_t id, struct compio_header *ret) MUST_CHECK;
/* The id of the task in a slot of that index and version. */
uint64_t compio_id(uint64_t index, uint64_t version);
/*
 * Whether a task was cancelled: of compio-executor, or of async-task where the copy has none of
 * those.
 */
struct error *compio_is_cancelled(struct inspector *in, uint64_t task, bool *ret) MUST_CHECK;
/* State of a task in a queue; hot: it is in the list of those to be polled. */
enum task_state compio_state(uint64_t state, bool hot);
/* Reads the member of a header at the end of a path. */
struct error *compio_header_place(struct inspector *in, const struct compio_copy *copy,
                                  uint64_t addr, const char *expr, struct value *ret) MUST_CHECK;
void compio_decode(struct collector *c, struct task *task);
/* The copy whose runtime has that index in the snapshot. */
struct compio_copy *compio_copy_at(const struct collector *c, unsigned index);

/* The types that the run_future of a task of compio-executor tells. */
void compio_task_types_of(struct inspector *in, uint64_t run, struct task_types *ret);

/* compio_probe.c: for traces; see runtimes/common/runtime.h. */
extern const struct probe_row compio_probes[];
bool compio_probe_id(struct inspector *in, size_t n, struct probe_id *ret);
const char *compio_type_of_table(struct inspector *in, const struct code_map *code, uint64_t table);

/* compio_list.c */
void compio_list(struct collector *c);

/* compio_unlisted.c */
/* Lists the tasks of a runtime that keeps no list: those that a scan of memory found. */
void compio_list_scanned(struct collector *c, struct compio_thread *t);
/*
 * Lists the tasks of compio that are in no runtime yet, in runtimes of their own. They are none of
 * async-executor, which would list them as loose ones.
 */
void compio_list_left(struct collector *c);

/* compio_thread.c */
/*
 * The header of the task of compio-executor that a thread polls, which is not in the map meanwhile:
 * its run_future has the address as an argument. *polls: it polls one. *found false: the debug info
 * does not tell which.
 */
struct error *compio_find_running(struct collector *c, const struct thread_stack *s,
                                  struct compio_copy *copy, uint64_t id, struct compio_header *ret,
                                  bool *found) MUST_CHECK;
void compio_describe_threads(struct collector *c);
/* Fills what threads wait for in block_on. */
void compio_follow(struct collector *c);

/* compio_whatis.c: finds the runtime or task that an address lies in. */
struct whatis;
void compio_whatis(struct whatis *a);

#endif

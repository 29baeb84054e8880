/* The internals of the inspector and the collector, for the files of this layer. */
#ifndef RUNTIMES_COMMON_INSPECTOR_H
#define RUNTIMES_COMMON_INSPECTOR_H

#include "debugger/base/map.h"
#include "debugger/base/marked.h"
#include "debugger/base/vec.h"
#include "dwarf/code/source_path.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/module/debuginfo.h"
#include "dwarf/store/cache.h"
#include "dwarf/unwind/unwind.h"
#include "dwarf/values/path.h"
#include "dwarf/values/show.h"
#include "runtimes/common/request.h"
#include "runtimes/common/runtime.h"
#include "runtimes/model/model.h"

struct ownership_data;
struct secrets;

struct inspector {
	struct target *target;
	struct debuginfo *di;
	struct unwinder *unwinder;
	void **states;    /* state of each runtime, in the runtimes' order: see inspector_state() */
	struct map paths; /* type and expression -> struct path: see inspector_path() */
	struct map selects;     /* closure type -> is it from futures::select!; see select_join.c */
	struct map coroutines;  /* name of a coroutine, as in future.type -> its type */
	struct map drops;       /* struct type -> has it drop glue; see locals.c */
	struct show_cache show; /* cache of show_value() */
	struct map passed_over; /* a future -> when it was first seen so: passed_over.h */
	bool look_again; /* of the last snapshot: some of it would be certain at a second look */
	const struct secrets *secrets; /* see struct inspector_options */
	struct records_options records;
	uint64_t own_build;                    /* see own_build(); 0 also if no cache is used */
	bool async_code_known, has_async_code; /* of other_executors.c, for all files */
	const char *layout;                    /* the layout file in use, sanitised; NULL: none */
	bool layout_differs;                   /* it is of another build */
	struct target_info info;               /* constant between snapshots */
	VEC(const char *) notes; /* found while opening: they make every snapshot incomplete */
	struct arena arena;      /* until inspector_close() */
	struct arena spare;      /* memory reused by the next snapshot: see collector_discard() */
};

/* The stack of one thread, unwound, with the functions of each physical frame. */
struct thread_stack {
	const struct thread *thread;
	struct stack stack;
	struct location **functions; /* for each frame, innermost function first, without lines */
	size_t *nfunctions;
	const struct runtime *unlisted; /* runtime whose loop on it polls unlisted tasks */
	uint64_t waker; /* data of the waker of a block_on of no runtime; 0: unknown, or none */
	bool only_executors; /* its innermost block_on polls only tasks of known executors */
	bool in_condvar;     /* it waits at a condition variable: blocked_find() fills it */
};

enum { NO_RUNTIME = UINT32_MAX }; /* as an index: unknown, or none */

/*
 * A set of tasks that was found in a future. Its tasks are listed after everything else is decoded.
 * See task_set.h.
 */
struct task_set {
	struct value v; /* the set, or the object that it shares with its driver; type NULL: none */
	const struct task_set_ops *of;
	unsigned runtime;        /* index of the runtime of the task or thread that drives it, or
	                            NO_RUNTIME */
	struct future *future;   /* the future whose note lists the tasks; NULL: none */
	const struct task *task; /* the task in which it was found; NULL: none */
};

/* Memory that a future occupies. */
struct future_region {
	const struct type *type;
	uint64_t addr, size;
	bool leaf; /* polls no other future; its words may still be links of a list */
};

/* A task, and the address of its poll function. */
struct task_poll {
	uint64_t poll;
	struct task *task;
};
typedef VEC(struct task_poll) task_poll_vec;

typedef VEC(struct task *) task_vec;

/* A runtime of the snapshot, and its table. */
struct listed_runtime {
	const struct runtime *of;
	struct runtime_info *info;
};

/*
 * A future that has parts that cannot be entered, such as OpenSSL's stream: its socket is behind a
 * pointer to C. What is registered for its waker may still say what it waits for.
 */
struct opaque_wait {
	struct future *f;
	/* A frame for the only resource that was found in it, whose wait f has; NULL: there is none
	 */
	struct future *resource;
	bool unknown;    /* f->wait says that what it waits for is not known */
	uint64_t waker;  /* data of the wakers with which the future is polled */
	unsigned wanted; /* IO_READS, IO_WRITES: see io_direction_wanted() */
};

/* A registration at which a leaf that can be read waits with that waker. */
struct known_registration {
	uint64_t waker, object;
};

/* The state of decoding: the task and tree at hand, and what its leaves add. */
struct collector_decoding {
	const struct task *task; /* NULL: none */
	unsigned thread;         /* number of the thread whose future is decoded; 0: none */
	VEC(struct future_region)
	regions; /* of the current tree's futures */
	VEC(uint64_t)
	reported_wakers;    /* addresses of wakers that the current tree's leaves report */
	bool some_held;     /* a tree has unpolled futures */
	struct arena words; /* parts of a leaf's phrase; dropped when the next leaf is read */
	/*
	 * Called for each frame of a tree; NULL: no callback. active: the active variant of a
	 * coroutine, otherwise NULL.
	 */
	void (*frame_met)(struct decoder *d, struct value v, const struct variant *active,
	                  struct future *f);
};

/* Waits whose wakers no leaf reports, and the registrations that may be theirs. */
struct collector_opaque {
	VEC(struct opaque_wait) waits;
	/* Registrations of the trees with opaque waits, up to nkept, and of the current tree. */
	VEC(struct known_registration) registrations;
	size_t nkept, nwaits; /* the numbers of both before the current tree */
};

/* The clock of the target, as timers are compared with it. */
struct collector_clock {
	/* The current time on the target's monotonic clock; for a core a lower bound. */
	uint64_t now_ns;
	bool known, is_bound;
	/*
	 * No timer is overdue, with is_bound: some thread of each runtime waits in the kernel for
	 * what comes next, and so until its first timer is due at most.
	 */
	bool timers_run;
	bool paused; /* a runtime's own clock is paused (test utilities) */
};

/* Values that object_walk() has reached. */
struct collector_reach {
	struct reached *list; /* NULL until the first walk */
	size_t n;             /* number of values that all walks visited */
	size_t nnear;         /* number of values that object_walk_near() visited */
};

/* The state of one snapshot under construction. */
struct collector {
	struct inspector *in;
	struct snapshot *out;
	struct arena *a; /* out's arena */
	unsigned want;
	const struct question *question; /* NULL: none */
	bool warm_up;                    /* this is a warm-up walk; its snapshot is discarded */
	bool few;     /* only what these threads run is wanted: inspect_threads() */
	bool by_poll; /* decode tasks in the order of their poll functions, not of their lists */
	VEC(struct listed_runtime) runtimes; /* by index; out has them when all are collected */
	task_vec listed;                     /* every task found; see collector_publish_tasks() */
	task_poll_vec polls;                 /* of the listed tasks, if by_poll */
	struct collector_decoding decoding;
	struct thread_stack *stacks; /* by index of target->threads */
	size_t list_doubts;          /* target->stop.doubts before the head of a list was read */
	struct map tasks;            /* task.addr -> struct task */
	struct map wakers;           /* data pointer of a block_on waker -> struct thread_info */
	struct map nodes;            /* node of a set (data of its waker) -> type of the node */
	struct map places;           /* type and state -> struct frame_place: locals.c */
	struct map queues;           /* a queue of waiters -> struct walked of leaf_queue.c */
	size_t nwaiters;             /* in all of these queues */
	struct map passed_over;      /* as in the inspector, of this snapshot */
	bool leads_left; /* a runtime was found during the walk that is missing in this snapshot */
	VEC(struct task_set) task_sets; /* found while decoding, each once */
	struct collector_opaque opaque;
	struct arena scratch; /* freed when the snapshot is finished */
	struct collector_reach reach;
	struct collector_clock clock;
	struct map vtables;   /* address and slot -> struct known_vtable: see collector_vtable() */
	struct map same_code; /* of stack.c: address of a function -> others that have its code */
	void **states;        /* state of each runtime: see collector_state() */
	struct ownership_data *holdings; /* of ownership.c; NULL before the first holding */
};

/*
 * The state of a runtime in an inspector or a collector: zeroed at first, of the size in struct
 * runtime. name is the runtime's own constant and is compared by address. NULL when the runtime is
 * not registered.
 */
void *inspector_state(const struct inspector *in, const char *name);
void *collector_state(const struct collector *c, const char *name);
/* Allocate these states. */
void inspector_open_states(struct inspector *in);
void collector_open_states(struct collector *c);

struct collector *collector_new(struct inspector *in, unsigned want,
                                const struct question *question);
/* Frees the collector and returns its snapshot. */
struct snapshot *collector_finish(struct collector *c);

/*
 * source_path_of() for a file as rustc has written it into a Location, which is in the module dm
 * (NULL: unknown). A relative name is relative to where its crate was compiled, which nothing
 * beside it tells. Where several crates may have the file, the text begins with "...".
 */
struct source inspector_location(const struct inspector *in, struct arena *a,
                                 struct dwarf_module *dm, const char *file);
/* The module that has a run-time address, for inspector_location(); NULL: none. */
struct dwarf_module *inspector_module_at(const struct inspector *in, uint64_t address);

/* Adds a reason why no snapshot can be complete; text must live as long as in. */
void inspector_note(struct inspector *in, const char *text);

/*
 * path_resolve(), cached for each type and expression. expr must be a constant of the program,
 * because its address is the cache key.
 */
struct error *inspector_path(struct inspector *in, const struct type *from, const char *expr,
                             const struct path **ret) MUST_CHECK;

/* inspector_path() for a path that some versions lack: NULL where it does not resolve. */
const struct path *inspector_optional_path(struct inspector *in, const struct type *from,
                                           const char *expr);

/* inspector_path() and path_eval() from a value: returns the place that expr leads to. */
struct error *inspector_eval(struct inspector *in, struct value from, const char *expr,
                             struct value *ret, bool *found) MUST_CHECK;

/* lookup_vtable(), cached for each vtable: its bytes do not change during a snapshot. */
const struct type *collector_vtable(struct collector *c, uint64_t addr, unsigned slot, bool *exact);

/* ---- what runtimes add to a snapshot ---- */

/* Adds a runtime of that kind, with its index. The pointer is valid until the snapshot is freed. */
struct runtime_info *collector_add_runtime(struct collector *c, const struct runtime *of);
/* The runtime with that index; NULL: none. */
const struct runtime *collector_runtime(const struct collector *c, size_t index);
/*
 * Whether the program uses the runtime. Code that is linked in shows this only of a runtime that
 * most programs use.
 */
bool collector_has_runtime(const struct collector *c, const struct runtime *r);
/*
 * Adds a task whose members but type and root are filled. id NULL: its runtime has no ids; it
 * becomes a task_key(). poll: of its poll function; 0 unknown.
 */
void collector_add_task(struct collector *c, struct task *task, uint64_t poll);
/*
 * Begin and end of the decoding of a task. The first returns what the second takes as doubts. err
 * is owned, and becomes the problem of the task; NULL: none. A task that has one, or that changed
 * while it was read, makes the snapshot incomplete.
 */
size_t collector_begin_decoding(struct collector *c, const struct task *task);
void collector_end_decoding(struct collector *c, struct task *task, size_t doubts,
                            struct error *err);
/* The order of a snapshot's tasks: < 0, 0 or > 0. */
int collector_compare_tasks(const struct task *x, const struct task *y);
/* Gives the snapshot all tasks and all runtimes that were added so far. */
void collector_publish_tasks(struct collector *c);
void collector_publish_runtimes(struct collector *c);

/* In inspect_notes.c: adds the bindings of every layout, resolved or not, to the snapshot. */
void inspect_describe_layout(struct collector *c);
/* Adds notes about what the target, the debug info and the layouts lack. */
void inspect_note_problems(struct collector *c);
/* Adds a note about threads whose stacks are incomplete because they were not stopped. */
void inspect_note_unstopped(struct collector *c);
/* Adds notes about data that changed while it was read; a task has its own flag for that. */
void inspect_note_uncertainties(struct collector *c);

/*
 * The text of a slice of bytes, sanitised, up to a NUL, in the snapshot's arena. NULL: it cannot be
 * read, is empty, or is longer than a path.
 */
const char *inspector_slice_text(struct collector *c, struct value place);
/* A name for the model: sanitised, in the snapshot's arena. */
const char *inspector_clean_name(struct arena *a, const char *name);

#endif

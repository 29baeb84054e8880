/*
 * The support for one async runtime: functions that find it in a target and read its tasks and
 * threads, and tables about its types and functions. Each runtime is a folder with one such table;
 * runtimes/inspect/registered.c lists them. No other file names a runtime.
 *
 * A pointer or list may be NULL: the runtime does not have that; name, path, types, copy(), list()
 * and decode() are required. Lists of texts end with NULL, lists of rows end with a row of zeros.
 * Paths of types and functions have no generics; "beginning" is a prefix of the whole name as in
 * DWARF.
 */
#ifndef RUNTIMES_COMMON_RUNTIME_H
#define RUNTIMES_COMMON_RUNTIME_H

#include "runtimes/common/bindings.h"
#include "runtimes/common/crate_types.h"
#include "runtimes/common/row_filter.h"

struct whatis;
struct code_map;
struct collector;
struct current_task;
struct debuginfo;
struct decoder;
struct future;
struct inspector;
struct type_class;

/* ---- rows about functions ---- */

enum mark_kind {
	MARK_BLOCK_ON,     /* block_on<F>: a future's poll loop on this thread */
	MARK_TASK_POLL,    /* poll<T, S> of a task cell: an async task, a blocking job, a worker */
	MARK_BLOCKING_RUN, /* the loop of a thread of the blocking pool */
	MARK_WORKER_RUN,   /* the loop of a worker of a pool of threads */
};

/* A function whose frame on a stack shows what the thread does. */
struct mark_row {
	const char *within, *name; /* beginning of its path, its own name */
	enum mark_kind kind;
};

/* The events of a runtime, for tools that trace a running program. */
enum probe_event {
	PROBE_EVENT_POLL,  /* entry: a poll of a task begins; return: the poll ends */
	PROBE_EVENT_WAKE,  /* a task that slept is put into a queue */
	PROBE_EVENT_WAKER, /* a waker is used, whether its task sleeps or not */
	PROBE_EVENT_SPAWN, /* a task was created */
	PROBE_EVENT_END,   /* a task has ended, by itself or aborted */
	PROBE_EVENT_PARK,  /* entry: a thread of the runtime goes to sleep; return: it woke up */
};

/*
 * Bits of a number in the task, which an atomic exchange changes: any or none of these are set
 * before and after. old_any 0: whatever it was.
 */
struct probe_bits {
	uint32_t old_any, old_none, new_any, new_none;
};

/* A function at which an event can be observed. A build may inline any of these functions. */
struct probe_row {
	enum probe_event event;
	const char *within, *name; /* as in struct mark_row; matches every instance */
	/*
	 * The functions are those of the compiler that drop a value (drop_in_place() of core) whose
	 * type begins so; NULL: others. With exchange or calls.
	 */
	const char *drops;
	unsigned argument; /* from 0: the argument that identifies the task; the runtime defines its
	                      meaning (tokio: the address of the header) */
	/*
	 * This row is used only where no function matches the row of that name. The function is
	 * also called with tasks that exist already: the first call with a task counts.
	 */
	const char *unless;
	bool direct; /* only functions of the module itself, none of its types */
	/*
	 * The event is in the function: an exchange, by its own code or by what is inlined there,
	 * of the number at busy_offset of the task. In a build whose functions have none of their
	 * own: direct calls of functions of the name calls, of which argument is one.
	 */
	const struct probe_bits *exchange;
	const char *calls;
	/*
	 * Second choice, for a function that has no direct call of that name either, as where it is
	 * in another crate that exports it: direct calls of this name, of which or_argument is one.
	 * NULL: none.
	 */
	const char *or_calls;
	unsigned or_argument;
	bool once;               /* it is called once for a task, or never: the point may be slow */
	bool optional;           /* of these functions some have neither */
	const char *not_calling; /* no function that directly calls one of that name */
	const char *rare; /* instances with this in their generics run hardly ever; NULL: none */
	/*
	 * The poll function returns Poll<()>, and with Ready the task has ended. Ends of tasks that
	 * are polled no more need a row of their own.
	 */
	bool returns_end;
	bool unfinished; /* of an end: it counts only while no bit of busy_mask is set */
	/* The first use of a waker since a poll of the task began puts the task into a queue. */
	bool queues;
	/*
	 * Beginning of the paths of functions by which tasks that exist already come to a spawn,
	 * too; NULL: unknown. for_place: the first poll of a task shows its spawn as well, and the
	 * point is used only where the place of the spawn is wanted.
	 */
	const char *never_through;
	bool for_place;
	bool of_jobs; /* of a spawn: only jobs of a blocking pool come there */
	/*
	 * The function of a spawn allocates a task and stores the address of its table in it, and
	 * the event is behind that store, wherever its code is inlined.
	 */
	bool stores_table;
	/*
	 * Parameter of a park, an Option: only calls count to which it passes None. With a limit of
	 * 0 a worker only looks for what its driver has, which tokio does not count as a park.
	 */
	const char *none;
};

/*
 * A `&'static Location` of its spawn that each task has behind its id; all in bytes.
 */
struct probe_location {
	uint64_t behind_id;  /* from the id to that pointer; 0: tasks have none */
	uint64_t slot;       /* in the table: the distance from the object to that pointer */
	uint64_t file, line; /* in the Location: pointer to and length of the name, the number */
};

/*
 * Way from an argument to the id of a task: it points to an object that has, table_offset bytes
 * from its beginning, a pointer to a table. The table has, after id_slot bytes, the distance in
 * bytes from the object to the id, a number of 8 bytes; after poll_slot bytes it has the address of
 * the poll function.
 */
struct probe_id {
	uint64_t table_offset, id_slot, poll_slot;
	/* The address of the object is its id, until it has ended; it has no number. */
	bool is_address;
	/*
	 * While a task is polled, or has ended, one of these bits of the 4 bytes at busy_offset of
	 * its object is set; 0: there are none.
	 */
	uint64_t busy_offset;
	uint32_t busy_mask;
	uint32_t running_mask; /* of these bits, those that are set while it is polled; 0: none */
	struct probe_location location;
};

/*
 * Form of the table of a task's functions in a file without symbols and debug info. It begins with
 * addresses of functions; numbers follow, which are distances in the object.
 */
struct probe_pattern {
	const char *text;              /* constant of each file with the runtime */
	unsigned nfunctions, nnumbers; /* words of 8 bytes */
	struct probe_id id;
	uint64_t wake_slot; /* of the function that puts a sleeping task into a queue */
	/*
	 * The object begins with this many bytes of the same layout for all tasks; then come, at
	 * the distances in these slots, its scheduler, its id behind that, and its end.
	 */
	uint64_t head, scheduler_slot, trailer_slot;
};

/* ---- rows about crates ---- */

struct crate_row {
	const char *crate, *name;
};

/* ---- a set of tasks that a future drives (tokio's LocalSet) ---- */

struct task_set_ops {
	const char *type;
	/*
	 * The future that drives a set together with another future, and its members; NULL: none.
	 */
	const char *driver, *driver_set, *driver_future;
	/*
	 * Is the set driven by the task or thread that a waker with that data wakes? False when
	 * unknown.
	 */
	bool (*wakes)(struct collector *c, struct value set, uint64_t waker);
	/*
	 * The identity of a set, which does not change when the set moves: the address of its task
	 * list. first: the header of a task in the list; 0: none. Returns an error when the value
	 * is not a set.
	 */
	struct error *(*list)(struct collector *c, struct value set, uint64_t *list,
	                      uint64_t *first);
};

/* ---- a program that has it ---- */

/* A copy of the runtime in the target: a program and its libraries may each contain one. */
struct runtime_copy {
	struct dwarf_module *dm;
	const char *module;            /* base name of the ELF file */
	const char *version;           /* NULL: unknown */
	const struct bindings *layout; /* its resolved bindings */
	const struct type *types[4];   /* further types used to read it; NULL: none */
};

/* The types that the poll function of a task tells; for layout files and traces. */
struct task_types {
	const struct type *future, *cell; /* NULL: unknown, or of several types of tasks */
	/*
	 * Futures whose poll functions were merged with that one, ended by NULL: the task may have
	 * one of these. NULL: none.
	 */
	const struct type *const *others;
	const struct type *header; /* of the task, where cell does not lead to it; or NULL */
	const struct type *stored; /* type that contains future, where cell does not lead to it */
	bool has_offset;           /* offset is known: */
	uint64_t offset; /* of that future in a task that has not ended, from its identity */
	const struct type *whole; /* a coroutine of the runtime at offset, which awaits the future;
	                             NULL: the future is there itself */
};

/* ---- the runtime ---- */

/* A waker that an I/O driver calls when the kernel reports something of a descriptor. */
struct registration {
	struct value v;    /* the driver's record of the descriptor; its address is epoll's data */
	uint64_t waker;    /* data of the waker */
	unsigned interest; /* IO_READS, IO_WRITES, and bits of the runtime's own */
};
typedef void registration_fn(const struct registration *r, void *arg);

/* Functions for the tasks of a runtime. */
struct runtime_tasks {
	/* The types of the task that has that poll function. */
	void (*types)(struct inspector *in, uint64_t poll, struct task_types *ret);
	/* Finds the output of the finished task that a JoinHandle refers to; *found false: none. */
	struct error *(*output)(struct collector *c, struct value join, struct value *ret,
	                        bool *found);
	/*
	 * Whether the task with the header at that address was cancelled, as it is now, ended or
	 * not. ERR_CORRUPT: there is no task. NULL: its tasks do not tell.
	 */
	struct error *(*is_cancelled)(struct inspector *in, uint64_t task, bool *ret);
	/*
	 * Place at which threads have the number of the task that they run. False: unknown, or not
	 * the same for all threads, as with several copies of the runtime. NULL: its tasks have no
	 * numbers.
	 */
	bool (*current_task)(struct inspector *in, struct current_task *ret);
	/* Called when the decoder of a future found a waker with that data. */
	void (*waker_met)(struct collector *c, uint64_t data);
	/*
	 * Types of handles of a runtime, and the function to call when a variable has such a type.
	 */
	const char *const *handles;
	void (*handle_met)(struct collector *c, struct value v);
	const struct task_set_ops *set;
	/* Adds the objects of the runtime that contain the address of "whatis". */
	void (*whatis)(struct whatis *a);
};

/* Names by which the threads of a runtime and their work are recognised. */
struct runtime_threads {
	const struct mark_row *marks;
	const char *loop;         /* beginning: its own frames, in which it waits for work */
	bool loops_inside;        /* the loop of its block_on is in closures, inward of block_on */
	const char *const *parks; /* beginnings of own names of its functions that wait */
	/*
	 * The closure of a job of the blocking pool, taken from the name of the job's future;
	 * allocated in a. NULL when the future is not such a job.
	 */
	const char *(*job)(struct arena *a, const char *future);
	const char *yield; /* path of the async fn that only lets other tasks run; NULL: none */
	const char *worker_job; /* part of the name of the job that runs a worker; NULL: none */
	/*
	 * Paths from the future of that job, before its poll: to the index of the worker, and to
	 * what is addr and serial of its runtime in a snapshot. NULL: none.
	 */
	const char *worker_index, *worker_runtime, *worker_serial;
};

/* Names and functions for layout files and tracing. */
struct runtime_tracing {
	const char *task_poll;      /* beginning: poll functions of tasks, one for each type */
	const char *task_functions; /* beginning: the functions that call task_poll; only their
	                               names are needed */
	/* Beginnings, also of other crates: generic functions by which a thread's work or a waker
	 * is recognised. */
	const char *const *functions;
	const struct probe_row *probes;
	/*
	 * Beginnings of the paths of functions that spawn for their caller, and whose own names
	 * begin with "spawn", if tasks do not have the place of their spawn; and of those of all
	 * functions that these lead through to a probe of PROBE_EVENT_SPAWN. NULL: a trace cannot
	 * tell their callers.
	 */
	const char *const *spawners, *const *spawn_through;
	/*
	 * The function that calls a probe of PROBE_EVENT_SPAWN through the table of the task, and
	 * nothing else by an address in a register or memory: the beginning of its path, its own
	 * name. NULL: there is none.
	 */
	const char *spawn_caller_within, *spawn_caller;
	/*
	 * The name of the runtime whose tasks its spawners make in some of its versions: they count
	 * there, too. NULL: its tasks are its own.
	 */
	const char *spawns_for;
	/* A function of a type that calls the poll functions of tasks; its own name alone. */
	const char *poll_caller_within, *poll_caller;
	/*
	 * Beginnings of the names of functions that poll jobs of its blocking pool, and nothing
	 * else; ended by NULL. NULL: it has no such pool.
	 */
	const char *const *job_callers;
	/* Way by which probes find ids in the nth copy; false: its debug info does not tell. */
	bool (*probe_id)(struct inspector *in, size_t n, struct probe_id *ret);
	/*
	 * The type of the future of tasks that have that table (link-time address in code), as
	 * type_name(); NULL: unknown. For poll functions of several types.
	 */
	const char *(*type_of_table)(struct inspector *in, const struct code_map *code,
	                             uint64_t table);
	const struct probe_pattern *probe_pattern; /* NULL: it needs debug info */
};

struct runtime {
	const char *name;     /* its crate: "tokio"; printed as runtimes[].kind */
	const char *path;     /* the prefix of the paths of its code: "tokio::" */
	const char *executor; /* the module of the code that runs tasks: "tokio::runtime" */
	const struct crate_types *types; /* rows about the types of its crate */
	bool expected; /* most programs use it: messages mention it when it is missing */
	/* The supported versions, as the end of a message about an unsupported one. */
	const char *reads;
	/* Crates of earlier generations, which are not supported, and their display names. */
	const struct crate_row *former;

	/* Size of its zeroed state in an inspector and in a collector. */
	size_t inspector_size, collector_size;

	/*
	 * Adds every copy in a module; reads debug info only. Called once for each module, also for
	 * one that is loaded later. NULL: list() finds them.
	 */
	void (*detect)(struct inspector *in, struct dwarf_module *dm);
	/*
	 * For a layout file, where detect is NULL: finds the copies in the executable, which no
	 * thread need run. Their debug info is written.
	 */
	void (*detect_unused)(struct inspector *in);
	/* Frees what detect() allocated outside in's arena. */
	void (*close)(struct inspector *in);
	/* The nth copy; false: there are fewer. */
	bool (*copy)(const struct inspector *in, size_t n, struct runtime_copy *ret);

	/* Called before each snapshot: scans memory for runtimes that nothing refers to. */
	struct error *(*scan)(struct inspector *in);
	/* Each thread leads to the tasks that it runs: scan() is for others. */
	bool threads_lead_to_tasks;
	/*
	 * The phases of a walk, which read everything that must be of one moment. Each phase is
	 * called for every runtime before the next phase begins; all but list() only if it has a
	 * copy.
	 */
	/*
	 * Adds its runtimes and tasks, and the wakers of its threads: collector_add_...(), wakers.
	 * A loop on a stack whose tasks it cannot list: see struct thread_stack, unlisted.
	 */
	void (*list)(struct collector *c);
	/* Fills type and root of one of its tasks; root only if no thread is running the task. */
	void (*decode)(struct collector *c, struct task *task);
	/* Fills its own fields of threads: role, state, task, root. */
	void (*describe_threads)(struct collector *c);
	/* Adds and decodes the tasks to which only decoded futures lead. */
	void (*follow)(struct collector *c);
	/* Reports the wakers that the I/O drivers of its runtimes have. */
	void (*registrations)(struct collector *c, registration_fn *fn, void *arg);
	/*
	 * Describes threads, in place of the phases after list(), by function names alone, where
	 * the debug info has no copy of it.
	 */
	void (*describe_threads_by_stack)(struct collector *c);
	/* Adds what it could not read, apart from its bindings, to the snapshot's notes. */
	void (*note)(struct collector *c);
	/* Frees its state in c. */
	void (*free)(struct collector *c);

	struct runtime_tasks tasks;
	struct runtime_threads threads;
	struct runtime_tracing tracing;
};

/* ---- all of them ---- */

/* Fills a folder's part of the class of a type, once for each type; see struct type_class. */
typedef void classify_fn(const struct type *t, struct type_class *f);

struct registered {
	const struct runtime *const *runtimes; /* ended by NULL */
	/* Rows about types: those of the runtimes, then of other crates; ended by NULL. */
	const struct crate_types *const *crates;
	classify_fn *const *classifiers; /* ended by NULL, in the order of folders */
};
extern const struct registered registered_runtimes; /* runtimes/inspect/registered.c */

/* The object that di->above points at. */
struct tables {
	const struct registered *registered;
	/* Filters over the rows of all crates: most types need no search in the tables. */
	struct row_filter leaves, holdings;
};

/* Call this before any type of di is classified. */
void runtimes_register(struct debuginfo *di, const struct registered *r);
const struct tables *runtime_tables_of(const struct type *t);
/* The runtimes, ended by NULL; never NULL itself. */
const struct runtime *const *runtimes_in(const struct debuginfo *di);
const struct runtime *const *runtimes_of(const struct type *t);
/* The rows about types, ended by NULL; never NULL itself. */
const struct crate_types *const *crates_in(const struct debuginfo *di);
const struct crate_types *const *crates_of(const struct type *t);

/* Does a name begin with a text of the list? list may be NULL. */
bool runtime_begins_with_one(const char *name, const char *const *list);

#endif

/*
 * The model: what asyncdbg knows about a program at one moment. A snapshot is plain data in one
 * arena. It is a complete structure even if parts of the target were unreadable. It outlives the
 * stop and does not refer to the target. Names of types, functions and files belong to the
 * inspector that made the snapshot, which must outlive it: a hundred thousand tasks of one type
 * share them.
 *
 * Every string is sanitised UTF-8 on one line. An absent value is NULL, or the NONE of an enum.
 *
 * The collector (runtimes/inspect) fills the model, commands print it.
 */
#ifndef RUNTIMES_MODEL_MODEL_H
#define RUNTIMES_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

enum future_kind {
	FUTURE_ASYNC_FN,
	FUTURE_ASYNC_BLOCK,
	FUTURE_ASYNC_CLOSURE,
	FUTURE_OTHER, /* hand-written: a struct or enum with a poll function */
};

/* The state of a coroutine; FUTURE_STATE_NONE for other futures and while the coroutine runs. */
enum future_state {
	FUTURE_STATE_NONE,
	FUTURE_UNRESUMED,
	FUTURE_SUSPENDED,
	FUTURE_RETURNED,
	FUTURE_PANICKED,
};

enum detail_kind { DETAIL_STRING, DETAIL_INT, DETAIL_BOOL, DETAIL_LIST };

/*
 * A detail of a wait: a key of the JSON object. The rows of wait_kind.c and
 * docs/asyncdbg.schema.json list all keys; testdata/check/check_details.sh fails where one is
 * missing.
 */
struct wait_detail {
	const char *key;
	enum detail_kind kind;
	unsigned nlist; /* DETAIL_LIST */
	union {
		const char *string;
		int64_t number; /* DETAIL_INT, and 0/1 of DETAIL_BOOL */
		const char *const *list;
	};
};

/*
 * Is the waker of the task (or of the thread in block_on) stored in what a future waits for, so
 * that the event wakes the task? WAKER_REGISTERED_NO: no waker is stored there, or one that wakes
 * another task or nobody.
 */
enum waker_registered { WAKER_REGISTERED_UNKNOWN, WAKER_REGISTERED_YES, WAKER_REGISTERED_NO };

/* Wait of a leaf future. */
struct wait {
	const char *kind;         /* a name of wait_kind.h: "sleep", "join"; JSON "kind" */
	const char *phrase;       /* one line for people: "sleep future, sleeping 18 seconds" */
	const char *phrase_parts; /* its variable parts, as in marked.h; NULL: none */
	uint64_t object;          /* address of the object that is waited for, 0: none */
	uint64_t primitive; /* address of the semaphore or futex word in the object, whose holders
	                       block the wait; 0: none. See struct holding */
	const char *task;   /* id of another task that the wait involves */
	const char *name;   /* the program's name of the object: "self.accounts"; NULL: unknown */
	bool within; /* the object is a resource inside the future: print the future's type too */
	bool anonymous; /* the phrase names no object: print the type with it */
	enum waker_registered
		armed : 8; /* of a future; of a thread's own wait always WAKER_REGISTERED_UNKNOWN */
	struct wait_detail *details;
	size_t ndetails;
};

/*
 * Does the parent poll this future? Only a BRANCH_POLLED future can make the task progress; the
 * other futures are shown because they exist.
 */
enum branch {
	BRANCH_POLLED,
	BRANCH_DISABLED, /* arm of select! that has finished, or whose precondition was false */
	BRANCH_DONE,     /* finished; its output is not taken yet */
	BRANCH_GONE,     /* finished; its output was taken */
	BRANCH_HELD,     /* unpolled: stored in a frame that awaits something else */
};

/*
 * A variable or captured argument of a frame. The value is text, because a snapshot outlives the
 * stop.
 */
struct local {
	const char *name;
	const char *type;  /* as in DWARF */
	const char *value; /* in the format of a derived Debug, bounded; NULL: see problem */
	uint64_t addr;     /* 0: the variable is in a register */
	bool argument;     /* captured or passed, not a local variable */
	bool uncertain;    /* no drop flag proves that it was not moved out; or may_be_lost */
	bool passed_in;    /* the value of a parameter at the call; it may have changed since */
	bool may_be_lost;  /* it is not kept over an await, and may not have been set since */
	bool may_be_unset; /* the code has a way to this place on which it is not set */
	bool may_be_stale; /* a register may have a newer value: see struct local_place */
	bool global;       /* a static, or an error about one: belongs to no frame */
	bool no_value;     /* the frame has the variable, and not its value now: see problem */
	bool redacted;     /* value contains "<redacted>" in place of a secret: see secrets.h */
	const char *problem;
};

/* The problem of a variable whose value is left out of a file. */
extern const char model_local_not_saved[];

/* A register of a native frame. */
struct native_register {
	const char *name; /* "rip" */
	uint64_t value;
	bool known; /* it could be recovered for this frame */
};

/* Answer to a question about a native frame, in addition to its row in thread_info.frames. */
struct native_frame {
	bool found;           /* else only problem is there */
	struct local *locals; /* only with WANT_LOCALS; arguments are not sorted */
	size_t nlocals;
	struct native_register *registers; /* in the order of their DWARF numbers */
	size_t nregisters;
	const char *problem; /* why it was not found, or has no variables; NULL: nothing is wrong */
};

/* A future of a task's tree: a frame of its logical backtrace. There may be millions. */
struct future {
	const char *function; /* as the programmer wrote it, no generics: "app::Server::run",
	                         "app::main::{async_block#0}", "tokio::time::sleep::Sleep" */
	const char *type;     /* the whole type name as in DWARF */
	uint64_t addr;        /* address of the future; 0: unknown */
	const char *file; /* whole path of the await's file, where the debug info has it; if running
	                     that of the current line, as in DWARF */
	const char *file_short; /* for display: "src/main.rs", "tokio-1.54.1/src/lib.rs" */
	const char *edge; /* how its parent uses it: "await", "select arm 1", "join arm 0", "set",
	                     "deadline", "waits", "held", "holds" */
	const char *note; /* further information: its tracing span and where that is */
	const char *variable;      /* of what is held: the variable of its parent's that has it */
	const char *aliases;       /* the other possible types, if known: "app::B, app::C" */
	struct wait *wait;         /* of a decoded leaf, otherwise NULL */
	struct wait *properties;   /* no wait, but what else is known of it, in the same form: of an
	                              HTTP connection its role and phase; NULL: nothing */
	struct future **children;  /* the futures that it polls: one for .await; unpolled futures
	                              come last */
	struct local *locals;      /* only with WANT_LOCALS */
	const char *problem;       /* why the tree ends here although the future has children */
	const char *problem_parts; /* its variable parts, as in marked.h; NULL: none */
	const struct frame_place *place; /* the collector's alone: runtimes/query/locals.h */
	unsigned nchildren, nlocals;
	unsigned number; /* within its tree, in preorder; the root is 0 */
	unsigned line;   /* 0: unknown */
	int await_point; /* N of SuspendN, -1 when not suspended */
	enum future_kind kind : 8;
	enum future_state state : 8;
	enum branch branch : 6;
	/*
	 * For the collector alone. doubted: it is held, but may have been moved out, or be polled
	 * unseen; shares: it is a clone of several, which all have its children; searched: it is a
	 * root, and its tree was searched for what it holds.
	 */
	bool doubted : 1, shares : 1, searched : 1;
	bool running : 1;   /* read from a thread's stack: it is executing at file:line */
	bool dyn : 1;       /* found through a vtable */
	bool inferred : 1;  /* of block_on: found on the stack by its plausible bytes, or deduced */
	bool uncertain : 1; /* its type is one of several types that share their code */
	bool joined : 1; /* an arm of a join that ends only when all arms have ended (not try_join!,
	                    which an error of one arm ends). False: not such an arm, or unknown */
	bool library : 1; /* file does not belong to the program's own code */
	bool stream : 1;  /* a stream or a sink: its kind is FUTURE_OTHER */
	bool wraps : 1; /* a generic wrapper around an arbitrary future that it polls: the child on
	                   the edge "await" tells what it is for */
};

/* A line of a source file. */
struct source_place {
	const char *file;       /* as in DWARF, or as the program has it */
	const char *file_short; /* for display; NULL: unknown */
	unsigned line;          /* 0: unknown */
};

enum task_state { TASK_IDLE, TASK_SCHEDULED, TASK_RUNNING, TASK_COMPLETE, TASK_CANCELLED };

struct task {
	const char *id;     /* decimal; task_key() if the runtime has no ids */
	uint64_t number;    /* the id as a number; 0: the task has none */
	unsigned runtime;   /* index into snapshot.runtimes; see undriven */
	uint64_t addr;      /* address of its header */
	uint64_t local_set; /* identifies its LocalSet: address of the set's task list; 0: none */
	bool undriven; /* no runtime is known to drive its LocalSet: runtime is any one of its tokio
	                */
	enum task_state state;
	bool notified;    /* woken while it was running */
	unsigned thread;  /* number of the thread that runs it; 0: none or unknown */
	const char *type; /* whole type name of the spawned future; NULL: unknown */
	uint64_t size;    /* size of that future in bytes, or of the one in the box that it is; 0:
	                     unknown */
	const struct source_place *spawned_at; /* NULL: the build does not record it */
	const struct source_place *defined_at; /* of the async fn, block or closure that it runs,
	                                          inside wrappers; NULL: unknown */
	struct future *root;                   /* NULL: it could not be read, see problem */
	const char *problem;       /* why this task is incomplete; NULL: it is complete */
	const char *problem_parts; /* its variable parts, as in marked.h; NULL: none */
	bool changed;    /* it changed while it was read from a running process: may be torn */
	bool has_wakers; /* wakers is known: it is idle, and its runtime counts references */
	uint64_t wakers; /* number of its wakers and AbortHandles; 0: nothing can wake it */
};

/* Role of a value in one task or thread: how it can end the waits of others. */
enum holding_role {
	HOLDING_LOCK, /* a guard, or permits: waiters in the primitive's queue wait for its drop */
	HOLDING_SENDER,   /* a sending end: a receiver may wait for its owner */
	HOLDING_RECEIVER, /* a receiving end: a sender may wait for its owner */
	HOLDING_WAKER, /* a reference that can wake waiters (Notify, CancellationToken); whether its
	                  owner will do so is unknown */
	HOLDING_SLOT,  /* a value whose type looks like the guard of a pool: it may have a permit of
	                  the semaphore; always uncertain */
	HOLDING_DESCRIPTOR, /* a value that owns a file descriptor; ends no wait */
};

/*
 * A value in the variables of a task or of a thread that others wait for. The list of holdings is
 * never exhaustive: snapshot.unsearched names what was not searched.
 */
struct holding {
	enum holding_role role;
	const char *kind;        /* JSON "kind", equal to that of the wait that it can end: "mutex",
	                            "rwlock_read", "rwlock_write", "semaphore", "mpsc", "oneshot", "watch",
	                            "broadcast", "notify", "cancellation", "abort" (of the task whose
	                            header is object), "std_mutex", "parking_lot", "pool", "io" (of
	                            HOLDING_DESCRIPTOR) */
	const char *type;        /* whole type name, as in DWARF */
	uint64_t addr;           /* address of the value; 0: it is in a register */
	uint64_t object;         /* the lock or channel, as wait.object; 0: unknown */
	uint64_t primitive;      /* as wait.primitive: the same value in its waiters; 0: none */
	uint64_t permits;        /* of HOLDING_LOCK: how many permits it holds; 0: unknown */
	const struct task *task; /* the task whose future has it; NULL: thread has it */
	unsigned thread; /* number of the thread whose block_on future or stack has it, or that runs
	                    task; 0: none */
	const struct future *future; /* the frame whose variable has it; NULL: native */
	unsigned stack_frame;        /* number of the native frame, if future is NULL */
	const char *function;        /* function of that native frame, or of future */
	const char *path; /* from that frame: "guard", "state.guards[2].0"; NULL: unknown */
	const char *file, *file_short; /* where its variable is declared, otherwise where the frame
	                                  awaits or runs */
	unsigned line;                 /* 0: unknown */
	bool declared;                 /* file and line are those of the declaration */
	bool granted; /* a queued lock future was granted permits that its task has not taken yet:
	                 the frame, or the value at path, is that future */
	bool partial; /* granted, but the future waits for more permits */
	bool queued; /* it is inside a message in a channel's queue: path leads to the receiving end
	                and continues with "queued[0]" */
	bool uncertain; /* no drop flag or state proves that it was not moved out or dropped */
	bool sole;   /* uncertain, but the lock is taken, and too few other candidates were found to
	                account for it: if this value is not the holder, the holder is in memory that
	                was not searched */
	int fd;      /* of HOLDING_DESCRIPTOR, else 0 */
	bool shared; /* of HOLDING_DESCRIPTOR: it is in what an Arc or Rc shares, and the owner has
	                one of several references to that */
	bool nobody_else; /* of HOLDING_WAKER: as many certain ones were found as the object counts
	                     references to it, so that nobody else can wake the waiters there */
};

/* Completeness of the list of a runtime's tasks. */
enum completeness {
	COMPLETENESS_UNKNOWN, /* expected_tasks is all that is known */
	COMPLETENESS_ALL,     /* its own list, read to the end */
	COMPLETENESS_PART,    /* it could not be read to the end: a note says why */
	COMPLETENESS_REACHED, /* it keeps no list: all that queues and wakers lead to */
	COMPLETENESS_SCANNED, /* it keeps no list: found by a scan of memory */
};

struct runtime_info {
	unsigned index;     /* from 0, in order of creation */
	const char *kind;   /* struct runtime.name: "tokio" */
	const char *flavor; /* a word of that runtime: "multi_thread"; NULL: it has only one */
	bool workers_poll;  /* worker threads poll its tasks; false: the thread in block_on does */
	const char *name;   /* as given to the builder; NULL: none */
	uint64_t addr;      /* address of its handle */
	/*
	 * Differs from that of a runtime that had the address before; no file has it. 0: unknown.
	 */
	uint64_t serial;
	unsigned workers;
	size_t ntasks;           /* tasks listed in this snapshot */
	uint64_t expected_tasks; /* the runtime's own count; valid if has_expected */
	bool has_expected;
	enum completeness completeness;
	uint64_t rejected;   /* of COMPLETENESS_SCANNED: what the scan met that has a vtable of a
	                        task of any such runtime, and is none: see docs/json.md */
	uint64_t inject_len; /* tasks in the injection queue */
	bool has_inject;
	uint64_t blocking_threads, blocking_idle, blocking_queued;
	bool has_blocking;
	uint64_t blocking_limit; /* the largest number of blocking threads; valid if has_limit */
	bool has_limit;
	const char *version;  /* version of the runtime's crate in this module; NULL: unknown */
	const char *found_by; /* text about how it was found: "the join handle in task 5", "a scan
	                         of memory"; NULL: a thread is inside the runtime */
};

/*
 * Whether jobs wait in its blocking pool, which may have threads and has none. tokio 1.54 makes the
 * first one while it has the lock of the queue, and leaves the job there where that fails (EAGAIN):
 * either it is in the middle of this, or the job waits until another one is spawned.
 */
bool runtime_lacks_thread(const struct runtime_info *r);

/* job.ahead of a queue that has no order. */
#define JOB_NO_ORDER UINT64_MAX

/* A job of a blocking pool: it runs on a thread, or waits in the queue of the pool. */
struct job {
	const char *id;       /* as of a task; NULL: unknown */
	int runtime;          /* index into snapshot.runtimes; -1: unknown */
	uint64_t addr;        /* address of its header; 0: unknown */
	unsigned thread;      /* number of the thread that runs it; 0: it is queued */
	uint64_t ahead;       /* of a queued job: number of jobs before it, or JOB_NO_ORDER */
	const char *function; /* of its closure; NULL: unknown */
	const char *type;     /* of its closure; NULL: unknown */
	const struct source_place *spawned_at; /* NULL: the build does not record it */
};

enum thread_role { THREAD_OTHER, THREAD_BLOCK_ON, THREAD_WORKER, THREAD_BLOCKING };

/*
 * A native frame; the innermost comes first. Each inlined function has its own entry, before that
 * of the physical frame that contains it.
 */
struct stack_frame {
	unsigned number;
	uint64_t pc;
	const char *function;      /* readable path without generics; NULL: unknown */
	const char *function_full; /* with generics, as in DWARF or demangled */
	const char *aliases; /* other functions that have its code: "a, b and 7 more"; NULL: none */
	const char *file, *file_short;
	unsigned line;
	bool inlined;           /* has no physical frame of its own */
	const char *module;     /* base name of the ELF file */
	const char *polls_task; /* id of the task that this frame polls: the async stack continues
	                           there */
};

struct thread_info {
	unsigned number;
	pid_t tid;
	const char *name; /* NULL on a core */
	enum thread_role role;
	int runtime;        /* index; -1: none */
	const char *state;  /* "parked", "running task 5", "running", "idle", ... */
	bool pooled;        /* an idle thread of a blocking pool */
	bool handle_only;   /* in block_on() of a Handle, as of tokio's current_thread runtime: it
	                       polls its own future, and no task of the runtime */
	uint64_t queue_len; /* of workers: number of tasks in the local queue and the LIFO slot */
	bool has_queue;
	int worker;       /* index within its runtime; -1: not a worker */
	const char *task; /* id of the task that it runs; NULL: none */
	uint64_t poll;    /* differs in each poll that its runtime begins on it; not saved */
	bool has_poll;
	struct future *root; /* of a block_on thread: its future; of a blocking thread: the job that
	                        it runs */
	bool waits_for_root; /* it is parked in block_on() until its root is woken: as a worker, it
	                        polls a task that has called that */
	const char *job;     /* function of a blocking thread's job; NULL: none */
	struct wait *wait;   /* what blocks the thread itself (a lock, a system call) although it
	                        should poll or work; NULL: nothing, or unknown */
	struct stack_frame *frames; /* only with WANT_STACKS */
	size_t nframes;
	const char *problem; /* why the stack or the root is incomplete */
};

enum row_status { ROW_OK, ROW_ABSENT, ROW_BROKEN };

/* A row of the layout contract, as `info layout` shows it. */
struct layout_info {
	const char *module; /* base name */
	const char *key;    /* "sleep.deadline" */
	const char *path;   /* the expression with its alternatives */
	enum row_status status;
	const char *matched; /* the alternative that resolved; NULL: none */
	const char *plan;    /* the resolved offsets and dereferences */
	const char *tried;   /* attempts, and why they failed; NULL when ok */
};

enum debug_tier { TIER_FULL, TIER_LINES, TIER_SYMBOLS, TIER_NONE };

/* A runtime whose code the program has. */
struct runtime_crate {
	const char *kind;    /* struct runtime.name: "tokio" */
	const char *version; /* "1.53.1", several joined by ", " */
};

struct target_info {
	const char *kind; /* "live", "core" */
	pid_t pid;
	const char *core;     /* path of the core; NULL: live */
	const char *instance; /* identifies the process, also among processes that reuse its pid;
	                         NULL: unknown */
	const char *command;
	const char *exe;                    /* path of the executable; NULL: unknown */
	const char *build_id;               /* hex; NULL: none */
	const char *arch;                   /* "x86-64" */
	const char *rustc;                  /* "1.95.0"; NULL: unknown */
	const struct runtime_crate *crates; /* ncrates */
	size_t ncrates;
	enum debug_tier tier;
	const char *tier_reason; /* why not TIER_FULL, and the remedy */
	const char *layout;      /* the layout file that replaces debug info; NULL: none */
	int signal;              /* the signal that ended it (core); 0: none */
	pid_t signal_tid;
};

/*
 * Something to which an address belongs, from the outside in: "thread 3", "its stack", "frame 2 of
 * ...".
 */
struct place {
	const char *what; /* "task", "future", "lock", "channel", "timer", "stack", "module", ... */
	const char *phrase; /* for people: "future frame #2 app::run of task 5, +24 in it" */
	uint64_t addr;      /* start address */
	const char *task;   /* id; NULL: none */
	unsigned thread;    /* number; 0: none */
};

/* An open socket of a live process, as the kernel reports it: proc_net(5), tcp(7). */
struct socket_info {
	int fd;
	const char *kind;         /* "tcp", "udp", "unix", "socket" for others */
	const char *local, *peer; /* as in struct descriptor; NULL: none or unknown */
	const char *state;        /* of TCP: "listen", "established", "close_wait", ... */
	uint64_t unsent, unread; /* bytes in its queues; of a listening socket, unread is the number
	                            of connections that are not accepted yet */
	/* TCP connections only, as in struct descriptor. */
	bool has_sent; /* unacknowledged and retransmits are known */
	uint64_t unacknowledged, retransmits;
	bool has_window;
	uint64_t peer_window;
};

enum reading_how {
	READ_STOPPED, /* everything is from one moment; always so for a core */
	READ_LIMITED, /* the pause reached its limit: the rest was read while the process ran */
	READ_RUNNING, /* the process was never stopped */
};

/* The cost of reading a live process. */
struct reading {
	enum reading_how how;
	uint64_t pause_ns;   /* total time that it was stopped */
	uint64_t longest_ns; /* the longest stop */
	unsigned stops;
	size_t threads; /* threads stopped by the last stop */
	size_t bytes;   /* bytes of its memory that were copied for the answer */
};

struct snapshot {
	struct arena arena;
	struct target_info target;
	struct runtime_info *runtimes;
	size_t nruntimes;
	struct thread_info *threads; /* all threads of the target, by number */
	size_t nthreads;
	struct task **tasks; /* by runtime, then by id */
	size_t ntasks;
	struct job *jobs; /* with WANT_TASKS; running ones by thread, then queued ones by runtime,
	                     in the order of its queue */
	size_t njobs;
	struct layout_info *layout; /* only with WANT_LAYOUT */
	size_t nlayout;
	struct holding *holdings; /* only with WANT_HOLDINGS; in the order of tasks, then threads */
	size_t nholdings;
	struct holding *descriptors; /* holdings of HOLDING_DESCRIPTOR, in the same order; only with
	                                WANT_DESCRIPTORS */
	size_t ndescriptors;
	const char **unsearched; /* what could not be searched for holdings, and why; only with
	                            WANT_HOLDINGS */
	size_t nunsearched;
	struct native_frame *native; /* the result of question.native; NULL: not requested */
	struct local *printed;       /* the result of question.print; NULL: not requested */
	struct place *places;        /* the result of question.whatis, innermost last */
	size_t nplaces;
	struct socket_info *sockets; /* sorted by fd; only with WANT_SOCKETS */
	size_t nsockets;
	bool has_sockets;   /* sockets are known; always false for a core */
	const char **notes; /* notes on missing or doubtful data, each with advice */
	size_t nnotes;
	const char *others; /* text about async code that no known runtime runs, and its executor if
	                       known; NULL: no such code was found */
	const char *unscanned; /* why not all memory was scanned for tasks, with advice; a note,
	                          too. NULL: all was, or there was no need */
	bool complete;         /* nothing that was requested is missing */
	struct reading reading;
};

void snapshot_free(struct snapshot *s);
/*
 * Index of the first task of that runtime with that number, or of its insertion point. Tasks
 * without a number come first.
 */
size_t snapshot_task_index(const struct snapshot *s, unsigned runtime, uint64_t number);
/* NULL when no thread has that number (or tid). */
const struct thread_info *snapshot_thread(const struct snapshot *s, unsigned number);
const struct thread_info *snapshot_thread_by_tid(const struct snapshot *s, pid_t tid);
/* The job that the thread with that number runs; NULL: none. */
const struct job *snapshot_job_of(const struct snapshot *s, unsigned thread);
/* The first job with that id; NULL: none. */
const struct job *snapshot_job(const struct snapshot *s, const char *id);
/*
 * The id that stands for a task whose runtime has no ids: "async_executor:0x7f00", of the kind of
 * its runtime and the address of its header. No other task has it while this one exists.
 */
const char *task_key(struct arena *a, const char *kind, uint64_t addr);
/* Whether a text looks like a task_key(). */
bool task_id_is_key(const char *text);
/* The task with that id; if several have it, the one that the thread runs. NULL: none. */
const struct task *snapshot_task(const struct snapshot *s, const char *id, unsigned thread);
/*
 * Can dropping, using or waking by the holding end the wait? The primitive or object must be the
 * same, and the role must fit the wait: a receiver waits for a sender, not for another receiver.
 */
bool holding_can_end(const struct holding *h, const struct wait *w);
/*
 * Does the snapshot allow statements about the program's tasks? False if the program has async code
 * that no known runtime runs, no runtime was found and, without debug info, no thread of one.
 */
bool snapshot_is_understood(const struct snapshot *s);
/* Whether the thread polls the runtime's tasks. */
bool runtime_is_driven_by(const struct runtime_info *r, const struct thread_info *th);
/* Whether a variable of a task or thread has a value. Those read from a file may have none. */
bool snapshot_has_values(const struct snapshot *s);
/*
 * Returns ERR_STATE with the reason where snapshot_is_understood() is false. For commands whose
 * result needs all tasks, such as the wait-for graph or a report that nothing is wrong.
 */
struct error *snapshot_check_understood(const struct snapshot *s) MUST_CHECK;
/* Fills future.number of every tree. */
void snapshot_number_frames(struct snapshot *s);
/* Whether a thread was executing its own code, or a signal killed it there. */
bool wait_is_running(const struct wait *w);
/* snapshot_incomplete(), of memory that was not scanned for tasks: why, with advice. */
void snapshot_note_unscanned(struct snapshot *s, const char *why);
/* Adds a note once and marks the snapshot incomplete. */
void snapshot_incomplete(struct snapshot *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds a note once; does not mark the snapshot incomplete. */
void snapshot_note(struct snapshot *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

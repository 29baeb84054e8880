/*
 * The model: what asyncdbg knows about a program at one moment. Plain data in one arena,
 * complete even where parts were unreadable; it outlives the stop and refers to no target. Names of
 * types, functions and files belong to the inspector that made it, which outlives it: a hundred
 * thousand tasks of a type share them.
 * Every string is sanitised UTF-8 on one line. Absent is NULL (or the NONE of an enum).
 *
 * collect (runtimes/) fills it, commands print it.
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

/* The state of a compiler-made coroutine; FUTURE_STATE_NONE for others and while it runs. */
enum future_state {
	FUTURE_STATE_NONE,
	FUTURE_UNRESUMED,
	FUTURE_SUSPENDED,
	FUTURE_RETURNED,
	FUTURE_PANICKED,
};

enum detail_kind { DETAIL_STRING, DETAIL_INT, DETAIL_BOOL, DETAIL_LIST };

/*
 * One fact about a wait: a key of the JSON object. The rows of wait_kind.c and
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

/* What a leaf future waits for. */
struct wait {
	const char *kind;   /* a name of wait_kind.h: "sleep", "join"; JSON "kind" */
	const char *phrase; /* one line for people: "sleep future, sleeping 18 seconds" */
	uint64_t object;    /* address of what is waited for, 0 none */
	uint64_t primitive; /* of the semaphore or futex word in it whose holders are waited for; 0
	                       none: see struct holding */
	const char *task;   /* id of another task that is involved */
	const char *name;   /* what the program calls the object: "self.accounts"; NULL unknown */
	bool within;    /* about something that the future holds: its type is worth showing too */
	bool anonymous; /* it names no object: the phrase means nothing without the type */
	struct wait_detail *details;
	size_t ndetails;
};

/*
 * Does its parent poll it? Only what is BRANCH_POLLED can make the task go on; the others are
 * shown because they are there.
 */
enum branch {
	BRANCH_POLLED,
	BRANCH_DISABLED, /* arm of select!: has finished, or its precondition was false */
	BRANCH_DONE,     /* finished, its output not yet taken */
	BRANCH_GONE,     /* finished, its output taken */
	BRANCH_HELD,     /* stored in a frame that awaits something else */
};

/* A variable or captured argument of a frame. The value is text: a snapshot outlives the stop. */
struct local {
	const char *name;
	const char *type;  /* as in DWARF */
	const char *value; /* as a derived Debug would print it, bounded; NULL: see problem */
	uint64_t addr;     /* 0: in a register */
	bool argument;     /* captured or passed, not a local variable */
	bool uncertain;    /* it may have been moved out: no drop flag says it is live */
	bool passed_in;    /* a parameter's value when the function was called: may have changed */
	bool global;       /* a static, or what goes wrong with one: of no frame */
	bool redacted;     /* value has "<redacted>" where something secret was: see secrets.h */
	const char *problem;
};

/*
 * One future of a task's tree: a frame of its logical backtrace. There may be millions of them: two
 * cache lines each.
 */
struct future {
	const char *function;   /* as the programmer wrote it, no generics: "app::Server::run",
	                           "app::main::{async_block#0}", "tokio::time::sleep::Sleep" */
	const char *type;       /* the whole type name as in DWARF */
	uint64_t addr;          /* where it lies; 0 unknown */
	const char *file;       /* of the await as in DWARF; of the current line when running */
	const char *file_short; /* the same for reading: "src/main.rs", "tokio-1.54.1/src/lib.rs" */
	const char *edge;       /* why it is its parent's child: "await", "select arm 1", "join arm
	                           0", "set", "deadline", "waits", "held", "holds" */
	const char *note;       /* what else is known of it: its tracing span and where that is */
	const char *aliases;    /* the others, where they are known: "app::B, app::C" */
	struct wait *wait;      /* NULL unless a decoded leaf */
	struct future **children; /* what it polls next: one for .await; those that it only holds
	                             come last */
	struct local *locals;     /* only when asked for: WANT_LOCALS */
	const char *problem;      /* why the tree ends here although it should go on */
	unsigned nchildren, nlocals;
	unsigned number; /* within its tree: the root is 0, children follow their parent (preorder)
	                  */
	unsigned line;   /* 0 unknown */
	int await_point; /* N of SuspendN, -1 when not suspended */
	enum future_kind kind : 8;
	enum future_state state : 8;
	enum branch branch : 8;
	bool running : 1;   /* taken from a thread's stack: it is executing at file:line */
	bool dyn : 1;       /* reached through a vtable */
	bool inferred : 1;  /* of block_on: found by its looks on the stack, or by deduction */
	bool uncertain : 1; /* its type is one of several that share their code */
	bool joined : 1;    /* an arm of what ends when all its arms have: no try_join!, which an
	                       error of one arm ends; false: no arm, or unknown */
	bool library : 1;   /* file is not of the program's own code */
	bool wraps : 1;     /* it was made of any future whatever, to poll it: the child on the edge
	                       "await" says what it is for */
};

enum task_state { TASK_IDLE, TASK_SCHEDULED, TASK_RUNNING, TASK_COMPLETE, TASK_CANCELLED };

struct task {
	const char *id;     /* decimal; "0x..." of the header where the runtime has no ids */
	uint64_t number;    /* the id as a number, 0 where it has none */
	unsigned runtime;   /* index into snapshot.runtimes */
	uint64_t addr;      /* of its header */
	uint64_t local_set; /* what its LocalSet is known by: the address of its list; 0 none */
	enum task_state state;
	bool notified;       /* running and woken meanwhile */
	unsigned thread;     /* number of the thread that runs it, 0 none or unknown */
	const char *type;    /* whole type name of the spawned future, NULL unknown */
	uint64_t size;       /* bytes of that future, 0 unknown */
	struct future *root; /* NULL when it could not be read: see problem */
	const char *problem; /* why this task is incomplete, NULL if it is not */
	bool changed;        /* while it was read, as the process was not stopped: may be torn */
};

/* How a value takes part in what others wait for. */
enum holding_role {
	HOLDING_LOCK,     /* a guard, or permits: what queues at the primitive waits for its drop */
	HOLDING_SENDER,   /* a sending end: who receives may wait for its owner */
	HOLDING_RECEIVER, /* a receiving end: who sends may wait for its owner */
	HOLDING_WAKER,    /* a reference by which somebody may be woken (Notify, CancellationToken):
	                     that its owner will is not known */
};

/*
 * Something that lies in the variables of a task or of a thread and that others wait for. Never
 * the whole truth: what was not searched is in snapshot.unsearched.
 */
struct holding {
	enum holding_role role;
	const char *kind;        /* JSON "kind", as that of the wait that it can end: "mutex",
	                            "rwlock_read", "rwlock_write", "semaphore", "mpsc", "oneshot", "watch",
	                            "broadcast", "notify", "cancellation", "abort" (of the task whose
	                            header is        object), "std_mutex", "parking_lot" */
	const char *type;        /* whole type name, as in DWARF */
	uint64_t addr;           /* where it lies, 0 in a register */
	uint64_t object;         /* the lock or channel, as wait.object; 0 unknown */
	uint64_t primitive;      /* as wait.primitive: equal for those who wait for it; 0 none */
	uint64_t permits;        /* of HOLDING_LOCK: that it has of the primitive; 0 unknown */
	const struct task *task; /* whose future has it; NULL: thread has */
	unsigned thread;         /* number of the thread whose block_on future or stack has it,
	                            or that runs task; 0 none */
	const struct future *future; /* the frame whose variable it is in; NULL: a native frame */
	unsigned stack_frame;        /* number of the native frame where future is NULL */
	const char *function;        /* of that frame, or of future */
	const char *path; /* from that frame: "guard", "state.guards[2].0"; NULL unknown */
	const char *file, *file_short; /* where its variable is declared, else where the frame
	                                  awaits or runs */
	unsigned line;                 /* 0 unknown */
	bool declared;                 /* file and line are those of the declaration */
	bool granted;   /* permits that a lock future in a queue has got and its task not yet
	                   taken: the frame, or what path leads to, is that future */
	bool partial;   /* granted, and it waits for more */
	bool queued;    /* it lies in a message that waits to be received: path leads to the
	                   receiving end, and on by "queued[0]" */
	bool uncertain; /* no drop flag or state proves that it was not moved out or dropped */
	bool sole;      /* uncertain, but the lock is taken, and without this and the others
	                   like it too few candidates were found: were it not held here, its
	                   holder would lie where nothing was searched */
};

enum runtime_flavor { RUNTIME_MULTI_THREAD, RUNTIME_CURRENT_THREAD };

struct runtime_info {
	unsigned index;   /* from 0, by creation */
	const char *kind; /* "tokio" */
	enum runtime_flavor flavor;
	const char *name; /* as given to the builder, NULL none */
	uint64_t addr;    /* of its handle */
	unsigned workers;
	size_t ntasks;           /* tasks listed in this snapshot */
	uint64_t expected_tasks; /* what the runtime counts itself; equal when has_expected */
	bool has_expected;
	uint64_t inject_len; /* tasks in the injection queue */
	bool has_inject;
	uint64_t blocking_threads, blocking_idle, blocking_queued;
	bool has_blocking;
	const char *version;  /* of the runtime's crate in this module, NULL unknown */
	const char *found_by; /* what led to it: "the join handle in task 5", "a scan of memory";
	                         NULL: a thread is inside */
};

enum thread_role { THREAD_OTHER, THREAD_BLOCK_ON, THREAD_WORKER, THREAD_BLOCKING };

/* A native frame, innermost first; several with the same level are one physical frame inlined. */
struct stack_frame {
	unsigned number;
	uint64_t pc;
	const char *function;      /* readable path without generics, NULL unknown */
	const char *function_full; /* with generics, as in DWARF or demangled */
	const char *file, *file_short;
	unsigned line;
	bool inlined;           /* has no physical frame of its own */
	const char *module;     /* base name of the ELF file */
	const char *polls_task; /* this frame polls that task: the async stack joins here */
};

struct thread_info {
	unsigned number;
	pid_t tid;
	const char *name; /* NULL on a core */
	enum thread_role role;
	int runtime;        /* index, -1 none */
	const char *state;  /* "parked", "running task 5", "running", "idle", ... */
	bool pooled;        /* an idle thread of a blocking pool */
	uint64_t queue_len; /* of workers: tasks in the local queue and the LIFO slot */
	bool has_queue;
	int worker;                 /* index within its runtime, -1 not a worker */
	const char *task;           /* id of the task it runs, NULL none */
	struct future *root;        /* of a block_on thread; of a blocking thread the job it runs */
	const char *job;            /* blocking: function of the closure it runs, NULL none */
	struct wait *wait;          /* what the thread itself sits in (a lock, a system call) though
	                               it should be polling or working; NULL: nothing, or unknown */
	struct stack_frame *frames; /* only when asked for: collect's WANT_STACKS */
	size_t nframes;
	const char *problem; /* why the stack or the root is incomplete */
};

enum row_status { ROW_OK, ROW_ABSENT, ROW_BROKEN };

/* One row of the layout contract, as `info layout` shows it. */
struct layout_info {
	const char *module; /* base name */
	const char *key;    /* "sleep.deadline" */
	const char *path;   /* the expression with its alternatives */
	enum row_status status;
	const char *matched; /* the alternative that fits, NULL if none */
	const char *plan;    /* offsets and dereferences it became */
	const char *tried;   /* what was tried and why it failed; NULL when ok */
};

enum debug_tier { TIER_FULL, TIER_LINES, TIER_SYMBOLS, TIER_NONE };

struct target_info {
	const char *kind; /* "live", "core" */
	pid_t pid;
	const char *core;     /* path of the core, NULL when live */
	const char *instance; /* tells the process from all others, also those of its pid; NULL
	                         unknown */
	const char *command;
	const char *exe;      /* path of the executable, NULL unknown */
	const char *build_id; /* hex, NULL none */
	const char *arch;     /* "x86-64" */
	const char *rustc;    /* "1.95.0", NULL unknown */
	const char *tokio;    /* "1.53.1", several joined by ", "; NULL unknown or none */
	enum debug_tier tier;
	const char *tier_reason; /* why not TIER_FULL, and the remedy */
	const char *layout;      /* the layout file that stands for debug info; NULL none */
	int signal;              /* that ended it (core), 0 none */
	pid_t signal_tid;
};

/* What an address belongs to, from the outside in: "thread 3", "its stack", "frame 2 of ...". */
struct place {
	const char *what; /* "task", "future", "lock", "channel", "timer", "stack", "module", ... */
	const char
		*phrase;  /* one line for people: "future frame #2 app::run of task 5, +24 in it" */
	uint64_t addr;    /* where it begins */
	const char *task; /* id, NULL none */
	unsigned thread;  /* number, 0 none */
};

/* A socket that a live process has open, as the kernel tells it: proc_net(5), tcp(7). */
struct socket_info {
	int fd;
	const char *kind;         /* "tcp", "udp", "unix", "socket" for others */
	const char *local, *peer; /* as in struct descriptor; NULL none or unknown */
	const char *state;        /* of TCP: "listen", "established", "close_wait", ... */
	uint64_t unsent, unread;  /* bytes in its queues; of one that listens, unread counts
	                             connections that were not yet accepted */
};

enum reading_how {
	READ_STOPPED, /* all is of one moment; always so on a core */
	READ_LIMITED, /* the pause was as long as it may be: memory was read while it ran */
	READ_RUNNING, /* it was never stopped */
};

/* What it took to read a live process. */
struct reading {
	enum reading_how how;
	uint64_t pause_ns;   /* it stood still that long, all stops together */
	uint64_t longest_ns; /* the longest of them */
	unsigned stops;
	size_t threads; /* that the last stop stopped */
	size_t bytes;   /* of its memory that were copied for the answer */
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
	struct layout_info *layout; /* only when asked for: WANT_LAYOUT */
	size_t nlayout;
	struct holding *holdings; /* only when asked for: WANT_HOLDINGS; in the order of tasks, then
	                             threads */
	size_t nholdings;
	const char *
		*unsearched; /* what could not be searched for holdings, and why; WANT_HOLDINGS */
	size_t nunsearched;
	struct local *printed; /* the answer to question.print, NULL: was not asked */
	struct place *places;  /* the answer to question.whatis, innermost last */
	size_t nplaces;
	struct socket_info *sockets; /* by fd; only when asked for: WANT_SOCKETS */
	size_t nsockets;
	bool has_sockets;   /* they are known; never of a core */
	const char **notes; /* what is missing or doubtful, each with advice */
	size_t nnotes;
	const char *others; /* who runs async code that no known runtime does, or that nobody knows
	                       who does; NULL: nothing was seen of that */
	bool complete;      /* nothing that was asked for is missing */
	struct reading reading;
};

void snapshot_free(struct snapshot *s);
/*
 * Index of the first task of that runtime that has that number, or where it would be. Tasks without
 * a number come first.
 */
size_t snapshot_task_index(const struct snapshot *s, unsigned runtime, uint64_t number);
/* NULL when there is none. */
const struct thread_info *snapshot_thread(const struct snapshot *s, unsigned number);
const struct thread_info *snapshot_thread_by_tid(const struct snapshot *s, pid_t tid);
/* The task of that id, the one that the thread runs if several have it; NULL when unknown. */
const struct task *snapshot_task(const struct snapshot *s, const char *id, unsigned thread);
/*
 * May what waits so go on when the holding is given up, used or woken by? By the primitive, and by
 * what the wait is for: who receives waits for a sender, not for another receiver.
 */
bool holding_can_end(const struct holding *h, const struct wait *w);
/*
 * Can anything be said about its tasks? Not where it has async code, and none of it is run by
 * what is known: no runtime was found, and, without debug info, no thread of one.
 */
bool snapshot_is_understood(const struct snapshot *s);
/*
 * The same as ERR_STATE with the reason: for what can be said of all tasks alone, as who waits for
 * whom, and that nothing is wrong.
 */
struct error *snapshot_check_understood(const struct snapshot *s) MUST_CHECK;
/* Fills future.number of every tree. */
void snapshot_number_frames(struct snapshot *s);
/* Of a thread: it was executing its own code, or was killed at it. */
bool wait_is_running(const struct wait *w);
/* Adds a note once and marks the snapshot incomplete. */
void snapshot_incomplete(struct snapshot *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds a note once; completeness stays. */
void snapshot_note(struct snapshot *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

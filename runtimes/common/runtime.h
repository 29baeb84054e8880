/*
 * What asyncdbg knows of one async runtime: how to find it in a target, how to read its tasks and
 * threads, and tables about its types and functions. Each runtime is a folder with one such table;
 * the list of all is runtimes/inspect/registered.c. Nothing else names a runtime.
 *
 * A pointer or list may be NULL: the runtime has nothing of that. Lists of texts end with NULL,
 * lists of rows with a row of zeros. Paths of types and functions are without generics; "beginning"
 * means of the whole name as DWARF has it.
 */
#ifndef RUNTIMES_COMMON_RUNTIME_H
#define RUNTIMES_COMMON_RUNTIME_H

#include "runtimes/common/bindings.h"
#include "runtimes/common/row_filter.h"

struct show_row;
struct whatis;
struct collector;
struct debuginfo;
struct decoder;
struct found;
struct future;
struct inspector;
struct leaf;
struct type_class;

/* ---- rows about types ---- */

typedef struct error *leaf_fn(struct leaf *l);

/* A future at which a task waits in the end: see runtimes/future/leaf.h. */
struct leaf_row {
	const char *type;
	const char *kind; /* JSON "kind" */
	leaf_fn *decode;
	bool proves; /* decoding it succeeds on no stray bytes: it meets an object that exists */
	/*
	 * The type is no future but a resource (a channel's end, a socket) that the future around
	 * it polls: poll_fn's closure captured it, a hand-written future or a stream holds it.
	 */
	bool resource;
	bool directed; /* a resource that is read or written, as the future around it says */
};

/* A future that polls others which the general rule would not find: see combinator.h. */
struct combinator_row {
	const char *type;
	struct {
		const char *path, *edge;
		const char
			*waker; /* path to the Arc that is its waker's data; NULL: its parent's */
	} children[2];          /* in order of polling */
};

/* Bits: what a future does with the resource that it polls. */
enum { IO_READS = 1, IO_WRITES = 2 };

/* What one type on the way from a future to its socket says. */
enum io_direction_of {
	IO_SAYS_NOTHING, /* it may read in order to write, as TLS does */
	IO_SAYS_READS = IO_READS,
	IO_SAYS_WRITES = IO_WRITES,
	IO_PASSES_ON, /* what is read from it is read from what it holds, and so with writing */
};

/*
 * A head that ends in "::" stands for all types of the module. Where member is not NULL, the row is
 * for what that member leads to.
 */
struct io_row {
	const char *head, *member;
	enum io_direction_of says;
};

/* A type that others wait for: see runtimes/holding/holding.h. */
struct holding_row {
	const char *type;
	enum holding_role role;
	const char *kind;    /* as in struct holding */
	const char *member;  /* path from it to what refers to the object; "": it is the object */
	const char *of;      /* the object's type */
	const char *part;    /* path from the object to the primitive; "": the object is it */
	const char *permits; /* path from it to how many permits it has; NULL: one */
	const char *total;   /* path from the object to how many permits there are; NULL unknown */
	const char *whole;   /* `of` is the primitive: the type that has it as its member `s` when
	                        T of the row's type is its T too; NULL: it is not */
	uint64_t busy;       /* no semaphore: the bits of the primitive of a lock that is held */
	/* Of a semaphore: where it lies in the primitive, and how many permits nobody has. */
	struct error *(*left)(const struct leaf *l, struct value primitive, uint64_t *addr,
	                      uint64_t *permits);
	bool single; /* there is one permit */
	bool queue;  /* the receiving end of an mpsc channel: see holding_walk_messages() */
	bool shared; /* a reference to one, or an Arc of one, is as good as one itself */
};

/* What needs a look of its own when owners of resources are searched for. */
enum holding_special {
	SPECIAL_NONE,
	SPECIAL_ACQUIRE, /* a lock future: it may have got permits */
	SPECIAL_JOIN,    /* a JoinHandle: the output of a finished task may be in its cell */
	SPECIAL_SET,     /* FuturesUnordered */
	SPECIAL_SHARED,  /* Arc, Rc */
	SPECIAL_DEQUE,
	SPECIAL_TABLE,  /* hashbrown's RawTable */
	SPECIAL_HIDDEN, /* a union, or a collection that is not understood */
};

struct special_row {
	const char *type;
	enum holding_special special;
};

/* The type of the lock that a wait of some kind is for: by it the program's name is found. */
struct named_row {
	const char *kind, *type;
};

/* ---- rows about functions ---- */

enum mark_kind {
	MARK_BLOCK_ON,     /* block_on<F>: a future's poll loop on this thread */
	MARK_TASK_POLL,    /* poll<T, S> of a task cell: an async task, a blocking job, a worker */
	MARK_BLOCKING_RUN, /* the loop of a thread of the blocking pool */
	MARK_WORKER_RUN,   /* the loop of a worker of a pool of threads */
};

/* A function whose frame on a stack tells what a thread does. */
struct mark_row {
	const char *within, *name; /* beginning of its path, its own name */
	enum mark_kind kind;
};

/* The events of a runtime, for who follows them in a running program. */
enum probe_event {
	PROBE_POLL,  /* entry: a poll of a task begins; its return: that ends */
	PROBE_WAKE,  /* a task is made ready */
	PROBE_SPAWN, /* a task was made */
	PROBE_DROP,  /* a task has ended, or is freed */
	PROBE_PARK,  /* entry: a thread of the runtime goes to sleep; its return: it woke */
};

/*
 * Where an event can be observed. Any function may be inlined in some build: of the rows of one
 * event the first that a program has counts, and a program may have none.
 */
struct probe_row {
	enum probe_event event;
	const char *within, *name; /* as in struct mark_row; each instance of it */
	unsigned argument;         /* from 0: the one that tells the task; its meaning is the
	                              runtime's (tokio: the address of the header) */
};

/* ---- rows about crates ---- */

struct crate_row {
	const char *crate, *name;
};

/* ---- a set of tasks that a future drives (tokio's LocalSet) ---- */

struct task_set_ops {
	const char *type;
	/* The future that drives one beside another future, and its members; NULL none. */
	const char *driver, *driver_set, *driver_future;
	/* Is it driven by whom a waker with that data wakes? False when that cannot be told. */
	bool (*wakes)(struct collector *c, struct value set, uint64_t waker);
	/*
	 * What a set is known by wherever it moves: the address of its list of tasks. first: the
	 * header of a task in it, 0 none. An error when it is none.
	 */
	struct error *(*list)(struct collector *c, struct value set, uint64_t *list,
	                      uint64_t *first);
};

/* ---- a program that has it ---- */

/* One copy of the runtime: a program and its libraries may each have their own. */
struct runtime_copy {
	struct dwarf_module *dm;
	const char *module;            /* base name of the ELF file */
	const char *version;           /* NULL unknown */
	const struct bindings *layout; /* its bindings, resolved */
	const struct type *types[4];   /* further types that it is read by; NULL none */
};

/* What the poll function of a task says: for layout files. */
struct task_types {
	const struct type *future, *cell; /* NULL unknown */
};

/* ---- the runtime ---- */

struct runtime {
	const char *name; /* its crate: "tokio"; runtimes[].kind of the answer */
	const char *path; /* the beginning of the paths of its code: "tokio::" */
	bool expected;    /* most programs have it: texts say so where it is not there */
	/* Which versions are read, to end a sentence about one that is not. */
	const char *reads;
	/* Crates of earlier generations, which are not read, and what to call them. */
	const struct crate_row *former;

	/* Bytes, zeroed, that it keeps with an inspector and with a snapshot in the making. */
	size_t inspector_size, collector_size;

	/* Finds every copy in the target, reads debug info alone. */
	void (*detect)(struct inspector *in);
	void (*close)(struct inspector *in);
	/* The nth copy; false: there are not so many. */
	bool (*copy)(const struct inspector *in, size_t n, struct runtime_copy *ret);

	/* Before each answer: looks through memory for what nothing leads to. */
	struct error *(*scan)(struct inspector *in);
	/* Fills runtimes, tasks and what is its own of threads; all that must be read in one stop.
	 */
	void (*collect)(struct collector *c);
	/* The same by function names alone, where the debug info has no copy of it. */
	void (*collect_by_stack)(struct collector *c);
	/* What it could not read, beside its bindings, into the snapshot's notes. */
	void (*note)(struct collector *c);
	/* Frees what it keeps with c. */
	void (*free)(struct collector *c);

	/* -- tasks -- */

	/* The types of the task whose poll function that is. */
	void (*task_types)(struct inspector *in, uint64_t poll, struct task_types *ret);
	/* Where the output of the finished task that a JoinHandle is of lies; *found false: none.
	 */
	struct error *(*output)(struct collector *c, struct value join, struct value *ret,
	                        bool *found);
	/* A waker with that data was met while a future was decoded. */
	void (*waker_met)(struct collector *c, uint64_t data);
	/* Types of handles of a runtime, and what to do when a variable has one. */
	const char *const *handles;
	void (*handle_met)(struct collector *c, struct value v);
	const struct task_set_ops *task_set;
	/* Adds what of it the address of "whatis" lies in. */
	void (*whatis)(struct whatis *a);

	/* -- futures -- */

	const struct leaf_row *const *leaves;
	const struct binding_row *const *leaf_bindings; /* the paths that leaves read */
	const struct combinator_row *combinators;
	const struct io_row *directions;
	const char *const *pollers; /* beginnings: crates whose futures poll what they hold */
	const char *const *non_future_ends;    /* ends of paths of its types that are no futures, */
	const char *const *non_future_modules; /* and beginnings of them */
	const char *const *boundaries; /* beginnings: what lies behind is the runtime itself */
	const char *const *lists;      /* beginnings: what has lists of waiters in it */
	const char *poll_fn;           /* its own core::future::PollFn */
	/* A static that a leaf of that type reads; false none. */
	bool (*leaf_static)(const struct type *t, struct value *ret);

	/* -- threads -- */

	const struct mark_row *marks;
	const char *loop;         /* beginning: its own frames, in which it waits */
	const char *const *parks; /* beginnings of the own names of functions there that wait */
	/*
	 * The closure of a job of the blocking pool by the name of its future, in a; NULL when it
	 * is another future.
	 */
	const char *(*job)(struct arena *a, const char *future);
	const char *worker_job; /* part of the name of the job that a worker is; NULL none */

	/* -- owners of resources -- */

	const struct holding_row *holdings;
	const struct special_row *specials;
	const struct named_row *named;
	const struct show_row *shown; /* types with a text of their own (show_rows.h); NULL none */
	/* What a lock future (SPECIAL_ACQUIRE) holds that has got permits. */
	struct error *(*acquired)(const struct leaf *l, struct value v, struct found *ret,
	                          bool *found);
	const char *queue; /* the channel whose queued messages are searched: "tokio's mpsc" */

	/* -- layout files and tracing -- */

	const char *task_poll;      /* beginning: the poll functions of tasks, one for each type */
	const char *task_functions; /* beginning: what polls them; of these the name is enough */
	const char *const *functions; /* beginnings: generic functions that tell what a thread does
	                               */
	const struct probe_row *probes;
};

/* ---- all of them ---- */

/* Fills what a folder knows of a type, once; see struct type_class. */
typedef void classify_fn(const struct type *t, struct type_class *f);

struct registered {
	const struct runtime *const *runtimes; /* ended by NULL */
	classify_fn *const *classifiers;       /* ended by NULL, in the order of folders */
};
extern const struct registered registered_runtimes; /* runtimes/inspect/registered.c */

/* What di->above is. */
struct tables {
	const struct registered *registered;
	/* Of all runtimes, so that nearly all types need no search. */
	struct row_filter leaves, holdings;
};

/* Before any type of di is classified. */
void runtimes_register(struct debuginfo *di, const struct registered *r);
const struct tables *runtime_tables_of(const struct type *t);
/* Ended by NULL; never NULL itself. */
const struct runtime *const *runtimes_in(const struct debuginfo *di);
const struct runtime *const *runtimes_of(const struct type *t);

/* Does a name begin with one of the list? list may be NULL. */
bool runtime_begins_with_one(const char *name, const char *const *list);

#endif

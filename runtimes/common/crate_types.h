/*
 * Rows about the types of a crate, or of a family of crates: names of types and paths of their
 * members. A crate that is no runtime has such a table in runtimes/leaves.
 *
 * A pointer or list may be NULL; path is required. Lists of texts end with NULL, lists of rows end
 * with a row of zeros. Paths of types have no generics; "beginning" is a prefix of the whole name
 * as in DWARF.
 */
#ifndef RUNTIMES_COMMON_CRATE_TYPES_H
#define RUNTIMES_COMMON_CRATE_TYPES_H

#include "runtimes/common/bindings.h"
#include "runtimes/model/model.h"

struct collector;
struct decoder;
struct found;
struct leaf;
struct show_row;

typedef struct error *leaf_fn(struct leaf *l);

/* A leaf future, at which a task's chain of awaits ends: see runtimes/future/leaf.h. */
struct leaf_row {
	const char *type;
	const char *kind; /* JSON "kind" */
	leaf_fn *decode;
	bool proves; /* decoding it fails on random bytes: it follows a pointer to an object that
	                must exist */
	/*
	 * The type is not a future but a resource (a channel's end, a socket). The future around it
	 * polls the resource: a poll_fn closure that captured it, a hand-written future or a
	 * stream.
	 */
	bool resource;
	bool directed; /* a resource whose direction, read or write, the future around it decides */
	bool whole; /* a resource that describes the one inside it, so that this is not searched for
	             */
	bool owns_tasks; /* a resource that is shown also where a variable only holds it */
	/*
	 * A resource around others, as the lock of the halves of a socket: it is waited for while
	 * the task's own waker is in it, and otherwise what is inside.
	 */
	bool passage;
};

/* A future whose children the general rule does not find: see combinator.h. */
struct combinator_row {
	const char *type;
	struct {
		const char *path, *edge;
		const char *waker; /* path to the Arc that is its waker's data; NULL: its parent's
		                      waker */
	} children[2];             /* in order of polling */
	/*
	 * Paths to the slab of the wakers that a wake-up of its child wakes, and to the index of
	 * its own there; NULL: none.
	 */
	const char *wakers, *index;
	bool stream;       /* it is a stream and no future */
	const char *pairs; /* path to its Vec of pairs of a key and a stream; NULL: none */
};

/*
 * A combinator that polls one thing after another: ForEach its stream for the next item, then the
 * future that its closure made of it. While the path `first` leads to something, the member `later`
 * is held and not polled. Buffered polls its stream as long as it has less than `limit` futures.
 */
struct sequence_row {
	const char *type, *first, *later;
	/* Paths: to the greatest number of futures, to their FuturesUnordered, and to the number of
	 * outputs that count, too. NULL: there are none. */
	const char *limit, *futures, *outputs;
	const char *done; /* path to a flag: the stream has ended; NULL: there is none */
};
#define SEQUENCE(of, before, held)                                                                 \
	{                                                                                          \
		.type = (of), .first = (before), .later = (held)                                   \
	}

/* Bits: the direction in which a future uses the resource that it polls. */
enum { IO_READS = 1, IO_WRITES = 2 };

/* Direction of I/O that a type between a future and its socket shows. */
enum io_direction_of {
	IO_SAYS_NOTHING, /* it may read in order to write, as TLS does */
	IO_SAYS_READS = IO_READS,
	IO_SAYS_WRITES = IO_WRITES,
	IO_PASSES_ON, /* it passes reads and writes on to the resource inside it */
	/*
	 * The future reads items of a stream, not bytes: an unknown type below it may be a
	 * protocol, which writes pings while it is read.
	 */
	IO_TAKES_ITEMS = IO_READS | 4,
	IO_GIVES_ITEMS = IO_WRITES | 4,
};

/*
 * A head that ends in "::" matches all types of the module. If member is not NULL, the row applies
 * to the value that this member leads to.
 */
struct io_row {
	const char *head, *member;
	enum io_direction_of says;
};

/*
 * A pool of connections or the like: a task or thread that wants one waits at a primitive inside of
 * what the pool's clones share. All paths begin there.
 */
struct pool_row {
	const char *type;      /* type that the clones share */
	const char *part;      /* path to the primitive, or to a reference to it */
	const char *primitive; /* its type */
	const char *size;      /* path to the number of connections that exist */
	const char *idle;      /* to how many of them nobody has */
	const char *max;       /* to how many there may be; 0 means no limit */
	const char *opening;   /* to how many are being opened and do not count in size; NULL: none
	                          is counted */
	const char *frame; /* beginning of the names of its futures that wait; NULL: threads wait */
	const char *member; /* path from such a future to its reference to the pool */
	const char *handle; /* type of self of the function in which threads wait */
	/*
	 * Type that a waiter is sent through a oneshot channel of its own, where the pool's type
	 * has no such part. NULL: all wait at the primitive.
	 */
	const char *sent;
};

/* A type whose values others wait for: see runtimes/ownership/ownership.h. */
struct ownership_row {
	const char *type;
	enum holding_role role;
	const char *kind;   /* as in struct holding */
	const char *member; /* path from the value to its reference to the object; "": the value is
	                       the object */
	const char *or_member; /* second path, where member leads to nothing; NULL: none */
	const char *content;   /* path from the value to what it gives access to, which it owns: the
	                          value is empty where the path leads to nothing. NULL: it is never
	                          empty and owns nothing */
	const struct pool_row *pool; /* the object is a pool, of and part are the row's */
	const char *of;              /* type of the object */
	const char *part;            /* path from the object to the primitive; "": the same */
	const char *permits;         /* path from the value to its number of permits; NULL: one */
	const char *total; /* path from the object to its total of permits; NULL: unknown */
	/*
	 * If `of` is the primitive: the type of the object, which has the primitive as its member
	 * `s` and has the same T as the row's type. NULL: `of` is the object.
	 */
	const char *whole;
	uint64_t busy; /* without a semaphore: the bits that are set in the primitive of a locked
	                  lock */
	/* Reads a semaphore: its address in the primitive, and its number of free permits. */
	struct error *(*left)(const struct leaf *l, struct value primitive, uint64_t *addr,
	                      uint64_t *permits);
	bool single; /* there is only one permit */
	/* A permit that is an end of the channel, too, which counts it; HOLDING_LOCK: it is none.
	 */
	enum holding_role end;
	bool queue;  /* the receiving end of an mpsc channel: see ownership_walk_messages() */
	bool shared; /* a reference to a value of the type, or an Arc of one, counts like the value
	                itself */
	/*
	 * Futures whose type begins so have the value only to hand it out: they wait for the object
	 * themselves. NULL: there are none.
	 */
	const char *maker;
};

/*
 * A type that the program knows as a socket or the like. Its descriptor is that of the OwnedFd in
 * it: the row only gives the finding the type's name and the path to it.
 */
#define DESCRIPTOR_OF(t)                                                                           \
	{                                                                                          \
		.type = (t), .role = HOLDING_DESCRIPTOR, .kind = "io", .member = "", .part = ""    \
	}

/* Types that the search for resource owners treats specially. */
enum ownership_special {
	SPECIAL_NONE,
	SPECIAL_ACQUIRE, /* a lock future: it may have been granted permits */
	SPECIAL_JOIN,    /* a JoinHandle: the output of a finished task may be in the task's cell */
	SPECIAL_SET,     /* FuturesUnordered */
	SPECIAL_SHARED,  /* Arc, Rc */
	SPECIAL_MEMBERS, /* a leaf future that owns what others wait for, in its members */
	SPECIAL_ENTRIES, /* a collection that dwarf/values/entries.h can walk */
	SPECIAL_HIDDEN,  /* a union, or a collection whose layout is unknown */
};

struct special_row {
	const char *type;
	enum ownership_special special;
};

/* The lock type for a kind of wait; used to find the program's name of the lock. */
struct named_row {
	const char *kind, *type;
	/*
	 * Beginning of the types around it that are the object to the program: a Pool around what
	 * its clones share. NULL: the type is the object.
	 */
	const char *within;
};

/* A future in which a runtime on async-task wraps what is spawned on it. */
struct wrapped_row {
	const char *schedule; /* beginning of the type of its schedule functions */
	const char *type;
	const char *path; /* from it to what is inside */
};

struct crate_types {
	const char *crate; /* "flume"; NULL: of a runtime, or of several crates */
	const char *path;  /* the prefix of the paths of its types: "flume::" */

	/* -- futures -- */

	const struct leaf_row *const *leaves;
	/*
	 * Futures that are no leaves: the decode function fills the future's properties in the form
	 * of a wait (struct future in model.h).
	 */
	const struct leaf_row *properties;
	const struct binding_row *const *leaf_bindings; /* paths that leaf decoders read */
	const struct combinator_row *combinators;
	const struct sequence_row *sequences;
	const struct io_row *directions;
	const struct wrapped_row *wrapped; /* each is inside the one of the row above it */
	const char *const *pollers; /* beginnings: crates whose futures poll what they contain */
	const char *const *non_future_ends;    /* ends of paths of its types that are no futures */
	const char *const *non_future_modules; /* beginnings of such paths */
	const char *const *boundaries; /* beginnings: the runtime itself begins behind them */
	const char *const *lists;      /* beginnings: types that contain lists of waiters */
	const char *poll_fn;           /* its own equivalent of core::future::PollFn */
	/* A static that the leaf of that type reads; false: none. */
	bool (*leaf_static)(const struct type *t, struct value *ret);
	/*
	 * The nth of the types that the leaf of that type finds by their names, for layout files;
	 * NULL: there are no more.
	 */
	const struct type *(*leaf_type)(const struct type *t, size_t n);

	/* -- owners of resources -- */

	const struct ownership_row *holdings;
	const struct special_row *specials;
	const struct named_row *named;
	const struct pool_row *pools;
	const struct show_row *shown; /* types with a text of their own (show_rows.h); NULL none */
	/* The holding of a lock future (SPECIAL_ACQUIRE) that was granted permits. */
	struct error *(*acquired)(const struct leaf *l, struct value v, struct found *ret,
	                          bool *found);
	const char *queue; /* the channel whose queued messages are searched: "tokio's mpsc" */
};

#endif

/*
 * Interface between ownership.c, which walks trees of futures, and ownership_walk.c, which walks
 * values.
 */
#ifndef RUNTIMES_OWNERSHIP_OWNERSHIP_WALK_H
#define RUNTIMES_OWNERSHIP_OWNERSHIP_WALK_H

#include "runtimes/ownership/ownership.h"

/* A variable of a coroutine's state that may hold something. */
struct ownership_local {
	const char *name; /* clean; NULL: a temporary, which has no name */
	const struct type *type;
	uint64_t offset;                     /* from the coroutine */
	bool uncertain, by_flags;            /* by_flags: uncertain if a drop flag is false */
	bool hidden;                         /* its location is unknown */
	struct ownership_variable *variable; /* NULL: it has no name */
};

/*
 * The variables of coroutine v in state `active` that may hold something. Computed once per state.
 * n is 0 for a state without any.
 */
const struct ownership_local *ownership_locals(struct collector *c, struct value v,
                                               const struct variant *active, size_t *n);

enum { OWNERSHIP_MAX_ELEMENTS = 1 << 14 }; /* visited elements of one collection */

/* A part of a path, the innermost first. */
struct ownership_step {
	const struct ownership_step *up;
	const char *name; /* of a member or variable; NULL: an element */
	uint64_t index;
	bool lasting; /* name is clean and outlives the snapshot */
};

/* The search of one tree, or of one variable. */
struct walk {
	struct collector *c;
	const struct future
		*own;          /* the innermost frame so far in the program's own code, NULL none */
	struct found template; /* the members that all findings share */
	struct value in;       /* the frame or variable that is being walked */
	/*
	 * The outermost value around the present one whose type has a row of HOLDING_DESCRIPTOR:
	 * what the program calls a socket; type NULL: none.
	 */
	struct value named;
	const struct ownership_step *named_up; /* the path to it */
	bool only_descriptors;                 /* what others wait for is not taken here */
	bool framed;       /* frames is filled in; done only when something may be held */
	struct map frames; /* keys of the tree's frames: each is searched on its own */
	size_t visited;    /* values visited in the tree */
	unsigned depth;
};

/*
 * ownership_name.c: fills wait->name with the program's name for what a frame below w->own waits
 * for, when a variable of w->own leads to it.
 */
void ownership_name_wait(struct walk *w, struct wait *wait);

/* Fills frames. */
void ownership_note_frames(struct walk *w);

/* Several futures may begin at one address. */
uint64_t ownership_frame_key(struct value v);

/*
 * Walks v and all that it owns, but not the tree's frames. up: the path to v, NULL: v is the frame.
 */
void ownership_walk(struct walk *w, struct value v, const struct ownership_step *up,
                    bool uncertain);
/*
 * ownership_queue.c: ownership_walk() for the messages queued in an mpsc channel whose receiving
 * end is v: the receiver owns them. up: the path to that end.
 */
struct error *ownership_walk_messages(struct walk *w, struct value v,
                                      const struct ownership_step *up, bool uncertain) MUST_CHECK;
/* ownership_walk() for a frame that is no coroutine. */
void ownership_walk_root(struct walk *w, struct value v, bool uncertain);
/* ownership_walk() for a coroutine, whether it is a frame of the tree or not. */
void ownership_walk_coroutine(struct walk *w, struct value v, const struct variant *active,
                              const struct ownership_step *up, bool uncertain);

#endif

/* Between holding.c, which knows trees, and holding_walk.c, which knows values. */
#ifndef RUNTIMES_HOLDING_HOLDING_WALK_H
#define RUNTIMES_HOLDING_HOLDING_WALK_H

#include "runtimes/holding/holding.h"

/* A variable of a coroutine's state that may hold something. */
struct holding_local {
	const char *name; /* clean; NULL: a value that nobody named */
	const struct type *type;
	uint64_t offset; /* from the coroutine */
	bool uncertain;
	bool hidden;                       /* where it is, is not known */
	struct holding_variable *variable; /* NULL: it has no name */
};

/*
 * Those of a coroutine v in state active, worked out once a state; n 0 where it is in none that has
 * any.
 */
const struct holding_local *holding_locals(struct collector *c, struct value v,
                                           const struct variant *active, size_t *n);

enum { HOLDING_MAX_ELEMENTS = 1 << 14 }; /* of one collection that are looked at */

/* One part of a path, the innermost first. */
struct step {
	const struct step *up;
	const char *name; /* of a member or variable; NULL: an element */
	uint64_t index;
	bool lasting; /* name is clean and outlives the snapshot */
};

/* The search of one tree, or of one variable. */
struct walk {
	struct collector *c;
	const struct future
		*own;      /* the innermost frame so far in the program's own code, NULL none */
	struct found like; /* what all that is found has in common */
	struct value in;   /* the frame, or variable, that the walk is in */
	bool framed;       /* frames is filled in: only where something may be held at all */
	struct map frames; /* holding_frame_key() of the tree's frames, which are searched by
	                      themselves */
	size_t visited;    /* values of the tree */
	unsigned depth;
};

/*
 * holding_name.c: says what the program calls that for which a frame below w->own waits, where
 * own's variables lead there.
 */
void holding_name_wait(struct walk *w, struct wait *wait);

/* Fills frames. */
void holding_note_frames(struct walk *w);

/* Several futures may begin at one address. */
uint64_t holding_frame_key(struct value v);

/* v and all that it owns, up to the tree's frames. up: how it is called, NULL: it is the frame. */
void holding_walk(struct walk *w, struct value v, const struct step *up, bool uncertain);
/* holding_table.c: the same of all entries of a hashbrown RawTable v. */
struct error *holding_walk_table(struct walk *w, struct value v, const struct step *up,
                                 bool uncertain) MUST_CHECK;
/*
 * holding_queue.c: the same of the messages that are queued for the receiving end v of an mpsc
 * channel: who is to receive them has them. up: how the end is called.
 */
struct error *holding_walk_messages(struct walk *w, struct value v, const struct step *up,
                                    bool uncertain) MUST_CHECK;
/* The same of the frame itself that is no coroutine. */
void holding_walk_root(struct walk *w, struct value v, bool uncertain);
/* The same of a coroutine, whether it is a frame of the tree or not. */
void holding_walk_coroutine(struct walk *w, struct value v, const struct variant *active,
                            const struct step *up, bool uncertain);

#endif

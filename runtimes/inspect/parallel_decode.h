/*
 * A second inspector, which learns half of the types of a large program: each rehearsal gives it
 * tasks, which it reads in a thread beside, with debug info of its own
 * (dwarf/module/debuginfo_clone.h). What it has learnt serves every snapshot that follows, of which
 * it reads the tasks that are its own in a thread beside too. Which tasks are that depends on
 * nothing but their poll functions.
 */
#ifndef RUNTIMES_INSPECT_PARALLEL_DECODE_H
#define RUNTIMES_INSPECT_PARALLEL_DECODE_H

#include "runtimes/tokio/tokio.h"

struct assistant;

/*
 * Is what there may be to learn for such a snapshot so much? Where $ASYNCDBG_JOBS is set, it says
 * so: 1 never, any other always.
 */
bool assistant_is_worth(const struct inspector *in, unsigned want);
/* Before a rehearsal: gives c->in an assistant, or its own new work, if that is worth it. */
void assistant_begin(struct collector *c);
/* Once c->polls are known, in their order: takes the assistant's tasks out, and it begins. */
void assistant_share(struct collector *c);
/* Waits until it has read them. */
void assistant_wait(struct inspector *in);
/* After the rehearsal, when nobody asks for the futures of its tasks any more. */
void assistant_end(struct inspector *in);
void assistant_close(struct inspector *in);
/* debuginfo_relax() of all debug info that nobody is at work with beside. */
void assistant_relax(struct inspector *in, size_t limit);

/* Does it know the types of tasks with that poll function? */
bool assistant_knows(const struct inspector *in, uint64_t poll);

/*
 * A snapshot: c->shared, once threads and runtimes are known. Then, with c->polls complete and in
 * order: takes its own tasks out of them and begins, and waits until they are read, as if c had.
 */
bool assistant_walks(const struct collector *c);
void assistant_walk(struct collector *c);
void assistant_end_walk(struct collector *c);

/* What a collector has of one inspector, while the other reads a task for it. */
struct assistant_turn {
	struct inspector *in; /* NULL: it is not the assistant's turn */
	struct map vtables;
	const struct tokio_thread *threads;
	const struct tokio_runtime *runtimes;
};
/*
 * Until assistant_leave() c reads with what the assistant knows, if the poll function is its own.
 * The assistant's tokio for that of c's inspector, k itself where it is not.
 */
struct tokio *assistant_enter(struct collector *c, struct tokio *k, uint64_t poll,
                              struct assistant_turn *turn);
/* The same where that type is one that the assistant has learnt. */
void assistant_enter_type(struct collector *c, const struct type *t, struct assistant_turn *turn);
void assistant_leave(struct collector *c, struct assistant_turn *turn);

#endif

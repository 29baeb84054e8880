/* The checks of `check`: one row each, one function each. */
#ifndef RUNTIMES_ANALYSIS_CHECKS_H
#define RUNTIMES_ANALYSIS_CHECKS_H

#include "debugger/base/vec.h"
#include "runtimes/analysis/alike.h"
#include "runtimes/analysis/finding.h"
#include "runtimes/graph/verdict.h"

/* What a worker was doing at the first of two looks. */
struct look {
	pid_t tid;
	const char *task;   /* id, NULL none */
	uint64_t addr;      /* of that task's header, 0 unknown */
	const char *wait;   /* kind of what the thread sat in, NULL nothing */
	uint64_t object;    /* of that */
	uint64_t queue_len; /* of its own queue */
	const char *place;  /* "src/x.rs:12": where its code was, NULL unknown */
};

struct checks {
	struct arena *a;
	const struct snapshot *s;
	const struct verdicts *v;
	const struct alikes *alikes; /* of v; NULL: not made yet */
	bool two_looks;              /* before is known */
	const struct look *before;
	size_t nbefore;
	double interval; /* seconds between the looks */
	VEC(struct finding) found;
	VEC(const char *) skipped;
};

struct check {
	const char *name;
	const char *what;   /* for help */
	bool may_be_unsure; /* some of its findings are only possible: NAME:possible counts them */
	void (*run)(struct checks *c, const struct check *check);
};

/* Ended by a row without name. */
extern const struct check checks_table[];

/* The looks of all threads that poll, in arena a. */
struct look *checks_look(struct arena *a, const struct snapshot *s, size_t *n);
/* Where a thread's code is or waits: "src/x.rs:12", in arena a; NULL unknown. */
const char *checks_thread_place(struct arena *a, const struct snapshot *s,
                                const struct thread_info *th);

/* A finding about these tasks, whose text is a format; its other members are to be filled in. */
struct finding *checks_add_finding(struct checks *c, const struct check *check,
                                   enum severity severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* checks_thread.c */
void checks_blocked_worker(struct checks *c, const struct check *check);
void checks_long_poll(struct checks *c, const struct check *check);
void checks_starved_queue(struct checks *c, const struct check *check);
/* checks_task.c */
void checks_panicked(struct checks *c, const struct check *check);
void checks_closed_channel(struct checks *c, const struct check *check);
void checks_huge_future(struct checks *c, const struct check *check);
void checks_identical(struct checks *c, const struct check *check);
/* What no place in reach can wake. */
void checks_no_waker(struct checks *c, const struct check *check);

#endif

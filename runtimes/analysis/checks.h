/*
 * Checks for defects of a program. Each has a row in checks_table and a function. asyncdbg_check()
 * of runtimes/session/asyncdbg.h takes the snapshots and runs them all.
 */
#ifndef RUNTIMES_ANALYSIS_CHECKS_H
#define RUNTIMES_ANALYSIS_CHECKS_H

#include "debugger/base/vec.h"
#include "runtimes/analysis/finding.h"
#include "runtimes/analysis/verdict_group.h"
#include "runtimes/graph/verdict.h"

/* Activity of a worker in the first of two snapshots. */
struct look {
	pid_t tid;
	const char *task;   /* id of the task it polled, NULL none */
	uint64_t addr;      /* address of that task's header, 0 unknown */
	const char *wait;   /* kind of the wait the thread was blocked in, NULL none */
	uint64_t object;    /* address of the object of that wait */
	uint64_t queue_len; /* length of its local run queue */
	const char *place;  /* "src/x.rs:12": source line it was at, NULL unknown */
	uint64_t poll;      /* as thread_info.poll */
	bool has_poll;
	bool slept_on; /* slept until just before the second look: in one and the same system call,
	                  as its switches prove */
};

struct checks {
	struct arena *a;
	const struct snapshot *s;
	const struct verdicts *v;
	const struct verdict_groups *alikes; /* of v; NULL: not computed yet */
	bool two_looks;                      /* before is set */
	bool stands_still; /* the process is halted: a second look would show the same */
	bool suspended;    /* at one of the looks a signal or its cgroup kept it from running */
	const struct look *before;
	size_t nbefore;
	const uint64_t *threadless; /* runtimes that lacked a thread at the first look: addr */
	size_t nthreadless;
	double interval; /* seconds between the two snapshots */
	VEC(struct finding) found;
	VEC(const char *) skipped; /* "long-poll: why it could not be checked" */
};

struct check {
	const char *name;
	const char *what;   /* for help */
	bool may_be_unsure; /* some findings may be only possible: NAME:possible includes them */
	void (*run)(struct checks *c, const struct check *check);
};

/* Terminated by a row without a name. */
extern const struct check checks_table[];

/* Findings of all checks in a snapshot. The lists are in the arena of the checks. */
struct checks_result {
	const struct snapshot *snapshot; /* the later one of two */
	const struct finding *found;     /* the worst first */
	size_t nfound;
	const char *const *skipped; /* "long-poll: why it could not be checked" */
	size_t nskipped;
};

/*
 * Runs all checks. Of c, a, s, v and stands_still are set and, for two looks, two_looks, before,
 * nbefore, threadless, nthreadless and interval. ERR_INTERRUPTED after ^C.
 */
struct error *checks_run(struct checks *c, struct checks_result *ret) MUST_CHECK;

/*
 * A list of checks, with commas between: NAME has the certain findings of a check, NAME:possible
 * all. A list of NULL has all certain errors. checks_list_check() returns ERR_USAGE for a name that
 * is no check, or has no possible findings.
 */
struct error *checks_list_check(const char *list) MUST_CHECK;
bool checks_list_has(const char *list, const struct finding *f);

/* Records the activity of each thread that polls, in arena a. */
struct look *checks_look(struct arena *a, const struct snapshot *s, size_t *n);
/* The addresses of the runtimes with blocking jobs and without a thread for them, in arena a. */
uint64_t *checks_threadless(struct arena *a, const struct snapshot *s, size_t *n);
/* The addresses of all runtimes of a look. */
struct seen_runtimes {
	const uint64_t *addrs;
	size_t n;
};
/* The addresses of the runtimes of a snapshot, in arena a. */
struct seen_runtimes checks_seen_runtimes(struct arena *a, const struct snapshot *s);
/*
 * Whether a runtime that was not seen at the look before has blocking jobs and no thread for them.
 * Two looks at it are needed to say so.
 */
bool checks_met_late(const struct seen_runtimes *seen, const struct snapshot *s);
/* The source line where a thread runs or waits: "src/x.rs:12", in arena a; NULL unknown. */
const char *checks_thread_place(struct arena *a, const struct snapshot *s,
                                const struct thread_info *th);

/* Adds a finding with a formatted text. The caller fills in the other members. */
struct finding *checks_add_finding(struct checks *c, const struct check *check,
                                   enum severity severity, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "task 5 (app::serve)": a text with the task's name behind it, in arena a; task NULL: as it is. */
const char *checks_with_name(struct arena *a, const char *text, const struct task *task);

/* checks_thread.c */
void checks_blocked_worker(struct checks *c, const struct check *check);
void checks_long_poll(struct checks *c, const struct check *check);
void checks_starved_queue(struct checks *c, const struct check *check);
/*
 * How a thread that should poll is kept from it, in arena c->a: "is blocked in std Mutex lock", "is
 * in one poll of task 5"; with two looks, at both. NULL: it is not, or that is not proved.
 */
const char *checks_thread_stuck(struct checks *c, const struct thread_info *th);
/* checks_unpolled.c: tasks that keep others waiting with a future that they do not poll. */
void checks_unpolled_owner(struct checks *c, const struct check *check);
/* checks_timer.c */
void checks_timer_overdue(struct checks *c, const struct check *check);
/* checks_task.c */
void checks_panicked(struct checks *c, const struct check *check);
void checks_closed_channel(struct checks *c, const struct check *check);
void checks_huge_future(struct checks *c, const struct check *check);
void checks_identical(struct checks *c, const struct check *check);
/*
 * Whether nothing can wake the task: its runtime counts its wakers, and there is none. Not where a
 * leaf contradicts that, and not where the task waits for ever on purpose. A snapshot that an older
 * asyncdbg saved has no counts.
 */
bool checks_nothing_wakes(const struct task *task);
/* Tasks of which no waker exists. */
void checks_no_waker(struct checks *c, const struct check *check);

#endif

/* Inside of a running process as a target: target_live.c, live_peek.c, tracer_stop.c. */
#ifndef DEBUGGER_LIVE_LIVE_H
#define DEBUGGER_LIVE_LIVE_H

#include <dirent.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"

struct tracer;

/* A thread as /proc shows it while it is not stopped. */
struct peek {
	pid_t tid;
	const char *name; /* sanitised, in the target's stop_arena */
	char run_state;
	/*
	 * It is off its processor, in the kernel; then regs has its pc, sp and system call, and
	 * as long as it sleeps on, it executes nothing.
	 */
	bool asleep;
	/* How often it gave up its processor or lost it: the same means that it has slept on. */
	uint64_t switches;
	struct regs regs; /* in the target's stop_arena */
};

struct live {
	struct target *t;
	const char *exe; /* --exe, or NULL */
	pid_t reader;    /* the thread whose memory is read: normally the main one */
	int mem_fd;      /* for kernels and filters that forbid process_vm_readv() */
	bool use_mem_fd;
	size_t reads; /* system calls that read memory, since the stop */
	int64_t clock_offset;
	char *auxv; /* changes with execve() */
	size_t auxv_len;
	VEC(struct peek) peeks; /* of threads that are not stopped, since the last peek or stop */
	struct tracer *tracer;
	bool own_tracer;
	/* Of the current stop. */
	const struct brief_stop *brief; /* NULL: until it is told to resume */
	bool over;                      /* the brief one would have lasted too long */
	DIR *tasks;                     /* /proc/PID/task */
	struct map known;               /* by tid */
};

uint64_t live_now_ns(void);
/* pids are used again, and execve() replaces a program. */
struct error *live_same_program(struct live *l) MUST_CHECK;
/* Takes down the target's clock as it is now. */
void live_read_clock(struct live *l);

/* false when there is no such thread, or it ends. */
bool live_peek_thread(struct live *l, pid_t tid, struct peek *ret);
/* Whether a thread that was asleep has slept on since. */
bool live_slept_on(struct live *l, const struct peek *before);
/* What is known of a thread that is not stopped. */
struct thread live_peeked(const struct live *l, const struct peek *p);

/* target_ops; those that stop are in tracer_stop.c */
struct error *live_stop(struct target *t) MUST_CHECK;
void live_resume(struct target *t);
struct error *live_stop_briefly(struct target *t, const struct brief_stop *s, struct copy *ret)
	MUST_CHECK;
struct error *live_peek(struct target *t) MUST_CHECK;
void live_recheck(struct target *t);
bool live_thread_slept_on(struct target *t, pid_t tid);
struct error *live_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
	MUST_CHECK;
/* live_memory.c */
struct error *live_each_writable(struct target *t, memory_fn *visit, void *arg) MUST_CHECK;

#endif

/*
 * Internals of a live target, shared by target_live.c, live_thread_stat.c, live_memory.c and
 * tracer_stop.c.
 */
#ifndef DEBUGGER_LIVE_LIVE_H
#define DEBUGGER_LIVE_LIVE_H

#include <dirent.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/live/served_memory.h"
#include "debugger/live/served_reader.h"
#include "debugger/target/target.h"

struct tracer;

/* State of a thread that is not stopped, from /proc. */
struct peek {
	pid_t tid;
	const char *name; /* sanitised, in the target's stop_arena */
	char run_state;
	/*
	 * The thread is inside the kernel, not on a CPU. regs then contains its pc, sp and system
	 * call, and as long as it stays asleep, it executes nothing.
	 */
	bool asleep;
	/* Number of context switches. The same number later means that it has stayed asleep. */
	uint64_t switches;
	struct regs regs; /* in the target's stop_arena */
};

struct live {
	struct target *t;
	const char *exe; /* --exe, or NULL */
	pid_t reader;    /* the thread whose memory is read: the main one until it has ended */
	int mem_fd;      /* used if process_vm_readv() is not permitted */
	bool use_mem_fd;
	size_t reads; /* system calls that read memory, since the stop */
	int64_t clock_offset;
	uint64_t maps_key; /* of the mappings from which its modules are known */
	char *auxv;        /* used to detect an execve() */
	size_t auxv_len;
	struct served_memory served; /* of the last peek */
	struct served_reader served_reader;
	unsigned unserved;      /* reads of it that nobody has answered in time */
	VEC(struct peek) peeks; /* threads that were not stopped, at the last peek or stop */
	struct tracer *tracer;
	bool own_tracer;
	/* State of the current stop. */
	const struct brief_stop *brief; /* NULL, or act() is: it lasts until TRACER_RESUME */
	bool standing;                  /* its threads are stopped, or about to be */
	bool over;                      /* the brief stop would exceed its max_ns */
	DIR *tasks;                     /* /proc/PID/task */
	struct map known;               /* tids that were handled */
};

/*
 * Checks that the process still runs the same program: pids are reused, and execve() replaces a
 * program.
 */
struct error *live_same_program(struct live *l) MUST_CHECK;
/*
 * Finds the target's memory that somebody serves. The target must not stand still, as that takes
 * time.
 */
void live_find_served(struct live *l);
/* Sets the target's clock to the current time. */
void live_read_clock(struct live *l);

/* Reads the state of a thread. False if there is no such thread, or it is ending. */
bool live_thread_stat(struct live *l, pid_t tid, struct peek *ret);
/* Whether a thread that was asleep has stayed asleep since. */
bool live_stayed_asleep(struct live *l, const struct peek *before);
/* The struct thread for a thread that is not stopped. */
struct thread live_peeked(const struct live *l, const struct peek *p);

/* Functions of target_ops. Those that stop the target are in tracer_stop.c. */
struct error *live_stop(struct target *t) MUST_CHECK;
void live_resume(struct target *t);
struct error *live_stop_briefly(struct target *t, const struct brief_stop *s, struct copy *ret)
	MUST_CHECK;
struct error *live_thread_stats(struct target *t) MUST_CHECK;
void live_recheck(struct target *t);
bool live_thread_slept_on(struct target *t, pid_t tid);
struct error *live_read(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
	MUST_CHECK;
/* live_memory.c */
struct error *live_each_writable(struct target *t, memory_fn *visit, void *arg) MUST_CHECK;

#endif

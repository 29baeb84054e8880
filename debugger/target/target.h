/*
 * A target answers for memory, threads, registers and modules of one program: a live process,
 * a core dump, or arrays in a unit test. They differ in struct target_ops and nowhere else.
 *
 * A live target runs except between target_stop() and target_resume() and during a moment of
 * target_snap(). What was read then stays readable afterwards from the page cache until the next
 * one, so that formatting happens while the program runs.
 */
#ifndef DEBUGGER_TARGET_TARGET_H
#define DEBUGGER_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/base/error.h"
#include "debugger/base/vec.h"

struct target;
struct module;
struct mapping;
struct page_cache;
struct read_range;
struct Dwfl;
struct fd_info;
struct tls;
struct tracer;
struct unwinder;

struct thread {
	unsigned number; /* from 1; the main thread first, then by ascending tid: same live and core
	                  */
	pid_t tid;
	const char *name; /* comm, sanitised; NULL where unknown (cores do not say) */
	char run_state; /* R, S, D ... of /proc/PID/task/TID/stat just before the stop; 0 unknown */
	/*
	 * false: died meanwhile, or a core without its NT_PRSTATUS, or it was not stopped and ran.
	 * Its thread pointer may be known all the same.
	 */
	bool has_regs;
	bool stopped;          /* for the last copy; false: it was asleep all the while, or ran */
	uint64_t unknown_regs; /* bit n: regs.r[n] is not known although has_regs */
	const char *problem;   /* why has_regs is false, NULL where the reason is none of these */
	struct regs regs;
};

/* What the user allows to be done to a running program. */
struct stop_options {
	bool all;        /* stop every thread, also those that cannot matter */
	bool never;      /* stop none */
	bool has_max;    /* the program stands still for max_ns at most */
	uint64_t max_ns; /* nanoseconds */
};

enum copy_how {
	COPY_STOPPED, /* the program stood still: all bytes are of one moment */
	COPY_LIMITED, /* it stood still for its registers, for as long as it may */
	COPY_RUNNING, /* it was not stopped */
};

/* Measured, rather too much: to read the registers of a thread, to let it go, and besides. */
enum { REGS_COST_NS = 4000, RESUME_COST_NS = 6000, BASE_COST_NS = 100000 };

/* How the last target_snap() went. */
struct copy {
	enum copy_how how;
	uint64_t pause_ns; /* how long the program stood still */
	size_t stopped;    /* threads */
	size_t bytes;      /* of the target's memory */
	/*
	 * A thread that was left asleep ran meanwhile: the bytes may be of several moments. The
	 * next target_snap() must stop all.
	 */
	bool spoiled;
};

/* One mapping of the target's address space, of a file or anonymous. */
struct region {
	uint64_t start, end;
	const char *name; /* a path, "[heap]", "[stack]", ..., sanitised; NULL none or unknown */
	bool readable, writable, executable;
};

/* Called for a part of the target's memory, [start, end); false: call it for no more. */
typedef bool memory_fn(uint64_t start, uint64_t end, void *arg);

/* What to do in a stop of a moment, and for how long. */
struct brief_stop {
	uint64_t max_ns;            /* 0: no limit */
	void (*prepare)(void *arg); /* called just before, on the same thread; NULL nothing */
	void (*act)(void *arg);     /* called when all threads stand still */
	void *arg;
};

struct target_ops {
	const char *kind; /* "live", "core", "fake" */
	/*
	 * Reads up to len bytes at addr. A hole in the address space is a valid state of the
	 * target, not an error: *ret says how many bytes exist from addr on (0: none).
	 */
	struct error *(*read)(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret);
	/* The same for many ranges in few system calls. NULL: read() is called for each. */
	struct error *(*read_batch)(struct target *t, struct read_range *ranges, size_t n);
	/* Stops every thread and fills t->threads with their registers. NULL: always stopped. */
	struct error *(*stop)(struct target *t);
	/* Lets it run again, whatever state it is in; must not fail half-way. NULL as above. */
	void (*resume)(struct target *t);
	/*
	 * Fills t->threads as far as that is possible while they run: registers of those that
	 * sleep, thread pointers. NULL: nothing is.
	 */
	struct error *(*peek)(struct target *t);
	/* Takes the registers from threads that have run since peek(). NULL as above. */
	void (*recheck)(struct target *t);
	/* See target_slept_on(). NULL: no. */
	bool (*slept_on)(struct target *t, pid_t tid);
	/*
	 * All in one: stops, fills t->threads and t->stopped_at, does what is asked, resumes, and
	 * fills *ret but for how and bytes. Threads of which target_is_excluded() need not stop.
	 * Where within max_ns not all have stopped, they run again, ret->stopped is 0 and act()
	 * was not called. NULL: stop(), act(), resume().
	 */
	struct error *(*stop_briefly)(struct target *t, const struct brief_stop *s,
	                              struct copy *ret);
	void (*close)(struct target *t);
	/* See target_region(). NULL: no mapping is known. */
	bool (*region)(struct target *t, struct arena *a, uint64_t addr, struct region *ret);
	/* See target_each_writable(). NULL: no such memory is known. */
	struct error *(*each_writable)(struct target *t, memory_fn *visit, void *arg);
};

/* How old or how sure the target's clock is. */
struct target_clock {
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC of the target (its time namespace) */
	bool known;            /* false on a core */
};

struct target_signal {
	int number; /* the signal that ended the process (core), 0 if none */
	int code;
	uint64_t addr;
	pid_t tid; /* thread that got it, 0 unknown */
};

struct target {
	const struct target_ops *ops;
	const struct arch *arch;
	pid_t pid;
	const char *command;    /* comm or NT_PRPSINFO, sanitised, may be NULL */
	const char *instance;   /* tells a process from all others, also those of its pid: the boot
	                           and when it was started; NULL unknown, as of a core */
	const char *path;       /* of the core file; NULL when live */
	const char *root;       /* "/proc/PID/root": its view of the files; "" on a core */
	bool stopped;           /* registers and memory stand still; always true for cores */
	size_t misses;          /* reads since the last stop that it should have made and did not */
	size_t doubts;          /* reads of bytes that changed while they were copied, and misses */
	bool frozen;            /* reads are answered by what the last stop has read */
	unsigned generation;    /* +1 at every stop; caches of target memory are keyed by it */
	struct thread *threads; /* of the last stop, ascending number */
	size_t nthreads;
	struct module *modules; /* ascending start address; [main_module] is the executable */
	size_t nmodules;
	struct module *main_module; /* NULL when no executable could be found */
	struct Dwfl *dwfl;          /* owned here, lent to dwarf/ */
	bool debuginfod_is_silent;  /* see debug_file.h */
	struct target_clock clock;  /* taken at the last stop */
	struct target_signal signal;
	uint64_t pause_ns;   /* how long the last stop lasted; 0 on a core */
	uint64_t stopped_at; /* when it began, on our monotonic clock */
	struct stop_options options;
	struct copy copy;
	bool stop_failed;    /* within options.max_ns not all threads had stopped */
	VEC(pid_t) excluded; /* see target_exclude() */
	const char **notes;  /* what was seen while opening: truncated core, files not found */
	size_t nnotes;
	uint64_t entry;            /* AT_ENTRY, 0 unknown */
	uint64_t vdso;             /* AT_SYSINFO_EHDR, 0 unknown */
	struct unwinder *unwinder; /* of dwarf/unwind/unwind.c, NULL until it attached to dwfl */
	struct tls *tls;           /* of tls.c: libc's layout, NULL until it was needed */
	struct fd_info *sockets;   /* of fd_info.c, NULL until it was needed */
	void *private;             /* of the ops */
	struct page_cache *cache;  /* NULL where ops->read() is as good: cores, fakes */
	/* What does not change while the target runs: its read-only file mappings, ascending. */
	struct mapping *constant;
	size_t nconstant;
	struct arena stop_arena; /* threads and their names; emptied at the next stop */
	struct arena arena;      /* lives until target_close() */
};

struct target_options {
	const char *exe; /* executable to use instead of the one recorded; NULL: find it */
	bool force;      /* accept an executable whose build-id differs */
	struct stop_options stop;
	/* Of debugger/live: has launched or attached to the process. NULL: the target gets its own
	 */
	struct tracer *tracer;
};

/*
 * Opens a running process without stopping it: checks that it exists, is 64-bit, of our
 * architecture, that we may trace it (/proc/PID/status, yama, capabilities) and that nobody
 * else does, and reports its modules. Errors say what to do.
 */
struct error *target_live_open(pid_t pid, const struct target_options *options, struct target **ret)
	MUST_CHECK;
/* Opens an ELF core (gcore or kernel). Its executable is found by NT_FILE, AUXV and build-id. */
struct error *target_core_open(const char *path, const struct target_options *options,
                               struct target **ret) MUST_CHECK;
/*
 * Opens an executable that does not run: memory is what its file has, threads there are none. For
 * asking its debug info.
 */
struct error *target_file_open(const char *path, struct target **ret) MUST_CHECK;
/* Resumes if stopped, frees everything. NULL is allowed. */
void target_close(struct target *t);
void target_closep(struct target **t);

/*
 * Stops and resumes; no-ops on a core. target_stop() drops the page cache and counts
 * generation up; on failure the target runs. Nested stops are a programming error.
 */
struct error *target_stop(struct target *t) MUST_CHECK;
void target_resume(struct target *t);
/*
 * Until the next stop, reads go to the running program. Threads keep the registers of the last
 * stop. For rehearsing a walk: its answer is thrown away, but the next target_stop() reads at
 * once all the pages that it touched.
 */
void target_invalidate(struct target *t);
/*
 * Fills t->threads without stopping, as far as that is possible, and reads go to the running
 * program, as after target_invalidate(). Where too little can be learned that way, and t->options
 * allow it, a stop of a moment fills them. For rehearsing a walk before there was a stop.
 */
struct error *target_peek(struct target *t) MUST_CHECK;
/*
 * The thread sleeps and nothing depends on it: until the next target_peek(), target_snap() need
 * not stop it. That it has slept on is verified.
 */
void target_exclude(struct target *t, pid_t tid);
bool target_is_excluded(const struct target *t, pid_t tid);
/* Whether a thread that the last target_peek() found asleep has slept on until now. */
bool target_slept_on(struct target *t, pid_t tid);
/*
 * Copies all the pages that were asked for since the last copy or stop, with the threads and the
 * innermost parts of their stacks, while the target stands still; then it runs again. stop_all:
 * every thread stands still. t->copy says how it went. Where t->options forbid it to stand still
 * so long, the pages are copied while it runs and compared with what is there afterwards:
 * what did not change between is of one moment, reads of what did count as t->doubts.
 */
struct error *target_snap(struct target *t, bool stop_all) MUST_CHECK;

/* All of len bytes, or ERR_FAULT at the first byte that is missing. */
struct error *target_read(struct target *t, uint64_t addr, void *buf, size_t len) MUST_CHECK;
/*
 * As many bytes as exist from addr on; *ret may be 0. Fails only when the target is gone.
 * Of a live target: during a stop this reads and remembers; after it, what was not read during
 * the stop has no bytes, unless it cannot have changed since (read-only file mappings). Before
 * the first stop it reads the running process, for rehearsals: do not believe the values.
 */
struct error *target_read_some(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
	MUST_CHECK;
/* A little-endian unsigned integer of size 1, 2, 4 or 8. */
struct error *target_read_uint(struct target *t, uint64_t addr, size_t size, uint64_t *ret)
	MUST_CHECK;
/* A NUL-terminated string of at most max bytes, sanitised, in arena a. */
struct error *target_read_cstr(struct target *t, struct arena *a, uint64_t addr, size_t max,
                               const char **ret) MUST_CHECK;

/* The mapping that covers addr, as of now; false where there is none. Its name is in a. */
bool target_region(struct target *t, struct arena *a, uint64_t addr, struct region *ret);

/*
 * Calls visit for the memory that the program has to itself and has written to, ascending: private
 * writable mappings, as of now. Pages that nobody has touched yet are left out where that is known;
 * for a long run of them visit is called with start == end, so that it can end the walk.
 */
struct error *target_each_writable(struct target *t, memory_fn *visit, void *arg) MUST_CHECK;
/*
 * As many bytes as exist from addr on, as they are now: nothing is remembered or copied by the next
 * target_snap(). For looking through much memory to find little.
 */
struct error *target_read_through(struct target *t, uint64_t addr, void *buf, size_t len,
                                  size_t *ret) MUST_CHECK;

/*
 * Reads between these two are remembered apart and then forgotten: the next target_snap() does not
 * copy their pages, and they count neither as misses nor as doubts. Nothing may be stopped or
 * resumed meanwhile.
 */
struct target_aside {
	struct page_cache *cache;
	size_t misses, doubts;
};
void target_begin_aside(struct target *t, struct target_aside *before);
void target_end_aside(struct target *t, const struct target_aside *before);

/* NULL when there is no thread of that tid. */
const struct thread *target_thread_by_tid(const struct target *t, pid_t tid);

/* Adds one line (copied) to t->notes; the same line is kept once. */
void target_note(struct target *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The address of a thread-local at offset in module's PT_TLS, for thread th. Static TLS of the
 * executable by the psABI's variant II formula; other modules through link_map and the DTV
 * (glibc; ERR_UNSUPPORTED elsewhere). *found false: the thread has not allocated that block yet,
 * or its registers are not known.
 */
struct error *target_tls_address(struct target *t, const struct thread *th, const struct module *m,
                                 uint64_t offset, uint64_t *ret, bool *found) MUST_CHECK;

/*
 * For the implementations of target_ops. An empty target of arch, which may be NULL until the first
 * read of registers or modules; target_close() frees it, also one that was opened only in part.
 * cached: reads go through a page cache.
 */
struct target *target_new(const struct target_ops *ops, const struct arch *arch, bool cached);
/* page_batch_fn of a target. */
struct error *target_read_batch(void *t, struct read_range *ranges, size_t n) MUST_CHECK;
/* What begins each stop: a new generation without threads. */
void target_forget_threads(struct target *t);
/* Copies n threads to t->threads in the order that struct thread describes, numbers them. */
void target_set_threads(struct target *t, const struct thread *threads, size_t n);

#endif

/*
 * A target gives access to memory, threads, registers and modules of one program: a live process, a
 * core dump, an executable file, or arrays in a unit test. The kinds differ only in struct
 * target_ops.
 *
 * A live target runs all the time, except between target_stop() and target_resume() and for the
 * short stop of target_snap(). Memory that was read during a stop stays readable from the page
 * cache until the next stop, so that output is formatted while the program runs.
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
	unsigned number; /* from 1: main thread, then by tid; the same live and in a core */
	pid_t tid;
	const char *name; /* comm, sanitised; NULL where unknown, as in cores */
	char run_state; /* R, S, D ... of /proc/PID/task/TID/stat just before the stop; 0 unknown */
	/*
	 * False: the thread has died, the core has no NT_PRSTATUS for it, or it was running and was
	 * not stopped. Its thread pointer may be known all the same.
	 */
	bool has_regs;
	bool stopped;          /* during the last copy; false: it slept all the while, or ran */
	uint64_t unknown_regs; /* bit n: regs.r[n] is not known although has_regs */
	const char *problem;   /* why has_regs is false; NULL: none of the reasons with a text */
	struct regs regs;
};

/* How far the user allows a running program to be stopped. */
struct stop_options {
	bool all;        /* stop every thread, also those whose state cannot matter */
	bool never;      /* stop none */
	pid_t only;      /* stop this thread alone, the others run on; 0: all that matter */
	bool has_max;    /* the program may be stopped for max_ns at most */
	uint64_t max_ns; /* nanoseconds */
	/*
	 * Without has_max: for PAUSE_NS at most, or PAUSE_THREAD_NS a thread where that is more.
	 * 24 threads on two busy CPUs took up to 938 ms to stop.
	 */
	bool brief;
};
enum { PAUSE_NS = 20 * 1000000, PAUSE_THREAD_NS = 50 * 1000, PAUSE_TRIES = 3 };

enum copy_how {
	COPY_STOPPED, /* the program was stopped: all bytes are of one moment */
	COPY_LIMITED, /* the program was stopped for the registers and, until max_ns, for memory; or
	                 only one of its threads was */
	COPY_RUNNING, /* the program was not stopped */
};

/*
 * Measured costs, rounded up: reading the registers of one thread, resuming one thread, and the
 * fixed cost of a stop.
 */
enum { REGS_COST_NS = 4000, RESUME_COST_NS = 6000, BASE_COST_NS = 100000 };

/* Bytes that target_lay_out() has given an address. */
struct laid_out {
	uint64_t addr;
	const unsigned char *bytes;
	size_t len;
};
struct laid_out_list {
	VEC(struct laid_out) list; /* ascending addr, with gaps */
	struct arena bytes;
};

/* Result of the last target_snap(). */
struct copy {
	enum copy_how how;
	uint64_t pause_ns;   /* how long the program was stopped, in all tries */
	uint64_t longest_ns; /* the longest of them */
	unsigned tries;      /* how often it was stopped: the last try may have succeeded */
	size_t stopped;      /* number of threads that were stopped */
	size_t bytes;        /* of target memory that were copied */
	/*
	 * A thread that was left unstopped because it slept ran meanwhile: the bytes may be of
	 * several moments. The next target_snap() must stop all threads.
	 */
	bool spoiled;
};

/* A mapping of the target's address space, of a file or anonymous. */
struct region {
	uint64_t start, end;
	const char *name; /* a path, "[heap]", "[stack]", ..., sanitised; NULL none or unknown */
	bool readable, writable, executable;
};

/* Called for each range [start, end) of target memory; returns false to end the iteration. */
typedef bool memory_fn(uint64_t start, uint64_t end, void *arg);

/* Work of a brief stop, and how long the stop may last. */
struct brief_stop {
	uint64_t max_ns;            /* 0: no limit */
	void (*prepare)(void *arg); /* called before the stop, same thread; may be NULL */
	void (*act)(void *arg);     /* called when all threads are stopped */
	void *arg;
};

struct target_ops {
	const char *kind; /* "live", "core", "fake" */
	/*
	 * Reads up to len bytes at addr. A hole in the address space is a valid state of the
	 * target, not an error: *ret says how many bytes exist from addr on (0: none).
	 */
	struct error *(*read)(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret);
	/* Reads many ranges in few system calls. NULL: read() is called for each. */
	struct error *(*read_batch)(struct target *t, struct read_range *ranges, size_t n);
	/* Stops every thread and fills t->threads with their registers. NULL: always stopped. */
	struct error *(*stop)(struct target *t);
	/* Resumes the program, whatever its state; must not fail half-way. NULL as above. */
	void (*resume)(struct target *t);
	/*
	 * Fills t->threads as far as possible without a stop: registers of sleeping threads, and
	 * thread pointers. NULL: nothing can be read that way.
	 */
	struct error *(*peek)(struct target *t);
	/* Clears the registers of threads that have run since peek(). NULL as above. */
	void (*recheck)(struct target *t);
	/* See target_is_halted(). NULL: always false. */
	bool (*is_halted)(const struct target *t);
	/* See target_slept_on(). NULL: always false. */
	bool (*slept_on)(struct target *t, pid_t tid);
	/*
	 * A complete brief stop: calls s->prepare(), stops the program, fills t->threads and
	 * t->stopped_at, calls s->act(), resumes, and fills *ret except for how and bytes. Threads
	 * for which target_is_excluded() is true need not stop. If not all threads stop within
	 * max_ns, they are resumed, ret->stopped is 0 and act() is not called. NULL: callers use
	 * stop(), act() and resume().
	 */
	struct error *(*stop_briefly)(struct target *t, const struct brief_stop *s,
	                              struct copy *ret);
	void (*close)(struct target *t);
	/* See target_region(). NULL: no mapping is known. */
	bool (*region)(struct target *t, struct arena *a, uint64_t addr, struct region *ret);
	/* See target_update_modules(). NULL: they never change. */
	struct error *(*update_modules)(struct target *t, bool *changed);
	/* See target_each_writable(). NULL: no such memory is known. */
	struct error *(*each_writable)(struct target *t, memory_fn *visit, void *arg);
};

/* The target's clock, read at the last stop. */
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

/* The modules of a target. */
struct target_modules {
	/* Ascending start address; behind them those that were unloaded; NULL at the end. */
	struct module **data;
	size_t n;
	struct module *main; /* NULL when no executable could be found */
};

/* The last stop of a target, and what the reads since then have met. */
struct target_stop {
	const pid_t *few; /* during target_stop_threads(): nfew threads; otherwise NULL */
	size_t nfew;
	struct stop_options options;
	uint64_t began;    /* on our monotonic clock */
	uint64_t pause_ns; /* its length; 0 on a core */
	bool failed;       /* not all threads had stopped in time, at any of PAUSE_TRIES */
	struct copy copy;
	bool frozen;   /* reads return only what the stop has copied */
	size_t misses; /* reads of pages that the stop did not copy */
	size_t doubts; /* reads of bytes that changed during the copy, and misses */
	struct laid_out_list laid_out;
	struct arena arena; /* threads and their names; freed at the next stop */
};

/* How the memory of a target is cached. */
struct target_memory {
	struct page_cache *cache; /* NULL where ops->read() needs no cache: cores, files, fakes */
	/*
	 * Memory that does not change while the target runs: its read-only file mappings,
	 * ascending.
	 */
	struct mapping *constant;
	size_t nconstant;
};

struct target {
	const struct target_ops *ops;
	const struct arch *arch;
	pid_t pid;
	const char *command;  /* comm or NT_PRPSINFO, sanitised, may be NULL */
	const char *instance; /* unique per process (boot id, start time); NULL unknown */
	const char *path;     /* of the core file; NULL when live */
	const char *root;     /* "/proc/PID/root", where its files are seen; "" on a core */
	bool stopped;         /* registers and memory do not change; always true for cores */
	struct target_stop stop;
	uint64_t epoch;         /* +1 whenever what was read before may have changed */
	unsigned generation;    /* +1 at every stop; caches of target memory use it as a key */
	struct thread *threads; /* of the last stop, ascending number */
	size_t nthreads;
	struct target_modules modules;
	struct Dwfl *dwfl;         /* owned here, used by dwarf/ */
	bool debuginfod_is_silent; /* a debuginfod server timed out: no more queries to it */
	struct target_clock clock; /* taken at the last stop */
	struct target_signal signal;
	VEC(pid_t) excluded; /* see target_exclude() */
	const char **notes;  /* warnings for the user: truncated core, files not found */
	size_t nnotes;
	uint64_t entry;            /* AT_ENTRY, 0 unknown */
	uint64_t vdso;             /* AT_SYSINFO_EHDR, 0 unknown */
	struct unwinder *unwinder; /* of dwarf/unwind/unwind.c; NULL until attached to dwfl */
	struct tls *tls;           /* of tls.c: libc's layout; NULL until first use */
	struct fd_info *sockets;   /* of live/fd_info.c; NULL until first use */
	void *private;             /* private data of the ops */
	struct target_memory memory;
	struct arena arena; /* lives until target_close() */
};

struct target_options {
	const char *exe; /* executable to use; NULL: search for it */
	bool force;      /* accept an executable whose build-id differs */
	struct stop_options stop;
	/*
	 * The tracer that has launched or attached to the process. NULL: the target creates its
	 * own.
	 */
	struct tracer *tracer;
};

/*
 * Opens a running process without stopping it. Checks that it exists, is a 64-bit program of a
 * supported architecture, that we may trace it (/proc/PID/status, yama, capabilities) and that no
 * other debugger does. Reports its modules. Errors tell the user what to do.
 */
struct error *target_live_open(pid_t pid, const struct target_options *options, struct target **ret)
	MUST_CHECK;
/* Opens an ELF core (gcore or kernel). Its executable is found by NT_FILE, AUXV and build-id. */
struct error *target_core_open(const char *path, const struct target_options *options,
                               struct target **ret) MUST_CHECK;
/*
 * Opens an executable that does not run, to query its debug info. Its memory is the contents of the
 * file; it has no threads.
 */
struct error *target_file_open(const char *path, struct target **ret) MUST_CHECK;
/* Resumes the target if it is stopped and frees everything. NULL is allowed. */
void target_close(struct target *t);
void target_closep(struct target **t);

/*
 * Stop and resume the target; no-ops on a core. target_stop() drops the page cache and increments
 * generation. If it fails, the target runs. Nested stops are a programming error.
 */
struct error *target_stop(struct target *t) MUST_CHECK;
void target_resume(struct target *t);
/*
 * target_stop() of a program that is halted: t->threads has only those n threads of it that exist,
 * with their numbers among all. Costs less the more threads there are. tids must not be empty.
 */
struct error *target_stop_threads(struct target *t, const pid_t *tids, size_t n) MUST_CHECK;
/*
 * Until the next stop, reads go to the running program. Threads keep the registers of the last
 * stop. Used for a warm-up walk: its result is discarded, but the next target_stop() reads all the
 * pages that the walk touched at once.
 */
void target_invalidate(struct target *t);
/*
 * Fills t->threads without stopping, as far as possible; after that reads go to the running
 * program, as after target_invalidate(). If the thread pointers of too few threads are found that
 * way and t->options allow it, a brief stop fills t->threads. Used for a warm-up walk before the
 * first stop.
 */
struct error *target_peek(struct target *t) MUST_CHECK;
/*
 * Excludes a thread from stops: it sleeps and no result depends on it. Until the next
 * target_peek(), target_snap() need not stop it, but verifies that it has slept on.
 */
void target_exclude(struct target *t, pid_t tid);
bool target_is_excluded(const struct target *t, pid_t tid);
/* Whether a live program stands still until its tracer continues it: a stop costs it nothing then.
 */
bool target_is_halted(const struct target *t);
/* How long one stop of t may take, in nanoseconds; 0: as long as it must. */
uint64_t target_max_pause(const struct target *t);
/* Whether a thread that was asleep at the last target_peek() has slept without a break since. */
bool target_slept_on(struct target *t, pid_t tid);
/*
 * Stops the target, copies all pages that were read since the last copy or stop, with the threads
 * and the innermost parts of their stacks, and resumes it. stop_all: excluded threads are stopped
 * too. t->copy holds the result.
 *
 * If t->options forbid so long a stop, the pages are copied while the target runs and compared with
 * its memory afterwards. Bytes that did not change in between are of one moment. Reads of bytes
 * that did change count as t->stop.doubts.
 */
struct error *target_snap(struct target *t, bool stop_all) MUST_CHECK;
/*
 * The next target_snap() copies the pages of the last one again, with those that were read or
 * missed since.
 */
void target_keep_plan(struct target *t);
/*
 * After the last walk of a program that is not stopped: gives the memory of the copy back, where
 * that is more than 16 MiB. The pages of the copy then have no bytes, until the next
 * stop or target_invalidate().
 */
void target_release_copy(struct target *t);

/* Reads all of len bytes; ERR_FAULT at the first byte that is missing. */
struct error *target_read(struct target *t, uint64_t addr, void *buf, size_t len) MUST_CHECK;
/*
 * Reads as many bytes as exist from addr on; *ret may be 0. Fails only when the target is gone.
 *
 * On a live target that is stopped, this reads and caches. After the stop, pages that were not read
 * during it have no bytes, unless they cannot have changed since (read-only file mappings). Before
 * the first stop, and after target_invalidate(), this reads the running process, for warm-up walks:
 * the values are not consistent.
 */
struct error *target_read_some(struct target *t, uint64_t addr, void *buf, size_t len, size_t *ret)
	MUST_CHECK;
/* Reads a little-endian unsigned integer of size 1, 2, 4 or 8. */
struct error *target_read_uint(struct target *t, uint64_t addr, size_t size, uint64_t *ret)
	MUST_CHECK;
/* Reads a NUL-terminated string of at most max bytes, sanitised, into arena a. */
struct error *target_read_cstr(struct target *t, struct arena *a, uint64_t addr, size_t max,
                               const char **ret) MUST_CHECK;

/*
 * Gives bytes that are in no memory of the program, as those of registers, an address at which
 * target_read_some() and what is built on it find a copy of them until the next stop. No program
 * can have memory at such an address.
 */
uint64_t target_lay_out(struct target *t, const void *bytes, size_t len);
/* Whether target_lay_out() has given that address. */
bool target_is_laid_out(uint64_t addr);

/* The mapping that covers addr now; false if there is none. Its name is in a. */
bool target_region(struct target *t, struct arena *a, uint64_t addr, struct region *ret);

/*
 * Calls visit for the current private writable mappings, in ascending order: memory that only this
 * program uses and may have written to. Pages that were never touched are left out where that is
 * known. For a long run of such pages visit is called with start == end, so that it can end the
 * iteration.
 */
struct error *target_each_writable(struct target *t, memory_fn *visit, void *arg) MUST_CHECK;
/*
 * Reads as many bytes as exist from addr on, as they are now, past the page cache: nothing is
 * cached, and the next target_snap() does not copy these pages. For scanning much memory to find
 * little.
 */
struct error *target_read_through(struct target *t, uint64_t addr, void *buf, size_t len,
                                  size_t *ret) MUST_CHECK;

/*
 * Reads between target_begin_scratch_cache() and target_end_scratch_cache() use a page cache of
 * their own, which is then dropped: they see the memory as it is now, not as it was at the last
 * stop. The next target_snap() does not copy their pages, and they count neither as misses nor as
 * doubts. Bytes that are laid out in between are forgotten at the end. The target must not be
 * stopped or resumed meanwhile.
 */
struct target_scratch_cache {
	struct page_cache *cache;
	size_t misses, doubts;
	bool frozen;
	struct laid_out_list laid_out;
};
void target_begin_scratch_cache(struct target *t, struct target_scratch_cache *before);
void target_end_scratch_cache(struct target *t, const struct target_scratch_cache *before);

/*
 * Adds the modules that a running program has loaded since it was opened or updated, and moves
 * those that it has unloaded behind the others.
 */
struct error *target_update_modules(struct target *t, bool *changed) MUST_CHECK;
/*
 * The address of the dynamic linker's struct r_debug (link.h), by DT_DEBUG of the executable.
 * ERR_UNSUPPORTED: there is none.
 */
struct error *target_r_debug(struct target *t, uint64_t *ret) MUST_CHECK;

/* The thread with that tid, or NULL. */
const struct thread *target_thread_by_tid(const struct target *t, pid_t tid);

/* Adds a copy of the line to t->notes, unless it is there already. */
void target_note(struct target *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The address of the thread-local variable at offset in module's PT_TLS, for thread th. The block
 * of the executable follows from the formula of the psABI (arch_tls_block()); those of other
 * modules are found through link_map and the DTV (glibc; ERR_UNSUPPORTED elsewhere). *found false:
 * the thread has not allocated that block yet, its thread pointer is not known, or the module was
 * unloaded.
 */
struct error *target_tls_address(struct target *t, const struct thread *th, const struct module *m,
                                 uint64_t offset, uint64_t *ret, bool *found) MUST_CHECK;

/*
 * Creates an empty target of arch, which may be NULL until the first read of registers or modules.
 * target_close() frees it, even if opening it has failed half-way. cached: reads go through a page
 * cache. For the implementations of target_ops.
 */
struct target *target_new(const struct target_ops *ops, const struct arch *arch, bool cached);
/* The page_batch_fn that reads from a target. */
struct error *target_read_batch(void *t, struct read_range *ranges, size_t n) MUST_CHECK;
/* Starts a new generation without threads, at the beginning of each stop. */
void target_forget_threads(struct target *t);
/* Copies n threads to t->threads, sorts and numbers them as struct thread describes. */
void target_set_threads(struct target *t, const struct thread *threads, size_t n);

#endif

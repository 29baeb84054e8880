/*
 * Probe points in the code of one running process: the kernel puts a breakpoint at each and runs a
 * small program there, which writes a record to a ring buffer. The process is not stopped, and all
 * breakpoints are gone when this process ends, however it ends.
 *
 * Two ways to attach. Linux 6.6 and later take all points in one system call (uprobe_multi). Older
 * kernels take one event of perf for each point. The kernel takes 100 ms to remove the breakpoint
 * of each: another process waits for that, which ends by itself.
 *
 * CAP_BPF and CAP_PERFMON are needed, beside the permission to trace the process.
 */
#ifndef DEBUGGER_PROBE_PROBE_H
#define DEBUGGER_PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"
#include "debugger/probe/probe_record.h"

struct probes;

enum probe_backend {
	PROBE_BEST, /* uprobe_multi if the kernel has it, otherwise perf */
	PROBE_MULTI,
	PROBE_PERF,
};

struct probes_options {
	pid_t pid;       /* the process */
	size_t ring;     /* bytes of the ring buffer, rounded up to a power of two */
	uint64_t min_ns; /* calls that were shorter leave no record of their return */
	enum probe_backend backend;
	bool off_times; /* measure how long the threads of calls are off their CPUs */
};

/* Position of a point. */
struct probe_site {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* offset in the file of a 16-bit counter of users; 0: none */
	uint32_t point;     /* its index */
};

/* Whether this build has probes; *why: NULL, or the reason as part of a sentence. */
bool probes_are_built(const char **why);

/*
 * Loads the program. ERR_UNSUPPORTED if this build or the kernel has no such thing, ERR_OS, with
 * the remedy, if a permission is missing. Nothing is attached. Free *ret with probes_close().
 */
struct error *probes_open(const struct probes_options *options, struct probes **ret) MUST_CHECK;
/*
 * Detaches everything, which takes 30 ms for each call of probes_attach(). Records in the ring can
 * still be read. With perf the program does not run from then on, and the breakpoints go later.
 */
void probes_detach(struct probes *p);
/* Detaches and frees. NULL is allowed. */
void probes_close(struct probes *p);
void probes_closep(struct probes **p);

/*
 * A path of the executable that the process ran when the probes were opened, for this process only
 * and until they are closed; NULL: unknown. /proc/PID/exe is another one once it has executed one.
 */
const char *probes_executable(const struct probes *p);
/* Opens the executable and the memory again after the process has executed another program. */
void probes_reopen(struct probes *p);
/* Whether the process has ended, or has executed another program. */
bool probes_are_over(const struct probes *p);

/* The backend in use, "uprobe_multi" or "perf". */
const char *probes_backend(const struct probes *p);

/* Why off times are not measured although they are wanted; NULL: they are. */
const char *probes_off_times_missing(const struct probes *p);
/* Measures a thread of the process even before its first call. */
void probes_add_thread(struct probes *p, pid_t tid);
/* How long a thread was off its CPU since it was first seen, in ns; false: unknown. */
bool probes_off_time(const struct probes *p, pid_t tid, uint64_t *ns);

/* Describes the point of that index; before and after it is attached. */
struct error *probes_describe(struct probes *p, uint32_t index, const struct probe_point *point)
	MUST_CHECK;
/* Describes what is read at a PROBE_PLACE point, for which probes_describe() is called, too. */
struct error *probes_describe_place(struct probes *p, uint32_t index,
                                    const struct probe_place *place) MUST_CHECK;
/* Ends PROBE_NEW_RETURN for calls that return to that run-time address. */
struct error *probes_know_return(struct probes *p, uint64_t address) MUST_CHECK;
/*
 * A call that returns to that address in the file is of a function whose own return address is
 * found so. False: there are too many.
 */
bool probes_know_frame(struct probes *p, uint64_t address, const struct probe_frame *frame);
/* Attaches points that are described. file: the ELF file with the code, as we can open it. */
struct error *probes_attach(struct probes *p, const char *file, const struct probe_site *sites,
                            size_t n) MUST_CHECK;

/* copy: record->copied bytes. Returns false to stop reading. */
typedef bool probe_record_fn(const struct probe_record *record, const unsigned char *copy,
                             void *arg);
/*
 * Calls visit for records of the ring. Records of one thread are in their order. A program may
 * write them faster than visit takes them, so that the ring is never empty: after some of them the
 * call returns, and *more is true.
 */
struct error *probes_read(struct probes *p, probe_record_fn *visit, void *arg, bool *more)
	MUST_CHECK;

/* A count of the program so far. */
uint64_t probes_count(const struct probes *p, enum probe_count which);

#endif

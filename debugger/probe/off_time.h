/*
 * How long threads are off their CPUs: a program that the kernel runs at each switch of
 * threads, on all CPUs. It needs the kernel's type information (CONFIG_DEBUG_INFO_BTF).
 */
#ifndef DEBUGGER_PROBE_OFF_TIME_H
#define DEBUGGER_PROBE_OFF_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/error.h"

struct off_time;

/*
 * Observes the threads of a map, tid -> struct probe_off_time, of which map is a descriptor; it is
 * borrowed. ERR_UNSUPPORTED, ERR_OS. Free *ret with off_time_close().
 */
struct error *off_time_open(int map, struct off_time **ret) MUST_CHECK;
/* NULL is allowed. */
void off_time_close(struct off_time *o);

/*
 * Adds a thread of a process, if it is not there. Whether it is on a CPU now, its next switch
 * tells: the kernel reports a thread that only waits for a CPU as running.
 */
void off_time_add(int map, pid_t pid, pid_t tid);
/* How long a thread of the map was off up to now, in ns; false: it is not there. */
bool off_time_read(int map, pid_t pid, pid_t tid, uint64_t *ns);

#endif

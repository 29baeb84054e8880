/*
 * Surveys of earlier runs, in the directory of the cache of debug info (dwarf/store/cache.h). They
 * are those of the files of one build of asyncdbg, whose tables of executors they depend on.
 * Measured with 44 processes of 35 programs, 4 of them async: 105 ms of CPU time with it, 245
 * without.
 */
#ifndef RUNTIMES_EXECUTOR_DETECT_EXECUTOR_DETECT_CACHE_H
#define RUNTIMES_EXECUTOR_DETECT_EXECUTOR_DETECT_CACHE_H

#include "debugger/host/process_list.h"
#include "runtimes/executor_detect/executor_detect.h"

struct executor_detect_cache;

/* use: false for one that is empty and is not written. Never NULL. */
struct executor_detect_cache *executor_detect_cache_open(bool use);
/* Writes new surveys if possible, and frees the cache. */
void executor_detect_cache_close(struct executor_detect_cache *c);

/*
 * The survey of the file, from the cache or else from open(arg), which returns a descriptor or -1;
 * it is closed. *ret is in arena a. False, with an empty survey, when the file cannot be opened or
 * another one was: its process has ended, or runs another program by now.
 */
typedef int executor_detect_open_fn(const void *arg);
bool executor_detect_cache_get(struct executor_detect_cache *c, struct arena *a,
                               const struct file_identity *file, executor_detect_open_fn *open,
                               const void *arg, struct detected_executors *ret);

#endif

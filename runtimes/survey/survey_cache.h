/*
 * Surveys of earlier runs, in the directory of the cache of debug info (dwarf/store/cache.h). They
 * are those of the files of one build of asyncdbg, whose tables of executors they depend on.
 * Measured with 44 processes of 35 programs, 4 of them async: 105 ms of processor time with it, 245
 * without.
 */
#ifndef RUNTIMES_SURVEY_SURVEY_CACHE_H
#define RUNTIMES_SURVEY_SURVEY_CACHE_H

#include "debugger/host/process_list.h"
#include "runtimes/survey/survey.h"

struct survey_cache;

/* use: false for one that is empty and is not written. Never NULL. */
struct survey_cache *survey_cache_open(bool use);
/* Writes new surveys if possible, and frees the cache. */
void survey_cache_close(struct survey_cache *c);

/*
 * The survey of the file, from the cache or else from open(arg), which returns a descriptor or -1;
 * it is closed. *ret is in arena a. False, with an empty survey, when the file cannot be opened or
 * another one was: its process has ended, or runs another program by now.
 */
typedef int survey_open_fn(const void *arg);
bool survey_cache_get(struct survey_cache *c, struct arena *a, const struct file_identity *file,
                      survey_open_fn *open, const void *arg, struct survey *ret);

#endif

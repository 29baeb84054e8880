/* Thread-locals of std's thread_local!. */
#ifndef RUNTIMES_COMMON_THREAD_LOCAL_H
#define RUNTIMES_COMMON_THREAD_LOCAL_H

#include "dwarf/values/value.h"

/*
 * Is the value destroyed at thread exit, or lazy and never initialised? state: what std keeps
 * beside a value that has a destructor (std 1.95, src/sys/thread_local/native).
 */
bool thread_local_is_destroyed(struct target *t, struct value state);

#endif

/*
 * libdw, libdwfl and libelf read a file when they are first asked, and keep what they found where
 * all see it: two threads may not ask at once. Whoever calls them where another thread may be at
 * work holds this; the same thread may take it again.
 */
#ifndef DEBUGGER_ELF_LIBDW_LOCK_H
#define DEBUGGER_ELF_LIBDW_LOCK_H

#include "debugger/base/error.h"

int libdw_lock(void);
void libdw_unlock(const int *taken);

/* Until the end of the enclosing block. */
#define LIBDW_LOCKED __attribute__((unused)) int libdw_locked_ CLEANUP(libdw_unlock) = libdw_lock()

#endif

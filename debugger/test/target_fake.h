/* A target whose memory is a list of byte arrays. Linked into tests and fuzzers only. */
#ifndef DEBUGGER_TEST_TARGET_FAKE_H
#define DEBUGGER_TEST_TARGET_FAKE_H

#include "debugger/target/target.h"

/* An empty fake target; target_close() frees it. Aborts on failure: it serves tests. */
struct target *target_fake_open(void);
/* Maps a copy of data at addr. */
void target_fake_map(struct target *t, uint64_t addr, const void *data, size_t len);
/* Overwrites mapped bytes. */
void target_fake_poke(struct target *t, uint64_t addr, const void *data, size_t len);
/* Adds a thread with zeroed registers; the returned pointer is valid until the next call. */
struct thread *target_fake_thread(struct target *t, pid_t tid);

#endif

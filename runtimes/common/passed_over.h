/*
 * Futures that have got what they wait for while their task is idle: some poll of the task has
 * consumed the wake-up and has not reached them. At one look this is only possible: the thread that
 * gave them what they wait for may be about to wake the task. At a second one it is certain.
 */
#ifndef RUNTIMES_COMMON_PASSED_OVER_H
#define RUNTIMES_COMMON_PASSED_OVER_H

#include "runtimes/common/inspector.h"

/* Notes such a future. Returns whether an earlier look at the running program has found it, too. */
bool passed_over_note(struct collector *c, uint64_t key);
/* Keeps for the next look what c has noted. */
void passed_over_keep(struct collector *c);

#endif

/*
 * Systems and Arbiters of actix-rt (2.15, src/system.rs, src/arbiter.rs). They run on runtimes of
 * another crate, whose tasks they have; here these get the names that actix-rt gives its threads,
 * of which the kernel keeps the first 15 bytes: "actix-rt|system:0|arbiter:2", and
 * "actix-rt|system:0" for that of the System itself.
 *
 * A thread-local of each such thread has the sender of its Arbiter's channel, another one the
 * System, with its number and the sender of its own Arbiter. The numbers of the other Arbiters are
 * the keys of a map in SystemController, which is a task of the System.
 */
#ifndef RUNTIMES_ACTIX_ACTIX_H
#define RUNTIMES_ACTIX_ACTIX_H

#include "runtimes/common/inspector.h"

extern const struct runtime actix_table;

#endif

/* A LocalSet was met while decoding: its tasks are listed afterwards. */
#ifndef RUNTIMES_LOCAL_SET_H
#define RUNTIMES_LOCAL_SET_H

#include "runtimes/future.h"

/*
 * v: a tokio::task::local::LocalSet or a reference to one; f: the future that drives it, whose wait
 * or note will name the tasks, NULL where it is only stored.
 */
void local_set_met(struct decoder *d, struct value v, struct future *f);

#endif

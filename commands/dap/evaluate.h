/* Questions about variables of a frame. */
#ifndef COMMANDS_DAP_EVALUATE_H
#define COMMANDS_DAP_EVALUATE_H

#include "commands/dap/context.h"

/*
 * A new snapshot that answers a question about a thread or task, which is filled in. ERR_STATE: it
 * has ended.
 */
struct error *dap_ask(struct dap *d, const struct id_thread *id, struct question *q,
                      const struct snapshot **ret) MUST_CHECK;

/*
 * The number of the future whose variables a frame has, in its task; *found false: it is a native
 * frame that executes no coroutine, or a label.
 */
struct error *dap_future_of(struct dap *d, const struct id_thread *id, const struct id_frame *frame,
                            unsigned *ret, bool *found) MUST_CHECK;

#endif

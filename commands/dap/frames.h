/* Questions about the frames that a client knows, and about their variables. */
#ifndef COMMANDS_DAP_FRAMES_H
#define COMMANDS_DAP_FRAMES_H

#include "commands/dap/context.h"
#include "runtimes/session/asyncdbg.h"

/* The frame of that number, and whose it is; NULL: there is none any more. */
const struct id_frame *frames_find(struct dap *d, int64_t number, const struct id_thread **id);
/*
 * A new snapshot that answers a question about a thread or task, which is filled in. ERR_STATE: it
 * has ended, or a native frame is asked for and no thread runs it.
 */
struct error *frames_ask(struct dap *d, const struct id_thread *id, struct question *q,
                         const struct snapshot **ret) MUST_CHECK;
/*
 * The number of the future whose variables a frame has, in its task; *found false: it is a native
 * frame that executes no coroutine, or a label.
 */
struct error *frames_future(struct dap *d, const struct id_thread *id, const struct id_frame *frame,
                            unsigned *ret, bool *found) MUST_CHECK;
/*
 * Evaluates an expression of `print` in a frame, with a new snapshot; a static needs no such frame.
 * in_memory: the value is at shown.addr, and has a type. ERR_STATE says why it has no value. The
 * strings are the snapshot's, the value's text is in the arena.
 */
struct error *frames_evaluate(struct dap *d, int64_t frame, const char *expression, struct arena *a,
                              struct typed_local *ret) MUST_CHECK;

#endif

/*
 * The stack of a thread or task as rows, innermost first: native frames of a thread, the futures
 * that await each other, and rows of text between them.
 */
#ifndef COMMANDS_DAP_STACK_H
#define COMMANDS_DAP_STACK_H

#include "commands/dap/ids.h"
#include "runtimes/model/model.h"

enum { STACK_MAX_ROWS = 4096, STACK_MAX_ARMS = 64 };

struct stack_row {
	enum frame_kind kind;
	unsigned number;                  /* of the frame or future; of a label: its index */
	const struct stack_frame *native; /* FRAME_NATIVE */
	const struct future *future;      /* FRAME_AWAIT; of a label: the one that it is about */
	const char *text;                 /* FRAME_LABEL */
};

struct stack_rows {
	VEC(struct stack_row) rows; /* to be freed with vec_free() */
	struct arena *a;            /* for texts */
};

/* Makes the rows of a thread or task; none if the snapshot knows nothing of it. */
void stack_make(const struct id_thread *id, const struct snapshot *snap, struct stack_rows *ret);
/* The row of a frame with a number; NULL: it has gone. */
const struct stack_row *stack_find(const struct stack_rows *rows, const struct id_frame *frame);
/*
 * The future whose variables a frame has: its own, or of a native frame that of the coroutine that
 * it executes. NULL: none.
 */
const struct future *stack_future(const struct stack_rows *rows, const struct id_frame *frame);

#endif

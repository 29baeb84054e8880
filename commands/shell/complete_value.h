/* Completes values of arguments and options at the prompt: ids of tasks, numbers of breakpoints,
 * ... */
#ifndef COMMANDS_SHELL_COMPLETE_VALUE_H
#define COMMANDS_SHELL_COMPLETE_VALUE_H

#include "commands/base/session.h"
#include "commands/base/words.h"

struct command;

/* Kind of a command's next word. */
enum value_kind {
	VALUE_OTHER,      /* nothing that can be listed */
	VALUE_PATH,       /* of print */
	VALUE_TASK,       /* the id of a task */
	VALUE_BREAKPOINT, /* the number of a breakpoint or watchpoint */
	VALUE_CATCH,      /* an event of `catch` */
	VALUE_PLACE,      /* in the code: a function, or FILE:LINE */
	VALUE_FILE,
};

/* words: those before it, complete or abbreviated. */
enum value_kind complete_value_kind(const struct words *words);

/*
 * The values of that kind that begin with partial, of the session's program as it is now; takes a
 * snapshot for ids of tasks. In the arena. 0 for VALUE_PATH, VALUE_PLACE and VALUE_FILE,
 * which are the caller's.
 */
size_t complete_value_list(struct session *s, enum value_kind kind, const char *partial,
                           struct arena *a, const char ***ret);

#endif

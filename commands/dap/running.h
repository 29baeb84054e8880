/* A program that runs: it is continued, and events say to the client why it stopped or ended. */
#ifndef COMMANDS_DAP_RUNNING_H
#define COMMANDS_DAP_RUNNING_H

#include "commands/dap/context.h"

/*
 * Continues the program until it stops for the client, or a message comes; then it is halted, and
 * still runs as far as the client knows. Call inbox_alert() before. An error ends the connection.
 */
struct error *running_continue(struct dap *d) MUST_CHECK;
/* Sends "stopped" for the last stop. */
void running_send_stop(struct dap *d);
/* Sends "stopped" for a core or a snapshot: the place where it ends. */
void running_send_post_mortem(struct dap *d);
/* Sends "exited" where it has, and "terminated". */
void running_send_end(struct dap *d);
/*
 * Updates the client after a command of the console. before: the former debuggee; 0: none. moves:
 * the command lets it run, and it has stopped again or ended.
 */
void running_look(struct dap *d, pid_t before, bool moves);
/* Lets the program go, or ends it. Nothing is sent. */
void running_end(struct dap *d, bool kill);
/* The messages of commands that hold programs, as lines of the console. */
struct out *running_messages(struct dap *d);

#endif

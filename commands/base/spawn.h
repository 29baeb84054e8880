/* Starts commands of the user's shell. */
#ifndef COMMANDS_BASE_SPAWN_H
#define COMMANDS_BASE_SPAWN_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts `/bin/sh -c LINE` with the default actions for the signals that this process ignores or
 * catches. files: as of posix_spawn(3). own_group: in a process group of its own. Returns 0 or an
 * errno.
 */
int spawn_shell(const char *line, const posix_spawn_file_actions_t *files, bool own_group,
                pid_t *ret);

#endif

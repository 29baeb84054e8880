/* Whether a process is kept from running: signal(7), cgroups(7). */
#ifndef DEBUGGER_HOST_SUSPENSION_H
#define DEBUGGER_HOST_SUSPENSION_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether a signal (SIGSTOP, or a terminal's ^Z) has stopped the process, or its cgroup is frozen.
 * False also where that cannot be read, as where the hierarchy of cgroups is not mounted.
 */
bool process_is_suspended(pid_t pid);

/*
 * The file that says whether the cgroup is frozen, by the text of /proc/PID/cgroup: below root,
 * which is /sys/fs/cgroup. Writes it to path, of n bytes; false: there is none. For tests.
 */
bool suspension_file(const char *root, const char *cgroups, char *path, size_t n);
/* Whether the text of that file says so. For tests. */
bool suspension_is_frozen(const char *text);

#endif

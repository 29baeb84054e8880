/* The unit of systemd that a process belongs to, by its cgroup: systemd.unit(5), cgroups(7). */
#ifndef DEBUGGER_HOST_UNIT_CGROUP_H
#define DEBUGGER_HOST_UNIT_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the process is in the cgroup of the unit of that name, or in one below it, as the manager
 * of the system has made them. A name without an ending of a unit is that of a service. Units of a
 * user's own manager do not count: users choose their names.
 */
bool unit_cgroup_has_process(const char *unit, pid_t pid);

/*
 * The path in the line of a hierarchy of the text of /proc/PID/cgroup, which ends where the line
 * does. hierarchy: "0::", cgroup v2, or the controllers of another one, ":freezer:". NULL: it is
 * not there.
 */
const char *unit_cgroup_path(const char *text, const char *hierarchy);
/* unit_cgroup_has_process() by the text of /proc/PID/cgroup, for tests. */
bool unit_cgroup_has_text(const char *unit, const char *text);

#endif

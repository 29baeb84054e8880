/* Finds the file of the core that the kernel has written of a process. */
#ifndef DEBUGGER_HOST_CORE_FILE_H
#define DEBUGGER_HOST_CORE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "debugger/base/arena.h"

/* Properties of a process that must be read while it lives. */
struct core_origin {
	pid_t pid, inner; /* inner: in its own PID namespace */
	uid_t uid;
	gid_t gid;
	const char *directory; /* the working directory */
	bool known;            /* its file system is ours, so that names mean the same */
};

/* Texts are in arena a. */
void core_file_origin(pid_t pid, struct arena *a, struct core_origin *ret);

/*
 * The name of the process's core, in arena a, by kernel.core_pattern, also where systemd-coredump
 * or apport keeps it; NULL: there is none, or none was found. signal: that has ended it; since:
 * seconds since 1970, just before that. A core that is not written at once is waited for, for a few
 * seconds.
 */
const char *core_file_find(const struct core_origin *o, int signal, int64_t since, struct arena *a);

/*
 * The pattern for glob(3) of the names that a core_pattern gives, for tests; NULL: unknown. With
 * uses_pid (kernel.core_uses_pid) the pid is appended to a name that does not have it.
 */
const char *core_file_names(const struct core_origin *o, const char *pattern, bool uses_pid,
                            int signal, struct arena *a);

#endif

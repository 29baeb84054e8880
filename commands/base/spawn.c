#include "commands/base/spawn.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/arena.h"

int spawn_shell(const char *line, const posix_spawn_file_actions_t *files, bool own_group,
                pid_t *ret)
{
	extern char **environ;
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, strdup(line), NULL };
	posix_spawnattr_t attributes;
	sigset_t defaults;

	if (!argv[2])
		out_of_memory();
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes,
	                         POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0));
	int failed = posix_spawn(ret, "/bin/sh", files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	free(argv[2]);
	return failed;
}

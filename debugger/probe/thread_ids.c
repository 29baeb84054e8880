#include "debugger/probe/thread_ids.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "debugger/base/file.h"

enum {
	FIRST_NAMESPACE = 0xeffffffc, /* inode: PROC_PID_INIT_INO of the kernel */
	MAX_STATUS = 8192,            /* bytes of a status; the ids stand in its first kilobyte */
};

void thread_ids_open(struct thread_ids *ids, pid_t pid, struct probe_settings *settings)
{
	char path[64];
	struct stat own, theirs;

	*ids = (struct thread_ids){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat("/proc/self/ns/pid", &own) != 0 || stat(path, &theirs) != 0 ||
	    own.st_ino == (unsigned)FIRST_NAMESPACE)
		return;
	settings->ns_device = (uint64_t)major(theirs.st_dev) << 20 | minor(theirs.st_dev);
	settings->ns_inode = theirs.st_ino;
	ids->nested = own.st_ino != theirs.st_ino || own.st_dev != theirs.st_dev;
}

void thread_ids_close(struct thread_ids *ids)
{
	map_free(&ids->known);
}

/* The id of a thread in its own namespace, of "NSpid:", which has one for each from ours on. */
static long innermost(const char *status)
{
	const char *line = strstr(status, "\nNSpid:");
	long id = 0;

	if (!line)
		return 0;
	line += strlen("\nNSpid:");
	while (*line == '\t' || *line == ' ') {
		char *end;

		id = strtol(line, &end, 10);
		if (end == line)
			return 0;
		line = end;
	}
	return id;
}

static void read_thread(struct thread_ids *ids, int tasks, const char *name)
{
	char path[64], status[MAX_STATUS];
	long here = strtol(name, NULL, 10);

	if (here <= 0 || snprintf(path, sizeof(path), "%s/status", name) >= (int)sizeof(path))
		return;
	int fd CLEANUP(file_close) = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, status, sizeof(status) - 1) : -1;
	if (len <= 0)
		return;
	status[len] = '\0';
	long there = innermost(status);
	if (there > 0)
		map_put(&ids->known, (uint64_t)there, (void *)here);
}

static void read_threads(struct thread_ids *ids)
{
	char path[64];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)ids->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return;
	while ((entry = readdir(tasks)))
		read_thread(ids, dirfd(tasks), entry->d_name);
	closedir(tasks);
}

pid_t thread_ids_visible(struct thread_ids *ids, pid_t tid)
{
	if (!tid) /* a thread that has left the namespace of its process */
		return INT_MIN;
	if (!ids->nested)
		return tid;
	if (!map_has(&ids->known, (uint64_t)tid)) {
		read_threads(ids);
		if (!map_has(&ids->known, (uint64_t)tid))
			map_put(&ids->known, (uint64_t)tid, NULL);
	}
	pid_t here = (pid_t)(intptr_t)map_get(&ids->known, (uint64_t)tid);
	return here ? here : -tid;
}

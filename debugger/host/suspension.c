#include "debugger/host/suspension.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/host/unit_cgroup.h"
#include "debugger/live/proc.h"

enum { MAX_TEXT = 4096 };

/* A process of cgroup v1 may be in a group of v2 as well, where that is mounted beside it. */
bool suspension_file(const char *root, const char *cgroups, char *path, size_t n)
{
	const char *freezer = unit_cgroup_path(cgroups, ":freezer:");
	const char *group = freezer ? freezer : unit_cgroup_path(cgroups, "0::");
	int len;

	if (!group)
		return false;
	len = snprintf(path, n, "%s%s%.*s/%s", root, freezer ? "/freezer" : "",
	               (int)strcspn(group, "\n"), group,
	               freezer ? "freezer.state" : "cgroup.events");
	return len > 0 && (size_t)len < n;
}

bool suspension_is_frozen(const char *text)
{
	return strncmp(text, "FROZEN", 6) == 0 || strncmp(text, "FREEZING", 8) == 0 ||
	       strstr(text, "frozen 1\n") != NULL;
}

/* The file is of cgroupfs, where files have the size 0. */
static bool file_says_frozen(const char *path)
{
	char text[MAX_TEXT];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return suspension_is_frozen(text);
}

bool process_is_suspended(pid_t pid)
{
	char path[PATH_MAX];
	struct proc_stat stat;
	SCRATCH(tmp);
	const char *text = proc_read(&tmp, pid, "stat", NULL);

	if (text && proc_stat_parse(&tmp, text, &stat) && stat.state == 'T')
		return true;
	text = proc_read(&tmp, pid, "cgroup", NULL);
	return text && suspension_file("/sys/fs/cgroup", text, path, sizeof(path)) &&
	       file_says_frozen(path);
}

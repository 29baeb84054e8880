#include "debugger/live/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debugger/base/str.h"
#include "debugger/base/vec.h"

char *proc_read(struct arena *a, pid_t pid, const char *name, size_t *len)
{
	char path[128], piece[4096];
	STR(text);

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	ssize_t n;
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		str_append_len(&text, piece, (size_t)n);
	int errnum = errno;
	close(fd);
	if (n < 0) {
		errno = errnum;
		return NULL;
	}
	if (len)
		*len = text.len;
	char *copy = arena_alloc(a, text.len + 1);
	return text.len ? memcpy(copy, text.data, text.len) : copy;
}

long proc_status_number(const char *status, const char *name, long fallback)
{
	size_t len = strlen(name);

	for (const char *line = status; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return strtol(line + len + 1, NULL, 10);
	}
	return fallback;
}

bool proc_stat_parse(struct arena *a, const char *text, struct proc_stat *ret)
{
	/* A thread name may contain ") R 1 (": search the last parenthesis. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	struct proc_stat stat = { 0 };
	int parent, skipped = -1;

	if (!open || !close || close < open ||
	    sscanf(close + 1, " %c %d %n", &stat.state, &parent, &skipped) != 2 || skipped < 0)
		return false;
	/* The flags are field 9, start_time is field 22; the rest of the text starts at field 5. */
	const char *p = close + 1 + skipped;
	for (int field = 5; field < 22 && p; field++) {
		if (field == 9)
			stat.exits = strtoull(p, NULL, 10) & 4; /* PF_EXITING */
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	stat.start_time = p ? strtoull(p, NULL, 10) : 0;
	stat.parent = parent;
	stat.comm = str_clean(a, open + 1, (size_t)(close - open - 1));
	*ret = stat;
	return true;
}

bool proc_thread_has_ended(pid_t pid, pid_t tid)
{
	SCRATCH(tmp);
	struct proc_stat stat;
	const char *text = proc_read(&tmp, pid, arena_printf(&tmp, "task/%d/stat", (int)tid), NULL);

	if (!text)
		return errno == ENOENT || errno == ESRCH;
	return proc_stat_parse(&tmp, text, &stat) && (stat.state == 'Z' || stat.state == 'X');
}

pid_t proc_living_thread(pid_t pid)
{
	pid_t ret = pid;
	char path[32];

	if (!proc_thread_has_ended(pid, pid))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	for (const struct dirent *e; threads && ret == pid && (e = readdir(threads));) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

		if (tid > 0 && !proc_thread_has_ended(pid, tid))
			ret = tid;
	}
	if (threads)
		closedir(threads);
	return ret;
}

/* Decodes a path: the kernel writes a newline as \012 and escapes nothing else. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;
		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

struct mapping *proc_maps_parse(struct arena *a, char *text, size_t *nmappings)
{
	VEC(struct mapping) maps = { 0 };
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct mapping m = { 0 };
		char perms[5];
		int path = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.start,
		           &m.end, perms, &m.file_offset, &path) < 4 ||
		    path == 0 || line[path] != '/')
			continue;
		unescape(line + path);
		m.readable = perms[0] == 'r';
		m.writable = perms[1] == 'w';
		m.executable = perms[2] == 'x';
		m.path = arena_strdup(a, line + path);
		*vec_push(&maps) = m;
	}
	*nmappings = maps.n;
	return vec_to_arena(&maps, a);
}

struct mapping *proc_maps(struct arena *a, pid_t pid, size_t *nmappings)
{
	SCRATCH(scratch);
	char *text = proc_read(&scratch, pid, "maps", NULL);

	return text ? proc_maps_parse(a, text, nmappings) : NULL;
}

bool proc_region_parse(struct arena *a, char *text, uint64_t addr, struct region *ret)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct region r = { 0 };
		char perms[5];
		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &r.start, &r.end,
		           perms, &name) < 3 ||
		    addr < r.start || addr >= r.end)
			continue;
		r.readable = perms[0] == 'r';
		r.writable = perms[1] == 'w';
		r.executable = perms[2] == 'x';
		if (name && line[name])
			r.name = str_clean(a, line + name, strlen(line + name));
		*ret = r;
		return true;
	}
	return false;
}

bool proc_region(struct arena *a, pid_t pid, uint64_t addr, struct region *ret)
{
	SCRATCH(scratch);
	char *text = proc_read(&scratch, pid, "maps", NULL);

	return text && proc_region_parse(a, text, addr, ret);
}

static int64_t proc_timens_offset(pid_t pid)
{
	SCRATCH(scratch);
	const char *text = proc_read(&scratch, pid, "timens_offsets", NULL);
	int64_t seconds, ns;

	if (!text || sscanf(text, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns) != 2)
		return 0;
	return seconds * 1000000000 + ns;
}

int64_t proc_kernel_offset(void)
{
	return proc_timens_offset(getpid());
}

int64_t proc_monotonic_offset(pid_t pid)
{
	char path[64];
	struct stat ours, theirs;

	snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	if (stat("/proc/self/ns/time", &ours) != 0 || stat(path, &theirs) != 0 ||
	    ours.st_ino == theirs.st_ino)
		return 0;
	return proc_timens_offset(pid) - proc_timens_offset(getpid());
}

bool proc_perf_is_for_users(void)
{
	enum { FOR_USERS = 2 };
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = FOR_USERS;

	if (f) {
		if (fscanf(f, "%d", &level) != 1)
			level = FOR_USERS;
		fclose(f);
	}
	return level <= FOR_USERS;
}

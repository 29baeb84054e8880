#include "debugger/host/process_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "debugger/live/proc.h"

enum {
	MAX_COMMAND = 4096,   /* bytes of a command line that are kept */
	MAX_LIBRARIES = 4096, /* of one process */
	COMMAND_MS = 50,      /* a process that serves its own memory may keep it for ever */
};

static void set_identity(const struct stat *st, struct file_identity *ret)
{
	*ret = (struct file_identity){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.changed_ns = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
	};
}

bool file_identity_read(int fd, struct file_identity *ret)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	set_identity(&st, ret);
	return true;
}

/* The arguments, which /proc separates by NULs, with blanks between. */
static const char *read_command(struct arena *a, pid_t pid)
{
	SCRATCH(tmp);
	size_t len = 0;
	char *text = proc_briefly_read(&tmp, pid, "cmdline", COMMAND_MS, &len);

	if (!text)
		return "";
	len = len < MAX_COMMAND ? len : MAX_COMMAND;
	while (len && text[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\0')
			text[i] = ' ';
	}
	return str_clean(a, text, len);
}

/* Reads the link to the executable. False: the process has none, or has ended. */
static bool read_exe(struct arena *a, struct process *p)
{
	char link[64], path[PATH_MAX];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)p->pid);
	ssize_t len = readlink(link, path, sizeof(path));
	if (len < 0) {
		p->denied = errno == EACCES || errno == EPERM;
		return p->denied;
	}
	p->exe = str_clean(a, path, (size_t)len);
	if (stat(link, &st) == 0)
		set_identity(&st, &p->file);
	return true;
}

/* False: it has ended, or it is a kernel thread. */
static bool process_list_read_process(struct arena *a, pid_t pid, struct process *ret)
{
	SCRATCH(tmp);
	struct proc_stat stat;
	const char *text = proc_read(&tmp, pid, "stat", NULL);

	if (!text || !proc_stat_parse(&tmp, text, &stat))
		return false;
	*ret = (struct process){
		.pid = pid,
		.parent = stat.parent,
		.start_time = stat.start_time,
		.name = arena_strdup(a, stat.comm),
		.zombie = stat.state == 'Z' || stat.state == 'X',
	};
	if (!ret->zombie && !read_exe(a, ret))
		return false;
	ret->command = read_command(a, pid);
	/* A kernel thread, whose link may not be read. */
	return !(ret->denied && ret->command[0] == '\0' && (pid == 2 || stat.parent == 2));
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void close_directory(DIR **d)
{
	if (*d)
		closedir(*d);
}

struct error *process_list_read(struct arena *a, struct process_list *ret)
{
	DIR *d CLEANUP(close_directory) = opendir("/proc");
	VEC(struct process) found = { 0 };
	struct dirent *entry;

	if (!d)
		return error_os(errno, "/proc");
	while ((entry = readdir(d))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		struct process p;

		if (*end != '\0' || pid <= 0 || pid > INT_MAX)
			continue;
		errno = 0;
		if (process_list_read_process(a, (pid_t)pid, &p)) {
			*vec_push(&found) = p;
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
			vec_free(&found);
			return error_os(errno, "/proc/%ld", pid);
		}
	}
	if (!found.n) {
		vec_free(&found);
		return error_new(
			ERR_STATE,
			"/proc shows no processes, not even this one: it is not mounted here");
	}
	qsort(found.data, found.n, sizeof(*found.data), by_pid);
	ret->n = found.n;
	ret->data = vec_to_arena(&found, a);
	return NULL;
}

bool process_is_there(const struct process *p)
{
	SCRATCH(tmp);
	struct proc_stat stat;
	const char *text = proc_read(&tmp, p->pid, "stat", NULL);

	return text && proc_stat_parse(&tmp, text, &stat) && stat.state != 'Z' &&
	       stat.state != 'X' && stat.start_time == p->start_time;
}

int process_open_exe(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return file_open_regular(path);
}

/* Parses a line of /proc/PID/maps. False: no code of a file. */
static bool read_library(char *line, struct process_library *ret)
{
	unsigned major, minor;
	unsigned long long inode;
	char perms[5];
	int path = 0;

	if (sscanf(line, "%*x-%*x %4s %*x %x:%x %llu %n", perms, &major, &minor, &inode, &path) <
	            4 ||
	    path == 0 || line[path] != '/' || perms[2] != 'x')
		return false;
	*ret = (struct process_library){ line + path, makedev(major, minor), inode };
	return true;
}

size_t process_libraries(struct arena *a, pid_t pid, struct process_library **ret)
{
	SCRATCH(tmp);
	char *save = NULL, *text = proc_read(&tmp, pid, "maps", NULL);
	VEC(struct process_library) found = { 0 };
	struct map seen = { 0 };

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL;
	     line && found.n < MAX_LIBRARIES; line = strtok_r(NULL, "\n", &save)) {
		struct process_library library;

		if (!read_library(line, &library) ||
		    !map_put(&seen, map_key_of_pair(library.device, library.inode), a))
			continue;
		library.path = arena_strdup(a, library.path);
		*vec_push(&found) = library;
	}
	map_free(&seen);
	size_t n = found.n;
	*ret = vec_to_arena(&found, a);
	return n;
}

int process_open_library(pid_t pid, const struct process_library *library)
{
	char path[PATH_MAX + 64];

	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library->path) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	/* The kernel marks a replaced file as "(deleted)": it is not found, and no other is. */
	return file_open_regular(path);
}

const struct process *process_list_find(const struct process_list *list, pid_t pid)
{
	const struct process key = { .pid = pid };

	return list->n ? bsearch(&key, list->data, list->n, sizeof(key), by_pid) : NULL;
}

size_t process_list_below(const struct process_list *list, pid_t root, bool *below)
{
	size_t total = 0, more;

	memset(below, 0, list->n * sizeof(*below));
	/* A child may have a smaller pid than its parent, so one pass is not enough. */
	do {
		more = 0;
		for (size_t i = 0; i < list->n; i++) {
			const struct process *p = &list->data[i];
			const struct process *parent = process_list_find(list, p->parent);

			if (below[i] || p->pid == root ||
			    !(p->parent == root || (parent && below[parent - list->data])))
				continue;
			below[i] = true;
			more++;
		}
		total += more;
	} while (more);
	return total;
}

const char *process_thread_name(struct arena *a, pid_t pid, pid_t tid)
{
	char *comm = proc_read(a, pid, arena_printf(a, "task/%d/comm", (int)tid), NULL);

	if (!comm || !*comm)
		return NULL;
	comm[strcspn(comm, "\n")] = '\0';
	return comm;
}

bool process_thread_is_off(pid_t pid, pid_t tid, bool *off)
{
	SCRATCH(tmp);
	struct proc_stat stat;
	char *text = proc_read(&tmp, pid, arena_printf(&tmp, "task/%d/stat", (int)tid), NULL);

	if (!text || !proc_stat_parse(&tmp, text, &stat))
		return false;
	*off = stat.state != 'R';
	return true;
}

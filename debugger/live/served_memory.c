#include "debugger/live/served_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/live/proc.h"

enum {
	PAGE = 4096,
	/*
	 * smaps walks the page tables, which takes some 10 ms for each GiB. Up to this size it is
	 * always read; a larger process is asked for a descriptor of userfaultfd first.
	 */
	SMALL_PAGES = 64 * 1024,
	MAX_SPANS = 65536,
};

/* A page that is in memory or in swap. */
#define PAGE_THERE (UINT64_C(3) << 62)

static FILE *served_memory_open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* "36 35 0:45 / /mnt rw,relatime shared:1 - fuse.sshfs SOURCE ...": man 5 proc_pid_mountinfo. */
void served_memory_find_fuse(FILE *mountinfo, fuse_devices *ret)
{
	struct fuse_device device;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, mountinfo) > 0) {
		const char *type = strstr(line, " - fuse");

		if (type && sscanf(line, "%*s %*s %23s", device.number) == 1)
			*vec_push(ret) = device;
	}
	free(line);
}

/* maps has the numbers in hex, of two digits at least; mountinfo in decimal. */
static bool is_on_fuse(const fuse_devices *fuse, unsigned major, unsigned minor)
{
	struct fuse_device device;

	snprintf(device.number, sizeof(device.number), "%u:%u", major, minor);
	for (size_t i = 0; i < fuse->n; i++) {
		if (strcmp(fuse->data[i].number, device.number) == 0)
			return true;
	}
	return false;
}

static bool has_userfaultfd(pid_t pid)
{
	char path[64], to[64];
	const struct dirent *entry;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *fds = opendir(path);
	while (fds && !found && (entry = readdir(fds))) {
		ssize_t len = readlinkat(dirfd(fds), entry->d_name, to, sizeof(to) - 1);

		to[len > 0 ? len : 0] = '\0';
		found = strcmp(to, "anon_inode:[userfaultfd]") == 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

static bool is_small(pid_t pid)
{
	FILE *f = served_memory_open_proc(pid, "statm");
	unsigned long pages = 0;
	bool small = f && fscanf(f, "%*u %lu", &pages) == 1 && pages <= SMALL_PAGES;

	if (f)
		fclose(f);
	return small;
}

/* "VmFlags: rd wr mr mw me ac um": um, uw and ui are those of userfaultfd. */
static bool has_served_flag(const char *line)
{
	static const char *const flags[] = { " um", " uw", " ui" };

	if (strncmp(line, "VmFlags:", strlen("VmFlags:")) != 0)
		return false;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const char *at = strstr(line, flags[i]);

		if (at && strchr(" \n", at[3]))
			return true;
	}
	return false;
}

static void add_span(struct served_memory *m, struct served_span s)
{
	struct served_span *last = m->spans.n ? &m->spans.data[m->spans.n - 1] : NULL;

	if (last && (last->end == s.start || m->spans.n == MAX_SPANS))
		last->end = s.end;
	else if (!last || last->start < s.start)
		*vec_push(&m->spans) = s;
}

/* Reads maps or smaps: in the latter, flags follow each mapping's line. */
static void find_spans(struct served_memory *m, pid_t pid, const char *name)
{
	FILE *f = served_memory_open_proc(pid, name),
	     *mountinfo = served_memory_open_proc(pid, "mountinfo");
	struct served_span now = { 0 };
	fuse_devices fuse = { 0 };
	char *line = NULL;
	size_t size = 0;

	if (mountinfo) {
		served_memory_find_fuse(mountinfo, &fuse);
		fclose(mountinfo);
	}
	while (f && getline(&line, &size, f) > 0) {
		unsigned major, minor;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x", &now.start, &now.end,
		           &major, &minor) == 4) {
			if (is_on_fuse(&fuse, major, minor))
				add_span(m, now);
		} else if (has_served_flag(line)) {
			add_span(m, now);
		}
	}
	vec_free(&fuse);
	free(line);
	if (f)
		fclose(f);
}

void served_memory_find(struct served_memory *m, pid_t pid)
{
	char path[64];

	served_memory_free(m);
	m->pagemap = -1;
	find_spans(m, pid, is_small(pid) || has_userfaultfd(pid) ? "smaps" : "maps");
	if (m->spans.n == 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	m->pagemap = open(path, O_RDONLY | O_CLOEXEC);
}

void served_memory_free(struct served_memory *m)
{
	if (m->spans.n && m->pagemap >= 0)
		close(m->pagemap);
	vec_free(&m->spans);
}

static bool is_there(const struct served_memory *m, uint64_t addr)
{
	uint64_t entry = 0;

	return m->pagemap >= 0 &&
	       pread(m->pagemap, &entry, sizeof(entry), (off_t)(addr / PAGE * sizeof(entry))) ==
	               (ssize_t)sizeof(entry) &&
	       (entry & PAGE_THERE);
}

size_t served_memory_part(const struct served_memory *m, uint64_t addr, size_t len, bool *served)
{
	uint64_t end = addr + len < addr ? UINT64_MAX : addr + len;

	*served = false;
	for (size_t i = 0; i < m->spans.n && m->spans.data[i].start < end; i++) {
		const struct served_span *s = &m->spans.data[i];

		if (s->end <= addr)
			continue;
		*served = s->start <= addr;
		return (size_t)((!*served ? s->start : s->end < end ? s->end : end) - addr);
	}
	return len;
}

size_t served_memory_present(const struct served_memory *m, uint64_t addr, size_t len)
{
	uint64_t end = addr + len < addr ? UINT64_MAX : addr + len;

	for (size_t i = 0; i < m->spans.n && m->spans.data[i].start < end; i++) {
		const struct served_span *s = &m->spans.data[i];
		uint64_t at = s->start > addr ? s->start : addr;

		for (; at < s->end && at < end; at += PAGE - at % PAGE) {
			if (!is_there(m, at))
				return (size_t)(at - addr);
		}
	}
	return len;
}

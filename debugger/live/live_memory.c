/*
 * Finds the memory of a running process that is worth scanning. /proc/PID/maps has the mappings.
 * /proc/PID/pagemap tells which of their pages exist (man 5 proc_pid_pagemap): most pages of a
 * thread's stack do not, and reading them would make the kernel add pages to the process.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debugger/live/live.h"
#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"

enum { PAGE = 4096, ENTRIES = 8192 /* pages per read of pagemap */ };

/* Bits of a pagemap entry. */
#define PAGE_PRESENT_BIT (UINT64_C(1) << 63)
#define PAGE_SWAPPED_BIT (UINT64_C(1) << 62)
#define PAGE_OF_FILE_BIT (UINT64_C(1) << 61) /* no private copy was written */

struct run {
	memory_fn *visit;
	void *arg;
	int pagemap; /* -1: not readable; every page is assumed to exist */
	bool go_on;
	uint64_t entries[ENTRIES];
};

static bool live_memory_is_own(uint64_t entry)
{
	return (entry & (PAGE_PRESENT_BIT | PAGE_SWAPPED_BIT)) && !(entry & PAGE_OF_FILE_BIT);
}

/* Calls visit for each run of existing pages, among n pages from start on. */
static void visit_runs(struct run *r, uint64_t start, size_t n)
{
	size_t i = 0;

	while (i < n && r->go_on) {
		size_t first = i;

		while (i < n &&
		       live_memory_is_own(r->entries[i]) == live_memory_is_own(r->entries[first]))
			i++;
		if (live_memory_is_own(r->entries[first]))
			r->go_on = r->visit(start + first * PAGE, start + i * PAGE, r->arg);
		else if (i - first == n)
			r->go_on = r->visit(start, start, r->arg);
	}
}

static void visit_mapping(struct run *r, uint64_t start, uint64_t end)
{
	while (start < end && r->go_on) {
		uint64_t pages = (end - start) / PAGE;
		size_t n = pages < ENTRIES ? (size_t)pages : ENTRIES;
		ssize_t got = r->pagemap < 0 ? -1
		                             : pread(r->pagemap, r->entries, n * sizeof(uint64_t),
		                                     (off_t)(start / PAGE * sizeof(uint64_t)));

		if (got < (ssize_t)sizeof(uint64_t)) {
			r->go_on = r->visit(start, end, r->arg);
			return;
		}
		n = (size_t)got / sizeof(uint64_t);
		visit_runs(r, start, n);
		start += n * PAGE;
	}
}

struct error *live_each_writable(struct target *t, memory_fn *visit, void *arg)
{
	SCRATCH(scratch);
	struct run *r = NEW(&scratch, struct run);
	pid_t reader = proc_living_thread(t->pid);
	char *save = NULL, *text = proc_read(&scratch, reader, "maps", NULL);
	char path[64];

	if (!text)
		return live_exited(t->pid);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)reader);
	*r = (struct run){ .visit = visit, .arg = arg, .go_on = true };
	r->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	for (char *line = strtok_r(text, "\n", &save); line && r->go_on;
	     line = strtok_r(NULL, "\n", &save)) {
		uint64_t start, end;
		char perms[5];

		/* 'p': private. Memory shared with other processes is left out. */
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, perms) == 3 &&
		    perms[0] == 'r' && perms[1] == 'w' && perms[3] == 'p')
			visit_mapping(r, start, end);
	}
	if (r->pagemap >= 0)
		close(r->pagemap);
	return NULL;
}

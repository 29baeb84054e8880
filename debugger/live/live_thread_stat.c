/*
 * Reads the state of threads without stopping them. /proc/PID/task/TID/syscall has the stack
 * pointer and the program counter of a thread that is not on a CPU, and status counts context
 * switches (man 5 proc). The thread pointer is not in /proc. But every thread of glibc registers a
 * list of robust futexes, which lies in its descriptor (man 2 get_robust_list).
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "debugger/base/str.h"
#include "debugger/live/live.h"
#include "debugger/live/live_check.h"
#include "debugger/live/proc.h"

enum { DESCRIPTOR_MAX = 4096, DESCRIPTOR_ALIGN = 16, WORD = 8, PAGE = 4096 };

static const char *live_thread_stat_read_task(struct arena *a, pid_t pid, pid_t tid,
                                              const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%d/%s", (int)tid, name);
	return proc_read(a, pid, path, NULL);
}

/*
 * Parses "NR ARG0 ... ARG5 SP PC", or "-1 SP PC" outside of a system call, into *ret, whose
 * registers are zero. False if the text is "running" or anything else.
 */
static bool parse_syscall(const char *text, const struct arch *arch, struct regs *ret)
{
	uint64_t words[ARCH_SYSCALL_ARGS + 2];
	size_t n = 0;
	char *end;
	int64_t number = strtoll(text, &end, 10);

	if (end == text)
		return false;
	for (; n < sizeof(words) / sizeof(words[0]) && *end == ' '; n++) {
		const char *at = end;
		words[n] = strtoull(at, &end, 16);
		if (end == at)
			return false;
	}
	if (n != (number < 0 ? 2 : ARCH_SYSCALL_ARGS + 2))
		return false;
	ret->r[arch->sp] = words[n - 2];
	ret->r[arch->pc] = words[n - 1];
	ret->in_syscall = number >= 0;
	if (!ret->in_syscall)
		return true;
	ret->syscall = (uint64_t)number;
	memcpy(ret->syscall_args, words, sizeof(ret->syscall_args));
	return true;
}

static uint64_t live_thread_stat_word_at(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * Finds the thread descriptor before the robust list. By the psABI's variant II the word at the
 * thread pointer points to itself. glibc's descriptor, which begins there, has the same pointer in
 * its third word (nptl/descr.h: tcbhead_t.tcb and .self). 0 if none or several places match.
 */
static uint64_t find_thread_pointer(struct live *l, pid_t tid)
{
	unsigned char bytes[DESCRIPTOR_MAX + 3 * WORD];
	uint64_t head = 0, found = 0;
	size_t len = 0, got = 0;

	if (l->t->arch->thread_pointer.layout != ARCH_TLS_BELOW)
		return 0;
	if (syscall(SYS_get_robust_list, tid, &head, &len) != 0 || head < DESCRIPTOR_MAX)
		return 0;
	uint64_t first = head - DESCRIPTOR_MAX;
	struct error *err = live_read(l->t, first, bytes, sizeof(bytes), &got);
	if (!err && got == 0) {
		/* The descriptor may be at the start of its mapping. */
		first = head - head % PAGE;
		err = live_read(l->t, first, bytes, (size_t)(head - first), &got);
	}
	error_free(err);
	for (size_t at = (0 - first) % DESCRIPTOR_ALIGN; at + 3 * WORD <= got && first + at < head;
	     at += DESCRIPTOR_ALIGN) {
		if (live_thread_stat_word_at(bytes + at) != first + at ||
		    live_thread_stat_word_at(bytes + at + 2 * WORD) != first + at)
			continue;
		if (found)
			return 0;
		found = first + at;
	}
	return found;
}

/*
 * Reads the registers, then the number of context switches: in this order no change can be missed.
 */
static bool live_thread_stat_read_place(struct live *l, pid_t tid, struct peek *p)
{
	SCRATCH(scratch);
	const char *call = live_thread_stat_read_task(&scratch, l->t->pid, tid, "syscall");
	const char *status = live_thread_stat_read_task(&scratch, l->t->pid, tid, "status");

	if (!status)
		return false;
	p->asleep = call && parse_syscall(call, l->t->arch, &p->regs);
	p->switches = (uint64_t)proc_status_number(status, "voluntary_ctxt_switches", 0) +
	              (uint64_t)proc_status_number(status, "nonvoluntary_ctxt_switches", 0);
	return true;
}

bool live_thread_stat(struct live *l, pid_t tid, struct peek *ret)
{
	SCRATCH(scratch);
	struct proc_stat stat;
	const char *text = live_thread_stat_read_task(&scratch, l->t->pid, tid, "stat");

	if (!text || !proc_stat_parse(&l->t->stop.arena, text, &stat))
		return false;
	*ret = (struct peek){ .tid = tid, .name = stat.comm, .run_state = stat.state };
	ret->regs = arch_regs_new(l->t->arch, &l->t->stop.arena);
	if (stat.state == 'Z' || stat.state == 'X')
		return tid == l->t->pid;
	if (!live_thread_stat_read_place(l, tid, ret))
		return false;
	ret->regs.thread_pointer = find_thread_pointer(l, tid);
	return true;
}

bool live_stayed_asleep(struct live *l, const struct peek *before)
{
	SCRATCH(scratch);
	struct peek now = { .regs = arch_regs_new(l->t->arch, &scratch) };
	unsigned sp = l->t->arch->sp, pc = l->t->arch->pc;

	return before->asleep && live_thread_stat_read_place(l, before->tid, &now) && now.asleep &&
	       now.switches == before->switches && now.regs.r[sp] == before->regs.r[sp] &&
	       now.regs.r[pc] == before->regs.r[pc];
}

struct thread live_peeked(const struct live *l, const struct peek *p)
{
	const struct arch *arch = l->t->arch;
	struct thread th = { .tid = p->tid, .name = p->name, .run_state = p->run_state };

	th.regs = p->regs;
	th.has_regs = p->asleep;
	th.unknown_regs = ~(UINT64_C(1) << arch->sp | UINT64_C(1) << arch->pc);
	if (!p->asleep && p->run_state != 'Z' && p->run_state != 'X')
		th.problem = "it was running and was not stopped: its registers are not known";
	return th;
}

struct error *live_thread_stats(struct target *t)
{
	struct live *l = t->private;
	VEC(struct thread) threads = { 0 };
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return live_exited(t->pid);
	l->peeks.n = 0;
	live_find_served(l);
	while ((entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct peek p;

		if (tid <= 0 || !live_thread_stat(l, tid, &p))
			continue;
		*vec_push(&l->peeks) = p;
		*vec_push(&threads) = live_peeked(l, &p);
		if (p.run_state != 'Z' && p.run_state != 'X' && (threads.n == 1 || tid == t->pid))
			l->reader = tid;
	}
	closedir(tasks);
	target_set_threads(t, threads.data, threads.n);
	vec_free(&threads);
	live_read_clock(l);
	TRY(interrupt_check());
	return live_same_program(l);
}

void live_recheck(struct target *t)
{
	struct live *l = t->private;

	for (size_t i = 0; i < t->nthreads; i++) {
		struct thread *th = &t->threads[i];
		const struct peek *p = l->peeks.data;

		if (th->stopped)
			continue;
		while (p->tid != th->tid)
			p++;
		if (!th->has_regs || live_stayed_asleep(l, p))
			continue;
		th->has_regs = false;
		th->problem = "it ran while its memory was read, and was not stopped: its "
			      "registers are not known";
	}
}

bool live_thread_slept_on(struct target *t, pid_t tid)
{
	struct live *l = t->private;

	for (size_t i = 0; i < l->peeks.n; i++) {
		if (l->peeks.data[i].tid == tid)
			return live_stayed_asleep(l, &l->peeks.data[i]);
	}
	return false;
}

#include "debugger/probe/off_time.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/live/proc.h"
#include "debugger/probe/probe_record.h"

/* The object file of off_time.bpf.c. */
__asm__(".section .rodata\n"
        ".balign 8\n"
        "off_time_object:\n"
        ".incbin \"" OFF_TIME_PROGRAM "\"\n"
        "off_time_object_end:\n"
        ".previous\n");
extern const unsigned char off_time_object[], off_time_object_end[];

enum {
	TRIES = 10,
	SHORT_NS = 200000,
	SOME_TICKS_NS = 40000000, /* four of the slowest kernels */
};

struct off_time {
	struct bpf_object *object;
	struct bpf_link *link;
};

static void freep(struct off_time **o)
{
	off_time_close(*o);
}

static struct error *off_time_refused(int errnum)
{
	return error_new(ERR_UNSUPPORTED, "this kernel does not show context switches: %s",
	                 strerrordesc_np(errnum));
}

struct error *off_time_open(int map, struct off_time **ret)
{
	struct off_time *o CLEANUP(freep) = alloc_zeroed(sizeof(*o));

	o->object = bpf_object__open_mem(off_time_object,
	                                 (size_t)(off_time_object_end - off_time_object), NULL);
	if (!o->object)
		return off_time_refused(errno);
	struct bpf_program *program = bpf_object__find_program_by_name(o->object, "at_switch");
	struct bpf_map *own = bpf_object__find_map_by_name(o->object, "off_times");
	if (!program || !own)
		return error_new(ERR_UNSUPPORTED, "the BPF program of this build is damaged");
	int failed = bpf_map__reuse_fd(own, map);
	failed = failed ? failed : bpf_object__load(o->object);
	if (failed)
		return off_time_refused(-failed);
	o->link = bpf_program__attach_raw_tracepoint(program, "sched_switch");
	if (!o->link)
		return off_time_refused(errno);
	*ret = o;
	o = NULL;
	return NULL;
}

void off_time_close(struct off_time *o)
{
	if (!o)
		return;
	bpf_link__destroy(o->link);
	bpf_object__close(o->object);
	free(o);
}

/* The time of bpf_ktime_get_ns(), whatever our time namespace is. */
static uint64_t off_time_kernel_now_ns(void)
{
	return (uint64_t)((int64_t)clock_now_ns() - proc_kernel_offset());
}

/* How long a thread has been on CPUs; the kernel counts that at its ticks. */
static bool read_ran(pid_t pid, pid_t tid, uint64_t *ns)
{
	SCRATCH(a);
	char *end,
		*text = proc_read(&a, pid, arena_printf(&a, "task/%d/schedstat", (int)tid), NULL);

	if (!text)
		return false;
	*ns = strtoull(text, &end, 10);
	return end != text;
}

/* Whether the thread can run, by /proc: it is on a CPU, or waits for one. */
static bool is_runnable(pid_t pid, pid_t tid)
{
	SCRATCH(a);
	struct proc_stat stat;
	char *text = proc_read(&a, pid, arena_printf(&a, "task/%d/stat", (int)tid), NULL);

	return text && proc_stat_parse(&a, text, &stat) && stat.state == 'R';
}

void off_time_add(int map, pid_t pid, pid_t tid)
{
	struct probe_off_time t = { .unsure = 1 };

	for (int i = 0; i < TRIES; i++) {
		uint64_t ran;

		t.ran = read_ran(pid, tid, &ran) ? ran : 0;
		t.since = off_time_kernel_now_ns();
		/* Switches of the other thread were missed if this one was off meanwhile. */
		if (bpf_map_update_elem(map, &tid, &t, BPF_NOEXIST) != 0 ||
		    clock_between(t.since, off_time_kernel_now_ns()) < SHORT_NS || i == TRIES - 1)
			return;
		bpf_map_delete_elem(map, &tid);
	}
}

/* Whether a thread that was not switched since it was added was off all the time. */
static bool was_off(pid_t pid, pid_t tid, const struct probe_off_time *t, uint64_t ns)
{
	uint64_t ran;

	if (ns < SOME_TICKS_NS || !read_ran(pid, tid, &ran))
		return !is_runnable(pid, tid);
	return clock_between(t->ran, ran) < ns / 2;
}

bool off_time_read(int map, pid_t pid, pid_t tid, uint64_t *ns)
{
	struct probe_off_time t;

	if (bpf_map_lookup_elem(map, &tid, &t) != 0)
		return false;
	uint64_t last = t.since ? clock_between(t.since, off_time_kernel_now_ns()) : 0;
	if (t.unsure && !was_off(pid, tid, &t, last))
		last = 0;
	*ns = t.total + last;
	return true;
}

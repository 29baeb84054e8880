/*
 * The program that the kernel runs when a CPU goes from one thread to another: it sums up how
 * long the threads of a map are off it. Apart from probe.bpf.c, since this one needs the kernel's
 * type information, which takes time to read.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>

#include "debugger/probe/off_times.bpf.h"

/* The member of the kernel's type that is read; where it lies is found when it is loaded. */
struct task_struct {
	int pid;
} __attribute__((preserve_access_index));

/* Arguments: whether it is preempted, the thread that goes, the one that comes. */
SEC("raw_tp/sched_switch")
int at_switch(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *next = (const struct task_struct *)ctx->args[2];
	__u32 from = (__u32)bpf_get_current_pid_tgid(), to = 0;
	struct probe_off_time *t = from ? bpf_map_lookup_elem(&off_times, &from) : NULL;

	if (t) {
		t->since = bpf_ktime_get_ns();
		t->unsure = 0;
	}
	if (bpf_core_read(&to, sizeof(to), &next->pid) != 0 || !to)
		return 0;
	t = bpf_map_lookup_elem(&off_times, &to);
	if (t && t->since) {
		t->total += bpf_ktime_get_ns() - t->since;
		t->since = t->unsure = 0;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

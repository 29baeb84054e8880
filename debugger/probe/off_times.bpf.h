/* How long threads were off their CPUs: the map that both programs of the kernel share. */
#ifndef DEBUGGER_PROBE_OFF_TIMES_BPF_H
#define DEBUGGER_PROBE_OFF_TIMES_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "debugger/probe/probe_record.h"

/* Off times by thread. probe.bpf.c adds the threads, off_time.bpf.c counts. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROBE_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct probe_off_time);
} off_times SEC(".maps");

#endif

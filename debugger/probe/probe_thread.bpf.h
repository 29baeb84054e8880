/* The threads that the program of the probe points has seen. */
#ifndef DEBUGGER_PROBE_PROBE_THREAD_BPF_H
#define DEBUGGER_PROBE_PROBE_THREAD_BPF_H

#include "debugger/probe/probe_maps.bpf.h"

/* Whether a place may be given to another thread: no thread has it, or its thread has rested. */
static __always_inline bool is_free(const struct calls *c)
{
	return !c->tid || (!c->depth && bpf_ktime_get_ns() - c->record.head.time > PROBE_REST);
}

/* Gives a thread a place; where none of several is free, the last one of them. */
static __always_inline struct calls *new_calls(__u32 tid)
{
	struct calls *c = NULL;
	__u32 place = 0, before;

	for (__u32 i = 0; i < PROBE_TRIES; i++) {
		place = __sync_fetch_and_add(&next_place, 1) & (PROBE_MAX_THREADS - 1);
		c = bpf_map_lookup_elem(&calls, &place);
		if (!c || is_free(c))
			break;
	}
	if (!c)
		return NULL;
	before = c->tid;
	if (before)
		bpf_map_delete_elem(&threads, &before);
	c->tid = tid;
	c->depth = 0;
	bpf_map_update_elem(&threads, &tid, &place, BPF_ANY);
	return c;
}

static __always_inline struct calls *calls_at(__u32 place, __u32 tid)
{
	struct calls *c = bpf_map_lookup_elem(&calls, &place);

	return c && c->tid == tid ? c : NULL;
}

/* The calls of the thread, which mostly is the last one that was seen on this CPU. */
static __always_inline struct calls *calls_of(__u32 tid)
{
	const __u32 first = 0;
	volatile __u64 *last = bpf_map_lookup_elem(&last_thread, &first);
	/*
	 * Both halves are read at once: another thread may interrupt the program here, and write
	 * it.
	 */
	__u64 seen = last ? *last : 0;
	struct calls *c = seen >> 32 == tid ? calls_at((__u32)seen, tid) : NULL;
	const __u32 *place;

	if (c)
		return c;
	place = bpf_map_lookup_elem(&threads, &tid);
	if (place && last)
		*last = (__u64)tid << 32 | *place;
	c = place ? calls_at(*place, tid) : NULL;
	return c ? c : new_calls(tid);
}

/* The id of this thread in the namespace of the records; 0: it is in another one. */
static __always_inline __u32 visible_tid(__u32 tid)
{
	struct bpf_pidns_info info = { 0 };

	if (!settings.ns_inode)
		return tid;
	if (bpf_get_ns_current_pid_tgid(settings.ns_device, settings.ns_inode, &info,
	                                sizeof(info)) != 0)
		return 0;
	return info.pid;
}

#endif

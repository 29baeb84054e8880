/* Maps of the program of the probe points: settings, points, the calls of threads, counts. */
#ifndef DEBUGGER_PROBE_PROBE_MAPS_BPF_H
#define DEBUGGER_PROBE_PROBE_MAPS_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "debugger/probe/off_times.bpf.h"

const volatile struct probe_settings settings = { 0 };

/* A call that a thread is in. */
struct probe_call {
	__u64 sp; /* at its entry */
	__u64 start, object, id;
	__u64 id_offset; /* of the id, from the object */
	__u32 point;
	__u32 finished;
};

/*
 * The first bytes of an object are read at once, since each read takes about 0.1 us, whatever its
 * length: ids, states and tables mostly lie there. Less than 64, which the kernel copies fastest.
 */
enum { BEGIN = 56 };

struct whole_record {
	struct probe_record head;
	__u8 copy[2 * PROBE_MAX_COPY];
};

/* Calls that a thread is in, outermost first. */
struct calls {
	__u32 depth;
	__u32 tid; /* 0: of none */
	struct probe_call frames[PROBE_MAX_DEPTH];
	/*
	 * The record under construction: it is too large for the stack of the program, and a place
	 * for each CPU would not do, since another thread may interrupt the program.
	 */
	struct whole_record record;
	__u8 begin[BEGIN + 8];                  /* of an object; 8 more for the verifier */
	__u64 registers[PROBE_NO_REGISTER + 1]; /* at a PROBE_PLACE; the last ones stay 0 */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_PLACES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct probe_place);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_MAX_POINTS);
	__type(key, __u32);
	__type(value, struct probe_point);
} points SEC(".maps");

/* Threads have places here, for an array is faster than a table by thread. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct calls);
} calls SEC(".maps");

/* The place of each thread that has one. Larger, so that there is room for one more at any time. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * PROBE_MAX_THREADS);
	__type(key, __u32);
	__type(value, __u32);
} threads SEC(".maps");

/* The thread that each CPU last looked up, and in the lower 32 bits its place. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} last_thread SEC(".maps");

static __u32 next_place; /* the place that a new thread tries, modulo PROBE_MAX_THREADS */

/* Addresses to which calls return and that have a point, or were reported. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_RETURNS);
	__type(key, __u64);
	__type(value, __u32);
} returns SEC(".maps");

/* Addresses in the file to which calls return, in frames whose return address can be found. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_FRAMES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct probe_frame);
} frames SEC(".maps");

/* Tables of objects, by their addresses: the offset of the id, as it was read there. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_TABLES);
	__type(key, __u64);
	__type(value, __u64);
} tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_NCOUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/*
 * The call at a depth, which the caller has checked. The verifier cannot follow that check through
 * all optimisations; this one it understands.
 */
static __always_inline struct probe_call *frame_at(struct calls *c, __u32 depth)
{
	asm volatile("" : "+r"(depth));
	return &c->frames[depth & (PROBE_MAX_DEPTH - 1)];
}

static __always_inline void count(__u32 which)
{
	__u64 *n = bpf_map_lookup_elem(&counts, &which);

	if (n)
		__sync_fetch_and_add(n, 1);
}

#endif

/* The programs of the kernel with which floor.c measures: see there. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

enum { THREADS = 4096, HEADER = 56, ID = 40 };

struct record {
	__u64 time, object, id, start;
	__u32 tid, ends;
};

struct call {
	__u64 start, object;
	__u8 header[HEADER];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

/* By the id of the thread, modulo their number: a program with fewer is measured. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREADS);
	__type(key, __u32);
	__type(value, struct call);
} calls SEC(".maps");

static __always_inline void write_record(const struct call *c, __u64 time, __u32 tid, __u32 ends)
{
	struct record r = { time, c->object, 0, c->start, tid, ends };

	__builtin_memcpy(&r.id, &c->header[ID], sizeof(r.id));
	bpf_ringbuf_output(&ring, &r, sizeof(r), BPF_RB_NO_WAKEUP);
}

static __always_inline int record_call(struct pt_regs *ctx, bool start_too)
{
	__u32 ends = (__u32)bpf_get_attach_cookie(ctx), tid = (__u32)bpf_get_current_pid_tgid();
	__u32 key = tid & (THREADS - 1);
	struct call *c = bpf_map_lookup_elem(&calls, &key);

	if (!c)
		return 0;
	__u64 time = bpf_ktime_get_ns();
	if (ends) {
		if (c->start)
			write_record(c, time, tid, ends);
		c->start = 0;
		return 0;
	}
	c->start = time;
	c->object = PT_REGS_PARM1(ctx);
	bpf_probe_read_user(c->header, sizeof(c->header), (const void *)c->object);
	if (start_too)
		write_record(c, time, tid, ends);
	return 0;
}

SEC("uprobe")
int nothing(struct pt_regs *ctx)
{
	return 0;
}

SEC("uprobe")
int one_record(struct pt_regs *ctx)
{
	return record_call(ctx, false);
}

SEC("uprobe")
int two_records(struct pt_regs *ctx)
{
	return record_call(ctx, true);
}

char LICENSE[] SEC("license") = "GPL";

/*
 * The program that the kernel runs at each probe point. Compiled by clang for the machine "bpf"; it
 * uses no types of the kernel, so that it needs no type information of it.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_tracing.h>

#include "debugger/probe/probe_object.bpf.h"
#include "debugger/probe/probe_place.bpf.h"
#include "debugger/probe/probe_thread.bpf.h"

/* Each argument register is read first: the verifier allows no computed offset in the context. */
static __always_inline __u64 argument(struct pt_regs *ctx, const struct probe_point *p, __u64 sp)
{
	__u64 stored = 0;
	__u8 n = p->argument;
	__u64 first = PT_REGS_PARM1(ctx), second = PT_REGS_PARM2(ctx);
	__u64 third = PT_REGS_PARM3(ctx);

	asm volatile("" : "+r"(first), "+r"(second), "+r"(third));
	if (n > 2)
		read_user(&stored, sizeof(stored), sp + (__u64)(__s64)p->stack_slot);
	return n == 0 ? first : n == 1 ? second : n == 2 ? third : stored;
}

/* Adds how long the thread was off its CPU. */
static __always_inline void note_off_time(struct probe_record *r)
{
	const struct probe_off_time none = { 0 };
	struct probe_off_time *t;

	if (!settings.off_times || (r->kind != PROBE_CALL && r->kind != PROBE_RETURN))
		return;
	t = bpf_map_lookup_elem(&off_times, &r->tid);
	if (!t)
		bpf_map_update_elem(&off_times, &r->tid, &none, BPF_NOEXIST);
	r->table = t ? t->total : 0;
}

/* The bytes of a record that are written if nothing is copied. */
static __always_inline __u32 cut_length(const struct probe_record *r)
{
	if (settings.off_times || (r->kind != PROBE_CALL && r->kind != PROBE_RETURN))
		return sizeof(*r);
	return r->by      ? offsetof(struct probe_record, table)
	       : r->start ? offsetof(struct probe_record, by)
	                  : offsetof(struct probe_record, start);
}

static __always_inline void probe_submit(struct whole_record *r)
{
	__u32 len = r->head.copied;

	note_off_time(&r->head);
	asm volatile("" : "+r"(len));
	len &= sizeof(r->copy) - 1;
	len = len ? sizeof(r->head) + len : cut_length(&r->head);
	if (bpf_ringbuf_output(&ring, r, len, BPF_RB_NO_WAKEUP) != 0)
		count(PROBE_LOST);
}

/* Notes the innermost of the first depth calls of the thread. */
static __always_inline void probe_set_outer(struct probe_record *r, struct calls *c, __u32 depth)
{
	bool any = depth && depth <= PROBE_MAX_DEPTH;

	r->by = any ? frame_at(c, depth - 1)->id : 0;
	r->by_point = any ? frame_at(c, depth - 1)->point : 0;
}

/*
 * Whether the record of a return is left out; but for one of a shorter call whose result alone
 * tells that its object is finished.
 */
static __always_inline bool is_silent(const struct probe_record *r, const struct probe_call *f,
                                      const struct probe_point *p, __u8 flags)
{
	if (p && p->silent & PROBE_NO_END)
		return true;
	return r->time - f->start < settings.min_ns &&
	       !(p && p->has_result && flags & PROBE_FINISHED);
}

/* Writes the record of the return of the call at that depth. */
static __always_inline void finish(struct whole_record *r, struct calls *c, __u32 depth, __u8 flags)
{
	const struct probe_call *f = frame_at(c, depth);

	struct probe_point *p = bpf_map_lookup_elem(&points, &f->point);

	if (p && flags & PROBE_LATE)
		p->looked = 0;
	if (p && !p->has_result)
		flags &= ~PROBE_FINISHED;
	if (is_silent(&r->head, f, p, flags))
		return;
	r->head.kind = PROBE_RETURN;
	r->head.point = f->point;
	r->head.object = f->object;
	r->head.id = f->id;
	r->head.start = f->start;
	r->head.table = 0;
	probe_set_outer(&r->head, c, depth);
	r->head.flags = flags | (f->finished ? PROBE_FINISHED : 0);
	r->head.copied = 0;
	if (p && p->npieces && !p->at_entry && !(r->head.flags & (PROBE_FINISHED | PROBE_LATE))) {
		copy_pieces(r, p);
		if (!is_at_rest(c, p, f)) {
			r->head.copied = 0;
			r->head.flags |= PROBE_UNREAD;
		}
	}
	probe_submit(r);
}

/* Ends the calls whose stack is gone, that is those entered at a stack pointer up to sp. */
static __always_inline void drop_dead(struct whole_record *r, struct calls *c, __u64 sp)
{
	for (__u32 i = 0; i < PROBE_MAX_DEPTH; i++) {
		__u32 top = c->depth - 1;

		if (!c->depth || top >= PROBE_MAX_DEPTH || frame_at(c, top)->sp > sp)
			return;
		c->depth = top;
		finish(r, c, top, PROBE_LATE);
	}
}

/*
 * Looks where a call returns to: for the first calls of a point, and again after one whose return
 * was not seen.
 */
static __always_inline void note_return(struct whole_record *r, struct probe_point *p, __u64 sp)
{
	__u64 address;

	r->head.start = 0;
	if (p->looked >= PROBE_LOOKS)
		return;
	p->looked++;
	if (!read_user(&address, sizeof(address), sp))
		return;
	r->head.start = address;
	if (!bpf_map_lookup_elem(&returns, &address))
		r->head.flags |= PROBE_NEW_RETURN;
}

/* The bytes that follow the record of a call: its table, and what lies behind the id. */
static __always_inline void copy_for_call(struct whole_record *r, const struct probe_point *p,
                                          __u64 id_offset)
{
	__u64 number = 0;

	if (!p->is_own_id && !p->behind_id)
		return;
	__builtin_memcpy(r->copy, &r->head.table, sizeof(r->head.table));
	r->head.copied = sizeof(r->head.table);
	if (p->is_own_id)
		return;
	if (id_offset)
		read_user(&number, sizeof(number), r->head.object + id_offset + p->behind_id);
	__builtin_memcpy(r->copy + sizeof(r->head.table), &number, sizeof(number));
	r->head.copied += sizeof(number);
}

static __always_inline void enter(struct whole_record *r, struct calls *c, struct probe_point *p,
                                  __u64 sp, __u64 id_offset)
{
	__u32 depth = c->depth;

	r->head.kind = PROBE_CALL;
	r->head.copied = 0;
	copy_for_call(r, p, id_offset);
	probe_set_outer(&r->head, c, depth);
	r->head.flags = r->head.id ? 0 : PROBE_UNREAD;
	r->head.start = 0;
	if (__builtin_expect(p->at_entry, 0))
		copy_pieces(r, p);
	if (p->silent & PROBE_NO_CALL) {
		if (!(p->silent & PROBE_NO_HIT))
			probe_submit(r);
		return;
	}
	note_return(r, p, sp);
	if (depth < PROBE_MAX_DEPTH) {
		*frame_at(c, depth) = (struct probe_call){
			.sp = sp,
			.start = r->head.time,
			.object = r->head.object,
			.id = r->head.id,
			.id_offset = id_offset,
			.point = r->head.point,
		};
		c->depth = depth + 1;
	} else {
		count(PROBE_TOO_DEEP);
	}
	if (!(p->silent & PROBE_NO_HIT) || (r->head.flags & PROBE_NEW_RETURN))
		probe_submit(r);
}

/*
 * The stack pointer at its entry tells which call has returned: those inside it have returned
 * unseen. flags: PROBE_FINISHED if what it has returned, where that counts, says so.
 */
static __always_inline void leave(struct whole_record *r, struct calls *c, __u64 entry, __u8 flags)
{
	__u32 depth = c->depth;

	for (__u32 i = 0; i < PROBE_MAX_DEPTH; i++) {
		if (!depth || depth > PROBE_MAX_DEPTH)
			return;
		if (frame_at(c, depth - 1)->sp == entry)
			break;
		if (frame_at(c, depth - 1)->sp > entry)
			return; /* this code ran without a call before it */
		depth--;
	}
	if (!depth)
		return;
	drop_dead(r, c, entry - 1);
	depth = c->depth;
	if (!depth || depth > PROBE_MAX_DEPTH || frame_at(c, depth - 1)->sp != entry)
		return;
	c->depth = depth - 1;
	finish(r, c, depth - 1, flags);
}

/* Whether a bit of the object's state says that nothing can finish it any more. */
static __always_inline bool probe_is_over(const struct probe_record *r, const struct probe_point *p)
{
	__u32 state = 0;

	return p->unfinished && (!read_user(&state, sizeof(state), r->object + p->busy_offset) ||
	                         state & p->busy_mask);
}

static __always_inline void copy_behind_id(struct whole_record *r, const struct probe_point *p,
                                           __u64 id_offset)
{
	__u64 number, at = r->head.object + id_offset + p->behind_id;

	if (!p->behind_id || !id_offset || !read_user(&number, sizeof(number), at))
		return;
	__builtin_memcpy(r->copy, &number, sizeof(number));
	r->head.copied = sizeof(number);
}

/* Where a frame pointer is kept; 0: in its register, 1: nobody knows, and nothing can be read. */
static __always_inline __u64 place_kept(__u64 sp, __u32 kept)
{
	return !kept ? 0 : kept == PROBE_KEPT_UNKNOWN ? 1 : sp - kept;
}

/*
 * sp: where the address lies to which the innermost call returns; ip: of the point, as the program
 * has it; fp: the frame pointer there.
 */
static __always_inline void copy_path(struct whole_record *r, const struct probe_point *p, __u64 sp,
                                      __u64 ip, __u64 fp)
{
	__u64 kept = place_kept(sp, p->path_kept);

	if (!p->path_from)
		return;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < PROBE_MAX_PATH; i++) {
		__u64 address;
		const struct probe_frame *frame;

		if (!read_user(&address, sizeof(address), sp))
			return;
		address -= ip - p->path_from;
		__builtin_memcpy(&r->copy[i * sizeof(address)], &address, sizeof(address));
		r->head.copied = (i + 1) * sizeof(address);
		frame = bpf_map_lookup_elem(&frames, &address);
		if (!frame)
			return;
		if (!frame->distance) {
			r->head.copied = i ? r->head.copied : 0;
			return;
		}
		/* Only a frame that is found by it needs it: it is not read for others. */
		if (frame->by_pointer && kept && !read_user(&fp, sizeof(fp), kept))
			return;
		sp = (frame->by_pointer ? fp : sp) + frame->distance;
		kept = frame->kept ? place_kept(sp, frame->kept) : frame->by_pointer ? 0 : kept;
	}
}

static __always_inline void meet(struct whole_record *r, struct calls *c,
                                 const struct probe_point *p, __u64 sp, __u64 ip, __u64 fp,
                                 __u64 id_offset)
{
	__u32 depth = c->depth;

	if (probe_is_over(&r->head, p))
		return;
	r->head.kind = p->kind;
	r->head.copied = 0;
	r->head.start = 0;
	r->head.flags = r->head.id ? 0 : PROBE_UNREAD;
	probe_set_outer(&r->head, c, depth);
	if (p->kind == PROBE_FINAL && depth && depth <= PROBE_MAX_DEPTH &&
	    frame_at(c, depth - 1)->object == r->head.object) {
		/* A function that finishes the object may call another one that does. */
		if (frame_at(c, depth - 1)->finished)
			return;
		frame_at(c, depth - 1)->finished = 1;
	}
	copy_behind_id(r, p, id_offset);
	copy_path(r, p, sp, ip, fp);
	if (!(p->silent & PROBE_NO_HIT))
		probe_submit(r);
}

static __always_inline void pass_place(struct pt_regs *ctx, struct whole_record *r, struct calls *c,
                                       __u32 index)
{
	const struct probe_place *place = bpf_map_lookup_elem(&places, &index);

	if (!place)
		return;
	r->head.kind = PROBE_PLACE;
	r->head.object = r->head.start = r->head.id = r->head.table = 0;
	r->head.flags = 0;
	probe_set_outer(&r->head, c, c->depth);
	save_registers(c, ctx);
	read_place(r, c, place);
	probe_submit(r);
}

SEC("uprobe")
int at_point(struct pt_regs *ctx)
{
	__u32 index = (__u32)bpf_get_attach_cookie(ctx), tid = (__u32)bpf_get_current_pid_tgid();
	struct probe_point *p = bpf_map_lookup_elem(&points, &index);
	__u64 sp = PT_REGS_SP(ctx), address = PT_REGS_IP(ctx), fp = PT_REGS_FP(ctx);
	bool ours = p && p->kind && (!p->address || p->address == address);
	struct calls *c = ours ? calls_of(tid) : NULL;

	if (!c)
		return 0;
	struct whole_record *r = &c->record;
	r->head.time = bpf_ktime_get_ns();
	r->head.tid = visible_tid(tid);
	if (p->exchange.used && !was_exchanged(ctx, r, c, &p->exchange))
		return 0;
	sp -= (__u64)(__s64)p->stack_delta;
	if (p->kind == PROBE_RETURN) {
		leave(r, c, sp, p->has_result && !(ctx->rax & 0xff) ? PROBE_FINISHED : 0);
		return 0;
	}
	/*
	 * A call at the stack pointer of another one follows its return. Other functions may have
	 * been entered by a jump at the end of that call.
	 */
	drop_dead(r, c, p->kind == PROBE_CALL ? sp : sp - 1);
	r->head.point = index;
	if (p->kind == PROBE_PLACE) {
		pass_place(ctx, r, c, index);
		return 0;
	}
	if (!p->exchange.used)
		r->head.object = argument(ctx, p, sp);
	__u64 id_offset = read_object(c, p);
	if (p->kind == PROBE_CALL)
		enter(r, c, p, sp, id_offset);
	else
		meet(r, c, p, sp, address, fp, id_offset);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

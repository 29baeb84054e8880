/*
 * The program that the kernel runs at each probe point. Compiled by clang for the machine "bpf"; it
 * uses no types of the kernel, so that it needs no type information of it.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "debugger/probe/probe_record.h"

const volatile struct probe_settings settings = { 0 };

/* A call that a thread is in. */
struct frame {
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

/* What is known of a thread: the calls that it is in, outermost first. */
struct calls {
	__u32 depth;
	__u32 tid; /* 0: of none */
	struct frame frames[PROBE_MAX_DEPTH];
	/*
	 * The record under construction: it is too large for the stack of the program, and a place
	 * for each processor would not do, since another thread may interrupt the program.
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

/* Of each processor: the thread that was last looked up, and in the lower 32 bits its place. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} last_thread SEC(".maps");

static __u32 next_place; /* that a new thread tries, modulo PROBE_MAX_THREADS */

/* Addresses to which calls return and that have a point, or were reported. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_MAX_RETURNS);
	__type(key, __u64);
	__type(value, __u32);
} returns SEC(".maps");

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

/* By thread; off_time.bpf.c counts. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PROBE_MAX_THREADS);
	__type(key, __u32);
	__type(value, struct probe_off_time);
} off_times SEC(".maps");

/*
 * The call at a depth, which the caller has checked. The verifier cannot follow that check through
 * all optimisations; this one it understands.
 */
static __always_inline struct frame *frame_at(struct calls *c, __u32 depth)
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

static __always_inline bool read_user(void *to, __u32 len, __u64 from)
{
	return bpf_probe_read_user(to, len, (const void *)from) == 0;
}

static __always_inline bool read_begin(struct calls *c, __u64 object)
{
	return read_user(c->begin, BEGIN, object);
}

/* Bytes of an object: of its first ones, where those were read and have them. */
static __always_inline bool read_bytes(void *to, __u32 len, const struct calls *c, bool begun,
                                       __u64 object, __u64 offset)
{
	if (!begun || offset > BEGIN - len)
		return read_user(to, len, object + offset);
	/* What the verifier understands. */
	asm volatile("" : "+r"(offset));
	__builtin_memcpy(to, &c->begin[offset & (BEGIN | 7)], len);
	return true;
}

/* Where the objects with that table have their id; 0: unknown. */
static __always_inline __u64 id_offset_of(__u64 table, struct probe_point *p)
{
	__u64 first = p->first_table, offset, *known;

	if (first >> 16 == table)
		return first & 0xffff;
	known = bpf_map_lookup_elem(&tables, &table);
	if (known)
		return *known;
	if (!read_user(&offset, sizeof(offset), table + p->id_slot))
		return 0;
	bpf_map_update_elem(&tables, &table, &offset, BPF_ANY);
	if (!first && table >> 48 == 0 && offset >> 16 == 0)
		p->first_table = table << 16 | offset;
	return offset;
}

/* Reads the id of an object and its table, which tells where the id is: the offset is returned. */
static __always_inline __u64 read_object(struct calls *c, struct probe_point *p)
{
	struct probe_record *r = &c->record.head;
	__u64 offset = p->id_offset;
	bool begun;

	r->id = 0;
	r->table = 0;
	if (p->is_own_id) {
		r->id = r->object;
		if (!read_user(&r->table, sizeof(r->table), r->object + p->table_offset))
			r->table = 0;
		return 0;
	}
	if (!offset && !p->id_slot)
		return 0;
	begun = read_begin(c, r->object);
	if (!offset) {
		if (!read_bytes(&r->table, sizeof(r->table), c, begun, r->object, p->table_offset))
			return 0;
		offset = id_offset_of(r->table, p);
	}
	if (!offset || !read_bytes(&r->id, sizeof(r->id), c, begun, r->object, offset))
		r->id = 0;
	return offset;
}

/* Each is read first: the verifier allows no computed offset in the context. */
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

/* Adds how long the thread was off its processor. */
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

static __always_inline void submit(struct whole_record *r)
{
	__u32 len = r->head.copied;

	note_off_time(&r->head);
	asm volatile("" : "+r"(len));
	len &= sizeof(r->copy) - 1;
	len = len ? sizeof(r->head) + len : cut_length(&r->head);
	if (bpf_ringbuf_output(&ring, r, len, BPF_RB_NO_WAKEUP) != 0)
		count(PROBE_LOST);
}

/*
 * Whether the object of a call that has returned is still there and nothing works on it: another
 * thread may be in a call on it already, or have freed it.
 */
static __always_inline bool is_at_rest(struct calls *c, const struct probe_point *p,
                                       const struct frame *f)
{
	bool begun = read_begin(c, f->object);
	__u32 state = 0;
	__u64 id = 0;

	if (p->busy_mask &&
	    (!read_bytes(&state, sizeof(state), c, begun, f->object, p->busy_offset) ||
	     (state & p->busy_mask)))
		return false;
	/* Who reads the records sees whether another thread has been there. */
	if (p->is_own_id)
		return true;
	return f->id && read_bytes(&id, sizeof(id), c, begun, f->object, f->id_offset) &&
	       id == f->id;
}

/* A number of up to 8 bytes in the copy, which is longer than what it says. */
static __always_inline __u64 copied_number(const struct whole_record *r, __u32 at, __u32 size)
{
	__u64 number;

	asm volatile("" : "+r"(at));
	__builtin_memcpy(&number, &r->copy[at & (PROBE_MAX_COPY - 1)], sizeof(number));
	return size < sizeof(number) ? number & ((1ull << (8 * (size & 7))) - 1) : number;
}

/* Copies what is behind pointers in the copy, which has at bytes; returns how many it has then. */
static __always_inline __u32 copy_boxes(struct whole_record *r, const struct probe_point *p,
                                        __u32 at)
{
	__u8 unread = 0;

	for (__u32 i = 0; i < PROBE_MAX_BOXES; i++) {
		const struct probe_box *b = &p->boxes[i];
		__u32 len = b->len;

		if (i >= p->nboxes)
			break;
		asm volatile("" : "+r"(len), "+r"(at));
		len &= PROBE_MAX_COPY - 1;
		at &= PROBE_MAX_COPY - 1;
		if (copied_number(r, b->state, b->size) == b->value &&
		    !read_user(&r->copy[at], len, copied_number(r, b->pointer, 8) + b->offset))
			unread |= 1 << i;
		at += len;
	}
	asm volatile("" : "+r"(at));
	at &= PROBE_MAX_COPY - 1;
	r->copy[at] = unread;
	return at + 1;
}

/* Copies the pieces of an object behind the record. */
static __always_inline void copy_pieces(struct whole_record *r, const struct probe_point *p)
{
	__u32 at = 0;

	for (__u32 i = 0; i < PROBE_MAX_PIECES; i++) {
		__u32 len = p->pieces[i].len;

		if (i >= p->npieces)
			break;
		/* What the verifier understands; both are smaller already. */
		asm volatile("" : "+r"(len), "+r"(at));
		len &= PROBE_MAX_COPY - 1;
		at &= PROBE_MAX_COPY - 1;
		if (!read_user(&r->copy[at], len, r->head.object + p->pieces[i].offset)) {
			r->head.flags |= PROBE_UNREAD;
			at = 0;
			break;
		}
		at += len;
	}
	if (at && p->nboxes)
		at = copy_boxes(r, p, at);
	r->head.copied = at;
}

/* Notes the innermost of the first depth calls of the thread. */
static __always_inline void set_outer(struct probe_record *r, struct calls *c, __u32 depth)
{
	bool any = depth && depth <= PROBE_MAX_DEPTH;

	r->by = any ? frame_at(c, depth - 1)->id : 0;
	r->by_point = any ? frame_at(c, depth - 1)->point : 0;
}

/*
 * Whether the record of a return is left out; but for one of a shorter call whose result alone
 * tells that its object is finished.
 */
static __always_inline bool is_silent(const struct probe_record *r, const struct frame *f,
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
	const struct frame *f = frame_at(c, depth);

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
	set_outer(&r->head, c, depth);
	r->head.flags = flags | (f->finished ? PROBE_FINISHED : 0);
	r->head.copied = 0;
	if (p && p->npieces && !(r->head.flags & (PROBE_FINISHED | PROBE_LATE))) {
		copy_pieces(r, p);
		if (!is_at_rest(c, p, f)) {
			r->head.copied = 0;
			r->head.flags |= PROBE_UNREAD;
		}
	}
	submit(r);
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

static __always_inline void enter(struct whole_record *r, struct calls *c, struct probe_point *p,
                                  __u64 sp, __u64 id_offset)
{
	__u32 depth = c->depth;

	r->head.kind = PROBE_CALL;
	r->head.copied = 0;
	if (p->is_own_id) {
		__builtin_memcpy(r->copy, &r->head.table, sizeof(r->head.table));
		r->head.copied = sizeof(r->head.table);
	}
	set_outer(&r->head, c, depth);
	r->head.flags = r->head.id ? 0 : PROBE_UNREAD;
	note_return(r, p, sp);
	if (depth < PROBE_MAX_DEPTH) {
		*frame_at(c, depth) = (struct frame){
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
		submit(r);
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
static __always_inline bool is_over(const struct probe_record *r, const struct probe_point *p)
{
	__u32 state = 0;

	return p->unfinished && (!read_user(&state, sizeof(state), r->object + p->busy_offset) ||
	                         state & p->busy_mask);
}

static __always_inline void meet(struct whole_record *r, struct calls *c,
                                 const struct probe_point *p)
{
	__u32 depth = c->depth;

	if (is_over(&r->head, p))
		return;
	r->head.kind = p->kind;
	r->head.copied = 0;
	r->head.start = 0;
	r->head.flags = r->head.id ? 0 : PROBE_UNREAD;
	set_outer(&r->head, c, depth);
	if (p->kind == PROBE_FINAL && depth && depth <= PROBE_MAX_DEPTH &&
	    frame_at(c, depth - 1)->object == r->head.object) {
		/* One function that finishes it may call another one. */
		if (frame_at(c, depth - 1)->finished)
			return;
		frame_at(c, depth - 1)->finished = 1;
	}
	if (!(p->silent & PROBE_NO_HIT))
		submit(r);
}

/* In the order of DWARF. The verifier allows no computed offset in the context. */
static __always_inline void save_registers(struct calls *c, const struct pt_regs *ctx)
{
	c->registers[0] = ctx->rax;
	c->registers[1] = ctx->rdx;
	c->registers[2] = ctx->rcx;
	c->registers[3] = ctx->rbx;
	c->registers[4] = ctx->rsi;
	c->registers[5] = ctx->rdi;
	c->registers[6] = ctx->rbp;
	c->registers[7] = ctx->rsp;
	c->registers[8] = ctx->r8;
	c->registers[9] = ctx->r9;
	c->registers[10] = ctx->r10;
	c->registers[11] = ctx->r11;
	c->registers[12] = ctx->r12;
	c->registers[13] = ctx->r13;
	c->registers[14] = ctx->r14;
	c->registers[15] = ctx->r15;
	c->registers[16] = ctx->rip;
}

static __always_inline __u64 register_of(const struct calls *c, __u32 n)
{
	asm volatile("" : "+r"(n));
	return c->registers[n & PROBE_NO_REGISTER];
}

/* Whether the exchange before the point was made, and counts; its object is noted. */
static __always_inline bool was_exchanged(struct pt_regs *ctx, struct whole_record *r,
                                          struct calls *c, const struct probe_exchange *x)
{
	enum { ZERO_FLAG = 1 << 6, RAX = 0 };
	__u64 old, new;

	if (!(ctx->eflags & ZERO_FLAG))
		return false;
	save_registers(c, ctx);
	old = register_of(c, RAX);
	new = register_of(c, x->source);
	if ((old & x->old_none) || (new & x->new_none) || !(new & x->new_any) ||
	    (x->old_any && !(old & x->old_any)))
		return false;
	r->head.object =
		register_of(c, x->base) + register_of(c, x->index) * x->scale + x->displacement;
	return true;
}

static __always_inline bool read_value(const struct calls *c, const struct probe_value *v,
                                       __u64 *ret)
{
	__u64 base = register_of(c, v->base), at;
	__u32 size = v->size;

	if (v->kind == PROBE_CONSTANT) {
		*ret = v->number;
		return true;
	}
	if (v->kind == PROBE_REGISTER) {
		*ret = base >> (v->shift & 63);
		return true;
	}
	at = base + register_of(c, v->index) * v->scale + v->number;
	*ret = 0;
	if (size > sizeof(*ret))
		return false;
	return read_user(ret, size, at);
}

/* Appends the text at an address to the copy; returns where the copy ends then. */
static __always_inline __u32 copy_text(struct whole_record *r, __u32 at, __u64 from)
{
	long len;

	asm volatile("" : "+r"(at));
	if (at > sizeof(r->copy) - PROBE_MAX_TEXT)
		return at;
	len = bpf_probe_read_user_str(&r->copy[at], PROBE_MAX_TEXT, (const void *)from);
	return len > 0 && len <= PROBE_MAX_TEXT ? at + (__u32)len : at;
}

/* Reads the values of a place behind the record. */
static __always_inline void read_place(struct whole_record *r, const struct calls *c,
                                       const struct probe_place *place)
{
	__u32 n = place->n, at, end;
	__u64 x;

	if (n > PROBE_MAX_VALUES)
		n = PROBE_MAX_VALUES;
	at = n * sizeof(x);
	for (__u32 i = 0; i < PROBE_MAX_VALUES; i++) {
		if (i >= n)
			break;
		x = 0;
		if (!read_value(c, &place->values[i], &x))
			r->head.object |= 1ull << i;
		__builtin_memcpy(&r->copy[i * sizeof(x)], &x, sizeof(x));
		if (!place->values[i].text)
			continue;
		end = copy_text(r, at, x);
		if (end != at)
			r->head.start |= 1ull << i;
		at = end;
	}
	r->head.copied = at;
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
	set_outer(&r->head, c, c->depth);
	save_registers(c, ctx);
	read_place(r, c, place);
	submit(r);
}

/* Whether a place may be given to another thread: nobody has it, or its thread rests for a while.
 */
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

/* The calls of the thread, which mostly is the last one that was seen on this processor. */
static __always_inline struct calls *calls_of(__u32 tid)
{
	const __u32 first = 0;
	volatile __u64 *last = bpf_map_lookup_elem(&last_thread, &first);
	/* Both halves at once: another thread may interrupt the program here, and write it. */
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

SEC("uprobe")
int at_point(struct pt_regs *ctx)
{
	__u32 index = (__u32)bpf_get_attach_cookie(ctx), tid = (__u32)bpf_get_current_pid_tgid();
	struct probe_point *p = bpf_map_lookup_elem(&points, &index);
	__u64 sp = PT_REGS_SP(ctx), address = PT_REGS_IP(ctx);
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
		meet(r, c, p);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

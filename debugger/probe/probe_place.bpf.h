/* Reads of the program of the probe points from registers: values of places, exchanges. */
#ifndef DEBUGGER_PROBE_PROBE_PLACE_BPF_H
#define DEBUGGER_PROBE_PROBE_PLACE_BPF_H

#include <linux/ptrace.h>

#include "debugger/probe/probe_object.bpf.h"

/*
 * Saves the registers in the order of DWARF. The verifier allows no computed offset in the context.
 */
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

	if (!(ctx->eflags & ZERO_FLAG) && !x->always)
		return false;
	save_registers(c, ctx);
	old = register_of(c, RAX);
	new = register_of(c, x->source);
	if (((old & x->old_none) || (new & x->new_none) || !(new & x->new_any) ||
	     (x->old_any && !(old & x->old_any))) &&
	    !x->always)
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

#endif

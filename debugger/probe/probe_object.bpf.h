/* Reads of the program of the probe points from objects: ids, states, copies of their pieces. */
#ifndef DEBUGGER_PROBE_PROBE_OBJECT_BPF_H
#define DEBUGGER_PROBE_PROBE_OBJECT_BPF_H

#include "debugger/probe/probe_maps.bpf.h"

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
	/* The verifier understands this mask as the limit of the offset. */
	asm volatile("" : "+r"(offset));
	__builtin_memcpy(to, &c->begin[offset & (BEGIN | 7)], len);
	return true;
}

/* Offset of the id in the objects with that table; 0: unknown. */
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

/*
 * Whether the object of a call that has returned is still there and nothing works on it: another
 * thread may be in a call on it already, or have freed it.
 */
static __always_inline bool is_at_rest(struct calls *c, const struct probe_point *p,
                                       const struct probe_call *f)
{
	bool begun = read_begin(c, f->object);
	__u32 state = 0;
	__u64 id = 0;

	if (p->busy_mask &&
	    (!read_bytes(&state, sizeof(state), c, begun, f->object, p->busy_offset) ||
	     (state & p->busy_mask)))
		return false;
	/* The reader of the records sees whether another thread has been there. */
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

/*
 * Copies the objects behind pointers in the copy, which has at bytes; returns how many it has then.
 */
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
		/*
		 * The verifier understands these masks as limits; both numbers are smaller already.
		 */
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

#endif

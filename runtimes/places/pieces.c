#include "runtimes/places/pieces.h"

#include <stddef.h>

/*
 * Bytes between two states that are copied too, in one piece: to read another piece costs more than
 * 100 bytes of a longer record.
 */
enum { GAP = 64 };

bool pieces_is_reachable(uint64_t offset, unsigned size)
{
	return pieces_has(0, UINT32_MAX / 2, offset, size);
}

bool pieces_has(uint64_t low, uint64_t len, uint64_t offset, unsigned size)
{
	return size <= len && offset >= low && offset - low <= len - size;
}

uint32_t pieces_total(const struct pieces *p)
{
	uint32_t len = 0;

	for (uint32_t i = 0; i < p->n; i++)
		len += p->data[i].len;
	return len;
}

/* The piece that covers two pieces, and the bytes between them. */
static struct probe_piece around(const struct probe_piece *x, const struct probe_piece *y)
{
	uint32_t x_end = x->offset + x->len, y_end = y->offset + y->len;
	uint32_t low = x->offset < y->offset ? x->offset : y->offset;

	return (struct probe_piece){ low, (x_end > y_end ? x_end : y_end) - low };
}

/* A piece that is at most GAP away from another one; NULL: none is. */
static struct probe_piece *piece_near(struct pieces *p, const struct probe_piece *piece)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct probe_piece *x = &p->data[i];

		if (around(x, piece).len <= x->len + piece->len + GAP)
			return x;
	}
	return NULL;
}

/* Adds a piece by itself. The kernel takes lengths modulo PROBE_MAX_COPY. */
static bool add_apart(struct pieces *p, uint32_t other, struct probe_piece piece)
{
	if (p->n == PROBE_MAX_PIECES)
		return false;
	p->data[p->n++] = piece;
	return pieces_total(p) + other < PROBE_MAX_COPY;
}

/* Merges a piece with all pieces that are near. */
static bool add_joined(struct pieces *p, uint32_t other, struct probe_piece piece)
{
	struct probe_piece *near;

	while ((near = piece_near(p, &piece))) {
		piece = around(near, &piece);
		*near = p->data[--p->n];
	}
	return add_apart(p, other, piece);
}

void pieces_add(struct pieces *p, uint32_t other, uint64_t offset, unsigned size)
{
	struct pieces joined = *p, apart = *p;

	if (!pieces_is_reachable(offset, size))
		return;
	const struct probe_piece piece = { (uint32_t)offset, size };
	if (add_joined(&joined, other, piece))
		*p = joined;
	else if (add_apart(&apart, other, piece))
		*p = apart;
}

uint32_t pieces_find(const struct pieces *p, uint64_t offset, unsigned size)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct probe_piece *x = &p->data[i];

		if (pieces_has(x->offset, x->len, offset, size))
			return at + (uint32_t)(offset - x->offset);
		at += x->len;
	}
	return PIECES_NOT_COPIED;
}

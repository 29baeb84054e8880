#include "commands/perfetto/protobuf.h"

#include <string.h>

enum wire_type { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

enum { MAX_VARINT = 10 };

void protobuf_clear(struct protobuf *p)
{
	p->start = PROTOBUF_MAX;
	p->full = false;
}

static void protobuf_prepend(struct protobuf *p, const void *data, size_t len)
{
	if (len > p->start) {
		p->full = true;
		return;
	}
	p->start -= len;
	if (len)
		memcpy(p->bytes + p->start, data, len);
}

static void protobuf_prepend_varint(struct protobuf *p, uint64_t value)
{
	unsigned char bytes[MAX_VARINT];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (unsigned char)(value | 0x80);
	bytes[n++] = (unsigned char)value;
	protobuf_prepend(p, bytes, n);
}

static void protobuf_prepend_tag(struct protobuf *p, unsigned field, enum wire_type type)
{
	protobuf_prepend_varint(p, (uint64_t)field << 3 | type);
}

void protobuf_varint(struct protobuf *p, unsigned field, uint64_t value)
{
	protobuf_prepend_varint(p, value);
	protobuf_prepend_tag(p, field, VARINT);
}

void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	protobuf_prepend(p, bytes, sizeof(bytes));
	protobuf_prepend_tag(p, field, FIXED64);
}

void protobuf_bytes(struct protobuf *p, unsigned field, const void *data, size_t len)
{
	protobuf_prepend(p, data, len);
	protobuf_prepend_varint(p, len);
	protobuf_prepend_tag(p, field, LENGTH);
}

size_t protobuf_begin(const struct protobuf *p)
{
	return p->start;
}

void protobuf_nest(struct protobuf *p, unsigned field, size_t begin)
{
	protobuf_prepend_varint(p, begin - p->start);
	protobuf_prepend_tag(p, field, LENGTH);
}

const unsigned char *protobuf_data(const struct protobuf *p, size_t *len)
{
	*len = PROTOBUF_MAX - p->start;
	return p->bytes + p->start;
}

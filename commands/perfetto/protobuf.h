/*
 * Builds one protobuf message in memory, from its last byte to its first: the length of a nested
 * message, which stands in front of it, is then known when it is written. So the last call writes
 * the first field. See "Encoding" in protobuf's documentation.
 */
#ifndef COMMANDS_PERFETTO_PROTOBUF_H
#define COMMANDS_PERFETTO_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROTOBUF_MAX = 1 << 17 };

struct protobuf {
	size_t start; /* of the message being built; it ends with the array */
	bool full;    /* something did not fit and is missing */
	unsigned char bytes[PROTOBUF_MAX];
};

/* Begins a new message. Everything else needs this first. */
void protobuf_clear(struct protobuf *p);

/* Fields of the types uint64, int64, bool and enum (varint), fixed64, and string or bytes. */
void protobuf_varint(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_fixed64(struct protobuf *p, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf *p, unsigned field, const void *data, size_t len);

/*
 * A nested message: the fields built between a call of protobuf_begin() and one of protobuf_nest(),
 * with the result of the first.
 */
size_t protobuf_begin(const struct protobuf *p);
void protobuf_nest(struct protobuf *p, unsigned field, size_t begin);

/* The bytes built, valid up to the next call. */
const unsigned char *protobuf_data(const struct protobuf *p, size_t *len);

#endif

#include "runtimes/trace/item_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"

/* Bytes of an encoded item: its head, and one whose texts would exceed it has none. */
enum { MAX_ITEM = 8 << 10, MAX_NUMBER = 10, HEAD = 2 };

enum { READY = 1 << 4, LATE = 1 << 5, HAS_HIT = 1 << 6 }; /* beside the event */
enum { KNOWN = 1, SIGNED = 2, HAS_TEXT = 4 };             /* of an argument */

struct item_ring {
	unsigned char *data;
	size_t size;
	uint64_t head, tail;       /* bytes that were ever removed and added */
	uint64_t before, last;     /* times: of the item before the oldest, and of the newest */
	size_t n;                  /* items */
	VEC(const void *) objects; /* types, places, sites of spawns and probes */
	struct map numbers;        /* numbers of these objects, from 1 on */
	item_ring_fn *displaced;
	void *arg;
};

/* Encoding of one item, as it is written or read. */
struct coded {
	unsigned char data[MAX_ITEM];
	size_t at;
};

struct error *item_ring_new(size_t size, item_ring_fn *displaced, void *arg, struct item_ring **ret)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return error_os(errno, "a ring of %zu bytes", size);
	struct item_ring *r = alloc_zeroed(sizeof(*r));
	r->data = data;
	r->size = size;
	r->displaced = displaced;
	r->arg = arg;
	*ret = r;
	return NULL;
}

void item_ring_free(struct item_ring *r)
{
	if (!r)
		return;
	munmap(r->data, r->size);
	vec_free(&r->objects);
	map_free(&r->numbers);
	free(r);
}

void item_ring_freep(struct item_ring **r)
{
	item_ring_free(*r);
}

size_t item_ring_count(const struct item_ring *r)
{
	return r->n;
}

/* ---- bytes ---- */

static void copy_in(struct item_ring *r, const unsigned char *data, size_t len)
{
	size_t at = r->tail % r->size, first = r->size - at < len ? r->size - at : len;

	memcpy(r->data + at, data, first);
	memcpy(r->data, data + first, len - first);
	r->tail += len;
}

static void copy_out(const struct item_ring *r, uint64_t from, unsigned char *data, size_t len)
{
	size_t at = from % r->size, first = r->size - at < len ? r->size - at : len;

	memcpy(data, r->data + at, first);
	memcpy(data + first, r->data, len - first);
}

static void item_ring_put_number(struct coded *c, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		c->data[c->at++] = (unsigned char)(number | 0x80);
	c->data[c->at++] = (unsigned char)number;
}

static uint64_t item_ring_get_number(struct coded *c)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char byte = c->data[c->at++];

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return number;
}

/* Zigzag encoding, so that small negative numbers are short, too. */
static void item_ring_put_signed(struct coded *c, int64_t number)
{
	item_ring_put_number(c, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static int64_t item_ring_get_signed(struct coded *c)
{
	uint64_t number = item_ring_get_number(c);

	return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

static void item_ring_put_object(struct item_ring *r, struct coded *c, const void *object)
{
	uint64_t number = object ? (uintptr_t)map_get(&r->numbers, (uintptr_t)object) : 0;

	if (object && !number) {
		*vec_push(&r->objects) = object;
		number = r->objects.n;
		map_put(&r->numbers, (uintptr_t)object, (void *)(uintptr_t)number);
	}
	item_ring_put_number(c, number);
}

static const void *item_ring_get_object(const struct item_ring *r, struct coded *c)
{
	uint64_t number = item_ring_get_number(c);

	return number && number <= r->objects.n ? r->objects.data[number - 1] : NULL;
}

/* ---- hits of static probes ---- */

static void put_text(struct coded *c, const char *text, size_t len)
{
	item_ring_put_number(c, len);
	memcpy(c->data + c->at, text, len);
	c->at += len;
}

static void put_argument(struct coded *c, const struct trace_argument *arg)
{
	size_t rest = (size_t)USDT_MAX_OPERANDS * (1 + 2 * MAX_NUMBER);
	size_t len = arg->text ? strlen(arg->text) : 0;
	bool fits = arg->text && c->at + len + rest < MAX_ITEM;

	c->data[c->at++] = (unsigned char)((arg->known ? KNOWN : 0) |
	                                   (arg->is_signed ? SIGNED : 0) | (fits ? HAS_TEXT : 0));
	item_ring_put_number(c, arg->value);
	if (fits)
		put_text(c, arg->text, len);
}

static void get_argument(struct coded *c, struct arena *a, struct trace_argument *arg)
{
	unsigned char flags = c->data[c->at++];

	*arg = (struct trace_argument){ .known = flags & KNOWN, .is_signed = flags & SIGNED };
	arg->value = item_ring_get_number(c);
	if (!(flags & HAS_TEXT))
		return;
	size_t len = item_ring_get_number(c);
	arg->text = arena_strndup(a, (const char *)c->data + c->at, len);
	c->at += len;
}

static void put_hit(struct item_ring *r, struct coded *c, const struct trace_hit *hit)
{
	item_ring_put_object(r, c, hit->probe);
	item_ring_put_number(c, hit->n);
	for (size_t i = 0; i < hit->n; i++)
		put_argument(c, &hit->arguments[i]);
}

static const struct trace_hit *get_hit(const struct item_ring *r, struct coded *c, struct arena *a)
{
	struct trace_hit *hit = NEW(a, struct trace_hit);

	hit->probe = item_ring_get_object(r, c);
	hit->n = item_ring_get_number(c);
	for (size_t i = 0; i < hit->n; i++)
		get_argument(c, a, &hit->arguments[i]);
	return hit;
}

/* ---- items ---- */

static void item_ring_encode(struct item_ring *r, const struct trace_item *item, struct coded *c)
{
	c->at = HEAD;
	c->data[c->at++] = (unsigned char)((unsigned)item->event | (item->ready ? READY : 0) |
	                                   (item->late ? LATE : 0) | (item->hit ? HAS_HIT : 0));
	item_ring_put_signed(c, (int64_t)(item->time - r->last));
	item_ring_put_number(c, (uint64_t)item->tid);
	item_ring_put_signed(c, item->worker);
	item_ring_put_signed(c, item->runtime);
	item_ring_put_number(c, item->task);
	item_ring_put_object(r, c, item->type);
	c->data[c->at++] = (unsigned char)item->job;
	item_ring_put_number(c, item->late ? item->at_most_ns : item->poll_ns);
	item_ring_put_object(r, c, item->place);
	item_ring_put_number(c, item->by);
	if (item->event == TRACE_SPAWN)
		item_ring_put_object(r, c, item->spawned_at);
	if (item->hit)
		put_hit(r, c, item->hit);
	c->data[0] = (unsigned char)c->at;
	c->data[1] = (unsigned char)(c->at >> 8);
}

bool item_ring_read(const struct item_ring *r, struct item_ring_place *place, struct arena *a,
                    struct trace_item *ret)
{
	struct coded c;

	if (place->at == r->tail)
		return false;
	copy_out(r, place->at, c.data, HEAD);
	size_t len = (size_t)c.data[0] | (size_t)c.data[1] << 8;
	copy_out(r, place->at, c.data, len);
	c.at = HEAD;
	unsigned char first = c.data[c.at++];
	*ret = (struct trace_item){ .event = (enum trace_event)(first & 0xf),
		                    .ready = first & READY,
		                    .late = first & LATE };
	ret->time = place->time + (uint64_t)item_ring_get_signed(&c);
	ret->tid = (pid_t)item_ring_get_number(&c);
	ret->worker = (int)item_ring_get_signed(&c);
	ret->runtime = (int)item_ring_get_signed(&c);
	ret->task = item_ring_get_number(&c);
	ret->type = item_ring_get_object(r, &c);
	ret->job = (enum trace_job)c.data[c.at++];
	uint64_t ns = item_ring_get_number(&c);
	ret->poll_ns = ret->late ? 0 : ns;
	ret->at_most_ns = ret->late ? ns : 0;
	ret->place = item_ring_get_object(r, &c);
	ret->by = item_ring_get_number(&c);
	ret->spawned_at = ret->event == TRACE_SPAWN ? item_ring_get_object(r, &c) : NULL;
	ret->hit = first & HAS_HIT ? get_hit(r, &c, a) : NULL;
	*place = (struct item_ring_place){ place->at + len, ret->time };
	return true;
}

/* ---- the ring ---- */

struct item_ring_place item_ring_oldest(const struct item_ring *r)
{
	return (struct item_ring_place){ r->head, r->before };
}

struct item_ring_place item_ring_end(const struct item_ring *r)
{
	return (struct item_ring_place){ r->tail, r->last };
}

static void displace_oldest(struct item_ring *r)
{
	struct item_ring_place place = item_ring_oldest(r);
	struct trace_item item;
	SCRATCH(tmp);

	if (!item_ring_read(r, &place, &tmp, &item))
		return;
	r->displaced(&item, r->arg);
	r->head = place.at;
	r->before = place.time;
	r->n--;
}

void item_ring_add(struct item_ring *r, const struct trace_item *item)
{
	struct coded c;

	_Static_assert((int)TRACE_NEVENTS < (int)READY, "an event takes four bits");
	item_ring_encode(r, item, &c);
	while (r->tail - r->head + c.at > r->size)
		displace_oldest(r);
	copy_in(r, c.data, c.at);
	r->last = item->time;
	r->n++;
}

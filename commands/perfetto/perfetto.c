#include "commands/perfetto/perfetto.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands/perfetto/interned.h"
#include "commands/perfetto/open_slices.h"
#include "commands/perfetto/packet_file.h"
#include "commands/perfetto/protobuf.h"
#include "debugger/base/arena.h"

/* Numbers of fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
};
enum { DEFAULTS_CLOCK = 58 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_SIBLING_MERGE = 15,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
enum {
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_ID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOWS = 47,
	EVENT_TERMINATING_FLOWS = 48,
};
enum {
	ANNOTATION_NAME_ID = 1,
	ANNOTATION_INT = 4,
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
	ANNOTATION_STRING_ID = 17,
};
enum { INTERNED_ID = 1, INTERNED_STRING = 2 };

/* Field of InternedData, by kind. */
static const unsigned interned_fields[INTERNED_KINDS] = {
	[INTERNED_NAME] = 2,
	[INTERNED_KEY] = 3,
	[INTERNED_TEXT] = 29,
};

/* Values of enums. */
enum { BUILTIN_REALTIME = 1, BUILTIN_MONOTONIC = 3, BUILTIN_BOOTTIME = 6 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { MERGE_NONE = 2 };
enum { UNIT_COUNT = 2 };

/* Every packet belongs to this sequence. */
enum { SEQUENCE = 1 };

/* An event introduces its name, and the key and text of each value. */
enum { MAX_NEW = 1 + 2 * PERFETTO_MAX_VALUES };

struct perfetto {
	int pid;
	bool begun; /* the first packet was built */
	uint64_t last_track;
	uint64_t latest; /* time of an event */
	struct perfetto_clocks clocks;
	struct perfetto_counts counts;
	struct interned_table table;
	const struct interned *fresh[MAX_NEW]; /* not written yet */
	size_t nfresh;
	struct open_slices slices;
	struct protobuf packet; /* being built */
	struct packet_file file;
};

struct perfetto_clocks perfetto_clocks_now(void)
{
	static const clockid_t ids[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME };
	uint64_t ns[3];

	for (size_t i = 0; i < 3; i++) {
		struct timespec now = { 0 };

		clock_gettime(ids[i], &now);
		ns[i] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	}
	return (struct perfetto_clocks){ ns[0], ns[1], ns[2] };
}

/* ---- packets: each is built from its last field to its first ---- */

static void perfetto_put_text(struct perfetto *p, unsigned field, const char *text)
{
	SCRATCH(a);
	const char *clean = interned_clean(&a, text);

	protobuf_bytes(&p->packet, field, clean, strlen(clean));
}

/* Adds the head of a packet that was built behind it, and writes it. */
static struct error *perfetto_send(struct perfetto *p, unsigned flags)
{
	size_t len;

	if (flags)
		protobuf_varint(&p->packet, PACKET_SEQUENCE_FLAGS, flags);
	protobuf_varint(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	protobuf_nest(&p->packet, TRACE_PACKET, PROTOBUF_MAX);
	const unsigned char *data = protobuf_data(&p->packet, &len);
	/* Every text is bounded: this is for whoever adds an unbounded one. */
	if (p->packet.full)
		return error_new(ERR_UNSUPPORTED, "a packet of the trace is too large");
	return packet_file_add(&p->file, data, len);
}

static void perfetto_put_clock(struct perfetto *p, uint64_t id, uint64_t time)
{
	size_t begin = protobuf_begin(&p->packet);

	protobuf_varint(&p->packet, CLOCK_TIMESTAMP, time);
	protobuf_varint(&p->packet, CLOCK_ID, id);
	protobuf_nest(&p->packet, SNAPSHOT_CLOCKS, begin);
}

/* Timestamps of the sequence are of CLOCK_MONOTONIC, unless a packet says otherwise. */
static void put_defaults(struct perfetto *p)
{
	size_t begin = protobuf_begin(&p->packet);

	protobuf_varint(&p->packet, DEFAULTS_CLOCK, BUILTIN_MONOTONIC);
	protobuf_nest(&p->packet, PACKET_DEFAULTS, begin);
}

/* Begins the state of the sequence: no string has a number. The first packet has the clocks, too.
 */
static struct error *send_state(struct perfetto *p)
{
	protobuf_clear(&p->packet);
	if (!p->begun) {
		size_t begin = protobuf_begin(&p->packet);

		protobuf_varint(&p->packet, SNAPSHOT_PRIMARY, BUILTIN_MONOTONIC);
		perfetto_put_clock(p, BUILTIN_REALTIME, p->clocks.realtime);
		perfetto_put_clock(p, BUILTIN_BOOTTIME, p->clocks.boottime);
		perfetto_put_clock(p, BUILTIN_MONOTONIC, p->clocks.monotonic);
		protobuf_nest(&p->packet, PACKET_CLOCK_SNAPSHOT, begin);
		protobuf_varint(&p->packet, PACKET_FIRST_ON_SEQUENCE, true);
	}
	p->begun = true;
	put_defaults(p);
	return perfetto_send(p, STATE_CLEARED);
}

/* ---- tracks ---- */

/* Sends a track; the fields that make it a process, a thread or a counter are built already. */
static struct error *perfetto_send_track(struct perfetto *p, uint64_t uuid, uint64_t parent)
{
	if (parent)
		protobuf_varint(&p->packet, TRACK_PARENT, parent);
	protobuf_varint(&p->packet, TRACK_UUID, uuid);
	protobuf_nest(&p->packet, PACKET_TRACK_DESCRIPTOR, PROTOBUF_MAX);
	return perfetto_send(p, 0);
}

static struct error *perfetto_send_process(struct perfetto *p, const char *name)
{
	protobuf_clear(&p->packet);
	perfetto_put_text(p, PROCESS_NAME, name);
	protobuf_varint(&p->packet, PROCESS_PID, (uint64_t)p->pid);
	protobuf_nest(&p->packet, TRACK_PROCESS, PROTOBUF_MAX);
	return perfetto_send_track(p, PERFETTO_PROCESS, 0);
}

struct error *perfetto_add_thread(struct perfetto *p, int tid, const char *name, uint64_t *ret)
{
	*ret = ++p->last_track;
	protobuf_clear(&p->packet);
	perfetto_put_text(p, THREAD_NAME, name);
	protobuf_varint(&p->packet, THREAD_TID, (uint64_t)tid);
	protobuf_varint(&p->packet, THREAD_PID, (uint64_t)p->pid);
	protobuf_nest(&p->packet, TRACK_THREAD, PROTOBUF_MAX);
	return perfetto_send_track(p, *ret, PERFETTO_PROCESS);
}

struct error *perfetto_add_track(struct perfetto *p, uint64_t parent, const char *name,
                                 uint64_t *ret)
{
	*ret = ++p->last_track;
	protobuf_clear(&p->packet);
	/* Without it, tracks of one name below one parent are shown as one. */
	protobuf_varint(&p->packet, TRACK_SIBLING_MERGE, MERGE_NONE);
	perfetto_put_text(p, TRACK_NAME, name);
	return perfetto_send_track(p, *ret, parent);
}

struct error *perfetto_add_counter(struct perfetto *p, uint64_t parent, const char *name,
                                   const char *unit, uint64_t *ret)
{
	*ret = ++p->last_track;
	protobuf_clear(&p->packet);
	if (unit)
		perfetto_put_text(p, COUNTER_UNIT_NAME, unit);
	else
		protobuf_varint(&p->packet, COUNTER_UNIT, UNIT_COUNT);
	protobuf_nest(&p->packet, TRACK_COUNTER, PROTOBUF_MAX);
	perfetto_put_text(p, TRACK_NAME, name);
	return perfetto_send_track(p, *ret, parent);
}

/* ---- events ---- */

/* A string by its number, which is written with this packet if it is new, or else itself. */
static void perfetto_put_interned(struct perfetto *p, enum interned_kind kind, const char *text,
                                  unsigned id_field, unsigned text_field)
{
	bool is_new;
	const struct interned *found = interned_find(&p->table, kind, text, &is_new);

	if (!found) {
		perfetto_put_text(p, text_field, text);
		return;
	}
	if (is_new)
		p->fresh[p->nfresh++] = found;
	protobuf_varint(&p->packet, id_field, found->id);
}

static void perfetto_put_value(struct perfetto *p, const struct perfetto_value *v)
{
	size_t begin = protobuf_begin(&p->packet);

	if (v->text)
		perfetto_put_interned(p, INTERNED_TEXT, v->text, ANNOTATION_STRING_ID,
		                      ANNOTATION_STRING);
	else
		protobuf_varint(&p->packet, ANNOTATION_INT, (uint64_t)v->number);
	perfetto_put_interned(p, INTERNED_KEY, v->key, ANNOTATION_NAME_ID, ANNOTATION_NAME);
	protobuf_nest(&p->packet, EVENT_ANNOTATIONS, begin);
}

static void perfetto_put_event(struct perfetto *p, enum event_type type,
                               const struct perfetto_event *e)
{
	size_t n = e->nvalues < PERFETTO_MAX_VALUES ? e->nvalues : PERFETTO_MAX_VALUES;

	while (n > 0)
		perfetto_put_value(p, &e->values[--n]);
	if (e->flow_in)
		protobuf_fixed64(&p->packet, EVENT_TERMINATING_FLOWS, e->flow_in);
	if (e->flow_out)
		protobuf_fixed64(&p->packet, EVENT_FLOWS, e->flow_out);
	if (e->name)
		perfetto_put_interned(p, INTERNED_NAME, e->name, EVENT_NAME_ID, EVENT_NAME);
	protobuf_varint(&p->packet, EVENT_TRACK, e->track);
	protobuf_varint(&p->packet, EVENT_TYPE, type);
	protobuf_nest(&p->packet, PACKET_TRACK_EVENT, PROTOBUF_MAX);
}

/* The strings that this packet is the first to use. */
static void put_fresh(struct perfetto *p)
{
	size_t begin = protobuf_begin(&p->packet);

	if (p->nfresh == 0)
		return;
	while (p->nfresh > 0) {
		const struct interned *s = p->fresh[--p->nfresh];
		size_t entry = protobuf_begin(&p->packet);

		protobuf_bytes(&p->packet, INTERNED_STRING, s->text, strlen(s->text));
		protobuf_varint(&p->packet, INTERNED_ID, s->id);
		protobuf_nest(&p->packet, interned_fields[s->kind], entry);
	}
	protobuf_nest(&p->packet, PACKET_INTERNED_DATA, begin);
}

static struct error *perfetto_send_event(struct perfetto *p, enum event_type type,
                                         const struct perfetto_event *e)
{
	if (p->file.failed)
		return NULL;
	if (interned_is_full(&p->table)) {
		interned_clear(&p->table);
		TRY(send_state(p));
	}
	protobuf_clear(&p->packet);
	perfetto_put_event(p, type, e);
	put_fresh(p);
	protobuf_varint(&p->packet, PACKET_TIMESTAMP, e->time);
	p->latest = e->time > p->latest ? e->time : p->latest;
	p->counts.events++;
	return perfetto_send(p, NEEDS_STATE);
}

struct error *perfetto_begin(struct perfetto *p, const struct perfetto_event *e)
{
	open_slices_begin(&p->slices, e->track);
	return perfetto_send_event(p, SLICE_BEGIN, e);
}

struct error *perfetto_end(struct perfetto *p, const struct perfetto_event *e)
{
	if (!open_slices_end(&p->slices, e->track)) {
		p->counts.unmatched++;
		return NULL;
	}
	return perfetto_send_event(p, SLICE_END, e);
}

struct error *perfetto_instant(struct perfetto *p, const struct perfetto_event *e)
{
	return perfetto_send_event(p, INSTANT, e);
}

struct error *perfetto_count(struct perfetto *p, uint64_t time, uint64_t counter, int64_t value)
{
	if (p->file.failed)
		return NULL;
	protobuf_clear(&p->packet);
	protobuf_varint(&p->packet, EVENT_COUNTER_VALUE, (uint64_t)value);
	protobuf_varint(&p->packet, EVENT_TRACK, counter);
	protobuf_varint(&p->packet, EVENT_TYPE, COUNTER);
	protobuf_nest(&p->packet, PACKET_TRACK_EVENT, PROTOBUF_MAX);
	protobuf_varint(&p->packet, PACKET_TIMESTAMP, time);
	p->latest = time > p->latest ? time : p->latest;
	p->counts.events++;
	return perfetto_send(p, NEEDS_STATE);
}

/* ---- begin and end ---- */

struct error *perfetto_open(int fd, const struct perfetto_clocks *clocks, int pid,
                            const char *process, struct perfetto **ret)
{
	struct perfetto *p CLEANUP(perfetto_closep) = alloc_zeroed(sizeof(*p));

	p->pid = pid;
	p->clocks = *clocks;
	p->last_track = PERFETTO_PROCESS;
	packet_file_init(&p->file, fd);
	TRY(send_state(p));
	TRY(perfetto_send_process(p, process));
	*ret = p;
	p = NULL;
	return NULL;
}

struct error *perfetto_end_all(struct perfetto *p, uint64_t time,
                               const struct perfetto_value *values, size_t nvalues)
{
	struct perfetto_event end = { .time = time > p->latest ? time : p->latest,
		                      .values = values,
		                      .nvalues = nvalues };

	for (size_t place = 0; (end.track = open_slices_next(&p->slices, &place));)
		TRY(perfetto_end(p, &end));
	return NULL;
}

struct error *perfetto_flush(struct perfetto *p)
{
	return packet_file_flush(&p->file);
}

struct error *perfetto_finish(struct perfetto *p, uint64_t time)
{
	TRY(perfetto_end_all(p, time, NULL, 0));
	return packet_file_flush(&p->file);
}

struct perfetto_counts perfetto_counts(const struct perfetto *p)
{
	struct perfetto_counts counts = p->counts;

	counts.bytes = p->file.written;
	counts.failed = p->file.failed;
	return counts;
}

void perfetto_close(struct perfetto *p)
{
	if (!p)
		return;
	interned_free(&p->table);
	open_slices_free(&p->slices);
	free(p);
}

void perfetto_closep(struct perfetto **p)
{
	perfetto_close(*p);
}

/*
 * A profile for pprof: a message of its profile.proto (github.com/google/pprof), compressed by
 * gzip. Each field of the message is built by itself and appended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "commands/perfetto/protobuf.h"
#include "commands/profile/profile_view.h"
#include "debugger/base/file.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"

/* The fields of its messages. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILENAME = 4 };

struct pprof {
	const struct profile_view *v;
	gzFile f;
	bool failed;
	/* Entries written: key -> number. Numbers begin with 1, those of strings with 0. */
	struct map strings, functions, locations;
	struct protobuf field; /* the field being built */
};

/* ---- fields ---- */

static void profile_pprof_write_field(struct pprof *p)
{
	size_t len;
	const unsigned char *data = protobuf_data(&p->field, &len);

	p->failed |= p->field.full || gzwrite(p->f, data, (unsigned)len) != (int)len;
}

static void profile_pprof_write_number(struct pprof *p, enum profile_field field, uint64_t number)
{
	protobuf_clear(&p->field);
	protobuf_varint(&p->field, field, number);
	profile_pprof_write_field(p);
}

/* The number of a key, as a new one has it too. */
static uint64_t profile_pprof_number_of(struct map *m, uint64_t key, bool *is_new)
{
	uint64_t number = (uintptr_t)map_get(m, key);

	*is_new = !number;
	if (*is_new) {
		number = m->n + 1;
		map_put(m, key, (void *)(uintptr_t)number);
	}
	return number;
}

/* The first string must be "". */
static uint64_t profile_pprof_string_of(struct pprof *p, const char *text)
{
	bool is_new;
	uint64_t number = profile_pprof_number_of(&p->strings, map_key_of_text(text), &is_new);

	if (is_new) {
		protobuf_clear(&p->field);
		protobuf_bytes(&p->field, PROFILE_STRING_TABLE, text, strlen(text));
		profile_pprof_write_field(p);
	}
	return number - 1;
}

static uint64_t function_of(struct pprof *p, const struct profile_node *node)
{
	SCRATCH(tmp);
	bool is_new;
	const char *file = node->file ? str_clean(&tmp, node->file, strlen(node->file)) : "";
	uint64_t name = profile_pprof_string_of(p, profile_view_function(&tmp, p->v, node));
	uint64_t file_name = profile_pprof_string_of(p, file);
	uint64_t id = profile_pprof_number_of(&p->functions, map_key_of_pair(name, file_name + 1),
	                                      &is_new);

	if (!is_new)
		return id;
	protobuf_clear(&p->field);
	size_t begin = protobuf_begin(&p->field);
	protobuf_varint(&p->field, FUNCTION_FILENAME, file_name);
	protobuf_varint(&p->field, FUNCTION_NAME, name);
	protobuf_varint(&p->field, FUNCTION_ID, id);
	protobuf_nest(&p->field, PROFILE_FUNCTION, begin);
	profile_pprof_write_field(p);
	return id;
}

static uint64_t location_of(struct pprof *p, const struct profile_node *node)
{
	uint64_t function = function_of(p, node);
	bool is_new;
	uint64_t id = profile_pprof_number_of(&p->locations,
	                                      map_key_of_pair(function, node->line + 1), &is_new);

	if (!is_new)
		return id;
	protobuf_clear(&p->field);
	size_t begin = protobuf_begin(&p->field), line = begin;
	protobuf_varint(&p->field, LINE_LINE, node->line);
	protobuf_varint(&p->field, LINE_FUNCTION_ID, function);
	protobuf_nest(&p->field, LOCATION_LINE, line);
	protobuf_varint(&p->field, LOCATION_ID, id);
	protobuf_nest(&p->field, PROFILE_LOCATION, begin);
	profile_pprof_write_field(p);
	return id;
}

/* ---- the message ---- */

static void write_sample_types(struct pprof *p)
{
	uint64_t unit = profile_pprof_string_of(p, "nanoseconds");

	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		uint64_t type = profile_pprof_string_of(p, profile_state_name(i));

		if (!profile_view_has(p->v, i))
			continue;
		protobuf_clear(&p->field);
		size_t begin = protobuf_begin(&p->field);
		protobuf_varint(&p->field, VALUE_TYPE_UNIT, unit);
		protobuf_varint(&p->field, VALUE_TYPE_TYPE, type);
		protobuf_nest(&p->field, PROFILE_SAMPLE_TYPE, begin);
		profile_pprof_write_field(p);
	}
}

/* Repeated numbers stand in their order; the innermost location is the first. */
static void write_sample(struct pprof *p, const struct profile_node *node)
{
	SCRATCH(tmp);
	size_t n = 0, depth = 0;

	for (const struct profile_node *i = node; i; i = i->parent)
		depth++;
	uint64_t *locations = NEW_ARRAY(&tmp, uint64_t, depth);
	for (const struct profile_node *i = node; i; i = i->parent)
		locations[n++] = location_of(p, i);
	protobuf_clear(&p->field);
	size_t begin = protobuf_begin(&p->field);
	for (size_t i = PROFILE_NSTATES; i-- > 0;) {
		if (profile_view_has(p->v, i))
			protobuf_varint(&p->field, SAMPLE_VALUE, node->self.ns[i]);
	}
	while (n)
		protobuf_varint(&p->field, SAMPLE_LOCATION_ID, locations[--n]);
	protobuf_nest(&p->field, PROFILE_SAMPLE, begin);
	profile_pprof_write_field(p);
}

static void profile_pprof_write_all(struct pprof *p)
{
	profile_pprof_string_of(p, "");
	write_sample_types(p);
	for (const struct profile_node *node = NULL; (node = profile_view_next(p->v, node));) {
		if (profile_times_sum(&node->self))
			write_sample(p, node);
	}
	profile_pprof_write_number(p, PROFILE_TIME_NANOS, p->v->when_ns);
	profile_pprof_write_number(p, PROFILE_DURATION_NANOS, p->v->duration_ns);
	profile_pprof_write_number(p, PROFILE_DEFAULT_SAMPLE_TYPE,
	                           profile_pprof_string_of(p, profile_state_name(PROFILE_POLLING)));
}

struct error *profile_pprof_write(FILE *f, const struct profile_view *v)
{
	int fd = dup(fileno(f));
	gzFile gz = fd >= 0 ? gzdopen(fd, "wb") : NULL;

	if (!gz) {
		struct error *err = error_os(errno, "writing the profile");

		file_close(&fd);
		return err;
	}
	struct pprof *p = alloc_zeroed(sizeof(*p));
	p->v = v;
	p->f = gz;
	profile_pprof_write_all(p);
	errno = EIO;
	bool failed = gzclose(gz) != Z_OK || p->failed;
	int errnum = errno;
	map_free(&p->strings);
	map_free(&p->functions);
	map_free(&p->locations);
	free(p);
	return failed ? error_os(errnum, "writing the profile") : NULL;
}

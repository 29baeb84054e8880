#include "runtimes/executor_detect/executor_detect_cache.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/map.h"
#include "debugger/elf/own_build.h"
#include "dwarf/records/records.h"
#include "dwarf/store/cache.h"

enum { MAX_EXECUTORS = 64 };

struct executor_detect_cache {
	struct arena arena;
	const char *directory; /* NULL: none */
	struct records *records;
};

/* The cache names its files by build-ids; this one is of no program. */
static struct records_identity executor_detect_cache_identity(void)
{
	return (struct records_identity){ .build_id = "asyncdbg surveys",
		                          .build_id_len = 16,
		                          .fingerprint = own_build() };
}

struct executor_detect_cache *executor_detect_cache_open(bool use)
{
	struct executor_detect_cache *c = calloc(1, sizeof(*c));
	const struct records_identity id = executor_detect_cache_identity();

	if (!c)
		out_of_memory();
	c->records = records_new();
	c->directory = use && id.fingerprint ? cache_directory(&c->arena) : NULL;
	if (c->directory) {
		struct error *err CLEANUP(error_freep) = cache_read(c->directory, &id, c->records);

		if (err)
			LOG("cache", "surveys: not read: %s", err->message);
	}
	return c;
}

void executor_detect_cache_close(struct executor_detect_cache *c)
{
	const struct records_identity id = executor_detect_cache_identity();

	if (c->directory && records_are_new(c->records)) {
		struct error *err CLEANUP(error_freep) =
			cache_write(c->directory, &id, c->records, CACHE_MAX_TOTAL);

		if (err)
			LOG("cache", "surveys: not written: %s", err->message);
	}
	records_free(c->records);
	arena_free(&c->arena);
	free(c);
}

static bool read_record(struct executor_detect_cache *c, struct arena *a,
                        const struct file_identity *file, struct detected_executors *ret)
{
	struct record r;

	if (!record_find(c->records, RECORD_EXECUTOR, map_key_of(file, sizeof(*file)), NULL, &r) ||
	    record_number(&r) != file->device || record_number(&r) != file->inode ||
	    record_number(&r) != file->size || record_number(&r) != (uint64_t)file->changed_ns)
		return false;
	*ret = (struct detected_executors){ 0 };
	ret->rust = record_number(&r);
	ret->has_debug_info = record_number(&r);
	ret->n = record_count(&r);
	if (ret->n > MAX_EXECUTORS)
		return false;
	ret->data = NEW_ARRAY(a, struct detected_executor, ret->n);
	for (size_t i = 0; i < ret->n; i++) {
		const char *crate = record_text(&r), *version = record_text(&r);

		if (!crate || !executor_detect_executor(crate, &ret->data[i]))
			return false;
		ret->data[i].version = version ? arena_strdup(a, version) : NULL;
	}
	return record_ended(&r);
}

static void write_record(struct executor_detect_cache *c, const struct file_identity *file,
                         const struct detected_executors *survey)
{
	struct record_writer w;

	record_begin(&w, c->records, RECORD_EXECUTOR, map_key_of(file, sizeof(*file)), NULL);
	record_add_number(&w, file->device);
	record_add_number(&w, file->inode);
	record_add_number(&w, file->size);
	record_add_number(&w, (uint64_t)file->changed_ns);
	record_add_number(&w, survey->rust);
	record_add_number(&w, survey->has_debug_info);
	record_add_number(&w, survey->n);
	for (size_t i = 0; i < survey->n; i++) {
		record_add_text(&w, survey->data[i].crate);
		record_add_text(&w, survey->data[i].version);
	}
	record_end(&w);
}

static bool is_file(int fd, const struct file_identity *file)
{
	struct file_identity opened;

	return file_identity_read(fd, &opened) && memcmp(&opened, file, sizeof(opened)) == 0;
}

bool executor_detect_cache_get(struct executor_detect_cache *c, struct arena *a,
                               const struct file_identity *file, executor_detect_open_fn *open,
                               const void *arg, struct detected_executors *ret)
{
	if (read_record(c, a, file, ret))
		return true;
	*ret = (struct detected_executors){ 0 };
	int fd CLEANUP(file_close) = open(arg);
	if (fd < 0 || !is_file(fd, file))
		return false;
	executor_detect_file(a, fd, ret);
	write_record(c, file, ret);
	return true;
}

#include "runtimes/saved/saved.h"

#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "debugger/base/file.h"
#include "debugger/base/new_file.h"
#include "debugger/base/vec.h"
#include "runtimes/saved/saved_lines.h"

const struct want_word saved_want_words[] = {
	{ WANT_TASKS, "tasks" },
	{ WANT_STACKS, "stacks" },
	{ WANT_LAYOUT, "layout" },
	{ WANT_RUNNING, "running" },
	{ WANT_LOCALS | WANT_LOCAL_NAMES, "locals" },
	{ WANT_HOLDINGS, "holdings" },
	{ WANT_SOCKETS, "sockets" },
	{ WANT_JOB_STACKS, "job_stacks" },
	{ WANT_DESCRIPTORS, "descriptors" },
	{ 0, NULL },
};

bool saved_is(const char *path)
{
	static const char begin[] = SAVED_BEGIN;
	char bytes[sizeof(begin) - 1];
	int fd = file_open_regular(path);
	gzFile gz = fd >= 0 ? gzdopen(fd, "rb") : NULL;
	bool yes = gz && gzread(gz, bytes, sizeof(bytes)) == sizeof(bytes) &&
	           memcmp(bytes, begin, sizeof(bytes)) == 0;

	if (gz)
		gzclose(gz);
	else if (fd >= 0)
		close(fd);
	return yes;
}

static bool is_saved(const uint8_t *start, size_t size)
{
	static const char begin[] = SAVED_BEGIN;
	unsigned char bytes[sizeof(begin) - 1];

	/* A snapshot that is not compressed counts, as it does when it is read. */
	if (size >= sizeof(bytes) && memcmp(start, begin, sizeof(bytes)) == 0)
		return true;
	return file_format_inflate(start, size, bytes, sizeof(bytes)) &&
	       memcmp(bytes, begin, sizeof(bytes)) == 0;
}

const struct file_format saved_format = { .is_own = is_saved };

const char *saved_time(struct arena *a, int64_t when)
{
	time_t seconds = (time_t)when;
	char text[64];
	struct tm tm;

	if (!when || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return NULL;
	return arena_strdup(a, text);
}

typedef VEC(struct saved_name) name_vec;

static void add_name(name_vec *names, struct wait *wait)
{
	if (wait && wait->name)
		*vec_push(names) = (struct saved_name){ wait, wait->name };
}

static void saved_add_names(name_vec *names, const struct future *f)
{
	if (!f)
		return;
	add_name(names, f->wait);
	for (size_t i = 0; i < f->nchildren; i++)
		saved_add_names(names, f->children[i]);
}

void saved_find_names(struct snapshot *s, struct saved_names *ret)
{
	name_vec names = { 0 };

	for (size_t i = 0; i < s->ntasks; i++)
		saved_add_names(&names, s->tasks[i]->root);
	for (size_t i = 0; i < s->nthreads; i++) {
		saved_add_names(&names, s->threads[i].root);
		add_name(&names, s->threads[i].wait);
	}
	ret->n = names.n;
	ret->list = vec_to_arena(&names, &s->arena);
}

void saved_show_names(const struct saved_names *names, bool shown)
{
	for (size_t i = 0; i < names->n; i++)
		names->list[i].wait->name = shown ? names->list[i].name : NULL;
}

#include "dwarf/store/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/new_file.h"
#include "debugger/base/path.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/types/type.h"

enum { MIN_BUILD_ID = 8, STALE_SECONDS = 3600, MAX_ENTRIES = 1 << 16 };

static const char suffix[] = ".facts", unfinished[] = ".new";

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

const char *cache_directory(struct arena *a)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct stat st;

	if (xdg && *xdg == '/')
		return arena_printf(a, "%s/asyncdbg", xdg);
	if (!home || *home != '/' || stat(home, &st) != 0 || st.st_uid != geteuid())
		return NULL;
	return arena_printf(a, "%s/.cache/asyncdbg", home);
}

static const char *cache_name_of(struct arena *a, const struct records_identity *identity)
{
	return arena_printf(a, "%s%s", build_id_text(a, identity->build_id, identity->build_id_len),
	                    suffix);
}

/* ---- reading ---- */

static struct error *check_ours(int fd, const char *name)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_os(errno, "%s", name);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_new(ERR_USAGE, "%s is not a cache file of asyncdbg", name);
	return NULL;
}

struct error *cache_read(const char *directory, const struct records_identity *identity,
                         struct records *ret)
{
	int dir CLEANUP(file_close) = -1;
	uint8_t *data = NULL;
	size_t size = 0;
	SCRATCH(tmp);
	const char *name = cache_name_of(&tmp, identity);

	TRY(path_open_own_folder(directory, &dir));
	int fd CLEANUP(file_close) = file_open_regular_at(dir, name);
	if (fd < 0)
		return error_os(errno, "%s", name);
	TRY(check_ours(fd, name));
	TRY(file_read(fd, name, CACHE_MAX_FILE, &data, &size));
	TRY(records_load(ret, data, size, identity));
	futimens(fd, NULL); /* marks the file as recently used */
	return NULL;
}

/* ---- writing ---- */

struct cache_entry {
	const char *name;
	uint64_t size;
	int64_t used;
};

static int by_use(const void *a, const void *b)
{
	const struct cache_entry *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

static bool cache_ends_in(const char *name, const char *tail)
{
	size_t n = strlen(name), m = strlen(tail);

	return n > m && strcmp(name + n - m, tail) == 0;
}

/*
 * Is a file NAME.records.PID.new left from a run that died? A process in another PID namespace may
 * share the directory. If it is taken for dead, it fails to write the cache this time, which is
 * harmless.
 */
static bool is_left_behind(const char *name, const struct stat *st)
{
	const char *digits = name + strlen(name) - strlen(unfinished);
	pid_t pid;

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	pid = (pid_t)strtol(digits, NULL, 10);
	return time(NULL) - st->st_mtime > STALE_SECONDS || pid <= 0 ||
	       (kill(pid, 0) != 0 && errno == ESRCH);
}

/*
 * Deletes unfinished files of runs that died, and the least recently used files until the total is
 * at most max_total.
 */
static void trim(int dir_fd, uint64_t max_total)
{
	int copy = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir CLEANUP(close_dir) = copy >= 0 ? fdopendir(copy) : NULL;
	VEC(struct cache_entry) entries = { 0 };
	uint64_t total = 0;
	struct dirent *d;
	struct stat st;
	SCRATCH(tmp);

	while (dir && entries.n < MAX_ENTRIES && (d = readdir(dir))) {
		bool left = cache_ends_in(d->d_name, unfinished);

		if ((!left && !cache_ends_in(d->d_name, suffix)) ||
		    fstatat(dir_fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (left && is_left_behind(d->d_name, &st)) {
			unlinkat(dir_fd, d->d_name, 0);
			continue;
		}
		total += (uint64_t)st.st_size;
		/* Files that others are writing count but are not deleted. */
		if (!left)
			*vec_push(&entries) =
				(struct cache_entry){ arena_strdup(&tmp, d->d_name),
				                      (uint64_t)st.st_size, st.st_mtime };
	}
	if (entries.n)
		qsort(entries.data, entries.n, sizeof(*entries.data), by_use);
	for (size_t i = 0; i < entries.n && total > max_total; i++) {
		unlinkat(dir_fd, entries.data[i].name, 0);
		total -= entries.data[i].size;
	}
	vec_free(&entries);
}

struct error *cache_write(const char *directory, const struct records_identity *identity,
                          const struct records *f, uint64_t max_total)
{
	uint8_t *data CLEANUP(file_bytes_free) = NULL;
	int dir CLEANUP(file_close) = -1;
	size_t size;
	SCRATCH(tmp);
	const char *name = cache_name_of(&tmp, identity);
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	path_make_own_folder(directory);
	TRY(path_open_own_folder(directory, &dir));
	data = records_save(f, identity, false, &size);
	if (size > CACHE_MAX_FILE)
		return error_new(ERR_STATE, "%s would be too large", name);
	TRY(new_file_open_at(dir, name, 0600, &file));
	TRY(file_write(fileno(file.f), name, data, size));
	TRY(new_file_finish(&file));
	trim(dir, max_total);
	return NULL;
}

/* ---- of a module ---- */

static const char *cache_directory_of(const struct dwarf_module *dm)
{
	return dm->di->records ? dm->di->records->cache : NULL;
}

static bool cache_identify(struct dwarf_module *dm, struct records_identity *ret)
{
	const struct module *m = dm->module;

	*ret = (struct records_identity){ .build_id_len = m->build_id_len };
	memcpy(ret->build_id, m->build_id, m->build_id_len);
	ret->fingerprint = debuginfo_sections_hash(dm);
	return m->build_id_len >= MIN_BUILD_ID;
}

static void report(const struct dwarf_module *dm, const char *what, struct error *err)
{
	if (err)
		LOG("cache", "%s: not %s: %s", dm->module->path, what, err->message);
	else
		LOG("cache", "%s: %s", dm->module->path, what);
	error_free(err);
}

struct records *cache_open(struct dwarf_module *dm)
{
	struct records *f = records_new();
	struct records_identity identity;

	if (cache_directory_of(dm) && cache_identify(dm, &identity))
		report(dm, "read", cache_read(cache_directory_of(dm), &identity, f));
	return f;
}

void cache_close(struct dwarf_module *dm)
{
	struct records_identity identity;
	struct error *interrupted = interrupt_check();

	/*
	 * An interrupted search leaves incomplete results, and records of a layout file are not for
	 * the cache.
	 */
	if (!interrupted && cache_directory_of(dm) && !records_are_whole(dm->records) &&
	    dm->tier == DWARF_FULL) {
		residency_trim(dm);
		types_flush(dm, false);
		/* Writing needs memory: drop the file's pages first. */
		residency_release(dm);
		if (records_are_new(dm->records) && cache_identify(dm, &identity))
			report(dm, "written",
			       cache_write(cache_directory_of(dm), &identity, dm->records,
			                   CACHE_MAX_TOTAL));
	}
	error_free(interrupted);
	records_free(dm->records);
	dm->records = NULL;
}

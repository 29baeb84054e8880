#include "commands/incident/incident_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands/report/report.h"
#include "debugger/base/file.h"
#include "debugger/base/path.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/saved/saved.h"

enum { MAX_FILES = 1 << 16 };

const unsigned incident_file_wants = WANT_TASKS | WANT_STACKS | WANT_LAYOUT | WANT_RUNNING |
                                     WANT_LOCAL_NAMES | WANT_OWNERS | WANT_SOCKETS |
                                     WANT_JOB_STACKS;

static const char prefix[] = "asyncdbg-", snapshot_ending[] = ".snapshot", page_ending[] = ".html";

/* A name that a file name may contain. */
static char *incident_file_plain(struct arena *a, const char *name)
{
	char *copy = arena_strdup(a, *name ? name : "unknown");

	for (char *p = copy; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("._", *p))
			*p = '_';
	}
	return copy;
}

/* "20261124T172000Z", which sorts by time. */
static const char *incident_file_time_text(struct arena *a)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	return arena_strdup(a, text);
}

static struct error *write_both(struct session *s, const char *path)
{
	SCRATCH(tmp);
	const struct snapshot *snap;

	TRY(session_snapshot(s, incident_file_wants, NULL, &snap));
	const struct saved_info info = { .wants = asyncdbg_last_wants(s->handle),
		                         .when = time(NULL) };
	const struct answer answer = {
		.command = "report",
		.snapshot = snap,
		.waiting = asyncdbg_waiting(s->handle),
		.wants = info.wants,
	};

	TRY(saved_write(arena_printf(&tmp, "%s%s", path, snapshot_ending), snap, &info));
	return report_write_file(arena_printf(&tmp, "%s%s", path, page_ending), &answer);
}

struct error *incident_file_write(struct arena *a, struct session *s, const char *directory,
                                  const char *name, const char *why, const char **ret)
{
	const struct target *t = asyncdbg_target(s->handle);

	TRY(path_make_folder(directory));
	*ret = arena_printf(a, "%s/%s%s-%s-%d-%s", directory, prefix, incident_file_plain(a, name),
	                    incident_file_time_text(a), t ? (int)t->pid : 0,
	                    incident_file_plain(a, why));
	return write_both(s, *ret);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool ends_in(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0;
}

/* Whether a file name is head, the time, and one of our endings: "asyncdbg-NAME-2026...Z-...". */
static bool incident_file_is_of(const char *name, const char *head)
{
	size_t len = strlen(head);

	if (strncmp(name, head, len) != 0)
		return false;
	for (size_t i = 0; i < 8; i++) {
		if (!isdigit((unsigned char)name[len + i]))
			return false;
	}
	return ends_in(name, snapshot_ending) || ends_in(name, page_ending);
}

void incident_file_trim(const char *directory, const char *name, size_t keep)
{
	SCRATCH(tmp);
	const char *head = arena_printf(&tmp, "%s%s-", prefix, incident_file_plain(&tmp, name));
	VEC(const char *) found = { 0 };
	int at = path_find(directory, O_DIRECTORY, NULL);
	int fd = at < 0 ? -1 : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t pairs = 0;

	while (d && found.n < MAX_FILES && (entry = readdir(d))) {
		if (incident_file_is_of(entry->d_name, head))
			*vec_push(&found) = arena_strdup(&tmp, entry->d_name);
	}
	if (found.n)
		qsort(found.data, found.n, sizeof(*found.data), by_name);
	/* The names of a pair differ in their ending alone: count from the newest. */
	for (size_t i = found.n; i-- > 0;) {
		const char *later = i + 1 < found.n ? found.data[i + 1] : "";
		size_t stem = (size_t)(strrchr(found.data[i], '.') - found.data[i]);

		pairs += strncmp(found.data[i], later, stem + 1) != 0;
		if (pairs > keep)
			unlinkat(dirfd(d), found.data[i], 0);
	}
	if (d)
		closedir(d);
	file_close(&at);
	vec_free(&found);
}

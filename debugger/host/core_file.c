#include "debugger/host/core_file.h"

#include <ctype.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/file.h"
#include "debugger/base/str.h"
#include "debugger/live/proc.h"

enum {
	TRIES = 30, /* for a program that keeps it, which may compress it first */
	TRY_NS = 100000000,
};

void core_file_origin(pid_t pid, struct arena *a, struct core_origin *ret)
{
	char path[64], link[PATH_MAX];
	struct stat ours, its;
	size_t len;

	*ret = (struct core_origin){ .pid = pid, .inner = pid };
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	ret->known = stat("/", &ours) == 0 && stat(path, &its) == 0 && ours.st_dev == its.st_dev &&
	             ours.st_ino == its.st_ino;
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	ret->directory = n > 0 ? arena_strndup(a, link, (size_t)n) : NULL;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	ret->known &= stat(path, &its) == 0;
	ret->uid = its.st_uid;
	ret->gid = its.st_gid;
	const char *status = proc_read(a, pid, "status", &len);
	const char *inner = status ? strstr(status, "\nNSpid:") : NULL;
	if (!inner)
		return;
	/* The last of the numbers on that line. */
	const char *end = inner + 1 + strcspn(inner + 1, "\n");
	while (end > inner && isdigit((unsigned char)end[-1]))
		end--;
	ret->inner = (pid_t)atoi(end);
}

/* ---- names ---- */

/* Appends text so that the pattern matches it as it is. */
static void append_literal(struct str *s, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr("*?[]\\", text[i]))
			str_append(s, "\\");
		str_append_len(s, &text[i], 1);
	}
}

/* Appends the expansion of a letter behind %; *pid: it is the pid. */
static void append_value(struct str *s, const struct core_origin *o, char letter, int signal,
                         bool *pid)
{
	switch (letter) {
	case '%':
		str_append(s, "%");
		break;
	case 'p':
	case 'P':
		str_printf(s, "%d", (int)(letter == 'p' ? o->inner : o->pid));
		*pid = true;
		break;
	case 'u':
		str_append_uint(s, o->uid);
		break;
	case 'g':
		str_append_uint(s, o->gid);
		break;
	case 's':
		str_printf(s, "%d", signal);
		break;
	case '\0':
		break;
	default: /* names, times, the thread */
		str_append(s, "*");
	}
}

static const char *names_of_file(const struct core_origin *o, const char *pattern, bool uses_pid,
                                 int signal, struct arena *a)
{
	bool pid = false;
	STR(s);

	if (*pattern != '/' && !o->directory)
		return NULL;
	if (*pattern != '/') {
		append_literal(&s, o->directory, strlen(o->directory));
		str_append(&s, "/");
	}
	for (const char *p = pattern; *p; p++) {
		if (*p != '%') {
			append_literal(&s, p, 1);
			continue;
		}
		append_value(&s, o, p[1], signal, &pid);
		p += p[1] != '\0';
	}
	if (uses_pid && !pid)
		str_printf(&s, ".%d", (int)o->inner);
	return arena_strdup(a, str_text(&s));
}

const char *core_file_names(const struct core_origin *o, const char *pattern, bool uses_pid,
                            int signal, struct arena *a)
{
	static const struct {
		const char *program, *directory;
	} keepers[] = {
		{ "systemd-coredump", "/var/lib/systemd/coredump" },
		{ "apport", "/var/lib/apport/coredump" },
	};

	if (!*pattern)
		return NULL;
	if (*pattern != '|')
		return names_of_file(o, pattern, uses_pid, signal, a);
	for (size_t i = 0; i < sizeof(keepers) / sizeof(*keepers); i++) {
		if (strstr(pattern, keepers[i].program))
			/* name, user, boot, process, time */
			return arena_printf(a, "%s/core.*.%u.*.%d.*", keepers[i].directory,
			                    (unsigned)o->uid, (int)o->pid);
	}
	return NULL;
}

/* ---- files ---- */

static const char *newest(const char *names, int64_t since, struct arena *a)
{
	const char *found = NULL;
	glob_t g = { 0 };
	struct stat st;

	if (glob(names, GLOB_NOSORT, NULL, &g) != 0)
		return NULL;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (lstat(g.gl_pathv[i], &st) != 0 || !S_ISREG(st.st_mode) || st.st_mtime < since)
			continue;
		since = st.st_mtime;
		found = g.gl_pathv[i];
	}
	found = found ? arena_strdup(a, found) : NULL;
	globfree(&g);
	return found;
}

static char *read_setting(const char *name, struct arena *a)
{
	SCRATCH(tmp);
	char text[4096];
	FILE *f = fopen(arena_printf(&tmp, "/proc/sys/kernel/%s", name), "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return arena_strdup(a, text);
}

const char *core_file_find(const struct core_origin *o, int signal, int64_t since, struct arena *a)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };
	SCRATCH(tmp);
	const char *pattern = read_setting("core_pattern", &tmp);
	bool uses_pid = strcmp(read_setting("core_uses_pid", &tmp), "0") != 0;
	const char *names = NULL;

	/* A program that the kernel starts works in the first namespace, as we do then. */
	if (o->known || *pattern == '|')
		names = core_file_names(o, pattern, uses_pid, signal, &tmp);
	for (int i = 0; names && i < TRIES; i++) {
		const char *found = newest(names, since, a);

		if (found || *pattern != '|')
			return found;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

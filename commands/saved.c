#include "commands/saved.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <zlib.h>

#include "commands/saved_lines.h"

const char *holding_role_word(enum holding_role role)
{
	static const char *const words[] = {
		[HOLDING_LOCK] = "lock",
		[HOLDING_SENDER] = "sender",
		[HOLDING_RECEIVER] = "receiver",
		[HOLDING_WAKER] = "waker",
	};

	return words[role];
}

const struct want_word want_words[] = {
	{ WANT_TASKS, "tasks" },
	{ WANT_STACKS, "stacks" },
	{ WANT_LAYOUT, "layout" },
	{ WANT_RUNNING, "running" },
	{ WANT_LOCALS, "locals" },
	{ WANT_HOLDINGS, "holdings" },
	{ 0, NULL },
};

bool saved_is(const char *path)
{
	static const char begin[] = "{\"format\":\"" SAVED_FORMAT "\"";
	char bytes[sizeof(begin) - 1];
	struct stat st;
	/* A pipe would be waited for. */
	gzFile gz = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? gzopen(path, "rbe") : NULL;
	bool yes = gz && gzread(gz, bytes, sizeof(bytes)) == sizeof(bytes) &&
	           memcmp(bytes, begin, sizeof(bytes)) == 0;

	if (gz)
		gzclose(gz);
	return yes;
}

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

#include "debugger/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *enabled;

void log_enable(const char *topics)
{
	enabled = topics;
}

bool log_enabled(const char *topic)
{
	if (!enabled)
		return false;
	if (strcmp(enabled, "all") == 0)
		return true;
	size_t len = strlen(topic);
	for (const char *p = enabled; (p = strstr(p, topic)); p += len) {
		if ((p == enabled || p[-1] == ',') && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

void log_write(const char *topic, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "[%s] ", topic);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

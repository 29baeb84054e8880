/* Debug log by topic (--log target,dwarf,tokio or --log all), to stderr; silent by default. */
#ifndef DEBUGGER_BASE_LOG_H
#define DEBUGGER_BASE_LOG_H

#include <stdbool.h>

/* Comma-separated topics; "all" for every one. The string must outlive the program. */
void log_enable(const char *topics);
bool log_enabled(const char *topic);
void log_write(const char *topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define LOG(topic, ...)                                                                            \
	do {                                                                                       \
		if (log_enabled(topic))                                                            \
			log_write(topic, __VA_ARGS__);                                             \
	} while (0)

#endif

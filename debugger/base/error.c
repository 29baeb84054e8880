#include "debugger/base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debugger/base/arena.h"

static volatile sig_atomic_t interrupted, ends;

__attribute__((format(printf, 1, 0))) static char *format_message(const char *format, va_list args)
{
	char *message;

	if (vasprintf(&message, format, args) < 0)
		out_of_memory();
	return message;
}

static struct error *make(enum error_kind kind, char *message)
{
	struct error *err = calloc(1, sizeof(*err));

	if (!err)
		out_of_memory();
	err->kind = kind;
	err->message = message;
	return err;
}

struct error *error_new(enum error_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *message = format_message(format, args);
	va_end(args);
	return make(kind, message);
}

struct error *error_os(int errnum, const char *format, ...)
{
	va_list args;
	char *message;

	va_start(args, format);
	char *context = format_message(format, args);
	va_end(args);
	if (asprintf(&message, "%s: %s", context, strerror(errnum)) < 0)
		out_of_memory();
	free(context);

	struct error *err = make(ERR_OS, message);
	err->errnum = errnum;
	return err;
}

struct error *error_fault(uint64_t addr)
{
	struct error *err = error_new(ERR_FAULT, "0x%" PRIx64 " is not readable", addr);

	err->addr = addr;
	return err;
}

struct error *error_wrap(struct error *err, const char *format, ...)
{
	va_list args;
	char *message;

	if (!err)
		return NULL;
	va_start(args, format);
	char *context = format_message(format, args);
	va_end(args);
	if (asprintf(&message, "%s: %s", context, err->message) < 0)
		out_of_memory();
	free(context);
	free(err->message);
	err->message = message;
	return err;
}

void error_free(struct error *err)
{
	if (!err)
		return;
	free(err->message);
	free(err);
}

void error_freep(struct error **err)
{
	error_free(*err);
}

void interrupt_request(void)
{
	interrupted = 1;
}

void interrupt_clear(void)
{
	interrupted = 0;
}

void interrupt_request_end(void)
{
	ends = 1;
}

bool interrupt_is_end(void)
{
	return ends;
}

bool interrupt_is_requested(void)
{
	return interrupted || ends;
}

struct error *interrupt_check(void)
{
	return interrupt_is_requested() ? error_new(ERR_INTERRUPTED, "interrupted") : NULL;
}

struct error *interrupt_sleep(double seconds)
{
	struct timespec left = { (time_t)seconds,
		                 (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		TRY(interrupt_check());
	return interrupt_check();
}

#include "debugger/base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debugger/base/arena.h"
#include "debugger/base/marked.h"

static volatile sig_atomic_t interrupted, ends;

/* Sets both forms of the message. */
static void error_set_message(struct error *err, const char *marked)
{
	free(err->message);
	free(err->marked);
	err->marked = strdup(marked);
	err->message = strdup(marked);
	if (!err->marked || !err->message)
		out_of_memory();
	marked_remove(err->message);
}

static struct error *error_make(enum error_kind kind, const char *marked)
{
	struct error *err = calloc(1, sizeof(*err));

	if (!err)
		out_of_memory();
	err->kind = kind;
	error_set_message(err, marked);
	return err;
}

struct error *error_new(enum error_kind kind, const char *format, ...)
{
	SCRATCH(tmp);
	va_list args;

	va_start(args, format);
	char *text = marked_vprintf(&tmp, format, args);
	va_end(args);
	return error_make(kind, text);
}

struct error *error_os(int errnum, const char *format, ...)
{
	SCRATCH(tmp);
	va_list args;

	va_start(args, format);
	char *text = marked_vprintf(&tmp, format, args);
	va_end(args);
	text = arena_printf(&tmp, "%s: %s", text, strerror(errnum));

	struct error *err = error_make(ERR_OS, text);
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
	SCRATCH(tmp);
	va_list args;

	if (!err)
		return NULL;
	va_start(args, format);
	char *text = marked_vprintf(&tmp, format, args);
	va_end(args);
	error_set_message(err, arena_printf(&tmp, "%s: %s", text, err->marked));
	return err;
}

void error_free(struct error *err)
{
	if (!err)
		return;
	free(err->message);
	free(err->marked);
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

/*
 * Errors as values. A function that can fail returns struct error *, NULL for success. Its result
 * goes to the last parameter, which is unchanged on failure.
 */
#ifndef DEBUGGER_BASE_ERROR_H
#define DEBUGGER_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define CLEANUP(f) __attribute__((cleanup(f)))
/* Attribute of a char array that is initialised by a string literal without room for its NUL. */
#if defined(__has_attribute) && __has_attribute(nonstring)
#define NONSTRING __attribute__((nonstring))
#else
#define NONSTRING
#endif

enum error_kind {
	ERR_OS,           /* a system call failed with .errnum */
	ERR_FAULT,        /* target memory not readable at .addr */
	ERR_LAYOUT,       /* the debug info lacks a type, member or variant we need */
	ERR_NO_DEBUGINFO, /* module has no DWARF we can read */
	ERR_CORRUPT,      /* target data or a file is inconsistent: a cycle, a bad discriminant */
	ERR_STATE,        /* impossible in this state: running, exited, already traced, or a core */
	ERR_UNSUPPORTED,  /* a target or format this build does not handle */
	ERR_USAGE,        /* wrong arguments or expression from the user */
	ERR_INTERRUPTED,  /* the user pressed ^C */
};

struct error {
	enum error_kind kind;
	int errnum;    /* errno of an ERR_OS, else 0 */
	uint64_t addr; /* for ERR_FAULT, else 0 */
	char *message; /* one line in terms the user knows, without a final period */
	char *marked;  /* the same with its numbers marked: marked.h */
};

/* New errors: the caller owns each until error_free(). */
struct error *error_new(enum error_kind kind, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends ": strerror(errnum)". */
struct error *error_os(int errnum, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct error *error_fault(uint64_t addr);

/* Takes ownership of err and returns it with "context: " before its message; NULL stays NULL. */
struct error *error_wrap(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void error_free(struct error *err);
/* error_free() for CLEANUP(error_freep). */
void error_freep(struct error **err);

/* Returns early with the error of expression. Locals that own something carry CLEANUP. */
#define TRY(expression)                                                                            \
	do {                                                                                       \
		struct error *try_err_ = (expression);                                             \
		if (try_err_)                                                                      \
			return try_err_;                                                           \
	} while (0)

/* The ^C flag. The signal handler in commands/ sets it; every long loop checks it. */
void interrupt_request(void);
void interrupt_clear(void);
/*
 * A request to end this process: a signal handler may call it. From now on everything is
 * interrupted, and interrupt_clear() does not change that.
 */
void interrupt_request_end(void);
bool interrupt_is_end(void);
/* Whether either has been requested. */
bool interrupt_is_requested(void);
/* ERR_INTERRUPTED if interrupt_is_requested(), else NULL. */
struct error *interrupt_check(void) MUST_CHECK;
/* Sleeps. ERR_INTERRUPTED as soon as a signal comes after interrupt_request(). */
struct error *interrupt_sleep(double seconds) MUST_CHECK;

#endif

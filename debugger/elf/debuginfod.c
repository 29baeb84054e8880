#include "debugger/elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "debugger/base/arena.h"
#include "debugger/base/clock.h"
#include "debugger/base/error.h"
#include "debugger/base/log.h"
#include "debugger/base/progress.h"
#include "debugger/elf/elf_image.h"

enum {
	SILENCE_SECONDS = 15,
	MAX_SECONDS = 600,
	LOOK_MS = 50, /* how often ^C is checked */
	/* If the length is unknown, the library reports rounds instead of bytes. */
	MANY_ROUNDS = 4096,
};

/* Functions of libdebuginfod, see debuginfod_find_debuginfo(3). */
typedef struct debuginfod_client client;
typedef int progress_fn(client *c, long done, long total);
struct api {
	client *(*begin)(void);
	void (*end)(client *c);
	int (*find)(client *c, const unsigned char *id, int len, char **path);
	void (*set_progress)(client *c, progress_fn *fn);
};

/*
 * Shared by the thread that queries and the thread that waits; the last one to release it frees it.
 */
struct debuginfod_request {
	struct api api;
	pthread_t thread;
	unsigned char build_id[BUILD_ID_MAX];
	size_t len;
	atomic_int owners;
	atomic_bool cancelled;
	atomic_long done, total; /* bytes */
	pthread_mutex_t lock;    /* protects the members below */
	pthread_cond_t changed;
	bool over;
	int fd; /* negative: none */
	char *path;
};

static void debuginfod_release(struct debuginfod_request *r)
{
	if (atomic_fetch_sub(&r->owners, 1) != 1)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->path);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
	free(r);
}

static bool debuginfod_load(struct api *ret)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY);
	const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "debuginfod_begin", &ret->begin },
		{ "debuginfod_end", &ret->end },
		{ "debuginfod_find_debuginfo", &ret->find },
		{ "debuginfod_set_progressfn", &ret->set_progress },
	};

	for (size_t i = 0; library && i < sizeof(functions) / sizeof(*functions); i++) {
		void *found = dlsym(library, functions[i].name);

		if (!found)
			library = NULL;
		/*
		 * memcpy() as in dlopen(3): ISO C has no conversion from an object pointer to a
		 * function pointer.
		 */
		memcpy(functions[i].function, &found, sizeof(found));
	}
	if (!library)
		LOG("module", "libdebuginfod is not installed");
	return library != NULL;
}

/* The request of the querying thread, on which the library calls back. */
static _Thread_local struct debuginfod_request *current;

/* Callback of the library: a result other than 0 cancels the download. */
static int on_progress(client *c, long done, long total)
{
	(void)c;
	current->done = done;
	current->total = total;
	return current->cancelled;
}

static void *debuginfod_ask(void *arg)
{
	struct debuginfod_request *r = current = arg;
	client *c = r->api.begin();
	char *path = NULL;
	int fd = -1;

	if (c) {
		r->api.set_progress(c, on_progress);
		fd = r->api.find(c, r->build_id, (int)r->len, &path);
		r->api.end(c);
	}
	pthread_mutex_lock(&r->lock);
	r->fd = fd;
	r->path = path;
	r->over = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	debuginfod_release(r);
	return NULL;
}

static struct debuginfod_request *debuginfod_start(const struct api *api,
                                                   const unsigned char *build_id, size_t len)
{
	struct debuginfod_request *r = calloc(1, sizeof(*r));
	sigset_t all, old;

	if (!r)
		out_of_memory();
	r->api = *api;
	r->fd = -1;
	r->len = len;
	memcpy(r->build_id, build_id, len);
	r->owners = 2;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	/* Signals such as ^C are handled by the waiting thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int errnum = pthread_create(&r->thread, NULL, debuginfod_ask, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (errnum != 0) {
		r->owners = 1;
		debuginfod_release(r);
		return NULL;
	}
	return r;
}

/* Waits for at most LOOK_MS; true if the request has ended. */
static bool wait_a_moment(struct debuginfod_request *r)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&r->lock);
	if (!r->over)
		pthread_cond_timedwait(&r->changed, &r->lock, &until);
	bool over = r->over;
	pthread_mutex_unlock(&r->lock);
	return over;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The limit in ms from an environment variable, or else seconds; UINT64_MAX: none. */
static uint64_t limit(const char *variable, uint64_t seconds)
{
	const char *text = getenv(variable);
	char *end;

	if (text && *text) {
		unsigned long value = strtoul(text, &end, 10);

		if (*end == '\0' && value <= UINT32_MAX)
			seconds = value;
	}
	return seconds ? seconds * 1000 : UINT64_MAX;
}

/* Whether bytes have arrived since *last was set; updates it. */
static bool has_progressed(const struct debuginfod_request *r, long *last)
{
	long done = r->done;

	if (done == *last || (r->total <= 0 && done < *last + MANY_ROUNDS && done > *last))
		return false;
	*last = done;
	return true;
}

static enum debuginfod_result debuginfod_wait_for(struct debuginfod_request *r)
{
	const uint64_t silence = limit("DEBUGINFOD_TIMEOUT", SILENCE_SECONDS);
	const uint64_t whole = limit("DEBUGINFOD_MAXTIME", MAX_SECONDS);
	uint64_t begin = now_ms(), heard = begin;
	long last = 0;

	progress_begin();
	while (!wait_a_moment(r)) {
		struct error *interrupted = interrupt_check();
		uint64_t now = now_ms();

		if (interrupted) {
			error_free(interrupted);
			return DEBUGINFOD_INTERRUPTED;
		}
		if (has_progressed(r, &last))
			heard = now;
		if (clock_between(heard, now) > silence || clock_between(begin, now) > whole)
			return DEBUGINFOD_SILENT;
		progress("fetching debug info, bytes", (uint64_t)last, (uint64_t)r->total);
	}
	return DEBUGINFOD_FOUND;
}

bool debuginfod_is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

/* Cancels the request. The thread ends within a second unless it waits for a file. */
static void debuginfod_finish(struct debuginfod_request *r, bool over)
{
	enum { LOOKS_AFTERWARDS = 1500 / LOOK_MS };

	r->cancelled = true;
	for (unsigned i = 0; i < LOOKS_AFTERWARDS && !over; i++)
		over = wait_a_moment(r);
	if (over)
		pthread_join(r->thread, NULL);
	else
		pthread_detach(r->thread);
	progress_end();
}

/* Takes the result of the thread. */
static enum debuginfod_result take_file(struct debuginfod_request *r, int *fd, char **path)
{
	if (r->fd < 0) {
		LOG("module", "debuginfod: %s", strerror(-r->fd));
		/* The library has its own time limits, which may be shorter than ours. */
		return r->fd == -ETIME || r->fd == -ETIMEDOUT ? DEBUGINFOD_SILENT
		                                              : DEBUGINFOD_ABSENT;
	}
	*path = r->path ? r->path : strdup("");
	if (!*path)
		out_of_memory();
	*fd = r->fd;
	r->path = NULL;
	r->fd = -1;
	return DEBUGINFOD_FOUND;
}

enum debuginfod_result debuginfod_find(const unsigned char *build_id, size_t len, int *fd,
                                       char **path)
{
	struct api api;

	if (!debuginfod_is_wanted() || len == 0 || len > BUILD_ID_MAX || !debuginfod_load(&api))
		return DEBUGINFOD_ABSENT;
	struct debuginfod_request *r = debuginfod_start(&api, build_id, len);
	if (!r)
		return DEBUGINFOD_ABSENT;
	LOG("module", "querying debuginfod");
	enum debuginfod_result result = debuginfod_wait_for(r);
	debuginfod_finish(r, result == DEBUGINFOD_FOUND);
	if (result == DEBUGINFOD_FOUND)
		result = take_file(r, fd, path);
	debuginfod_release(r);
	return result;
}

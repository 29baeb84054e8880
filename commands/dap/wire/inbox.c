#include "commands/dap/wire/inbox.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "commands/dap/wire/framing.h"
#include "debugger/base/clock.h"
#include "debugger/base/vec.h"

enum {
	READ_BYTES = 65536,
	CHECK_NS = 100000000 /* interval of checks for the end of this process */
};

void dap_message_free(struct dap_message *l)
{
	if (!l)
		return;
	arena_free(&l->arena);
	free(l);
}

/* ---- the thread that reads ---- */

static bool is_urgent(const struct dap_message *l)
{
	static const char *const urgent[] = { "pause", "disconnect", "terminate", "restart" };
	const char *command = node_text(node_get(l->root, "command"));

	for (size_t i = 0; command && i < sizeof(urgent) / sizeof(*urgent); i++) {
		if (strcmp(command, urgent[i]) == 0)
			return true;
	}
	return false;
}

static bool cancels(const struct inbox *in, const struct dap_message *l)
{
	const char *command = node_text(node_get(l->root, "command"));
	const struct node *arguments = node_get(l->root, "arguments");

	const char *progress = node_text(node_get(arguments, "progressId"));

	return in->busy && command && strcmp(command, "cancel") == 0 &&
	       (node_number(node_get(arguments, "requestId"), 0) == in->busy ||
	        (progress && strtoll(progress, NULL, 10) == in->busy));
}

static bool interrupts(const struct inbox *in, const struct dap_message *l)
{
	return in->alert == INBOX_ANY || (in->alert == INBOX_URGENT && (!l || is_urgent(l)));
}

/* Call with the lock. l NULL: the stream has ended. */
static void wire_inbox_alert(struct inbox *in, const struct dap_message *l)
{
	if (l && cancels(in, l)) {
		in->cancelled = true;
		interrupt_request();
	} else if (interrupts(in, l)) {
		in->alerted = true;
		interrupt_request();
	}
	pthread_cond_broadcast(&in->changed);
}

static void inbox_put(struct inbox *in, struct dap_message *l)
{
	pthread_mutex_lock(&in->lock);
	while (!in->quit && (in->n >= INBOX_MAX || (in->n && in->bytes + l->len > INBOX_MAX_BYTES)))
		pthread_cond_wait(&in->changed, &in->lock);
	*in->end = l;
	in->end = &l->next;
	in->n++;
	in->bytes += l->len;
	wire_inbox_alert(in, l);
	pthread_mutex_unlock(&in->lock);
}

/* Puts all messages that are complete; false: the stream cannot be read any further. */
static bool put_all(struct inbox *in, struct framing *f)
{
	for (;;) {
		struct dap_message *l = alloc_zeroed(sizeof(*l));
		char *text;
		enum framing_result result = framing_take(f, &l->arena, &text, &l->len);

		if (result != FRAMING_MESSAGE) {
			dap_message_free(l);
			return result == FRAMING_MORE;
		}
		struct error *err CLEANUP(error_freep) =
			node_read(&l->arena, text, l->len, &l->root);
		if (err)
			l->problem = arena_strdup(&l->arena, err->message);
		inbox_put(in, l);
	}
}

/* Waits for bytes. At most 0: there will be none. */
static ssize_t read_some(const struct inbox *in, char *bytes)
{
	struct pollfd fds[] = { { .fd = in->fd, .events = POLLIN },
		                { .fd = in->wake, .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return fds[1].revents ? 0 : read(in->fd, bytes, READ_BYTES);
}

static void *read_main(void *arg)
{
	struct inbox *in = arg;
	struct framing f = { 0 };
	char *bytes = alloc_zeroed(READ_BYTES);
	bool good = true;
	ssize_t n;

	while (good && (n = read_some(in, bytes)) > 0) {
		framing_add(&f, bytes, (size_t)n);
		good = put_all(in, &f);
	}
	pthread_mutex_lock(&in->lock);
	in->broken = !good || !framing_is_empty(&f);
	in->closed = true;
	wire_inbox_alert(in, NULL);
	pthread_mutex_unlock(&in->lock);
	framing_free(&f);
	free(bytes);
	return NULL;
}

/* ---- the main thread ---- */

struct error *inbox_start(struct inbox *in, int fd)
{
	sigset_t all, before;

	*in = (struct inbox){ .fd = fd };
	in->end = &in->first;
	in->wake = eventfd(0, EFD_CLOEXEC);
	if (in->wake < 0)
		return error_os(errno, "eventfd");
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int errnum = pthread_create(&in->thread, NULL, read_main, in);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errnum)
		return error_os(errnum, "starting a thread");
	in->started = true;
	return NULL;
}

static void wait_changed(struct inbox *in)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += CHECK_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&in->changed, &in->lock, &until);
}

struct dap_message *inbox_take_until(struct inbox *in, uint64_t until)
{
	pthread_mutex_lock(&in->lock);
	while (!in->first && !in->closed && !interrupt_is_end() && clock_now_ns() < until)
		wait_changed(in);
	struct dap_message *l = interrupt_is_end() ? NULL : in->first;
	if (l) {
		in->first = l->next;
		if (!in->first)
			in->end = &in->first;
		in->n--;
		in->bytes -= l->len;
		pthread_cond_broadcast(&in->changed);
	}
	pthread_mutex_unlock(&in->lock);
	return l;
}

struct dap_message *inbox_take(struct inbox *in)
{
	return inbox_take_until(in, UINT64_MAX);
}

bool inbox_is_empty(struct inbox *in)
{
	pthread_mutex_lock(&in->lock);
	bool empty = !in->first && !in->closed;
	pthread_mutex_unlock(&in->lock);
	return empty;
}

bool inbox_alert(struct inbox *in, enum inbox_alert alert)
{
	bool there = false;

	pthread_mutex_lock(&in->lock);
	in->alert = alert;
	there = in->closed && alert != INBOX_QUIET;
	for (const struct dap_message *l = in->first; l; l = l->next)
		there |= interrupts(in, l);
	if (there)
		in->alert = INBOX_QUIET;
	pthread_mutex_unlock(&in->lock);
	return !there;
}

void inbox_calm(struct inbox *in)
{
	pthread_mutex_lock(&in->lock);
	in->alert = INBOX_QUIET;
	if (in->alerted)
		interrupt_clear();
	in->alerted = false;
	pthread_mutex_unlock(&in->lock);
}

bool inbox_answering(struct inbox *in, int64_t seq)
{
	pthread_mutex_lock(&in->lock);
	bool cancelled = in->cancelled;
	if (cancelled)
		interrupt_clear();
	in->cancelled = false;
	in->busy = seq;
	pthread_mutex_unlock(&in->lock);
	return cancelled;
}

void inbox_free(struct inbox *in)
{
	if (!in->started)
		return;
	pthread_mutex_lock(&in->lock);
	in->quit = true;
	pthread_cond_broadcast(&in->changed);
	pthread_mutex_unlock(&in->lock);
	eventfd_write(in->wake, 1);
	pthread_join(in->thread, NULL);
	close(in->wake);
	for (struct dap_message *l = in->first, *next; l; l = next) {
		next = l->next;
		dap_message_free(l);
	}
	pthread_mutex_destroy(&in->lock);
	pthread_cond_destroy(&in->changed);
	*in = (struct inbox){ 0 };
}

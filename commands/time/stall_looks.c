#include "commands/time/stall_looks.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/time/quiet_looks.h"
#include "commands/time/trace_loop.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "runtimes/timeline/timeline.h"

/* A task that a thread polls. */
struct stall_looks_polled {
	struct trace_item item; /* as the first look has it */
	uint64_t last;          /* time of the last look that has shown it */
	unsigned looks;
	bool reported;
};

struct stall_looks_watch {
	const struct stall_looks *l;
	struct quiet_looks looks;
	VEC(struct stall_looks_polled) polls;
	struct arena names; /* of types */
};

static struct stall_looks_polled *stall_looks_find(struct stall_looks_watch *w, pid_t tid,
                                                   uint64_t task)
{
	for (size_t i = 0; i < w->polls.n; i++) {
		if (w->polls.data[i].item.tid == tid && w->polls.data[i].item.task == task)
			return &w->polls.data[i];
	}
	return NULL;
}

static void see(struct stall_looks_watch *w, const struct trace_item *item)
{
	struct stall_looks_polled *p = stall_looks_find(w, item->tid, item->task);

	if (!p) {
		p = vec_push(&w->polls);
		p->item = *item;
		if (item->type)
			p->item.type = arena_strdup(&w->names, item->type);
	}
	p->last = item->time;
	p->looks++;
}

static struct error *stall_looks_report(const struct stall_looks_watch *w,
                                        const struct stall_looks_polled *p, bool over)
{
	const struct stall stall = {
		.item = &p->item,
		.ns = clock_between(p->item.time, p->last),
		.over = over,
		.looks = p->looks,
	};

	return w->l->report(&stall, w->l->arg);
}

/* Reports the polls that are too long; polls that the look at that time has not shown are over. */
static struct error *judge(struct stall_looks_watch *w, uint64_t time)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->polls.n; i++) {
		struct stall_looks_polled *p = &w->polls.data[i];
		bool over = p->last != time;

		if (over) {
			if (p->reported)
				TRY(stall_looks_report(w, p, true));
			continue;
		}
		if (!p->reported &&
		    (double)clock_between(p->item.time, p->last) / 1e9 >= w->l->over) {
			p->reported = true;
			TRY(stall_looks_report(w, p, false));
		}
		w->polls.data[kept++] = *p;
	}
	w->polls.n = kept;
	if (!kept)
		arena_reset(&w->names);
	return NULL;
}

static struct error *stall_looks_take_one(struct stall_looks_watch *w)
{
	const struct snapshot *s;
	struct trace_item item;

	struct error *err = quiet_looks_take(&w->looks, &s);
	if (err && err->kind == ERR_INTERRUPTED)
		return err;
	if (err) {
		LOG("trace", "the tasks could not be read: %s", err->message);
		error_free(err);
		return NULL;
	}
	uint64_t time = clock_now_ns();
	for (size_t i = 0; i < s->ntasks; i++) {
		if (timeline_poll_of(s, s->tasks[i], time, &item))
			see(w, &item);
	}
	return judge(w, time);
}

static bool stall_looks_is_over(const struct stall_looks *l, uint64_t start)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	return stop || (l->duration > 0 && (double)clock_since(start) / 1e9 >= l->duration);
}

static struct error *watch_all(struct stall_looks_watch *w)
{
	int pidfd CLEANUP(file_close) = (int)syscall(SYS_pidfd_open, w->l->pid, 0);
	uint64_t start = clock_now_ns();

	while (!trace_loop_process_ended(pidfd) && !stall_looks_is_over(w->l, start)) {
		if (clock_now_ns() >= w->looks.next)
			TRY(stall_looks_take_one(w));
	}
	return NULL;
}

struct error *stall_looks_run(const struct stall_looks *l)
{
	struct stall_looks_watch w = { .l = l };
	const struct snapshot *s;
	struct error *err = quiet_looks_begin(l->s, WANT_TASKS, &w.looks, &s);

	if (!err)
		err = watch_all(&w);
	quiet_looks_end(&w.looks);
	vec_free(&w.polls);
	arena_free(&w.names);
	return err;
}

#include "commands/time/stall_looks.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/time/following.h"
#include "commands/time/quiet_looks.h"
#include "debugger/base/clock.h"
#include "debugger/base/file.h"
#include "debugger/base/log.h"
#include "debugger/base/vec.h"
#include "runtimes/trace/trace_key.h"

/* A task that a thread polls. */
struct polled {
	struct trace_item item; /* as the first look has it */
	uint64_t last;          /* time of the last look that has shown it */
	unsigned looks;
	bool reported;
};

struct watch {
	const struct stall_looks *l;
	struct quiet_looks looks;
	VEC(struct polled) polls;
	struct arena names; /* of types */
};

static struct polled *find(struct watch *w, pid_t tid, uint64_t task)
{
	for (size_t i = 0; i < w->polls.n; i++) {
		if (w->polls.data[i].item.tid == tid && w->polls.data[i].item.task == task)
			return &w->polls.data[i];
	}
	return NULL;
}

bool stall_looks_poll(const struct snapshot *s, const struct task *task, uint64_t time,
                      struct trace_item *ret)
{
	bool polled = task->state == TASK_RUNNING && trace_key(task) && task->thread;
	const struct thread_info *th = polled ? snapshot_thread(s, task->thread) : NULL;

	if (!th)
		return false;
	*ret = (struct trace_item){
		.event = TRACE_POLL_START,
		.time = time,
		.tid = th->tid,
		.worker = th->worker,
		.runtime = th->runtime,
		.task = trace_key(task),
		.type = task->type,
	};
	return true;
}

static void see(struct watch *w, const struct trace_item *item)
{
	struct polled *p = find(w, item->tid, item->task);

	if (!p) {
		p = vec_push(&w->polls);
		p->item = *item;
		if (item->type)
			p->item.type = arena_strdup(&w->names, item->type);
	}
	p->last = item->time;
	p->looks++;
}

static struct error *report(const struct watch *w, const struct polled *p, bool over)
{
	const struct stall stall = {
		.item = &p->item,
		.ns = clock_between(p->item.time, p->last),
		.over = over,
		.looks = p->looks,
	};

	return w->l->report(&stall, w->l->arg);
}

/* Reports those that are too long; those that the look at that time has not shown are over. */
static struct error *judge(struct watch *w, uint64_t time)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->polls.n; i++) {
		struct polled *p = &w->polls.data[i];
		bool over = p->last != time;

		if (over) {
			if (p->reported)
				TRY(report(w, p, true));
			continue;
		}
		if (!p->reported &&
		    (double)clock_between(p->item.time, p->last) / 1e9 >= w->l->over) {
			p->reported = true;
			TRY(report(w, p, false));
		}
		w->polls.data[kept++] = *p;
	}
	w->polls.n = kept;
	if (!kept)
		arena_reset(&w->names);
	return NULL;
}

static struct error *look(struct watch *w)
{
	const struct snapshot *s;
	struct trace_item item;

	struct error *err = quiet_looks_take(&w->looks, &s);
	if (err && err->kind == ERR_INTERRUPTED)
		return err;
	if (err) {
		LOG("trace", "no look at the tasks: %s", err->message);
		error_free(err);
		return NULL;
	}
	uint64_t time = clock_now_ns();
	for (size_t i = 0; i < s->ntasks; i++) {
		if (stall_looks_poll(s, s->tasks[i], time, &item))
			see(w, &item);
	}
	return judge(w, time);
}

static bool is_over(const struct stall_looks *l, uint64_t start)
{
	struct error *stop CLEANUP(error_freep) = interrupt_check();

	return stop || (l->duration > 0 && (double)clock_since(start) / 1e9 >= l->duration);
}

static struct error *watch_all(struct watch *w)
{
	int pidfd CLEANUP(file_close) = (int)syscall(SYS_pidfd_open, w->l->pid, 0);
	uint64_t start = clock_now_ns();

	while (!following_process_ended(pidfd) && !is_over(w->l, start)) {
		if (clock_now_ns() >= w->looks.next)
			TRY(look(w));
	}
	return NULL;
}

struct error *stall_looks_run(const struct stall_looks *l)
{
	struct watch w = { .l = l };
	const struct snapshot *s;
	struct error *err = quiet_looks_begin(l->s, WANT_TASKS, &w.looks, &s);

	if (!err)
		err = watch_all(&w);
	quiet_looks_end(&w.looks);
	vec_free(&w.polls);
	arena_free(&w.names);
	return err;
}

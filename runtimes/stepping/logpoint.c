#include "runtimes/stepping/logpoint.h"

#include <string.h>
#include <time.h>

#include "runtimes/analysis/view.h"
#include "runtimes/query/frame_value.h"
#include "runtimes/stepping/debuggee.h"

/* One hit. */
struct line {
	struct debuggee *d;
	pid_t tid;
	struct arena *a;
	struct regs regs;
	bool has_regs;
};

static struct error *read_path(struct line *l, const char *path, const char **ret)
{
	if (!l->has_regs)
		TRY(control_registers(&l->d->control, l->tid, l->a, &l->regs));
	l->has_regs = true;
	return frame_value_text(asyncdbg_inspector(l->d->handle), &l->regs, path, l->a, ret);
}

static struct error *read_value(struct line *l, const char *path, const char **ret)
{
	const struct task *task;

	if (strcmp(path, "task.id") == 0) {
		TRY(debuggee_task(l->d, l->tid, ret));
	} else if (strcmp(path, "task.type") == 0) {
		TRY(debuggee_whole_task(l->d, l->tid, &task));
		*ret = task ? task->type : NULL;
	} else if (strcmp(path, "task.name") == 0) {
		TRY(debuggee_whole_task(l->d, l->tid, &task));
		*ret = task ? task_name(task) : NULL;
	} else {
		return read_path(l, path, ret);
	}
	if (!*ret)
		return error_new(ERR_STATE, "no task runs here");
	/* The next look at the tasks forgets it. */
	*ret = arena_strdup(l->a, *ret);
	return NULL;
}

/* Moves the error of something that cannot be read into the arena. */
static struct error *keep_problem(struct arena *a, struct error *err, const char **problem)
{
	if (!err || err->kind == ERR_INTERRUPTED)
		return err;
	*problem = arena_strdup(a, err->message);
	error_free(err);
	return NULL;
}

static struct error *read_values(struct line *l, const struct log_message *m,
                                 struct log_value *values)
{
	for (size_t i = 0; i < m->n; i++) {
		const char *path = m->pieces[i].text;

		if (!m->pieces[i].is_path)
			continue;
		values->path = path;
		TRY(keep_problem(l->a, read_value(l, path, &values->value), &values->problem));
		if (values->problem)
			values->value = NULL;
		values++;
	}
	return NULL;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct error *logpoint_hit(const struct breakpoint *bp, const struct trap_hit *hit)
{
	SCRATCH(tmp);
	struct debuggee *d = bp->debuggee;
	struct line l = { .d = d, .tid = hit->tid, .a = &tmp };
	struct log_value *values = NEW_ARRAY(&tmp, struct log_value, bp->message->npaths + 1);
	struct logged line = {
		.breakpoint = bp, .when_ns = now(), .tid = hit->tid, .values = values
	};
	const char *problem;

	if (!d->listener.logged)
		return NULL;
	TRY(read_values(&l, bp->message, values));
	TRY(keep_problem(&tmp, debuggee_task(d, hit->tid, &line.task), &problem));
	line.text = log_message_text(&tmp, bp->message, values);
	return d->listener.logged(d->listener.arg, &line);
}

/*
 * threads: the threads of the program, each under the name of the task that it runs, then the tasks
 * that wait. Beyond a limit these are groups of tasks that wait at the same place.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/dap/context.h"
#include "debugger/base/str.h"
#include "dwarf/names/demangle.h"
#include "runtimes/analysis/group.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"

enum { NAME_BYTES = 160 };

/* Cuts a name, at a whole character. */
static const char *cut(struct str *name)
{
	size_t len = NAME_BYTES;

	if (name->len <= NAME_BYTES)
		return str_text(name);
	while (len && ((unsigned char)name->data[len] & 0xc0) == 0x80)
		len--;
	str_truncate(name, len);
	str_append(name, "...");
	return str_text(name);
}

static void threads_put(struct json_writer *w, int number, struct str *name)
{
	if (!number)
		return;
	json_open_object(w, NULL);
	json_put_int(w, "id", number);
	json_put_text(w, "name", cut(name));
	json_close_object(w);
}

/* `task 42 app::serve` */
static void append_task(struct str *s, const struct task *task)
{
	SCRATCH(tmp);
	const char *name = task_name(task);

	str_printf(s, "task %s", task->id);
	if (name || task->type)
		str_printf(s, " %s", name_short(&tmp, name ? name : task->type));
}

static void append_waiting(struct str *s, const struct snapshot *snap, const struct task *task)
{
	SCRATCH(tmp);
	size_t others;
	const char *what = task_waiting_on(&tmp, snap, task, false, &others);

	if (task->state == TASK_IDLE && what)
		str_printf(s, " (waiting: %s)", what);
	else if (task->state != TASK_IDLE)
		str_printf(s, " (%s)", task_state_name(task->state));
}

/* " on worker 3", " on thread 2 (name)" */
static void append_thread(struct str *s, const struct thread_info *th)
{
	if (th->worker >= 0)
		str_printf(s, "worker %d", th->worker);
	else
		str_printf(s, "thread %u", th->number);
	if (th->name)
		str_printf(s, " (%s)", th->name);
}

static void put_os_thread(struct dap *d, struct json_writer *w, const struct snapshot *snap,
                          const struct thread_info *th)
{
	const struct task *task = th->task ? snapshot_task(snap, th->task, th->number) : NULL;
	STR(name);

	if (task) {
		append_task(&name, task);
		str_append(&name, " on ");
		append_thread(&name, th);
		threads_put(w, ids_of_task(&d->ids, task), &name);
		return;
	}
	append_thread(&name, th);
	if (th->root && th->root->function)
		str_printf(&name, ": block_on %s", th->root->function);
	else if (th->wait && th->wait->phrase)
		str_printf(&name, ": %s", th->wait->phrase);
	else if (th->state)
		str_printf(&name, ": %s", th->state);
	threads_put(w, ids_of_thread(&d->ids, th->tid), &name);
}

/* ---- tasks that wait ---- */

struct waiting_tasks {
	const struct task **data;
	size_t n;
};

static bool is_listed(const struct dap *d, const struct snapshot *snap, const struct task *task)
{
	const struct thread_info *th = task->thread ? snapshot_thread(snap, task->thread) : NULL;

	(void)d;
	return th && th->task && snapshot_task(snap, th->task, th->number) == task;
}

static void find_waiting(const struct dap *d, const struct snapshot *snap, struct arena *a,
                         struct waiting_tasks *ret)
{
	ret->data = NEW_ARRAY(a, const struct task *, snap->ntasks);
	for (size_t i = 0; i < snap->ntasks; i++) {
		if (!is_listed(d, snap, snap->tasks[i]))
			ret->data[ret->n++] = snap->tasks[i];
	}
}

static void threads_put_task(struct dap *d, struct json_writer *w, const struct snapshot *snap,
                             const struct task *task)
{
	STR(name);

	append_task(&name, task);
	append_waiting(&name, snap, task);
	threads_put(w, ids_of_task(&d->ids, task), &name);
}

/* A number for the property that the tasks of a group share; it is the same at the next stop. */
static uint64_t group_key(const struct group *g)
{
	const struct future *at = future_awaiting(g->task->root);
	const struct future *leaf = future_leaf(g->task->root);
	uint64_t key = map_key_of_text(g->task->type ? g->task->type : "?");

	if (at)
		key = map_key_of_pair(map_key_of_pair(key, at->line),
		                      map_key_of_text(at->file ? at->file : "?"));
	if (leaf && leaf->wait && leaf->wait->kind)
		key = map_key_of_pair(key, map_key_of_text(leaf->wait->kind));
	return map_key_of_pair(key, g->nnodes);
}

/* `x4312 app::serve at src/conn.rs:88 (waiting: ...)` */
static void threads_put_group(struct dap *d, struct json_writer *w, const struct snapshot *snap,
                              const struct group *g)
{
	const struct future *at = future_awaiting(g->task->root);
	const char *name = task_name(g->task);
	SCRATCH(tmp);
	STR(text);

	str_printf(&text, "\xc3\x97%zu tasks %s", g->count.tasks,
	           name_short(&tmp, name            ? name
	                            : g->task->type ? g->task->type
	                                            : "of unknown type"));
	if (at && at->file_short)
		str_printf(&text, " at %s:%u", at->file_short, at->line);
	append_waiting(&text, snap, g->task);
	threads_put(w, ids_of_group(&d->ids, group_key(g), g->task), &text);
}

static void note_groups(struct dap *d, size_t ntasks, size_t ngroups, size_t shown)
{
	if (d->groups_noted)
		return;
	d->groups_noted = true;
	dap_note(d,
	         "asyncdbg: %zu tasks are listed as groups of tasks that wait at the same place: "
	         "%zu of %zu groups are shown, the largest ones; \"maxTasks\" (now %zu) sets how "
	         "many are listed, and the command \"tasks\" lists all",
	         ntasks, shown, ngroups, d->max_tasks);
}

static void threads_put_waiting(struct dap *d, struct request *r, const struct snapshot *snap)
{
	struct waiting_tasks waiting = { 0 };
	struct groups g;
	size_t n;

	find_waiting(d, snap, r->a, &waiting);
	if (waiting.n <= d->max_tasks) {
		for (size_t i = 0; i < waiting.n; i++)
			threads_put_task(d, r->w, snap, waiting.data[i]);
		return;
	}
	groups_make(r->a, waiting.data, waiting.n, &g);
	n = g.ngroups < d->max_tasks ? g.ngroups : d->max_tasks;
	for (size_t i = 0; i < n; i++) {
		if (g.groups[i].count.tasks == 1)
			threads_put_task(d, r->w, snap, g.groups[i].task);
		else
			threads_put_group(d, r->w, snap, &g.groups[i]);
	}
	note_groups(d, waiting.n, g.ngroups, n);
}

struct error *dap_threads(struct dap *d, struct request *r)
{
	const struct snapshot *snap;

	TRY(dap_snapshot(d, WANT_TASKS | WANT_RUNNING, &snap));
	json_open_array(r->w, "threads");
	for (size_t i = 0; i < snap->nthreads; i++)
		put_os_thread(d, r->w, snap, &snap->threads[i]);
	threads_put_waiting(d, r, snap);
	if (!snap->nthreads && !snap->ntasks) {
		STR(name);

		str_append(&name, "its threads are unknown");
		threads_put(r->w, 1, &name);
	}
	json_close_array(r->w);
	return NULL;
}

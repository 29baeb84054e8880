/* Writes the parts of a snapshot as JSON. */
#include "commands/base/focus.h"
#include "commands/json/out_json.h"

#include <string.h>

#include "debugger/base/map.h"
#include "runtimes/analysis/holders.h"
#include "runtimes/analysis/job.h"
#include "runtimes/analysis/view.h"
#include "runtimes/model/names.h"
#include "runtimes/saved/saved.h"

void out_json_number_if(struct json_writer *w, const char *key, bool known, uint64_t n)
{
	if (known)
		json_put_int(w, key, (int64_t)n);
	else
		json_put_null(w, key);
}

/* Whether key is one that every wait has, or the key of a detail before the nth. */
static bool has_key(const struct wait *wait, size_t nth, const char *key)
{
	static const char *const fixed[] = { "kind", "phrase", "object", "task", "name", "armed" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (strcmp(fixed[i], key) == 0)
			return true;
	}
	for (size_t i = 0; i < nth; i++) {
		if (strcmp(wait->details[i].key, key) == 0)
			return true;
	}
	return false;
}

static void out_json_model_put_detail(struct json_writer *w, const struct wait_detail *d)
{
	switch (d->kind) {
	case DETAIL_STRING:
		json_put_text(w, d->key, d->string);
		break;
	case DETAIL_BOOL:
		json_put_bool(w, d->key, d->number);
		break;
	case DETAIL_LIST:
		json_put_list(w, d->key, d->list, d->nlist);
		break;
	case DETAIL_INT:
		json_put_int(w, d->key, d->number);
		break;
	}
}

static void out_json_model_put_wait(struct json_writer *w, const char *key, const struct wait *wait,
                                    bool of_future)
{
	if (!wait) {
		json_put_null(w, key);
		return;
	}
	json_open_object(w, key);
	json_put_text(w, "kind", wait->kind);
	json_put_text(w, "phrase", wait->phrase);
	json_put_address(w, "object", wait->object);
	json_put_text(w, "task", wait->task);
	if (wait->name)
		json_put_text(w, "name", wait->name);
	if (of_future)
		json_put_text(w, "armed", waker_registered_name(wait->armed));
	/* A snapshot from a file may have any text as a key. */
	w->any_keys = true;
	for (size_t i = 0; i < wait->ndetails; i++) {
		if (!has_key(wait, i, wait->details[i].key))
			out_json_model_put_detail(w, &wait->details[i]);
	}
	w->any_keys = false;
	json_close_object(w);
}

void out_json_wait(struct json_writer *w, const char *key, const struct wait *wait)
{
	out_json_model_put_wait(w, key, wait, false);
}

void out_json_local(struct json_writer *w, const char *key, const struct local *local)
{
	json_open_object(w, key);
	json_put_text(w, "name", local->name);
	json_put_text(w, "type", local->type);
	json_put_text(w, "value", local->value);
	json_put_address(w, "addr", local->addr);
	json_put_bool(w, "argument", local->argument);
	json_put_bool(w, "uncertain", local->uncertain);
	json_put_bool(w, "passed_in", local->passed_in);
	if (local->may_be_lost)
		json_put_bool(w, "may_be_lost", true);
	if (local->may_be_unset)
		json_put_bool(w, "may_be_unset", true);
	if (local->may_be_stale)
		json_put_bool(w, "may_be_stale", true);
	if (local->redacted)
		json_put_bool(w, "redacted", true);
	json_put_text(w, "problem", local->problem);
	json_close_object(w);
}

void out_json_future(struct json_writer *w, const char *key, const struct future *f, bool verbose)
{
	if (!f) {
		json_put_null(w, key);
		return;
	}
	json_open_object(w, key);
	json_put_int(w, "number", f->number);
	json_put_text(w, "kind", future_kind_of(f));
	json_put_text(w, "function", f->function);
	json_put_text(w, "type", f->type);
	json_put_address(w, "addr", f->addr);
	json_put_text(w, "state", future_state_name(f->state));
	out_json_number_if(w, "await_point", f->state == FUTURE_SUSPENDED && f->await_point >= 0,
	                   (uint64_t)f->await_point);
	json_put_text(w, "file", f->file);
	json_put_text(w, "file_short", f->file_short);
	json_put_bool(w, "library", f->library);
	out_json_number_if(w, "line", f->line, f->line);
	json_put_bool(w, "running", f->running);
	json_put_bool(w, "dyn", f->dyn);
	json_put_bool(w, "uncertain", f->uncertain);
	json_put_text(w, "aliases", f->aliases);
	json_put_bool(w, "inferred", f->inferred);
	json_put_text(w, "edge", f->edge);
	json_put_text(w, "branch", branch_name(f->branch));
	json_put_text(w, "note", f->note);
	if (f->variable)
		json_put_text(w, "variable", f->variable);
	out_json_model_put_wait(w, "wait", f->wait, true);
	if (f->properties)
		out_json_wait(w, "properties", f->properties);
	/* Only on request, even if the snapshot has them. */
	json_open_array(w, "locals");
	for (size_t i = 0; verbose && i < f->nlocals; i++)
		out_json_local(w, NULL, &f->locals[i]);
	json_close_array(w);
	json_open_array(w, "children");
	for (size_t i = 0; i < f->nchildren; i++)
		out_json_future(w, NULL, f->children[i], verbose);
	json_close_array(w);
	json_put_text(w, "problem", f->problem);
	json_close_object(w);
}

void out_json_source(struct json_writer *w, const char *key, const struct source_place *p)
{
	if (!p) {
		json_put_null(w, key);
		return;
	}
	json_open_object(w, key);
	json_put_text(w, "file", p->file);
	json_put_text(w, "file_short", p->file_short);
	out_json_number_if(w, "line", p->line, p->line);
	json_close_object(w);
}

void out_json_task(struct json_writer *w, const struct answer *answer, const struct task *task)
{
	SCRATCH(tmp);
	size_t others;

	json_open_object(w, NULL);
	json_put_text(w, "id", task->id);
	json_put_text(w, "kind", "task");
	out_json_number_if(w, "runtime", !task->undriven, task->runtime);
	json_put_address(w, "addr", task->addr);
	json_put_address(w, "local_set", task->local_set);
	json_put_text(w, "state", task_state_name(task->state));
	json_put_bool(w, "notified", task->state == TASK_RUNNING && task->notified);
	out_json_number_if(w, "thread", task->thread, task->thread);
	json_put_text(w, "type", task->type);
	out_json_source(w, "spawned_at", task->spawned_at);
	out_json_source(w, "defined_at", task->defined_at);
	json_put_text(w, "waiting_on",
	              task_waiting_on(&tmp, answer->snapshot, task, true, &others));
	json_put_int(w, "leaves", (int64_t)future_leaves(task->root));
	out_json_future(w, "root", task->root, answer->verbose);
	json_put_text(w, "problem", task->problem);
	if (future_named(task->root) != task->root)
		json_put_text(w, "wrapped", task_name(task));
	if (task_id_is_key(task->id))
		json_put_bool(w, "id_is_key", true);
	if (task->changed)
		json_put_bool(w, "changed", true);
	if (task->has_wakers)
		json_put_int(w, "wakers", (int64_t)task->wakers);
	json_close_object(w);
}

/* Has the keys that a task has. */
void out_json_job(struct json_writer *w, const struct answer *answer, const struct job *job)
{
	size_t others;
	struct task task;
	SCRATCH(tmp);

	job_as_task(answer->snapshot, job, &task);
	json_open_object(w, NULL);
	json_put_text(w, "id", job->id);
	json_put_text(w, "kind", "blocking");
	out_json_number_if(w, "runtime", job->runtime >= 0, (uint64_t)job->runtime);
	json_put_address(w, "addr", job->addr);
	json_put_null(w, "local_set");
	json_put_text(w, "state", task_state_name(task.state));
	json_put_bool(w, "notified", false);
	out_json_number_if(w, "thread", job->thread, job->thread);
	json_put_text(w, "type", job->type);
	out_json_source(w, "spawned_at", job->spawned_at);
	out_json_source(w, "defined_at", NULL);
	json_put_text(w, "waiting_on",
	              task_waiting_on(&tmp, answer->snapshot, &task, true, &others));
	json_put_int(w, "leaves", (int64_t)future_leaves(task.root));
	out_json_future(w, "root", task.root, answer->verbose);
	json_put_null(w, "problem");
	json_put_text(w, "job", job->function);
	out_json_number_if(w, "ahead", !job->thread && job->ahead != JOB_NO_ORDER, job->ahead);
	json_close_object(w);
}

void out_json_holding(struct json_writer *w, const struct holding *h)
{
	json_open_object(w, NULL);
	json_put_text(w, "role", holding_role_name(h->role));
	json_put_text(w, "kind", h->kind);
	json_put_text(w, "type", h->type);
	json_put_address(w, "addr", h->addr);
	json_put_address(w, "object", h->object);
	json_put_address(w, "primitive", h->primitive);
	out_json_number_if(w, "permits", h->permits, h->permits);
	json_put_text(w, "task", h->task ? h->task->id : NULL);
	out_json_number_if(w, "runtime", h->task && !h->task->undriven,
	                   h->task ? h->task->runtime : 0);
	out_json_number_if(w, "thread", h->thread, h->thread);
	out_json_number_if(w, "frame", h->future, h->future ? h->future->number : 0);
	out_json_number_if(w, "stack_frame", !h->future, h->stack_frame);
	json_put_text(w, "function", h->function);
	json_put_text(w, "path", h->path);
	json_put_text(w, "file", h->file);
	json_put_text(w, "file_short", h->file_short);
	out_json_number_if(w, "line", h->line, h->line);
	json_put_bool(w, "declared", h->declared);
	json_put_bool(w, "granted", h->granted);
	json_put_bool(w, "partial", h->partial);
	json_put_bool(w, "uncertain", h->uncertain);
	json_put_bool(w, "sole", h->sole);
	if (h->role == HOLDING_DESCRIPTOR) {
		json_put_int(w, "fd", h->fd);
		json_put_bool(w, "shared", h->shared);
	}
	json_close_object(w);
}

/* Adds the addresses that a tree waits for and that a holding may refer to. */
static void add_waits(struct map *keys, const struct future *f)
{
	if (f->wait && f->wait->primitive)
		map_put(keys, f->wait->primitive, NULL);
	if (f->wait && f->wait->object)
		map_put(keys, f->wait->object, NULL);
	for (size_t i = 0; i < f->nchildren; i++)
		add_waits(keys, f->children[i]);
}

/*
 * Collects the addresses of the tasks, and of the objects that they and their threads wait for, to
 * filter the holdings.
 */
static void find_keys(struct map *keys, const struct snapshot *s, const struct task *const *tasks,
                      size_t ntasks)
{
	for (size_t i = 0; i < ntasks; i++) {
		const struct wait *wait = holders_blocked_in(s, tasks[i]);

		map_put(keys, (uintptr_t)tasks[i], NULL);
		if (tasks[i]->root)
			add_waits(keys, tasks[i]->root);
		if (wait && wait->primitive)
			map_put(keys, wait->primitive, NULL);
		if (wait && wait->object)
			map_put(keys, wait->object, NULL);
	}
}

static bool concerns_any(const struct map *keys, const struct snapshot *s, const struct holding *h,
                         const struct task *const *tasks, size_t ntasks)
{
	if (h->task && map_has(keys, (uintptr_t)h->task))
		return true;
	if (!(h->primitive && map_has(keys, h->primitive)) &&
	    !(h->object && map_has(keys, h->object)))
		return false;
	for (size_t i = 0; i < ntasks; i++) {
		if (holders_concern(s, h, tasks[i]))
			return true;
	}
	return false;
}

void out_json_holdings(struct json_writer *w, const struct snapshot *s,
                       const struct task *const *tasks, size_t ntasks)
{
	struct map keys = { 0 };

	if (tasks)
		find_keys(&keys, s, tasks, ntasks);
	json_open_array(w, "holdings");
	for (size_t i = 0; i < s->nholdings; i++) {
		if (!tasks || concerns_any(&keys, s, &s->holdings[i], tasks, ntasks))
			out_json_holding(w, &s->holdings[i]);
	}
	/* Only a list of tasks says whose descriptors are meant. */
	for (size_t i = 0; tasks && i < s->ndescriptors; i++) {
		const struct holding *h = &s->descriptors[i];

		if (h->task && map_has(&keys, (uintptr_t)h->task))
			out_json_holding(w, h);
	}
	json_close_array(w);
	json_put_list(w, "unsearched", s->unsearched, s->nunsearched);
	map_free(&keys);
}

static void put_frame_members(struct json_writer *w, const struct stack_frame *f)
{
	json_put_int(w, "number", f->number);
	json_put_address(w, "pc", f->pc);
	json_put_text(w, "function", f->function);
	json_put_text(w, "function_full", f->function_full);
	if (f->aliases)
		json_put_text(w, "aliases", f->aliases);
	json_put_text(w, "file", f->file);
	json_put_text(w, "file_short", f->file_short);
	out_json_number_if(w, "line", f->line, f->line);
	json_put_bool(w, "inlined", f->inlined);
	json_put_text(w, "module", f->module);
	json_put_text(w, "polls_task", f->polls_task);
}

static void out_json_model_put_frame(struct json_writer *w, const struct stack_frame *f)
{
	json_open_object(w, NULL);
	put_frame_members(w, f);
	json_close_object(w);
}

void out_json_native_frame(struct json_writer *w, const char *key, const struct focus *f,
                           bool verbose)
{
	json_open_object(w, key);
	put_frame_members(w, f->native);
	json_open_array(w, "locals");
	for (size_t i = 0; verbose && i < f->values->nlocals; i++)
		out_json_local(w, NULL, &f->values->locals[i]);
	json_close_array(w);
	json_put_text(w, "problem", f->values->problem);
	json_close_object(w);
}

void out_json_thread_details(struct json_writer *w, const struct thread_info *th)
{
	json_put_int(w, "number", th->number);
	json_put_int(w, "tid", th->tid);
	json_put_text(w, "name", th->name);
	json_put_text(w, "role", thread_role_name(th->role));
	out_json_number_if(w, "runtime", th->runtime >= 0, (uint64_t)th->runtime);
	if (th->handle_only)
		json_put_bool(w, "handle_only", true);
	out_json_number_if(w, "worker", th->worker >= 0, (uint64_t)th->worker);
	json_put_text(w, "state", th->state);
	out_json_number_if(w, "queue_len", th->has_queue, th->queue_len);
	json_put_text(w, "task", th->task);
}

void out_json_thread(struct json_writer *w, const struct thread_info *th, bool with_frames,
                     bool verbose)
{
	json_open_object(w, NULL);
	out_json_thread_details(w, th);
	out_json_future(w, "root", th->root, verbose);
	json_put_text(w, "job", th->job);
	out_json_wait(w, "wait", th->wait);
	json_put_text(w, "problem", th->problem);
	if (with_frames) {
		json_open_array(w, "frames");
		for (size_t i = 0; i < th->nframes; i++)
			out_json_model_put_frame(w, &th->frames[i]);
		json_close_array(w);
	}
	json_close_object(w);
}

void out_json_runtime(struct json_writer *w, const struct answer *answer,
                      const struct runtime_info *r)
{
	uint64_t tasks = 0, local = 0;
	bool known = out_runtime_tasks(answer, r, &tasks);
	bool local_known = out_local_tasks(answer, r, &local);

	json_open_object(w, NULL);
	json_put_int(w, "index", r->index);
	json_put_text(w, "kind", r->kind);
	json_put_text(w, "flavor", r->flavor);
	json_put_text(w, "name", r->name);
	json_put_text(w, "version", r->version);
	json_put_address(w, "addr", r->addr);
	json_put_int(w, "workers", r->workers);
	out_json_number_if(w, "tasks", known, tasks);
	out_json_number_if(w, "local_set_tasks", local_known, local);
	out_json_number_if(w, "expected_tasks", r->has_expected, r->expected_tasks);
	out_json_number_if(w, "injection_queue_len", r->has_inject, r->inject_len);
	out_json_number_if(w, "blocking_threads", r->has_blocking, r->blocking_threads);
	out_json_number_if(w, "blocking_idle", r->has_blocking, r->blocking_idle);
	out_json_number_if(w, "blocking_queued", r->has_blocking, r->blocking_queued);
	if (out_completeness(answer, r) != COMPLETENESS_UNKNOWN)
		json_put_text(w, "completeness", completeness_name(r->completeness));
	if (out_completeness(answer, r) == COMPLETENESS_SCANNED)
		json_put_int(w, "rejected", (int64_t)r->rejected);
	if (r->found_by)
		json_put_text(w, "found_by", r->found_by);
	json_close_object(w);
}

void out_json_target(struct json_writer *w, const struct answer *answer)
{
	const struct target_info *target = &answer->snapshot->target;
	const struct saved_origin *saved = answer->saved;
	int signal = target->signal;
	SCRATCH(tmp);

	json_open_object(w, "target");
	json_put_text(w, "kind", target->kind);
	if (saved) {
		json_put_text(w, "saved_file", saved->file);
		json_put_text(w, "saved_when", saved_time(&tmp, saved->when));
	}
	json_put_int(w, "pid", target->pid);
	json_put_text(w, "core", target->core);
	json_put_text(w, "command", target->command);
	json_put_text(w, "exe", target->exe);
	json_put_text(w, "build_id", target->build_id);
	json_put_text(w, "arch", target->arch);
	json_put_text(w, "rustc", target->rustc);
	json_open_array(w, "runtime_crates");
	for (size_t i = 0; i < target->ncrates; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "kind", target->crates[i].kind);
		json_put_text(w, "version", target->crates[i].version);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_text(w, "debug_info", debug_tier_name(target->tier));
	json_put_text(w, "debug_info_reason", target->tier_reason);
	out_json_number_if(w, "signal", signal, (uint64_t)signal);
	json_put_text(w, "signal_name", signal ? signal_name(&tmp, signal) : NULL);
	out_json_number_if(w, "signal_tid", signal && target->signal_tid,
	                   (uint64_t)target->signal_tid);
	json_close_object(w);
}

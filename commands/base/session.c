#include "commands/base/session.h"

#include "debugger/target/target.h"
#include "runtimes/analysis/view.h"

#define TRY_AGAIN_S 0.05

enum { MAX_TRIES = 6 };

struct error *session_open(const struct asyncdbg_options *options, struct session *ret)
{
	struct asyncdbg *handle;

	TRY(asyncdbg_open(options, &handle));
	*ret = (struct session){ .handle = handle, .options = options };
	return NULL;
}

void session_close(struct session *s)
{
	arena_free(&s->answer);
	asyncdbg_close(s->handle);
	debuggee_close(&s->debuggee);
	arena_free(&s->run_arena);
	listing_close(s);
	seen_variables_free(&s->seen_variables);
	*s = (struct session){ 0 };
}

struct error *session_reopen(struct session *s, pid_t pid, struct tracer *tracer)
{
	struct asyncdbg_options options = *s->options;

	options.pid = pid;
	options.file = options.program = NULL;
	options.target.tracer = tracer;
	debuggee_end(&s->debuggee);
	seen_variables_free(&s->seen_variables);
	asyncdbg_close(s->handle);
	s->handle = NULL;
	s->own_options = options;
	s->options = &s->own_options;
	s->focus = 0;
	s->task[0] = '\0';
	s->frame = 0;
	s->native = false;
	s->examined.has_next = false;
	listing_forget(s);
	return asyncdbg_open(&options, &s->handle);
}

struct error *session_snapshot(struct session *s, unsigned wants, const struct question *question,
                               const struct snapshot **ret)
{
	if (asyncdbg_kind(s->handle) == ASYNCDBG_NONE)
		return error_new(
			ERR_USAGE,
			"no target: use -p PID or -c CORE; \"asyncdbg ps\" lists processes");
	for (int i = 1;; i++) {
		struct error *err = asyncdbg_snapshot(s->handle, wants, question, ret);

		s->debuggee.seen_nstops = s->debuggee.control.nstops;
		if (!err || err->kind != ERR_STATE || i == MAX_TRIES ||
		    asyncdbg_kind(s->handle) != ASYNCDBG_LIVE || asyncdbg_has_ended(s->handle))
			return err;
		error_free(err);
		TRY(interrupt_sleep(TRY_AGAIN_S));
	}
}

bool session_confirm(const struct session *s, const char *question)
{
	return !s->confirm || s->confirm(question);
}

struct error *session_check_runs(const struct session *s)
{
	struct target *t = asyncdbg_target(s->handle);

	if (!t || !target_is_halted(t))
		return NULL;
	return error_new(ERR_STATE,
	                 "process %d is being debugged and is stopped, so nothing would be seen: "
	                 "\"detach\" lets it run",
	                 (int)t->pid);
}

/* The handle; an empty one where there is none, as for a hand-made snapshot. */
static struct asyncdbg *handle_of(struct session *s)
{
	if (!s->handle)
		error_free(asyncdbg_open(&(struct asyncdbg_options){ 0 }, &s->handle));
	return s->handle;
}

const struct verdicts *session_verdicts(struct session *s, const struct snapshot *snap)
{
	return asyncdbg_verdicts(handle_of(s), snap);
}

struct error *session_check(struct session *s, const struct snapshot *snap, double interval,
                            struct checks_result *ret)
{
	return asyncdbg_check(handle_of(s), snap, interval, &s->answer, ret);
}

struct error *session_focus(const struct session *s, const struct snapshot *snap,
                            const struct thread_info **ret)
{
	const struct thread_info *th = NULL;

	if (s->focus) {
		th = snapshot_thread_by_tid(snap, s->focus);
		if (!th)
			return error_new(ERR_STATE,
			                 "the selected thread (pid %d) has ended; select another "
			                 "with \"thread N\"",
			                 (int)s->focus);
	}
	if (!th && snap->target.signal_tid)
		th = snapshot_thread_by_tid(snap, snap->target.signal_tid);
	if (!th && snap->nthreads)
		th = &snap->threads[0];
	if (!th)
		return error_new(ERR_STATE, "no threads are known");
	*ret = th;
	return NULL;
}

unsigned session_focus_number(const struct session *s)
{
	const struct target *t = asyncdbg_target(s->handle);
	pid_t tid = s->focus ? s->focus : t ? t->signal.tid : 0;
	const struct thread *th = t && tid ? target_thread_by_tid(t, tid) : NULL;

	if (th)
		return th->number;
	return s->focus ? 0 : 1;
}

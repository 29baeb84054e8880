/*
 * Judges which events of a runtime the points of a plan show, and why they do not show the others.
 */
#include <string.h>

#include "runtimes/trace/plan_private.h"

static void plan_coverage_miss(struct planner *p, enum trace_event event, const char *reason,
                               bool never)
{
	*vec_push(&p->missing) = (struct trace_missing){ event, reason, p->runtime->name, never };
}

static bool has_role(const struct planner *p, enum trace_role role, bool worker)
{
	for (size_t i = p->first; i < p->points.n; i++) {
		const struct trace_point *x = &p->points.data[i];

		if (x->role == role && (!worker || x->job == TRACE_WORKER))
			return true;
	}
	return false;
}

static const char reason_slow[] = "its probe needs a single step, which is slow: use --allow-slow";
static const char reason_inlined[] = "the compiler has inlined the function";
static const char reason_unseen[] = "the compiler has moved its code out of the function, or it is "
				    "unknown where the needed argument is passed";
const char trace_plan_remedy[] = PLAN_REMEDY;
static const char reason_nameless[] = "the program is stripped: " PLAN_REMEDY;
static const char reason_wakes[] =
	"the program is stripped: its probe needs --allow-slow, or " PLAN_REMEDY;
static const char reason_workers[] = "the program is stripped, and jobs that run workers are shown "
				     "as other blocking jobs: " PLAN_REMEDY;
static const char reason_outdated[] =
	"the layout file is from an older version: write it again with asyncdbg layout EXE -o FILE";

/* Whether functions that show the event may be unknown. */
static bool lacks_names(const struct planner *p, enum probe_event event)
{
	return p->outdated && (event == PROBE_EVENT_END || event == PROBE_EVENT_WAKE);
}

/* Whether all functions of an event are points: none is slow, and none hides it. */
static bool plan_coverage_is_whole(const struct planner *p, enum probe_event event)
{
	return p->matches[event] > 0 && p->slow_of[event] == 0 && p->unseen[event] == 0 &&
	       !lacks_names(p, event);
}

/* Wake-ups that cannot be distinguished from spawns, unless these are seen too. */
static bool has_shared_wakes(const struct planner *p)
{
	for (size_t i = p->first; i < p->points.n; i++) {
		if (p->points.data[i].role == TRACE_AT_WAKE && p->points.data[i].shared)
			return true;
	}
	return false;
}

/* Uses of wakers show wake-ups. */
static bool queues_by_wakers(const struct planner *p)
{
	const struct probe_row *row = p->runtime->tracing.probes;

	while (row->name && !row->queues)
		row++;
	return row->name != NULL;
}

static const char *nameless_reason(const struct planner *p, enum trace_event event)
{
	if (event == TRACE_WORKER_START || event == TRACE_WORKER_STOP)
		return reason_workers;
	return event == TRACE_WAKE && has_shared_wakes(p) ? reason_wakes : reason_nameless;
}

static const char *plan_coverage_reason_of(const struct planner *p, enum trace_event event,
                                           enum probe_event seen_at, bool slow)
{
	if (lacks_names(p, seen_at))
		return reason_outdated;
	if (p->nameless && !slow && !p->slow_of[seen_at])
		return nameless_reason(p, event);
	if (slow || p->slow_of[seen_at])
		return reason_slow;
	return p->unseen[seen_at] ? reason_unseen : reason_inlined;
}

/* Whether the runtime has such an event at all. */
static bool plan_coverage_is_possible(const struct planner *p, enum trace_event event,
                                      enum probe_event seen_at)
{
	if ((event == TRACE_WORKER_START || event == TRACE_WORKER_STOP) &&
	    !p->runtime->threads.worker_job)
		return false;
	for (const struct probe_row *row = p->runtime->tracing.probes; row->name; row++) {
		if (row->event == seen_at)
			return true;
	}
	return event == TRACE_SPAWN;
}

static void plan_coverage_judge_event(struct planner *p, enum trace_event event,
                                      enum probe_event seen_at, bool has, bool slow)
{
	p->has[event] = has;
	p->plan->has[event] |= has;
	if (!plan_coverage_is_possible(p, event, seen_at))
		plan_coverage_miss(
			p, event,
			arena_printf(p->a, "%s has no worker threads of its own", p->runtime->name),
			true);
	else if (!has)
		plan_coverage_miss(p, event, plan_coverage_reason_of(p, event, seen_at, slow),
		                   false);
}

/* Whether functions of the runtime show spawns of tasks, apart from those for the place alone. */
static bool has_task_spawns(const struct planner *p)
{
	const struct probe_row *row = p->runtime->tracing.probes;

	for (size_t i = p->first; i < p->points.n; i++) {
		const struct trace_point *x = &p->points.data[i];

		if (x->role == TRACE_AT_SPAWN && !x->of_jobs)
			return true;
	}
	while (row->name && (row->event != PROBE_EVENT_SPAWN || row->of_jobs || row->for_place))
		row++;
	return !row->name;
}

/* Lets the polls of tasks tell where they were spawned, if tasks record it. False: they do not. */
static bool let_polls_record_sites(struct planner *p)
{
	const uint64_t behind_id = p->id ? p->id->location.behind_id : 0;

	for (size_t i = p->first; behind_id && i < p->points.n; i++) {
		struct trace_point *x = &p->points.data[i];

		if (x->role == TRACE_AT_POLL && x->job != TRACE_WORKER && !x->kernel.is_own_id &&
		    !x->kernel.at_entry)
			x->kernel.behind_id = (uint32_t)behind_id;
	}
	return behind_id;
}

/*
 * The first poll of a task shows its spawn where no function does, but not who spawned it; and
 * where, only if the task records it.
 */
static void judge_late_spawns(struct planner *p)
{
	static const char *const keys[] = { "by", "spawned_at" };
	const char *reason = p->slow_of[PROBE_EVENT_SPAWN] ? reason_slow : reason_inlined;

	if (p->nameless || has_task_spawns(p))
		return;
	size_t n = sizeof(keys) / sizeof(*keys) - let_polls_record_sites(p);
	for (size_t i = 0; i < n; i++)
		*vec_push(&p->missing_keys) =
			(struct trace_missing_key){ TRACE_SPAWN, keys[i], reason,
			                            p->runtime->name };
}

void plan_coverage(struct planner *p)
{
	bool polls = plan_coverage_is_whole(p, PROBE_EVENT_POLL),
	     parks = plan_coverage_is_whole(p, PROBE_EVENT_PARK);
	bool returns = has_role(p, TRACE_AT_RETURN, false);
	/* Jobs and workers return elsewhere than tasks: neither takes the ends of the other away.
	 */
	bool ends = polls && returns && !p->slow_ends;
	bool job_ends = polls && returns && !p->slow_job_ends;
	p->plan->late_ends |= polls && (!returns || p->slow_ends);
	bool workers = has_role(p, TRACE_AT_POLL, true);
	enum probe_event wake = queues_by_wakers(p) ? PROBE_EVENT_WAKER : PROBE_EVENT_WAKE;
	bool wakes = plan_coverage_is_whole(p, wake) && !(p->nameless && has_shared_wakes(p));

	/* Spawns that no function shows are shown by the first poll of the task. */
	plan_coverage_judge_event(p, TRACE_SPAWN, PROBE_EVENT_SPAWN, polls && !p->nameless, false);
	plan_coverage_judge_event(p, TRACE_POLL_START, PROBE_EVENT_POLL, polls, false);
	plan_coverage_judge_event(p, TRACE_POLL_END, PROBE_EVENT_POLL, ends, p->slow_ends > 0);
	plan_coverage_judge_event(p, TRACE_TERMINATE, PROBE_EVENT_END,
	                          plan_coverage_is_whole(p, PROBE_EVENT_END), false);
	plan_coverage_judge_event(p, TRACE_WORKER_START, PROBE_EVENT_POLL, polls && workers, false);
	plan_coverage_judge_event(p, TRACE_WORKER_STOP, PROBE_EVENT_POLL, job_ends && workers,
	                          p->slow_job_ends > 0);
	if (ends && !job_ends)
		p->plan->late_job_ends = (struct trace_missing){ TRACE_POLL_END, reason_slow,
			                                         p->runtime->name, false };
	plan_coverage_judge_event(p, TRACE_PARK, PROBE_EVENT_PARK, parks, false);
	plan_coverage_judge_event(p, TRACE_UNPARK, PROBE_EVENT_PARK,
	                          parks && returns && !p->slow_unparks, p->slow_unparks > 0);
	plan_coverage_judge_event(p, TRACE_WAKE, wake, wakes, false);
	judge_late_spawns(p);
	p->plan->has_wakers |= plan_coverage_is_whole(p, PROBE_EVENT_WAKER);
	memset(p->matches, 0, sizeof(p->matches));
	memset(p->slow_of, 0, sizeof(p->slow_of));
	memset(p->unseen, 0, sizeof(p->unseen));
	p->slow_unparks = p->slow_ends = p->slow_job_ends = 0;
}

void plan_coverage_none(struct planner *p, const char *reason)
{
	static const enum trace_event events[] = { TRACE_SPAWN, TRACE_POLL_START, TRACE_POLL_END,
		                                   TRACE_TERMINATE, TRACE_WAKE };

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		plan_coverage_miss(p, events[i], reason, false);
}

/* Whether a trace sees where tasks of the runtime of that point are spawned. */
static bool has_sites(const struct planner *p, const struct trace_point *of)
{
	for (size_t i = 0; i < p->points.n; i++) {
		const struct trace_point *x = &p->points.data[i];

		if (x->runtime == of->runtime && x->copy == of->copy &&
		    (x->role == TRACE_AT_SPAWN || x->role == TRACE_AT_POLL) &&
		    (x->kernel.behind_id || x->kernel.path_from))
			return true;
	}
	return false;
}

/* Whether one of the first n missing keys is of that runtime. */
static bool lacks_keys(const struct planner *p, size_t n, const char *runtime)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(p->missing_keys.data[i].runtime, runtime) == 0)
			return true;
	}
	return false;
}

void plan_coverage_sites(struct planner *p)
{
	const struct trace_point *last = NULL;
	size_t known = p->missing_keys.n;

	for (size_t i = 0; i < p->points.n; i++) {
		const struct trace_point *x = &p->points.data[i];

		if ((last && x->runtime == last->runtime && x->copy == last->copy) ||
		    x->role != TRACE_AT_POLL || has_sites(p, x) ||
		    lacks_keys(p, known, x->runtime->name))
			continue;
		last = x;
		*vec_push(&p->missing_keys) = (struct trace_missing_key){
			TRACE_SPAWN, "spawned_at",
			"a trace cannot read it from the tasks of this build", x->runtime->name
		};
	}
}

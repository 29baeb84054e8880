/* A plan in the making; for plan.c and the files that begin with its name. */
#ifndef RUNTIMES_TRACE_PLAN_PRIVATE_H
#define RUNTIMES_TRACE_PLAN_PRIVATE_H

#include "debugger/base/vec.h"
#include "dwarf/module/code_map.h"
#include "runtimes/common/inspector.h"
#include "runtimes/trace/plan.h"

struct planner {
	struct inspector *in;
	struct arena *a;
	bool slow;
	const struct runtime *runtime;
	size_t copy;
	const struct probe_id *id;
	const struct code_map *code;
	VEC(struct trace_point) points;
	VEC(uint64_t) callers; /* functions that call poll functions; link-time */
	VEC(struct trace_missing) missing;
	VEC(struct trace_missing_key) missing_keys;
	struct trace_plan *plan;
	size_t first;    /* point of the runtime */
	bool *has;       /* by enum trace_event, of the runtime */
	bool nameless;   /* without symbols and debug info: only machine code is known */
	bool outdated;   /* an older version wrote the layout file: it lacks functions of tasks */
	size_t left_out; /* slow points that were not wanted */
	/* Slow return sites that were not wanted: of parking, of tasks, and of jobs alone. */
	size_t slow_unparks, slow_ends, slow_job_ends;
	bool of_park;     /* the returns that are searched are of parking */
	bool returns_end; /* results of polls show whether tasks have ended */
	/* Counts of the current runtime, by enum probe_event: */
	size_t matches[PROBE_EVENT_PARK + 1], slow_of[PROBE_EVENT_PARK + 1];
	size_t unseen[PROBE_EVENT_PARK + 1]; /* functions in which it cannot be seen */
};

/*
 * The spelling of a path in mangled names, legacy and v0: "a::bc::" is "1a2bc". No mangling has
 * another one, if the identifiers are ASCII. It lives in a.
 */
const char *plan_mangled(struct arena *a, const char *path);
/* The name of a function: by its DIE, else demangled; without generics in its path. */
const char *plan_name(struct planner *p, const struct code_function *f);
enum trace_role plan_role(enum probe_event event);
uint8_t plan_kernel_kind(enum trace_role role);
/* Adds a point of that row, unless it is there already, or slow and not wanted. */
void plan_add(struct planner *p, const struct probe_row *row, bool rare,
              const struct trace_point *point);

/* Adds the points within a function for a row that has exchange or calls. */
void plan_inside(struct planner *p, const struct code_function *f, const char *name,
                 const struct probe_row *row);
/* plan_inside() for a row that has drops: all functions that drop such values. */
void plan_inside_drops(struct planner *p, const struct probe_row *row);
/* Adds the points behind stores of tables for a row that has stores_table. */
void plan_inside_stores(struct planner *p, const struct probe_row *row);
/* Whether a function directly calls one of that own name. */
bool plan_inside_calls(struct planner *p, const struct code_function *f, const char *called);

/* Records for that reason that no event of the runtime is shown. */
void plan_coverage_none(struct planner *p, const char *reason);
/*
 * Fills in the events that the points of the runtime show, and adds the others to missing. Then the
 * counts are those of the next one.
 */
void plan_coverage(struct planner *p);
/* Adds the runtimes whose tasks have no places of spawns to missing_keys; after all of them. */
void plan_coverage_sites(struct planner *p);

/* Advice for a plan without names, for the end of a sentence. */
#define PLAN_REMEDY                                                                                \
	"a layout file has its functions (asyncdbg layout EXE -o FILE where it was built, then "   \
	"--layout FILE)"

#endif

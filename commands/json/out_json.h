/*
 * Writes the model as JSON, for out_json.c: one value for each function. docs/json.md defines the
 * keys.
 */
#ifndef COMMANDS_OUT_OUT_JSON_H
#define COMMANDS_OUT_OUT_JSON_H

#include "commands/out/out.h"
#include "runtimes/graph/graph.h"
#include "runtimes/places/place.h"
#include "runtimes/saved/json_writer.h"
#include "runtimes/trace/plan.h"

void out_json_number_if(struct json_writer *w, const char *key, bool known, uint64_t n);
/* Where something is in the source; p NULL: null. */
void out_json_source(struct json_writer *w, const char *key, const struct source_place *p);
void out_json_local(struct json_writer *w, const char *key, const struct local *local);
/* null for NULL; verbose: with its variables. */
void out_json_future(struct json_writer *w, const char *key, const struct future *f, bool verbose);
void out_json_task(struct json_writer *w, const struct answer *answer, const struct task *task);
/* Writes a job of a blocking pool as a row of tasks[]. */
void out_json_job(struct json_writer *w, const struct answer *answer, const struct job *job);
/* null for NULL. */
void out_json_wait(struct json_writer *w, const char *key, const struct wait *wait);
/* Writes a thread without its futures and frames into the open object. */
void out_json_thread_details(struct json_writer *w, const struct thread_info *th);
void out_json_thread(struct json_writer *w, const struct thread_info *th, bool with_frames,
                     bool verbose);
/* Writes an element of holdings[], or of the owners[] of a socket. */
void out_json_holding(struct json_writer *w, const struct holding *h);
/*
 * Writes "holdings" and "unsearched": what these tasks own and what may end their waits; tasks
 * NULL: all, without descriptors.
 */
void out_json_holdings(struct json_writer *w, const struct snapshot *s,
                       const struct task *const *tasks, size_t ntasks);
/* Writes a native frame as an object of this key, with its variables if verbose. */
void out_json_native_frame(struct json_writer *w, const char *key, const struct focus *f,
                           bool verbose);
void out_json_runtime(struct json_writer *w, const struct answer *answer,
                      const struct runtime_info *r);
/* out_json_group.c */
void out_json_groups(struct json_writer *w, const struct groups *g, const struct group_lines *lines,
                     bool verbose);
void out_json_tally(struct json_writer *w, const struct tally *tally, size_t n);
/* out_json_types.c */
void out_json_types(struct json_writer *w, const struct type_list *list);
void out_json_type(struct json_writer *w, const struct type_info *info);
void out_json_shown(struct json_writer *w, const struct shown *shown);
/* out_json_processes.c */
void out_json_processes(struct json_writer *w, const struct async_processes *list);
/* out_json_probes.c */
void out_json_probes(struct json_writer *w, const struct trace_plan *plan,
                     const struct usdt_notes *own);
/* The id of a task of a trace, by its key; 0: null. */
void out_json_task_key(struct json_writer *w, const char *name, uint64_t key);
/*
 * Writes "missing": events that are not shown, of those that are wanted; NULL: of all. plan NULL:
 * there is none, and none is listed.
 */
void out_json_missing(struct json_writer *w, const struct trace_plan *plan, const bool *wanted);
/* Writes "missing_keys": what no spawn has, by runtime. */
void out_json_missing_keys(struct json_writer *w, const struct trace_plan *plan);
/* Writes "frames" and "awaits" into the open object. */
void out_json_place(struct json_writer *w, const struct trace_place *place);
/* Writes a frame of a place into the open array. */
void out_json_place_frame(struct json_writer *w, const struct trace_frame *f);
void out_json_stall(struct json_writer *w, const struct stall *stall);
/* out_json_control.c */
void out_json_stopped(struct json_writer *w, const struct stopped *s);
void out_json_signals(struct json_writer *w, const struct control_signals *s, uint64_t which);
void out_json_logged(struct json_writer *w, const struct logged *line);
void out_json_breakpoints(struct json_writer *w, struct breakpoint *const *list, size_t n);
void out_json_watchpoints(struct json_writer *w, struct watchpoint *const *list, size_t n);
void out_json_recorded(struct json_writer *w, const struct recorded *what);
/* out_json_code.c */
void out_json_listing(struct json_writer *w, const struct listing *l);
void out_json_registers(struct json_writer *w, const struct focus *f, const bool *shown);
void out_json_memory(struct json_writer *w, const struct examine_shown *m);
void out_json_disassembly(struct json_writer *w, const struct code_listing *l);
/* out_json_graph.c */
void out_json_graph(struct json_writer *w, const struct verdicts *v, const bool *shown);
void out_json_verdicts(struct json_writer *w, const struct verdicts *v);
void out_json_findings(struct json_writer *w, const struct finding *list, size_t n,
                       const char *const *skipped, size_t nskipped);
void out_json_target(struct json_writer *w, const struct answer *answer);
/* Writes its key too. */
void out_json_summary(struct json_writer *w, const struct snapshot *s);
void out_json_diff(struct json_writer *w, const struct diff *diff);

#endif

/*
 * Writes the model as JSON, for out_json.c: one value for each function. docs/json.md defines the
 * keys.
 */
#ifndef COMMANDS_JSON_OUT_JSON_H
#define COMMANDS_JSON_OUT_JSON_H

#include "commands/out/out.h"
#include "debugger/base/json_writer.h"

struct focus;
struct graph_node;
struct group_count;
struct trace_frame;
struct trace_place;
struct trace_plan;

void out_json_number_if(struct json_writer *w, const char *key, bool known, uint64_t n);
/* A source place; null for p NULL. */
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
 * Writes "holdings" and "unsearched": the resources that these tasks own, and those that may end
 * their waits; tasks NULL: all, without descriptors.
 */
void out_json_holdings(struct json_writer *w, const struct snapshot *s,
                       const struct task *const *tasks, size_t ntasks);
/* Writes a native frame as an object of this key, with its variables if verbose. */
void out_json_native_frame(struct json_writer *w, const char *key, const struct focus *f,
                           bool verbose);
void out_json_runtime(struct json_writer *w, const struct answer *answer,
                      const struct runtime_info *r);
/* out_json_group.c: writes counts of tasks into the open object. */
void out_json_group_count(struct json_writer *w, const struct group_count *c);
/* out_json_trace.c */
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
/* out_json_graph.c: the id and runtime of a task or job; the runtime of workers or of a pool. */
void out_json_node_task(struct json_writer *w, const struct graph_node *n);
void out_json_participant(struct json_writer *w, const char *key, const struct graph_node *n);
void out_json_target(struct json_writer *w, const struct answer *answer);

#endif

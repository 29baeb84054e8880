/* Writes nodes of the wait-for graph as JSON. */
#include "commands/json/out_json.h"
#include "runtimes/graph/verdict.h"

/* The id and runtime of a task or job; the runtime of workers or of a pool. */
void out_json_node_task(struct json_writer *w, const struct graph_node *n)
{
	bool known = n->kind == GRAPH_RUNTIME || n->kind == GRAPH_POOL;
	unsigned runtime = n->runtime;

	if (n->task) {
		known = !n->task->undriven;
		runtime = n->task->runtime;
	} else if (n->job) {
		known = n->job->runtime >= 0;
		runtime = known ? (unsigned)n->job->runtime : 0;
	}
	json_put_text(w, "task", n->task ? n->task->id : n->job ? n->job->id : NULL);
	out_json_number_if(w, "runtime", known, runtime);
}

void out_json_participant(struct json_writer *w, const char *key, const struct graph_node *n)
{
	SCRATCH(tmp);

	json_open_object(w, key);
	json_put_text(w, "text", graph_participant_text(&tmp, n));
	out_json_node_task(w, n);
	out_json_number_if(w, "thread", n->thread, n->thread ? n->thread->number : 0);
	out_json_number_if(w, "tid", n->thread, n->thread ? (uint64_t)n->thread->tid : 0);
	json_close_object(w);
}

/* Writes the async processes of this machine as JSON. */
#include "commands/json/out_json.h"
#include "runtimes/survey/async_processes.h"

static const char *debug_name(enum debug_source debug)
{
	static const char *const names[] = {
		[DEBUG_UNKNOWN] = NULL, [DEBUG_NONE] = "none",         [DEBUG_LINES] = "lines",
		[DEBUG_FULL] = "full",  [DEBUG_SEPARATE] = "separate", [DEBUG_LAYOUT] = "layout",
	};

	return names[debug];
}

static void put_process(struct json_writer *w, const struct async_process *p)
{
	json_open_object(w, NULL);
	json_put_int(w, "pid", p->process->pid);
	json_put_text(w, "name", p->process->name);
	json_put_text(w, "command", p->process->command);
	json_put_text(w, "exe", p->process->exe);
	json_open_array(w, "executors");
	for (size_t i = 0; i < p->nexecutors; i++) {
		json_open_object(w, NULL);
		json_put_text(w, "kind", p->executors[i].name);
		json_put_text(w, "version", p->executors[i].version);
		json_put_bool(w, "supported", p->executors[i].supported);
		json_close_object(w);
	}
	json_close_array(w);
	json_put_text(w, "library", p->library);
	json_put_text(w, "debug_info", debug_name(p->debug));
	json_put_text(w, "debug_info_reason", p->debug_reason);
	out_json_number_if(w, "tasks", p->has_tasks, p->tasks);
	json_put_text(w, "problem", p->problem);
	json_close_object(w);
}

void out_json_processes(struct json_writer *w, const struct async_processes *list)
{
	json_open_array(w, "processes");
	for (size_t i = 0; i < list->n; i++)
		put_process(w, &list->data[i]);
	json_close_array(w);
	json_put_int(w, "processes_total", (int64_t)list->all.n);
	json_put_int(w, "processes_denied", (int64_t)list->denied);
	json_put_text(w, "processes_denied_problem", list->denied_problem);
}

/* Writes counts of tasks as JSON. */
#include "commands/json/out_json.h"
#include "runtimes/analysis/group.h"
#include "runtimes/model/names.h"

static void put_states(struct json_writer *w, const struct group_count *c)
{
	json_open_object(w, "states");
	for (size_t i = 0; i < GROUP_STATES; i++) {
		if (c->states[i])
			json_put_int(w, task_state_name((enum task_state)i), (int64_t)c->states[i]);
	}
	json_close_object(w);
}

void out_json_group_count(struct json_writer *w, const struct group_count *c)
{
	json_put_int(w, "tasks", (int64_t)c->tasks);
	json_put_text(w, "oldest", c->oldest && !c->keyed ? c->oldest->id : NULL);
	json_put_text(w, "newest", c->newest && !c->keyed ? c->newest->id : NULL);
	put_states(w, c);
	json_put_int(w, "changed", (int64_t)c->changed);
}

/* Writes the summary counts as JSON. */
#include <string.h>

#include "commands/json/out_json.h"
#include "runtimes/model/names.h"

/* Counts by name, in order of first occurrence. */
struct tally {
	const char *names[16];
	int64_t counts[16];
	size_t n;
};

static void count(struct tally *tally, const char *name)
{
	size_t i = 0;

	while (i < tally->n && strcmp(tally->names[i], name) != 0)
		i++;
	if (i == sizeof(tally->names) / sizeof(*tally->names))
		return;
	tally->n += i == tally->n;
	tally->names[i] = name;
	tally->counts[i]++;
}

static void put_tally(struct json_writer *w, const char *key, const struct tally *tally)
{
	json_open_object(w, key);
	for (size_t i = 0; i < tally->n; i++)
		json_put_int(w, tally->names[i], tally->counts[i]);
	json_close_object(w);
}

void out_json_summary(struct json_writer *w, const struct snapshot *s)
{
	struct tally threads = { 0 }, tasks = { 0 }, layout = { 0 };

	for (size_t i = 0; i < s->nthreads; i++)
		count(&threads, thread_role_name(s->threads[i].role));
	for (size_t i = 0; i < s->ntasks; i++)
		count(&tasks, task_state_name(s->tasks[i]->state));
	for (size_t i = 0; i < s->nlayout; i++)
		count(&layout, row_status_name(s->layout[i].status));
	json_open_object(w, "summary");
	put_tally(w, "threads", &threads);
	put_tally(w, "tasks", &tasks);
	put_tally(w, "layout", &layout);
	json_close_object(w);
}

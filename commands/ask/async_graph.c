/* async graph, async deadlocks: the wait-for graph and the tasks that can never continue. */
#include <stdio.h>
#include <string.h>

#include "commands/ask/ask.h"
#include "commands/base/focus.h"
#include "commands/base/words.h"
#include "commands/out/graph_dot.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/verdict_group.h"
#include "runtimes/graph/verdict.h"

enum {
	GRAPH_WANTS = WANT_TASKS | WANT_RUNNING | WANT_HOLDINGS,
	MAX_TREES = 16, /* trees shown for the members of one verdict */
};

/* The file to write, NULL for none: -o FILE, or --dot FILE, its older spelling. */
static const char *dot_file(const struct call *call)
{
	const char *dot = option_value(call, "dot");

	return dot ? dot : output_file_of(call);
}

static bool has_ending(const char *file, const char *ending)
{
	size_t n = strlen(file), len = strlen(ending);

	return n > len && strcmp(file + n - len, ending) == 0;
}

/* The file is always in the DOT language: refuse an ending that names another format. */
static struct error *check_format(const struct call *call, const char *file)
{
	static const char *const others[] = { ".svg", ".png", ".pdf", ".json", ".html" };
	const char *format = option_value(call, "format");

	if (format && strcmp(format, "dot") != 0)
		return error_new(ERR_USAGE, "unknown format \"%s\": the only format is dot",
		                 format);
	if (format && !file)
		return error_new(ERR_USAGE, "--format needs -o FILE");
	for (size_t i = 0; file && !format && i < sizeof(others) / sizeof(*others); i++) {
		if (has_ending(file, others[i]))
			return error_new(ERR_USAGE,
			                 "%s: async graph writes dot, for Graphviz; --format dot "
			                 "writes it to any name",
			                 file);
	}
	return NULL;
}

static struct error *check_graph(const struct call *call)
{
	const char *dot = option_value(call, "dot"), *output = option_value(call, "output");

	if (dot && output)
		return error_new(ERR_USAGE, "--dot and -o are the same option: give only one");
	TRY(check_format(call, output));
	if (dot || output)
		TRY(words_file(dot ? dot : output));
	return call->args.n ? focus_check_task_id(call->args.word[0]) : NULL;
}

/* The node of a job: of its thread where it runs. */
static size_t node_of_job(const struct snapshot *snap, const struct graph *g, size_t nth)
{
	for (size_t i = 0; snap->jobs[nth].thread && i < snap->nthreads; i++) {
		if (snap->threads[i].number != snap->jobs[nth].thread)
			continue;
		return graph_of_root(g, i) ? graph_of_root(g, i) : graph_of_thread(g, i);
	}
	return graph_of_job(g, nth);
}

/* Selects the nodes that concern the tasks with that id; NULL for all. */
static struct error *select_nodes(struct session *s, const struct snapshot *snap,
                                  const struct graph *g, const struct call *call, bool **ret)
{
	const char *id = call->args.n ? focus_task_id(snap, call->args.word[0]) : NULL;

	*ret = NULL;
	if (!id)
		return NULL;
	if (!snapshot_task(snap, id, 0) && !snapshot_job(snap, id))
		return focus_unknown_task(snap, id);
	*ret = NEW_ARRAY(&s->answer, bool, g->nnodes + 1);
	for (size_t i = 0; i < snap->ntasks; i++) {
		if (strcmp(snap->tasks[i]->id, id) == 0)
			graph_reach(g, graph_of_task(g, i), *ret);
	}
	for (size_t i = 0; i < snap->njobs; i++) {
		if (snap->jobs[i].id && strcmp(snap->jobs[i].id, id) == 0)
			graph_reach(g, node_of_job(snap, g, i), *ret);
	}
	return NULL;
}

static struct error *run_graph(struct session *s, const struct answer *answer,
                               const struct call *call, struct out *out)
{
	const char *dot = dot_file(call);
	size_t nodes, edges;
	bool *shown;

	TRY(snapshot_check_understood(answer->snapshot));
	const struct verdicts *v = session_verdicts(s, answer->snapshot);
	TRY(select_nodes(s, answer->snapshot, v->graph, call, &shown));
	if (!dot) {
		out_begin(out, answer);
		part_graph(out, v, shown);
		return NULL;
	}
	if (strcmp(dot, "-") == 0) {
		graph_dot_print(out->options.answers, v, shown, &nodes, &edges);
		return NULL;
	}
	TRY(graph_dot_write(v, shown, dot, &nodes, &edges));
	const struct written written = {
		.path = dot,
		.what = { { "node", nodes }, { "edge", edges } },
	};

	part_written(out, answer, &written);
	return NULL;
}

/* Prints the trees of the members of a verdict. */
static struct error *show_members(const struct graph *g, const struct verdict *v, struct out *out)
{
	for (size_t i = 0; i < v->nmembers && i < MAX_TREES; i++) {
		const struct graph_node *n = &g->nodes[v->members[i]];

		TRY(out_check(out));
		if (n->task)
			out->ops->task(out, n->task, TASK_BACKTRACE);
		else if (n->job)
			out->ops->job(out, n->job, TASK_BACKTRACE);
		else
			out->ops->thread(out, n->thread, THREAD_ASYNC);
	}
	return NULL;
}

static struct error *run_deadlocks(struct session *s, const struct answer *answer,
                                   const struct call *call, struct out *out)
{
	struct verdict_groups alikes;

	(void)call;
	TRY(snapshot_check_understood(answer->snapshot));
	const struct verdicts *v = session_verdicts(s, answer->snapshot);
	verdict_groups_make(&s->answer, v, &alikes);
	out_begin(out, answer);
	for (size_t i = 0; i < alikes.n; i++) {
		const struct verdict_group *alike = &alikes.list[i];

		part_verdict(out, v, alike);
		/* JSON has the members of all alike verdicts; text has those of the first one. */
		for (size_t k = 0; k < (out->options.cut ? 1 : alike->n); k++)
			TRY(show_members(v->graph, &v->list[alike->list[k]], out));
	}
	part_verdicts_end(out, v);
	return NULL;
}

static const struct command_option graph_options[] = {
	OUTPUT_OPTION,
	{ "format", "FORMAT", false, "Format of that file: dot, whatever its name ends in" },
	{ "dot", "FILE", false, "Same as -o FILE" },
	{ 0 },
};

const struct command async_graph_command = {
	.name = "async graph",
	.args = "[ID]",
	.max_args = 1,
	.options = graph_options,
	.check = check_graph,
	.summary = "Show the wait-for graph: tasks, locks, channels, and their owners",
	.help = "    Shows each waiting task, everything it waits for, and who holds that. With\n"
		"    an ID: what that task waits for, and which tasks wait for it.",
	.wants = GRAPH_WANTS,
	.run = run_graph,
};

const struct command async_deadlocks_command = {
	.name = "async deadlocks",
	.verbose = true,
	.summary = "Show deadlocked tasks, and why they cannot proceed",
	.help = "    Also finds futurelocks (a lock granted to a future that its own task no\n"
		"    longer polls) and lost wake-ups (a task that only itself could wake).\n"
		"    Anything unknown is assumed runnable; an uncertain verdict is called\n"
		"    possible, with the reason.",
	.wants = GRAPH_WANTS,
	.run = run_deadlocks,
};

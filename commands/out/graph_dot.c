#include "commands/out/graph_dot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/base/output_format.h"
#include "debugger/base/new_file.h"
#include "debugger/base/str.h"
#include "runtimes/analysis/view.h"

/* Appends a double-quoted string of the DOT language, where a backslash begins an escape. */
static void graph_dot_append_quoted(struct str *s, const char *text)
{
	STR(clean);

	str_append_clean(&clean, text, strlen(text));
	for (const char *p = str_text(&clean); *p; p++) {
		if (*p == '"' || *p == '\\')
			str_append(s, "\\");
		str_append_len(s, p, 1);
	}
}

static const char *shape(const struct graph_node *n)
{
	switch (n->kind) {
	case GRAPH_TASK:
	case GRAPH_JOB:
		return "box";
	case GRAPH_ROOT:
	case GRAPH_THREAD:
	case GRAPH_RUNTIME:
	case GRAPH_POOL:
		return "box3d";
	case GRAPH_FORK:
	case GRAPH_SET:
		return "diamond";
	default:
		return "ellipse";
	}
}

static void graph_dot_put_node(FILE *f, const struct verdicts *v, size_t node)
{
	const struct graph_node *n = &v->graph->nodes[node];
	const struct future *at = graph_is_participant(n) ? future_awaiting(n->future) : NULL;
	SCRATCH(tmp);
	STR(s);

	str_printf(&s, "  n%zu [shape=%s, label=\"", node, shape(n));
	graph_dot_append_quoted(&s, graph_object_text(&tmp, n));
	if (n->kind == GRAPH_FORK || n->kind == GRAPH_SET)
		str_append(&s, n->rule == GRAPH_ANY ? "\\nany" : "\\nall");
	if (n->kind == GRAPH_QUEUE)
		str_append(&s, "\\nqueue");
	if (at && at->function) {
		str_append(&s, "\\n");
		graph_dot_append_quoted(&s, at->function);
	}
	if (at && at->file_short) {
		str_append(&s, "\\n");
		graph_dot_append_quoted(&s, at->file_short);
		str_printf(&s, ":%u", at->line);
	}
	str_append(&s, "\"");
	if (v->stuck[node])
		str_append(&s, ", color=red");
	fprintf(f, "%s];\n", str_text(&s));
}

static void graph_dot_put_edge(FILE *f, const struct verdicts *v, const struct graph_edge *e)
{
	bool stuck = v->stuck[e->from] && v->stuck[e->to] && !e->weak;
	SCRATCH(tmp);
	STR(s);

	const char *evidence = graph_evidence_text(&tmp, e);
	str_printf(&s, "  n%zu -> n%zu [label=\"", e->from, e->to);
	graph_dot_append_quoted(&s, e->kind);
	if (evidence) {
		str_append(&s, "\\n");
		graph_dot_append_quoted(&s, evidence);
	}
	str_printf(&s, "\"%s%s", stuck ? ", color=red" : "",
	           e->weak    ? ", style=dotted"
	           : e->doubt ? ", style=dashed"
	                      : "");
	fprintf(f, "%s];\n", str_text(&s));
}

/*
 * Whether an edge is written. Waits that end without another participant are left out, except as an
 * alternative of a fork.
 */
static bool is_written(const struct graph *g, const bool *shown, const bool *inside,
                       const struct graph_edge *e)
{
	if (shown && (!shown[e->from] || !(shown[e->to] || e->to == GRAPH_OUTSIDE)))
		return false;
	if (e->to == GRAPH_OUTSIDE && graph_is_participant(&g->nodes[e->from]))
		return false;
	return inside[e->from];
}

/*
 * Computes for each node whether an edge leads to something inside the program. The reverse loop
 * visits inner forks before the forks that contain them.
 */
static bool *find_inside(const struct graph *g, struct arena *a)
{
	bool *inside = NEW_ARRAY(a, bool, g->nnodes + 1);

	for (size_t i = g->nedges; i-- > 0;) {
		const struct graph_edge *e = &g->edges[i];

		inside[e->from] |=
			g->nodes[e->to].kind == GRAPH_FORK ? inside[e->to] : e->to != GRAPH_OUTSIDE;
	}
	return inside;
}

void graph_dot_print(FILE *f, const struct verdicts *v, const bool *shown, size_t *nodes,
                     size_t *edges)
{
	const struct graph *g = v->graph;
	SCRATCH(tmp);
	bool *inside = find_inside(g, &tmp), *named = NEW_ARRAY(&tmp, bool, g->nnodes + 1);

	*nodes = *edges = 0;
	fprintf(f, "digraph asyncdbg {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n"
	           "  edge [fontname=\"sans-serif\", fontsize=10];\n");
	for (size_t i = 0; i < g->nedges && !ferror(f); i++) {
		const struct graph_edge *e = &g->edges[i];
		size_t ends[] = { e->from, e->to };

		if (!is_written(g, shown, inside, e))
			continue;
		for (size_t k = 0; k < 2; k++) {
			if (!named[ends[k]])
				graph_dot_put_node(f, v, ends[k]);
			*nodes += !named[ends[k]];
			named[ends[k]] = true;
		}
		graph_dot_put_edge(f, v, e);
		++*edges;
	}
	fprintf(f, "}\n");
}

struct error *graph_dot_write(const struct verdicts *v, const bool *shown, const char *path,
                              size_t *nodes, size_t *edges)
{
	struct new_file file CLEANUP(new_file_drop) = { 0 };

	TRY(new_file_open(path, 0600, &output_format_dot, &file));
	graph_dot_print(file.f, v, shown, nodes, edges);
	return new_file_finish(&file);
}

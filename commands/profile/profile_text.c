/* A profile as text: the share of each state by type, then the places that take most. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands/out/table.h"
#include "commands/profile/profile_view.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"

enum { MAX_TYPES = 20, MAX_PLACES = 8 /* lines of a state */ };

static void print_table(FILE *f, const struct profile_view *v, struct table *t)
{
	STR(line);

	t->ascii = v->options->ascii;
	table_fit(t, v->options->width);
	for (ptrdiff_t i = -1; i < (ptrdiff_t)t->nrows; i++) {
		str_truncate(&line, 0);
		table_line(t, i, &line);
		fprintf(f, "%s\n", str_text(&line));
	}
}

/* "12.5 %"; NULL: nothing of it. */
static const char *profile_text_share(struct arena *a, uint64_t part, uint64_t whole)
{
	if (!part || !whole)
		return NULL;
	double percent = 100.0 * (double)part / (double)whole;

	return percent < 0.1 ? "< 0.1 %" : arena_printf(a, "%.1f %%", percent);
}

static const char *profile_text_time(struct arena *a, uint64_t ns)
{
	if (ns < 10000000)
		return arena_printf(a, "%.1f us", (double)ns / 1e3);
	if (ns < 10000000000)
		return arena_printf(a, "%.1f ms", (double)ns / 1e6);
	return arena_printf(a, "%.1f s", (double)ns / 1e9);
}

/* ---- types ---- */

static int compare_busy(const void *a, const void *b)
{
	const struct profile_times *x = &(*(struct profile_node *const *)a)->total;
	const struct profile_times *y = &(*(struct profile_node *const *)b)->total;
	uint64_t p = x->ns[PROFILE_POLLING] + x->ns[PROFILE_OFF];
	uint64_t q = y->ns[PROFILE_POLLING] + y->ns[PROFILE_OFF];

	return (p < q) - (p > q);
}

/* Types by time in polls, longest first. */
static struct profile_node **sorted_types(struct arena *a, const struct profile_view *v)
{
	struct profile_node **list = NEW_ARRAY(a, struct profile_node *, v->tree->ntypes + 1);
	size_t n = 0;

	for (struct profile_node *node = v->tree->roots; node; node = node->next)
		list[n++] = node;
	qsort(list, n, sizeof(*list), compare_busy);
	return list;
}

static void add_type(struct table *t, const struct profile_view *v, const struct profile_node *node)
{
	const struct profile_type *type = &v->tree->types[node->type];
	uint64_t sum = profile_times_sum(&type->times);
	const char *cells[TABLE_MAX_COLUMNS];
	SCRATCH(tmp);
	size_t n = 0;

	cells[n++] = profile_view_name(&tmp, v, node);
	cells[n++] = arena_uint(&tmp, type->tasks);
	cells[n++] = v->samples ? NULL : arena_uint(&tmp, type->polls);
	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (profile_view_has(v, i))
			cells[n++] = profile_text_share(&tmp, type->times.ns[i], sum);
	}
	table_row(t, cells);
}

static void print_types(FILE *f, const struct profile_view *v)
{
	static const char *const titles[] = { "POLLING", "OFF-CPU", "RUNNABLE", "WAITING",
		                              "UNKNOWN" };
	struct column columns[TABLE_MAX_COLUMNS] = { { "TYPE", false, 20 },
		                                     { "TASKS", true, 0 },
		                                     { "POLLS", true, 0 } };
	struct table t CLEANUP(table_deinit) = { 0 };
	SCRATCH(tmp);
	struct profile_node **list = sorted_types(&tmp, v);
	size_t n = 3;

	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (profile_view_has(v, i))
			columns[n++] = (struct column){ titles[i], true, 0 };
	}
	table_init(&t, columns, n);
	for (size_t i = 0; i < v->tree->ntypes && i < MAX_TYPES; i++)
		add_type(&t, v, list[i]);
	print_table(f, v, &t);
	if (v->tree->ntypes > MAX_TYPES)
		fprintf(f, "and %zu other types\n", v->tree->ntypes - MAX_TYPES);
}

/* ---- places ---- */

/* The largest nodes of a state, the largest first. */
struct top {
	const struct profile_node *nodes[MAX_PLACES];
	size_t n;
};

static void profile_text_offer(struct top *top, const struct profile_node *node, size_t state)
{
	size_t at = top->n;

	while (at && top->nodes[at - 1]->self.ns[state] < node->self.ns[state])
		at--;
	if (!node->self.ns[state] || at == MAX_PLACES)
		return;
	top->n += top->n < MAX_PLACES;
	for (size_t i = top->n - 1; i > at; i--)
		top->nodes[i] = top->nodes[i - 1];
	top->nodes[at] = node;
}

/* "Sleep < app::run at src/main.rs:3 < async fn app::run": a cut leaves the innermost. */
static void append_chain(struct str *s, const struct profile_view *v,
                         const struct profile_node *node)
{
	SCRATCH(tmp);

	for (bool first = true; node; node = node->parent, first = false) {
		str_append(s, first ? "" : " < ");
		str_append(s, profile_view_name(&tmp, v, node));
	}
}

static void print_places(FILE *f, const struct profile_view *v, size_t state)
{
	static const char *const titles[] = { "POLLING, CONTINUED FROM", "OFF-CPU, CONTINUED FROM",
		                              "RUNNABLE AT", "WAITING AT", "UNKNOWN" };
	bool runs = state == PROFILE_POLLING && v->cpu.in_polls;
	const struct column columns[] = { { "TIME", true, 0 },
		                          { "SHARE", true, 0 },
		                          { runs ? "RUNNING" : titles[state], false, 20 } };
	struct table t CLEANUP(table_deinit) = { 0 };
	struct top top = { 0 };

	for (const struct profile_node *node = NULL; (node = profile_view_next(v, node));)
		profile_text_offer(&top, node, state);
	if (!top.n)
		return;
	table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < top.n; i++) {
		SCRATCH(tmp);
		STR(chain);
		uint64_t ns = top.nodes[i]->self.ns[state];

		append_chain(&chain, v, top.nodes[i]);
		const char *const cells[] = {
			profile_text_time(&tmp, ns),
			profile_text_share(&tmp, ns, v->tree->total.ns[state]), str_text(&chain)
		};
		table_row(&t, cells);
	}
	fputs("\n", f);
	print_table(f, v, &t);
}

void profile_text_write(FILE *f, const struct profile_view *v)
{
	uint64_t tasks = 0, polls = 0;

	for (size_t i = 0; i < v->tree->ntypes; i++) {
		tasks += v->tree->types[i].tasks;
		polls += v->tree->types[i].polls;
	}
	fprintf(f, "%.1f s: %" PRIu64 " tasks, %" PRIu64 " %s\n\n", (double)v->duration_ns / 1e9,
	        tasks, v->samples ? v->samples : polls, v->samples ? "samples" : "polls");
	print_types(f, v);
	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (i != PROFILE_UNKNOWN)
			print_places(f, v, i);
	}
}

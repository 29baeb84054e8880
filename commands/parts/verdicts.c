/* Verdicts: tasks that are deadlocked. JSON has them all in one list. */
#include "commands/json/out_json.h"
#include "commands/out/out_text.h"
#include "commands/parts/parts.h"
#include "runtimes/analysis/verdict_group.h"
#include "runtimes/graph/verdict.h"

/* Verdicts that are alike; text prints them as the first one. */
struct shown_verdict {
	const struct verdicts *verdicts;
	const struct verdict_group *alike;
};

/* Prints the participants that wait behind the first ones of a group of alike verdicts. */
static void behind(struct text *t, const struct verdicts *v, const struct verdict_group *alike)
{
	size_t listed = 0;
	SCRATCH(tmp);

	if (!alike->nbehind)
		return;
	str_printf(&t->line, "   %zu more wait%s behind %s: ", alike->nbehind,
	           alike->nbehind == 1 ? "s" : "", alike->n > 1 ? "them" : "it");
	for (size_t i = 0; i < alike->n; i++) {
		const struct verdict *verdict = &v->list[alike->list[i]];

		for (size_t k = 0;
		     k < verdict->nbehind && k < VERDICT_MAX_BEHIND && listed < VERDICT_MAX_BEHIND;
		     k++)
			text_clean_after(
				t, listed++ ? ", " : "",
				graph_participant_text(&tmp, &v->graph->nodes[verdict->behind[k]]));
	}
	str_append(&t->line, alike->nbehind > listed ? ", ..." : "");
	text_end_line(t);
}

static void verdict_group_text(struct text *t, const void *part)
{
	const struct shown_verdict *shown = part;
	const struct verdicts *v = shown->verdicts;
	const struct verdict_group *alike = shown->alike;
	const struct verdict *verdict = &v->list[alike->list[0]];
	SCRATCH(tmp);
	const char *others = verdict_group_others(&tmp, v, alike);

	text_style(t, STYLE_PROBLEM);
	str_append(&t->line, verdict->trust < VERDICT_POSSIBLE ? "" : "possible ");
	str_append(&t->line, verdict->kind == VERDICT_LOST ? "lost wake-up"
	                                                   : verdict_kind_name(verdict->kind));
	text_style(t, STYLE_PLAIN);
	text_clean_after(t, ": ", verdict_text(&tmp, v->graph, verdict));
	text_end_line(t);
	for (size_t k = 0; k < verdict->ndoubts; k++)
		text_problem(t, "   ", verdict->doubts[k]);
	if (others) {
		text_clean_after(t, "   ", others);
		text_end_line(t);
	}
	behind(t, v, alike);
}

static const struct part_kind verdict_part = { sizeof(struct shown_verdict), verdict_group_text,
	                                       NULL };

void part_verdict(struct out *o, const struct verdicts *v, const struct verdict_group *alike)
{
	out_part(o, &verdict_part, &(struct shown_verdict){ v, alike });
}

static void verdicts_end_text(struct text *t, const void *part)
{
	const struct verdicts *const *v = part;

	if ((*v)->n == 0)
		text_nothing_found(t, "no deadlock found");
	t->unsearched = true;
}

/* Writes the place in a queue of a future that is not polled. */
static void put_queue(struct json_writer *w, const struct graph *g, const struct graph_edge *e)
{
	enum { MAX_NAMED = 32 };

	if (!e || !e->unpolled)
		return;
	out_json_number_if(w, "place", e->place && e->place != UINT64_MAX, e->place);
	json_open_array(w, "queued_behind");
	for (size_t i = 0; i < e->nbehind && i < MAX_NAMED; i++)
		out_json_participant(w, NULL, &g->nodes[e->behind[i]]);
	json_close_array(w);
	if (e->nbehind > MAX_NAMED)
		json_put_int(w, "queued_behind_count", (int64_t)e->nbehind);
}

static void put_link(struct json_writer *w, const struct graph *g, const struct verdict_link *l)
{
	SCRATCH(tmp);
	const struct graph_node *object = l->object;

	json_open_object(w, NULL);
	out_json_participant(w, "party", &g->nodes[l->participant]);
	json_put_text(w, "waits", l->waits ? l->waits->kind : NULL);
	json_put_text(w, "phrase", l->waits && l->waits->wait ? l->waits->wait->phrase : NULL);
	json_put_text(w, "what", object ? object->what : NULL);
	json_put_address(w, "object", object ? object->object : 0);
	json_put_text(w, "has", l->has ? l->has->kind : NULL);
	json_put_text(w, "evidence", l->has ? graph_evidence_text(&tmp, l->has) : NULL);
	json_put_bool(w, "granted", l->has && l->has->granted);
	json_put_bool(w, "unpolled", l->has && l->has->unpolled);
	put_queue(w, g, l->has);
	json_close_object(w);
}

static void verdicts_json_one(struct json_writer *w, const struct verdicts *v,
                              const struct verdict *verdict, size_t alike)
{
	const struct graph *g = v->graph;
	SCRATCH(tmp);

	json_open_object(w, NULL);
	json_put_text(w, "kind", verdict_kind_name(verdict->kind));
	json_put_bool(w, "certain", verdict->certain);
	json_put_bool(w, "possible", verdict->trust == VERDICT_POSSIBLE);
	json_put_text(w, "text", verdict_text(&tmp, g, verdict));
	json_put_list(w, "doubts", verdict->doubts, verdict->ndoubts);
	json_open_array(w, "members");
	for (size_t i = 0; i < verdict->nmembers; i++)
		out_json_participant(w, NULL, &g->nodes[verdict->members[i]]);
	json_close_array(w);
	json_open_array(w, "cycle");
	for (size_t i = 0; i < verdict->ncycle; i++)
		put_link(w, g, &verdict->cycle[i]);
	json_close_array(w);
	json_open_array(w, "behind");
	for (size_t i = 0; i < verdict->nbehind && i < VERDICT_MAX_BEHIND; i++)
		out_json_participant(w, NULL, &g->nodes[verdict->behind[i]]);
	json_close_array(w);
	json_put_int(w, "behind_count", (int64_t)verdict->nbehind);
	json_put_int(w, "alike", (int64_t)alike);
	json_close_object(w);
}

static void verdicts_json(struct json_writer *w, const void *part)
{
	const struct verdicts *const *all = part, *v = *all;
	struct verdict_groups alikes;
	SCRATCH(tmp);

	verdict_groups_make(&tmp, v, &alikes);
	json_open_array(w, "verdicts");
	for (size_t i = 0; i < v->n; i++)
		verdicts_json_one(w, v, &v->list[i], alikes.first[i]);
	json_close_array(w);
}

static const struct part_kind verdicts_part = { sizeof(const struct verdicts *), verdicts_end_text,
	                                        verdicts_json };

void part_verdicts_end(struct out *o, const struct verdicts *v)
{
	out_part(o, &verdicts_part, &v);
}

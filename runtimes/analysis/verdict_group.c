#include "runtimes/analysis/verdict_group.h"

#include <ctype.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/analysis/group_hash.h"
#include "runtimes/analysis/view.h"

enum { LISTED = 8, LISTED_MEMBERS = 4, LISTED_ROOTS = 3 };

/* The text that precedes an id or an address in a verdict's sentence. */
static const struct {
	const char *before, *digits;
} names[] = {
	{ "task ", "0123456789" },
	{ "thread #", "0123456789" },
	{ "blocking job ", "0123456789" },
	{ "0x", "0123456789abcdef" },
};

/* The length of the name of a task, thread or object at the start of text; 0: there is none. */
static size_t name_length(const char *text)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t before = strlen(names[i].before);

		if (strncmp(text, names[i].before, before) != 0)
			continue;
		size_t digits = strspn(text + before, names[i].digits);
		if (digits)
			return before + digits;
	}
	return 0;
}

/* A name in a sentence, numbered by its first occurrence. */
struct met {
	const char *text;
	size_t len;
};
typedef VEC(struct met) met_vec;

static size_t verdict_group_number_of(met_vec *met, const char *text, size_t len)
{
	for (size_t i = 0; i < met->n; i++) {
		if (met->data[i].len == len && memcmp(met->data[i].text, text, len) == 0)
			return i;
	}
	*vec_push(met) = (struct met){ text, len };
	return met->n - 1;
}

/*
 * Appends the sentence with each name replaced by its number, which keeps who waits for whom. Text
 * in backticks comes from the program and is copied unchanged.
 */
static void append_words(struct str *key, const char *text)
{
	met_vec met = { 0 };
	bool quoted = false, word = false;

	while (*text) {
		size_t len = quoted || word ? 0 : name_length(text);

		if (len) {
			str_printf(key, "<%zu>", verdict_group_number_of(&met, text, len));
			text += len;
			continue;
		}
		quoted ^= *text == '`';
		word = isalnum((unsigned char)*text);
		str_append_len(key, text++, 1);
	}
	vec_free(&met);
}

static void append_member(struct str *key, const struct graph_node *n)
{
	const struct future *at = future_awaiting(n->future);

	str_printf(key, "\n%u", (unsigned)n->kind);
	if (at)
		str_printf(key, " %s %s:%u", at->function ? at->function : "?",
		           at->file_short ? at->file_short : "?", at->line);
}

/* The keys of two verdicts are equal if and only if the verdicts are alike. */
static void append_key(struct str *key, const struct graph *g, const struct verdict *v)
{
	SCRATCH(tmp);

	str_printf(key, "%u %u %zu ", (unsigned)v->kind, (unsigned)v->trust, v->nmembers);
	append_words(key, verdict_text(&tmp, g, v));
	for (size_t i = 0; i < v->ndoubts; i++) {
		str_append(key, "\n! ");
		append_words(key, v->doubts[i]);
	}
	for (size_t i = 0; i < v->nmembers; i++)
		append_member(key, &g->nodes[v->members[i]]);
}

/* A group that is being built. Groups with the same hash form a chain. */
struct verdict_group_growing {
	const char *key;
	VEC(size_t) list;
	size_t nbehind;
	size_t next; /* index + 1 of the next group with the same hash, 0 none */
};
typedef VEC(struct verdict_group_growing) growing_vec;

static struct verdict_group_growing *growing_of(struct arena *tmp, growing_vec *groups,
                                                struct map *heads, const char *key)
{
	uint64_t hash = hash_text(HASH_START, key) | 1;
	size_t head = (uintptr_t)map_get(heads, hash);

	for (size_t i = head; i; i = groups->data[i - 1].next) {
		if (strcmp(groups->data[i - 1].key, key) == 0)
			return &groups->data[i - 1];
	}
	struct verdict_group_growing *new = vec_push(groups);

	new->key = arena_strdup(tmp, key);
	new->next = head;
	map_put(heads, hash, (void *)groups->n);
	return new;
}

void verdict_groups_make(struct arena *a, const struct verdicts *v, struct verdict_groups *ret)
{
	struct map heads CLEANUP(map_free) = { 0 };
	size_t *first = NEW_ARRAY(a, size_t, v->n + 1);
	growing_vec groups = { 0 };
	SCRATCH(tmp);
	STR(key);

	for (size_t i = 0; i < v->n; i++) {
		str_truncate(&key, 0);
		append_key(&key, v->graph, &v->list[i]);
		struct verdict_group_growing *g = growing_of(&tmp, &groups, &heads, str_text(&key));

		*vec_push(&g->list) = i;
		g->nbehind += v->list[i].nbehind;
		first[i] = g->list.data[0];
	}
	struct verdict_group *list = NEW_ARRAY(a, struct verdict_group, groups.n + 1);
	for (size_t i = 0; i < groups.n; i++) {
		list[i].n = groups.data[i].list.n;
		list[i].nbehind = groups.data[i].nbehind;
		list[i].list = vec_to_arena(&groups.data[i].list, a);
	}
	*ret = (struct verdict_groups){ list, groups.n, first };
	vec_free(&groups);
}

static void append_members(struct str *s, const struct graph *g, const struct verdict *v)
{
	SCRATCH(tmp);

	for (size_t i = 0; i < v->nmembers && i < LISTED_MEMBERS; i++)
		str_printf(s, "%s%s", i ? " with " : "",
		           graph_participant_text(&tmp, &g->nodes[v->members[i]]));
	if (v->nmembers > LISTED_MEMBERS)
		str_printf(s, " and %zu more", v->nmembers - LISTED_MEMBERS);
}

/* The name of the root future of the verdict's first task or thread. */
static const char *root_of(const struct verdicts *v, size_t verdict)
{
	const struct graph_node *n = &v->graph->nodes[v->list[verdict].members[0]];
	const char *name = n->future && n->future->function ? n->future->function : NULL;

	return name ? name : n->task ? n->task->type : NULL;
}

/* Appends the roots of the trees: the members await at one place but may have different callers. */
static void append_roots(struct str *s, const struct verdicts *v, const struct verdict_group *alike)
{
	struct map seen CLEANUP(map_free) = { 0 };
	size_t n = 0, listed = 0;
	STR(roots);

	for (size_t i = 0; i < alike->n; i++) {
		const char *root = root_of(v, alike->list[i]);

		if (!root || !map_put(&seen, hash_text(HASH_START, root) | 1, NULL))
			continue;
		if (n++ < LISTED_ROOTS)
			str_printf(&roots, "%s%s", listed++ ? ", " : "", root);
	}
	if (n < 2)
		return;
	str_printf(s, "; their outermost futures are %s", str_text(&roots));
	if (n > listed)
		str_printf(s, " and %zu others", n - listed);
}

const char *verdict_group_others(struct arena *a, const struct verdicts *v,
                                 const struct verdict_group *alike)
{
	size_t others = alike->n - 1;
	STR(s);

	if (!others)
		return NULL;
	str_printf(&s, "%zu more like it: ", others);
	for (size_t i = 1; i <= others && i <= LISTED; i++) {
		str_append(&s, i > 1 ? ", " : "");
		append_members(&s, v->graph, &v->list[alike->list[i]]);
	}
	if (others > LISTED)
		str_printf(&s, " and %zu more", others - LISTED);
	append_roots(&s, v, alike);
	return arena_strdup(a, str_text(&s));
}

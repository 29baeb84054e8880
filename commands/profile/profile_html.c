/* A profile as a page for a browser: an icicle graph, in one file. */
#include <stdlib.h>
#include <string.h>

#include "commands/profile/profile_page.h"
#include "commands/profile/profile_view.h"
#include "debugger/base/json_writer.h"
#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/base/vec.h"
#include "runtimes/model/model.h"

struct page {
	const struct profile_view *v;
	struct json_writer w;
	struct arena arena;
	struct map strings; /* key -> index + 1 */
	VEC(const char *) texts;
	struct map numbers; /* of nodes that were written, by their address */
};

static size_t profile_html_string_of(struct page *p, const char *text)
{
	uint64_t key = map_key_of_text(text);
	size_t found = (uintptr_t)map_get(&p->strings, key);

	if (found)
		return found - 1;
	*vec_push(&p->texts) = arena_strdup(&p->arena, text);
	map_put(&p->strings, key, (void *)(uintptr_t)p->texts.n);
	return p->texts.n - 1;
}

static void profile_html_put_number(struct page *p, uint64_t number)
{
	json_put_int(&p->w, NULL, (int64_t)number);
}

/* A row of the array: see NODE of profile_data.js. */
static void profile_html_put_node(struct page *p, const struct profile_node *node, size_t number)
{
	SCRATCH(tmp);
	const char *name = profile_view_function(&tmp, p->v, node);
	const char *full = node->name ? str_clean(&tmp, node->name, strlen(node->name)) : name;
	const char *file = node->file ? str_clean(&tmp, node->file, strlen(node->file)) : "";

	map_put(&p->numbers, (uintptr_t)node, (void *)(uintptr_t)number);
	profile_html_put_number(
		p, node->parent ? (uintptr_t)map_get(&p->numbers, (uintptr_t)node->parent) : 0);
	profile_html_put_number(p, node->kind);
	profile_html_put_number(p, profile_html_string_of(p, name));
	profile_html_put_number(p, profile_html_string_of(p, full));
	profile_html_put_number(p, profile_html_string_of(p, file));
	profile_html_put_number(p, node->line);
	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (profile_view_has(p->v, i))
			profile_html_put_number(p, node->self.ns[i]);
	}
}

static void put_nodes(struct page *p)
{
	size_t number = 0;

	json_open_array(&p->w, "nodes");
	for (const struct profile_node *node = NULL; (node = profile_view_next(p->v, node));)
		profile_html_put_node(p, node, ++number);
	json_close_array(&p->w);
}

/* Tasks and polls of each type, by the number of its node. */
static void profile_html_put_types(struct page *p)
{
	SCRATCH(tmp);

	json_open_object(&p->w, "types");
	for (const struct profile_node *node = p->v->tree->roots; node; node = node->next) {
		const struct profile_type *type = &p->v->tree->types[node->type];

		json_open_array(&p->w,
		                arena_uint(&tmp, (uintptr_t)map_get(&p->numbers, (uintptr_t)node)));
		profile_html_put_number(p, type->tasks);
		profile_html_put_number(p, type->polls);
		json_close_array(&p->w);
	}
	json_close_object(&p->w);
}

static void put_heading(struct page *p)
{
	const struct target_info *target = &p->v->answer->snapshot->target;
	const struct profile_tree *tree = p->v->tree;
	uint64_t tasks = 0, polls = 0;

	for (size_t i = 0; i < tree->ntypes; i++) {
		tasks += tree->types[i].tasks;
		polls += tree->types[i].polls;
	}
	json_put_text(&p->w, "program", target->command ? target->command : "a program");
	json_put_int(&p->w, "pid", target->pid);
	json_put_int(&p->w, "duration_ns", (int64_t)p->v->duration_ns);
	json_put_int(&p->w, "tasks", (int64_t)tasks);
	json_put_int(&p->w, "polls", (int64_t)polls);
	json_put_int(&p->w, "samples", (int64_t)p->v->samples);
	json_open_array(&p->w, "states");
	for (size_t i = 0; i < PROFILE_NSTATES; i++) {
		if (profile_view_has(p->v, i))
			json_put_text(&p->w, NULL, profile_state_name(i));
	}
	json_close_array(&p->w);
}

static void put_notes(struct page *p)
{
	SCRATCH(tmp);

	json_open_array(&p->w, "notes");
	for (size_t i = 0; i < PROFILE_NNOTES; i++) {
		const char *note = profile_view_note(&tmp, p->v, i);

		if (note)
			json_put_text(&p->w, NULL, note);
	}
	json_close_array(&p->w);
}

static void put_data(struct page *p)
{
	json_open_object(&p->w, NULL);
	put_heading(p);
	put_notes(p);
	put_nodes(p);
	profile_html_put_types(p);
	json_put_list(&p->w, "strings", p->texts.data, p->texts.n);
	json_close_object(&p->w);
	json_flush(&p->w);
}

void profile_html_write(FILE *f, const struct profile_view *v)
{
	struct page *p = alloc_zeroed(sizeof(*p));

	p->v = v;
	json_writer_init(&p->w, f, true);
	p->w.in_page = p->w.any_keys = true;
	fwrite(profile_page_head, 1, profile_page_head_size, f);
	put_data(p);
	fwrite(profile_page_tail, 1, profile_page_tail_size, f);
	map_free(&p->strings);
	map_free(&p->numbers);
	vec_free(&p->texts);
	arena_free(&p->arena);
	free(p);
}

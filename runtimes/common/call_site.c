#include "runtimes/common/call_site.h"

#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/frame/call_path.h"
#include "dwarf/module/code_map.h"
#include "dwarf/names/qualified.h"

/* A way back, from the innermost function on. */
struct call_site_way {
	struct inspector *in;
	const struct runtime *runtime;
	struct arena *a;
	bool spawner; /* the last function is one */
	bool done;
	struct source_place *ret;
};

bool call_site_spawns_for(const struct runtime *runtime, const struct runtime *of)
{
	return runtime == of ||
	       (runtime->tracing.spawns_for && strcmp(runtime->tracing.spawns_for, of->name) == 0);
}

/* Whether a function is one of those that lead to a spawn; *spawner: it spawns for its caller. */
static bool leads_to_spawn(const struct call_site_way *w, const char *name, bool *spawner)
{
	bool found = false;

	*spawner = false;
	for (const struct runtime *const *r = runtimes_in(w->in->di); *r; r++) {
		if (!call_site_spawns_for(*r, w->runtime))
			continue;
		found |= runtime_begins_with_one(name, (*r)->tracing.spawn_through);
		*spawner |= runtime_begins_with_one(name, (*r)->tracing.spawners) &&
		            str_begins(qualified_last(name), "spawn");
	}
	return found;
}

/*
 * Whether the call that returns to that link-time address is that of the runtime's function that
 * calls the point's function through the table of the task.
 */
static bool is_table_call(const struct call_site_way *w, const struct code_map *code,
                          uint64_t after)
{
	const struct runtime *r = w->runtime;
	SCRATCH(tmp);
	size_t n;

	if (!r->tracing.spawn_caller || !call_path_is_indirect(code, after))
		return false;
	const struct location *l =
		lookup_locations(w->in->di, after - 1 + code->dm->module->bias, &tmp, &n);
	const char *name = n && !l->mangled ? l->name : NULL;
	const char *last = name ? qualified_last(name) : NULL;

	return name && str_begins(name, r->tracing.spawn_caller_within) &&
	       qualified_base_len(last) == strlen(r->tracing.spawn_caller) &&
	       str_begins(last, r->tracing.spawn_caller);
}

/* Goes on to the function that has called the last one. */
static void call_site_take(struct call_site_way *w, const struct location *l)
{
	bool spawner = false;

	if (l->name && !l->mangled && leads_to_spawn(w, l->name, &spawner)) {
		w->spawner = spawner;
		return;
	}
	w->done = true;
	if (!w->spawner || !l->name || l->mangled || !l->file || !l->line)
		return;
	*w->ret = (struct source_place){ .file = arena_strdup(w->a, l->file), .line = l->line };
	w->ret->file_short = source_path_of(w->in->di, w->a, l->file, l->comp_dir).text;
}

/* Takes all functions at a link-time address. */
static void call_site_take_all(struct call_site_way *w, const struct code_map *code,
                               uint64_t address)
{
	SCRATCH(tmp);
	size_t n;
	const struct location *l =
		lookup_locations(w->in->di, address + code->dm->module->bias, &tmp, &n);

	for (size_t i = 0; i < n && !w->done; i++)
		call_site_take(w, &l[i]);
}

bool call_site_of_spawn(struct inspector *in, const struct runtime *runtime,
                        const struct code_map *code, uint64_t entry, uint64_t inside,
                        const uint64_t *addresses, size_t n, struct arena *a,
                        struct source_place *ret)
{
	struct call_site_way w = { .in = in, .runtime = runtime, .a = a, .ret = ret };
	uint64_t callee = entry;

	*ret = (struct source_place){ 0 };
	if (inside)
		call_site_take_all(&w, code, inside);
	for (size_t i = 0; i < n && !w.done; i++) {
		const struct code_function *f = code_map_at(code, addresses[i] - 1);
		struct call_link link;

		if (!f || (!call_path_link(code, addresses[i], callee, &link) &&
		           (i || !is_table_call(&w, code, addresses[i]))))
			return false;
		for (size_t j = 0; j < link.n && !w.done; j++)
			call_site_take_all(&w, code, link.jumps[j]);
		if (!w.done)
			call_site_take_all(&w, code, addresses[i] - 1);
		callee = f->low;
	}
	return ret->line != 0;
}

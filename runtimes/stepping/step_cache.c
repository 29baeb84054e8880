#include "runtimes/stepping/step_cache.h"

#include <stdlib.h>
#include <string.h>

#include "debugger/base/vec.h"
#include "dwarf/lookup/code_places.h"
#include "dwarf/module/symtab.h"
#include "dwarf/names/demangle.h"
#include "dwarf/types/type.h"

const struct function_lines *step_cache_lines(struct step_cache *c, const struct function *f)
{
	uint64_t key = (uintptr_t)f;
	struct function_lines *lines = map_get(&c->lines, key);

	if (!lines) {
		lines = NEW(&c->arena, struct function_lines);
		function_lines_read(f, &c->arena, lines);
		map_put(&c->lines, key, lines);
	}
	return lines;
}

/* ---- symbols ---- */

/* "rust_panic", and since rustc 1.89 "_RNv...7___rustc10rust_panic". */
static bool is_panic(const char *name)
{
	static const char suffix[] = "10rust_panic";
	size_t len, n = sizeof(suffix) - 1;

	/* Most of a million names end here. */
	if (name[0] != 'r' && (name[0] != '_' || name[1] != 'R'))
		return false;
	len = strlen(name);
	return strcmp(name, "rust_panic") == 0 ||
	       (len > n && strcmp(name + len - n, suffix) == 0 && strstr(name, "7___rustc"));
}

uint64_t step_cache_panic(struct step_cache *c, struct debuginfo *di)
{
	for (size_t i = 0; i < di->nmodules && !c->panic_known; i++) {
		struct dwarf_module *dm = debuginfo_program_module(di, i);
		uint64_t addr = dm ? symtab_function(dm, is_panic) : 0;

		c->panic = addr ? dm->module->bias + addr : 0;
		c->panic_known = addr != 0;
	}
	c->panic_known = true;
	return c->panic;
}

struct step_cache_search {
	struct dwarf_module *dm;
	const char *text;
	VEC(uint64_t) found;
};

/* "core::ptr::drop_in_place<app::run::{{closure}}>" of the text "app::run::{{closure}}". */
static bool is_drop_of(const char *name, const char *text)
{
	SCRATCH(tmp);
	const char *plain = demangle(&tmp, name), *at;
	size_t len = strlen(text);

	at = strchr(plain, '<');
	if (!at || strncmp(plain, "core::ptr::drop_", 16) != 0)
		return false;
	return strncmp(at + 1, text, len) == 0 && strcmp(at + 1 + len, ">") == 0;
}

static void visit_drop(const char *name, uint64_t addr, uint64_t size, void *arg)
{
	struct step_cache_search *s = arg;

	(void)size;
	if ((strstr(name, "drop_in_place") || strstr(name, "drop_glue")) &&
	    is_drop_of(name, s->text))
		*vec_push(&s->found) = s->dm->module->bias + addr;
}

/* Name of the type in the symbol of the function that drops it. */
static const char *dropped_name(const struct function *poll, const struct type *type,
                                struct arena *a)
{
	if (!type_is_coroutine(type))
		return type_name(type);
	return poll->linkage ? demangle(a, poll->linkage) : NULL;
}

const struct step_addresses *step_cache_drops(struct step_cache *c, const struct function *poll,
                                              const struct type *type)
{
	uint64_t key = (uintptr_t)poll;
	struct step_addresses *found = map_get(&c->drops, key);
	SCRATCH(tmp);

	if (found)
		return found;
	found = NEW(&c->arena, struct step_addresses);
	map_put(&c->drops, key, found);
	struct step_cache_search s = { .dm = poll->dm, .text = dropped_name(poll, type, &tmp) };
	if (!s.text)
		return found;
	symtab_each_function(poll->dm, visit_drop, &s);
	found->n = s.found.n;
	found->data = vec_to_arena(&s.found, &c->arena);
	return found;
}

const struct step_addresses *step_cache_closure(struct step_cache *c, struct debuginfo *di,
                                                const struct type *type)
{
	uint64_t key = (uintptr_t)type;
	struct step_addresses *found = map_get(&c->closures, key);
	struct code_places places = { 0 };
	SCRATCH(tmp);

	if (found)
		return found;
	found = NEW(&c->arena, struct step_addresses);
	map_put(&c->closures, key, found);
	error_free(lookup_function_places(di, name_function(&tmp, type_name(type)), &tmp, &places));
	found->n = places.n;
	found->data = NEW_ARRAY(&c->arena, uint64_t, places.n);
	for (size_t i = 0; i < places.n; i++)
		found->data[i] = places.data[i].addr;
	return found;
}

struct step_cache *step_cache_new(void)
{
	struct step_cache *c = calloc(1, sizeof(*c));

	if (!c)
		out_of_memory();
	return c;
}

void step_cache_close(struct step_cache *c)
{
	if (!c)
		return;
	map_free(&c->lines);
	map_free(&c->drops);
	map_free(&c->closures);
	arena_free(&c->arena);
	free(c);
}

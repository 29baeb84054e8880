#include "dwarf/enumerate.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/facts.h"
#include "dwarf/qualified.h"
#include "dwarf/search.h"

static const char vtable_suffix[] = "::{vtable}", async_mark[] = "{async_";
/* Of the waker of a set of futures; its generics tell the type of the node (runtimes/waker.c). */
static const char waker_clone[] = "clone_arc_raw<";

/*
 * Of the runtime the functions that tell what a thread does: those without generics, and of the
 * others these. A large program has each of them once for each kind of task.
 */
static const char runtime_namespace[] = "tokio::runtime::";
static const char *const telling[] = {
	"tokio::runtime::task::raw::poll<", "tokio::runtime::park::",
	"tokio::runtime::scheduler::",      "tokio::runtime::blocking::",
	"tokio::runtime::runtime::",
};

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool is_vtable(const struct scope *s)
{
	size_t len = s->name ? strlen(s->name) : 0, tail = sizeof(vtable_suffix) - 1;

	return s->tag == DW_TAG_variable && s->has_address && s->low && len > tail &&
	       strcmp(s->name + len - tail, vtable_suffix) == 0;
}

static void keep_place(struct dwarf_module *dm, enum fact_kind kind, uint64_t link, uint64_t die)
{
	struct fact_draft d;

	fact_begin(&d, debuginfo_facts(dm), kind, link, NULL);
	fact_add_number(&d, die);
	fact_end(&d);
}

static void visit_vtable(struct dwarf_module *dm, const struct scope *s,
                         const struct enumerate_ops *ops, void *arg)
{
	struct fact_draft d;

	facts_pause(debuginfo_facts(dm));
	const struct type *t = search_vtable_variable(dm, s->die);
	facts_resume(debuginfo_facts(dm));
	if (!t || !ops->vtable(t, s->name, arg))
		return;
	fact_begin(&d, debuginfo_facts(dm), FACT_VTABLE, s->low, NULL);
	fact_add_number(&d, type_die(type_at(dm, type_die(t))));
	fact_add_number(&d, 1);
	fact_end(&d);
}

/* Before its whole name is put together: a large program has a million functions. */
static bool may_matter(struct dwarf_module *dm, struct unit *u, const struct scope *s)
{
	enum { MAX_DEPTH = 128 };
	uint32_t top = s->parent;
	const char *name;

	if (s->origin || (s->name && (begins(s->name, async_mark) || begins(s->name, waker_clone))))
		return true;
	if (top == SCOPE_NONE)
		return false;
	for (int depth = 0; u->scopes[top].parent != SCOPE_NONE && depth < MAX_DEPTH; depth++)
		top = u->scopes[top].parent;
	name = scan_scope_name(&dm->sections, u, top);
	return name && strcmp(name, "tokio") == 0;
}

static bool is_telling(const char *name)
{
	const char *last = qualified_last(name);

	if (begins(last, async_mark) || begins(last, waker_clone))
		return true;
	if (!begins(name, runtime_namespace))
		return false;
	bool is = !strchr(name, '<');
	for (size_t i = 0; !is && i < sizeof(telling) / sizeof(*telling); i++)
		is = begins(name, telling[i]);
	return is;
}

/* "app::run::{async_fn#0}" of the type "app::run::{async_fn_env#0}<T>" or the function "...<T>". */
static uint64_t poll_key(const char *name)
{
	const char *last = qualified_last(name), *cut = strstr(last, "_env#");
	const char *end = strchr(last, '}');
	SCRATCH(tmp);

	if (!begins(last, async_mark) || !end)
		return 0;
	if (!cut || cut > end)
		return lookup_name_key(arena_strndup(&tmp, name, (size_t)(end + 1 - name)));
	return lookup_name_key(arena_printf(&tmp, "%.*s%.*s", (int)(cut - name), name,
	                                    (int)(end - cut) - 3, cut + 4));
}

uint64_t enumerated_poll(struct dwarf_module *dm, const char *coroutine)
{
	uint64_t key = poll_key(coroutine);

	return key ? (uintptr_t)map_get(&dm->poll_dies, key) : 0;
}

/* The one with a linkage name has the body; a declaration may stand elsewhere. */
static void note_poll(struct dwarf_module *dm, const struct scope *s)
{
	const char *name;
	uint64_t key;

	if (!s->linkage || !s->name || !begins(s->name, async_mark))
		return;
	name = lookup_die_name(dm, s->die);
	key = name ? poll_key(name) : 0;
	if (key && !map_has(&dm->poll_dies, key))
		map_put(&dm->poll_dies, key, (void *)(uintptr_t)s->die);
}

static void visit_function(struct dwarf_module *dm, const struct scope *s,
                           const struct enumerate_ops *ops, void *arg)
{
	const char *name;

	facts_pause(debuginfo_facts(dm));
	name = lookup_die_name(dm, s->die);
	facts_resume(debuginfo_facts(dm));
	if (!name || !is_telling(name))
		return;
	const struct function *f = lookup_function_die(dm, s->die);
	if (!f)
		return;
	keep_place(dm, FACT_CODE, s->low, s->die);
	ops->function(f, arg);
}

static void visit_scope(struct dwarf_module *dm, struct unit *u, uint32_t index,
                        const struct enumerate_ops *ops, void *arg)
{
	unsigned tag = u->scopes[index].tag;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_variable)
		return;
	struct scope s = scan_scope(&dm->sections, u, index);
	if (tag == DW_TAG_subprogram)
		note_poll(dm, &s);
	if (is_vtable(&s))
		visit_vtable(dm, &s, ops, arg);
	else if (tag == DW_TAG_subprogram && s.has_address && s.low && s.high &&
	         may_matter(dm, u, &s))
		visit_function(dm, &s, ops, arg);
}

struct error *enumerate_code(struct dwarf_module *dm, const struct enumerate_ops *ops, void *arg)
{
	if (!debuginfo_need(dm))
		return NULL;
	for (size_t i = 0; i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];

		TRY(interrupt_check());
		debuginfo_scan(dm, u);
		for (size_t j = 0; j < u->nscopes; j++)
			visit_scope(dm, u, (uint32_t)j, ops, arg);
		ops->progress(i + 1, dm->nunits, arg);
	}
	dm->poll_dies_known = true;
	return NULL;
}

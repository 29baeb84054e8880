#include "dwarf/enumerate.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/facts.h"
#include "dwarf/search.h"

static const char vtable_suffix[] = "::{vtable}", runtime_namespace[] = "tokio::runtime::";

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
static bool may_matter(const struct unit *u, const struct scope *s)
{
	enum { MAX_DEPTH = 128 };
	const struct scope *top = s;

	if (s->origin)
		return true;
	if (s->name && strncmp(s->name, "{async_", 7) == 0)
		return true;
	for (int depth = 0; top->parent != SCOPE_NONE && depth < MAX_DEPTH; depth++)
		top = &u->scopes[top->parent];
	return top->name && strcmp(top->name, "tokio") == 0;
}

static void visit_function(struct dwarf_module *dm, const struct scope *s,
                           const struct enumerate_ops *ops, void *arg)
{
	const char *name;

	facts_pause(debuginfo_facts(dm));
	name = lookup_die_name(dm, s->die);
	facts_resume(debuginfo_facts(dm));
	if (!name || (strncmp(name, runtime_namespace, sizeof(runtime_namespace) - 1) != 0 &&
	              !strstr(name, "::{async_")))
		return;
	if (!lookup_function_die(dm, s->die))
		return;
	keep_place(dm, FACT_CODE, s->low, s->die);
	ops->function(s->low + dm->module->bias, name, arg);
}

struct error *enumerate_code(struct dwarf_module *dm, const struct enumerate_ops *ops, void *arg)
{
	if (!debuginfo_need(dm))
		return NULL;
	for (size_t i = 0; i < dm->nunits; i++) {
		struct unit *u = &dm->units[i];

		TRY(interrupt_check());
		debuginfo_scan(dm, u);
		for (size_t j = 0; j < u->nscopes; j++) {
			const struct scope *s = &u->scopes[j];

			if (is_vtable(s))
				visit_vtable(dm, s, ops, arg);
			else if (s->tag == DW_TAG_subprogram && s->has_address && s->low &&
			         s->high && may_matter(u, s))
				visit_function(dm, s, ops, arg);
		}
		ops->progress(i + 1, dm->nunits, arg);
	}
	return NULL;
}

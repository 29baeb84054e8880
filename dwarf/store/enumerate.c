#include "dwarf/store/enumerate.h"

#include "dwarf/module/die_name.h"
#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/base/str.h"
#include "dwarf/lookup/inlined.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/names/qualified.h"
#include "dwarf/records/records.h"

static const char vtable_suffix[] = "::{vtable}", async_mark[] = "{async_";
static bool is_vtable(const struct scope *s)
{
	size_t len = s->name ? strlen(s->name) : 0, tail = sizeof(vtable_suffix) - 1;

	return s->tag == DW_TAG_variable && s->has_address && s->low && len > tail &&
	       strcmp(s->name + len - tail, vtable_suffix) == 0;
}

static void keep_place(struct dwarf_module *dm, enum record_kind kind, uint64_t link, uint64_t die)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), kind, link, NULL);
	record_add_number(&d, die);
	record_end(&d);
}

static void visit_vtable(struct dwarf_module *dm, const struct scope *s,
                         const struct enumerate_ops *ops, void *arg)
{
	struct record_writer d;

	records_pause(debuginfo_records(dm));
	const struct type *t = lookup_dwarf_vtable_variable(dm, s->die);
	records_resume(debuginfo_records(dm));
	if (!t || !ops->vtable(t, s->name, arg))
		return;
	record_begin(&d, debuginfo_records(dm), RECORD_VTABLE, s->low, NULL);
	record_add_number(&d, type_die(type_at(dm, type_die(t))));
	record_add_number(&d, 1);
	record_end(&d);
}

struct enumeration {
	struct dwarf_module *dm;
	const struct enumerate_ops *ops;
	void *arg;
	struct map known;     /* DIE of a visited function -> struct function, NULL not selected */
	const char *executor; /* enumerated_executor(), NULL not found yet */
};

/* A cheap filter before the whole name is built: a large program has a million functions. */
static bool may_matter(const struct enumeration *e, struct unit *u, const struct scope *s)
{
	uint32_t top = s->parent;
	const char *name;

	if (s->origin ||
	    (s->name && (str_begins(s->name, async_mark) || e->ops->anywhere(s->name))))
		return true;
	if (top == SCOPE_NONE)
		return false;
	for (int depth = 0; u->found.scopes[top].parent != SCOPE_NONE && depth < DIE_MAX_NESTING;
	     depth++)
		top = u->found.scopes[top].parent;
	name = scan_scope_name(&e->dm->sections, u, top);
	return name && e->ops->of_crate(name, e->arg);
}

static bool is_wanted(const struct enumeration *e, const char *name)
{
	return str_begins(qualified_last(name), async_mark) || e->ops->tells(name, e->arg);
}

/*
 * Records a coroutine's poll function. The DIE with a linkage name has the body; its declaration
 * may be a separate DIE.
 */
static void note_poll(struct dwarf_module *dm, const struct scope *s)
{
	if (!s->linkage || !s->name || !str_begins(s->name, async_mark))
		return;
	const char *name = die_name(dm, s->die);
	if (name)
		lookup_dwarf_note_poll(dm, name, s->die);
}

/* The function, stored as a record, if it is selected; else NULL. */
static const struct function *wanted_function(struct enumeration *e, uint64_t die)
{
	const struct function *f = NULL;
	const char *name;

	if (map_has(&e->known, die))
		return map_get(&e->known, die);
	records_pause(debuginfo_records(e->dm));
	name = die_name(e->dm, die);
	records_resume(debuginfo_records(e->dm));
	if (name && is_wanted(e, name) && (f = lookup_function_die(e->dm, die)))
		e->ops->function(f, e->arg);
	map_put(&e->known, die, (void *)(uintptr_t)f);
	return f;
}

static bool is_wanted_inlined(struct dwarf_module *dm, uint64_t die, void *arg)
{
	(void)dm;
	return wanted_function(arg, die) != NULL;
}

static void visit_function(struct enumeration *e, struct unit *u, const struct scope *s)
{
	const struct function *f = may_matter(e, u, s) ? wanted_function(e, s->die) : NULL;

	/* A function is also needed if selected functions are inlined into it. */
	if (inlined_keep(e->dm, s->die, is_wanted_inlined, e))
		f = lookup_function_die(e->dm, s->die);
	if (f)
		keep_place(e->dm, RECORD_CODE, s->low, s->die);
}

/* Can a function in the unit create a Context? Most units have no such type. */
static bool has_context_type(struct enumeration *e, struct unit *u)
{
	static const char own[] = "Context", whole[] = "core::task::wake::Context";

	for (size_t i = 0; i < u->found.nscopes; i++) {
		const char *name;

		if (u->found.scopes[i].tag != DW_TAG_structure_type)
			continue;
		name = scan_scope_name(&e->dm->sections, u, (uint32_t)i);
		if (!name || !str_begins(name, own))
			continue;
		struct scope s = scan_scope(&e->dm->sections, u, (uint32_t)i);
		name = die_name(e->dm, s.die);
		if (name && str_begins(name, whole))
			return true;
	}
	return false;
}

/*
 * The name of the function if it is an executor's, else NULL. Reads of the search are not recorded,
 * but for those of ops->executes of the few functions that it gets.
 */
static const char *executor_name(struct enumeration *e, const struct scope *s)
{
	struct function f = { .dm = e->dm, .die = s->die };
	bool creates;

	records_pause(debuginfo_records(e->dm));
	f.name = die_name(e->dm, s->die);
	creates =
		f.name && e->ops->may_execute(f.name, e->arg) && function_read_creates_context(&f);
	records_resume(debuginfo_records(e->dm));
	return creates && e->ops->executes(&f, e->arg) ? f.name : NULL;
}

static void find_executor(struct enumeration *e, struct unit *u)
{
	bool has;

	if (e->executor)
		return;
	records_pause(debuginfo_records(e->dm));
	has = has_context_type(e, u);
	records_resume(debuginfo_records(e->dm));
	for (size_t i = 0; has && i < u->found.nscopes && !e->executor; i++) {
		if (u->found.scopes[i].tag != DW_TAG_subprogram)
			continue;
		struct scope s = scan_scope(&e->dm->sections, u, (uint32_t)i);
		if (!s.declaration)
			e->executor = executor_name(e, &s);
	}
}

/* Keys of RECORD_EXECUTOR; others are addresses of code. */
enum { EXECUTOR_NAME = 1, PROBES_NOTED = 2 };

static void keep_executor(struct enumeration *e)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(e->dm), RECORD_EXECUTOR, EXECUTOR_NAME, NULL);
	record_add_text(&d, e->executor);
	record_end(&d);
}

bool enumerated_executor(struct dwarf_module *dm, const char **name)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_EXECUTOR, EXECUTOR_NAME, NULL, &record))
		return false;
	*name = record_text(&record);
	return true;
}

/* Notes a fact that needs no more than its key. */
static void enumerate_note_key(struct dwarf_module *dm, uint64_t key, const char *text)
{
	struct record_writer d;

	record_begin(&d, debuginfo_records(dm), RECORD_EXECUTOR, key, NULL);
	record_add_text(&d, text);
	record_end(&d);
}

static bool has_key(struct dwarf_module *dm, uint64_t key)
{
	struct record record;

	return record_find(debuginfo_records(dm), RECORD_EXECUTOR, key, NULL, &record);
}

void enumerated_note_shared(struct dwarf_module *dm, uint64_t link)
{
	if (link > PROBES_NOTED)
		enumerate_note_key(dm, link, "shared");
}

bool enumerated_is_shared(struct dwarf_module *dm, uint64_t link)
{
	return link > PROBES_NOTED && has_key(dm, link);
}

void enumerated_note_probes(struct dwarf_module *dm)
{
	enumerate_note_key(dm, PROBES_NOTED, "probes");
}

bool enumerated_has_probes(struct dwarf_module *dm)
{
	return has_key(dm, PROBES_NOTED);
}

/* Addresses of code have this bit clear: such a key is none of those of shared code. */
static uint64_t argument_key(uint64_t link)
{
	return link | UINT64_C(1) << 63;
}

void enumerated_note_argument(struct dwarf_module *dm, uint64_t link, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	enumerate_note_key(dm, argument_key(link), text);
}

bool enumerated_argument(struct dwarf_module *dm, uint64_t link, uint64_t *ret)
{
	struct record record;

	if (!record_find(debuginfo_records(dm), RECORD_EXECUTOR, argument_key(link), NULL, &record))
		return false;
	*ret = strtoull(record_text(&record), NULL, 10);
	return true;
}

static void visit_scope(struct enumeration *e, struct unit *u, uint32_t index)
{
	unsigned tag = u->found.scopes[index].tag;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_variable)
		return;
	struct scope s = scan_scope(&e->dm->sections, u, index);
	if (tag == DW_TAG_subprogram)
		note_poll(e->dm, &s);
	if (is_vtable(&s))
		visit_vtable(e->dm, &s, e->ops, e->arg);
	else if (tag == DW_TAG_subprogram && s.has_address && s.low && s.high)
		visit_function(e, u, &s);
}

static void enumerate_visit_unit(struct enumeration *e, struct unit *u)
{
	debuginfo_scan(e->dm, u);
	for (size_t i = 0; i < u->found.nscopes; i++)
		visit_scope(e, u, (uint32_t)i);
	find_executor(e, u);
}

struct error *enumerate_code(struct dwarf_module *dm, const struct enumerate_ops *ops, void *arg)
{
	struct enumeration e = { .dm = dm, .ops = ops, .arg = arg };
	struct error *err = NULL;

	for (size_t i = 0; debuginfo_need(dm) && i < dm->nunits && !err; i++) {
		enumerate_visit_unit(&e, &dm->units[i]);
		ops->progress(i + 1, dm->nunits, arg);
		err = interrupt_check();
	}
	if (!err)
		keep_executor(&e);
	dm->polls.dies_known = !err;
	map_free(&e.known);
	return err;
}

/* Points within functions: behind exchanges of the state of a task, at calls, behind stores. */
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/str.h"
#include "debugger/probe/code_exchange.h"
#include "debugger/probe/code_store.h"
#include "dwarf/names/demangle.h"
#include "dwarf/names/qualified.h"
#include "dwarf/unwind/cfa_rule.h"
#include "runtimes/trace/plan_private.h"

/* A search in one function. */
struct plan_inside_search {
	struct planner *p;
	const struct code_function *f;
	const struct probe_row *row;
	const char *name; /* of the function */
	const char *called;
	unsigned argument; /* of the callee */
	size_t nfound;
};

static struct trace_point plan_inside_point_at(const struct plan_inside_search *s, uint64_t address)
{
	const struct planner *p = s->p;
	const struct trace_point point = {
		.role = plan_role(s->row->event),
		.runtime = p->runtime,
		.copy = p->copy,
		.code = p->code,
		.id = p->id,
		.has = p->has,
		.function = inspector_clean_name(p->a, name_without_generics(p->a, s->name)),
		.entry = s->f->low,
		.inside = true,
		.parameter = s->argument,
		.address = address,
		.offset = code_map_offset(p->code, address),
		.kernel = { .kind = plan_kernel_kind(plan_role(s->row->event)),
		            .argument = (uint8_t)s->argument,
		            .is_own_id = p->id->is_address,
		            .table_offset = (uint32_t)p->id->table_offset,
		            .id_slot = (uint32_t)p->id->id_slot },
	};

	return point;
}

/*
 * Whether an instruction is the runtime's own, and not of a future or lock whose code is inlined
 * there: the innermost function but those of core is one of its crate.
 */
static bool plan_inside_is_of_runtime(const struct planner *p, uint64_t address)
{
	static const char core[] = "core::";
	SCRATCH(tmp);
	uint64_t pc = address + p->code->dm->module->bias;
	size_t n, i = 0;
	const struct location *l = lookup_rust_functions_at(p->in->di, pc, &tmp, &n);

	while (l && i < n && l[i].name && str_begins(l[i].name, core))
		i++;
	return l && i < n && l[i].name && str_begins(l[i].name, p->runtime->path);
}

static void add_exchange(const struct code_exchange *x, void *arg)
{
	struct plan_inside_search *s = arg;
	const struct probe_bits *bits = s->row->exchange;

	if (!plan_inside_is_of_runtime(s->p, x->instruction))
		return;
	struct trace_point point = plan_inside_point_at(s, x->address);
	point.slow = x->slow;
	point.kernel.exchange = x->operands;
	point.kernel.exchange.displacement -= (int32_t)s->p->id->busy_offset;
	point.kernel.exchange.old_any = bits->old_any;
	point.kernel.exchange.old_none = bits->old_none;
	point.kernel.exchange.new_any = bits->new_any;
	point.kernel.exchange.new_none = bits->new_none;
	plan_add(s->p, s->row, false, &point);
	s->nfound++;
}

/* Whether the function at a link-time address has that own name. */
static bool plan_inside_has_name(struct planner *p, uint64_t address, const char *name)
{
	const struct code_function *f = code_map_at(p->code, address);

	if (!f || f->low != address || !strstr(f->name, name))
		return false;
	const char *last = qualified_last(plan_name(p, f));
	return qualified_base_len(last) == strlen(name) && str_begins(last, name);
}

static void add_call(uint64_t call, uint64_t target, void *arg)
{
	enum { CALL_LEN = 5 };
	struct plan_inside_search *s = arg;
	const struct code_map *code = s->p->code;

	if (!plan_inside_has_name(s->p, target, s->called))
		return;
	struct trace_point point = plan_inside_point_at(s, call);
	point.slow = !code_is_emulated(code->text + (call - code->text_address), CALL_LEN);
	plan_add(s->p, s->row, false, &point);
	s->nfound++;
}

void plan_inside(struct planner *p, const struct code_function *f, const char *name,
                 const struct probe_row *row)
{
	struct plan_inside_search s = {
		.p = p,
		.f = f,
		.row = row,
		.name = name,
		.called = row->calls,
		.argument = row->argument,
	};
	struct code_bytes bytes;

	if (!code_map_bytes(p->code, f, &bytes))
		return;
	if (row->exchange)
		code_each_exchange(&bytes, add_exchange, &s);
	if (row->calls && !s.nfound)
		code_each_direct_call(&bytes, add_call, &s);
	if (row->or_calls && !s.nfound) {
		s.called = row->or_calls;
		s.argument = row->or_argument;
		code_each_direct_call(&bytes, add_call, &s);
	}
	if (!s.nfound && !row->optional)
		p->unseen[row->event]++;
}

void plan_inside_drops(struct planner *p, const struct probe_row *row)
{
	/* rustc 1.97 | before */
	static const char *const glue[] = { "core::ptr::drop_glue<", "core::ptr::drop_in_place<" };
	SCRATCH(tmp);
	const char *crate = arena_strndup(&tmp, row->drops, strcspn(row->drops, ":"));

	for (size_t i = 0; i < p->code->n; i++) {
		const struct code_function *f = &p->code->functions[i];

		if (!strstr(f->name, crate) ||
		    !(strstr(f->name, "drop_glue") || strstr(f->name, "drop_in_place")))
			continue;
		const char *name = plan_name(p, f);
		for (size_t g = 0; g < sizeof(glue) / sizeof(*glue); g++) {
			if (str_begins(name, glue[g]) &&
			    str_begins(name + strlen(glue[g]), row->drops))
				plan_inside(p, f, name, row);
		}
	}
}

static void note_call(uint64_t call, uint64_t target, void *arg)
{
	struct plan_inside_search *s = arg;

	(void)call;
	s->nfound += plan_inside_has_name(s->p, target, s->called);
}

bool plan_inside_calls(struct planner *p, const struct code_function *f, const char *called)
{
	struct plan_inside_search s = { .p = p, .f = f, .called = called };
	struct code_bytes bytes;

	return code_map_bytes(p->code, f, &bytes) && code_each_direct_call(&bytes, note_call, &s) &&
	       s.nfound > 0;
}

/* ---- stores of tables ---- */

/* A search for stores of the addresses of the tables of a runtime's tasks. */
struct store_search {
	struct plan_inside_search at;
	struct map tables;  /* link-time addresses */
	uint64_t low, high; /* of the tables */
};

static void find_tables(struct planner *p, struct store_search *s)
{
	struct map polls = { 0 };

	for (size_t i = p->first; i < p->points.n; i++) {
		const struct trace_point *x = &p->points.data[i];

		if (x->role == TRACE_AT_POLL && x->code == p->code)
			map_put(&polls, x->entry, NULL);
	}
	for (size_t i = 0; i < p->code->npointers; i++) {
		const struct code_pointer *x = &p->code->pointers[i];
		uint64_t table = x->addr - p->id->poll_slot;

		if (!map_has(&polls, x->value))
			continue;
		s->low = s->tables.n ? s->low : table;
		s->high = table;
		map_put(&s->tables, table, NULL);
	}
	map_free(&polls);
}

/* Whether the bytes of a function have a distance to a table, from behind it. */
static bool leads_to_table(const struct store_search *s, const struct code_bytes *c)
{
	int32_t distance;

	for (size_t i = 0; i + sizeof(distance) <= c->len; i++) {
		memcpy(&distance, c->bytes + i, sizeof(distance));
		uint64_t to = c->address + i + sizeof(distance) + (uint64_t)(int64_t)distance;

		if (to >= s->low && to <= s->high && map_has(&s->tables, to))
			return true;
	}
	return false;
}

/*
 * Whether an instruction is of the row's function: inlined functions of core and alloc are skipped.
 */
static bool plan_inside_is_of_row(const struct planner *p, uint64_t address,
                                  const struct probe_row *row)
{
	SCRATCH(tmp);
	size_t n, i = 0;
	const struct location *l =
		lookup_rust_functions_at(p->in->di, address + p->code->dm->module->bias, &tmp, &n);

	while (l && i < n && l[i].name &&
	       (str_begins(l[i].name, "core::") || str_begins(l[i].name, "alloc::")))
		i++;
	if (!l || i >= n || !l[i].name || !str_begins(l[i].name, row->within))
		return false;
	const char *last = qualified_last(l[i].name);
	return qualified_base_len(last) == strlen(row->name) && str_begins(last, row->name);
}

static void add_store(const struct code_store *x, void *arg)
{
	enum { RSP = 7, WORD = 8 };
	struct store_search *s = arg;
	struct planner *p = s->at.p;
	struct cfa_rule rule;

	if (!map_has(&s->tables, x->stored) || x->displacement != (int32_t)p->id->table_offset ||
	    !plan_inside_is_of_row(p, x->instruction, s->at.row) ||
	    !cfa_rule_at(p->in->target, x->address + p->code->dm->module->bias, &rule) ||
	    rule.reg != RSP || rule.offset < WORD || rule.offset > INT32_MAX)
		return;
	struct trace_point point = plan_inside_point_at(&s->at, x->address);
	point.slow = x->slow;
	point.for_place = s->at.row->for_place;
	point.stored_at = x->instruction;
	point.kernel.stack_delta = (int32_t)(WORD - rule.offset);
	point.kernel.path_from = p->runtime->tracing.spawners ? x->address : 0;
	point.kernel.exchange = (struct probe_exchange){
		.used = 1,
		.always = 1,
		.base = x->base,
		.index = PROBE_NO_REGISTER,
		.source = PROBE_NO_REGISTER,
	};
	plan_add(p, s->at.row, s->at.row->once, &point);
}

void plan_inside_stores(struct planner *p, const struct probe_row *row)
{
	struct store_search s = { .at = { .p = p, .row = row } };

	/* Inlined functions are known from debug info only. */
	if (p->nameless || p->code->stripped)
		return;
	find_tables(p, &s);
	for (size_t i = 0; s.tables.n && i < p->code->n; i++) {
		struct code_bytes bytes;

		s.at.f = &p->code->functions[i];
		if (!code_map_bytes(p->code, s.at.f, &bytes) || !leads_to_table(&s, &bytes))
			continue;
		s.at.name = plan_name(p, s.at.f);
		code_each_store(&bytes, add_store, &s);
	}
	map_free(&s.tables);
}

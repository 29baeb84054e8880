#include "dwarf/frame/native_variables.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/base/map.h"
#include "debugger/base/vec.h"
#include "debugger/target/target.h"
#include "dwarf/frame/await_states.h"
#include "dwarf/frame/wide_scope.h"
#include "dwarf/lookup/lookup_dwarf.h"
#include "dwarf/unwind/cfa_rule.h"

enum { MAX_DIES = 1 << 20 };

struct native_variables_listing {
	struct dwarf_module *dm;
	const struct location_frame *frame;
	struct arena *a;
	VEC(struct native_variable) found;
	size_t seen; /* DIEs */
	bool cut;    /* there are more variables than were read */
	/* The states of the coroutine that the function polls; NULL: it polls none. */
	struct await_states *awaits;
	const struct type *coroutine;
	uint64_t coroutine_addr;    /* 0: unknown */
	struct variable_flow *flow; /* of the frame's function */
	bool inlined;               /* the variables are those of a function inlined into it */
	Dwarf_Die *function;
};

static struct location_value value_of(struct native_variables_listing *l, Dwarf_Die *die,
                                      uint64_t size)
{
	Dwarf_Attribute attr;

	if (dwarf_attr(die, DW_AT_location, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return location_value_read(l->frame, &attr, size, l->a);
	return (struct location_value){
		.problem = "the compiler has left no place for it (optimised out)"
	};
}

/* ---- variables that an await loses ---- */

/* The value of an argument Pin<&mut T>; 0: unknown. */
static uint64_t native_variables_read_pin(struct native_variables_listing *l, Dwarf_Die *argument)
{
	uint64_t ret = 0;
	const struct location_value v = value_of(l, argument, sizeof(ret));

	if (v.bytes)
		memcpy(&ret, v.bytes, sizeof(ret));
	if (!v.in_memory)
		return ret;
	struct error *err CLEANUP(error_freep) =
		target_read_uint(l->frame->target, v.addr, sizeof(ret), &ret);
	return err ? 0 : ret;
}

static void find_awaits(struct native_variables_listing *l, Dwarf_Die *function)
{
	Dwarf_Die child;

	l->awaits = await_states_read(l->dm, function);
	if (!l->awaits || dwarf_child(function, &child) != 0)
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		l->coroutine = await_states_coroutine(await_states_type_of(l->dm, &child));
		l->coroutine_addr = native_variables_read_pin(l, &child);
		return;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static bool may_be_lost(struct native_variables_listing *l, Dwarf_Die *block, Dwarf_Die *variable)
{
	SCRATCH(a);
	Dwarf_Attribute location;

	if (!l->awaits || dwarf_tag(variable) != DW_TAG_variable ||
	    !dwarf_attr(variable, DW_AT_location, &location) ||
	    !await_states_is_in_frame(&location))
		return false;
	const struct state_set states = await_states_of_block(l->awaits, block, &a);
	return await_states_has(&states, l->frame->target, l->coroutine, l->coroutine_addr);
}

/* ---- all variables ---- */

static void native_variables_add(struct native_variables_listing *l, Dwarf_Die *block,
                                 Dwarf_Die *die)
{
	struct native_variable v = { .dm = l->dm,
		                     .die = dwarf_dieoffset(die),
		                     .is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter };
	Dwarf_Attribute name;

	if (!dwarf_attr_integrate(die, DW_AT_name, &name) || !(v.name = dwarf_formstring(&name)))
		return;
	l->cut |= l->found.n >= NATIVE_MAX_VARIABLES;
	if (l->cut)
		return;
	v.type = await_states_type_of(l->dm, die);
	v.may_be_lost = may_be_lost(l, block, die);
	if (l->flow) {
		SCRATCH(a);
		const struct flow_summary summary = variable_flow_summary(
			l->flow, block, die, l->inlined, l->frame->frame->lookup_pc, &a);

		v.state = variable_flow_state(&summary, l->frame->target, l->frame->frame,
		                              l->coroutine, l->coroutine_addr);
	}
	v.state.widened = !v.state.known && wide_scope_has(l->dm, l->function, block, die);
	v.value = v.type ? value_of(l, die, type_size(v.type))
	                 : (struct location_value){ .problem = "its type is not known" };
	*vec_push(&l->found) = v;
}

static bool native_variables_is_variable(int tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static bool native_variables_is_listed(const struct native_variables_listing *l, const char *name)
{
	for (size_t i = 0; i < l->found.n; i++) {
		if (strcmp(l->found.data[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Variables of a function or block of which its copy here has nothing left. */
static void add_lost(struct native_variables_listing *l, Dwarf_Die *scope)
{
	Dwarf_Attribute origin, name;
	Dwarf_Die abstract, child;

	if (!dwarf_attr(scope, DW_AT_abstract_origin, &origin) ||
	    !dwarf_formref_die(&origin, &abstract) || dwarf_child(&abstract, &child) != 0)
		return;
	do {
		const char *text = native_variables_is_variable(dwarf_tag(&child)) &&
		                                   dwarf_attr(&child, DW_AT_name, &name)
		                           ? dwarf_formstring(&name)
		                           : NULL;

		l->cut |= ++l->seen > MAX_DIES;
		if (l->cut)
			return;
		if (text && !native_variables_is_listed(l, text))
			native_variables_add(l, scope, &child);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void native_variables_add_scope(struct native_variables_listing *l, Dwarf_Die *die,
                                       int depth)
{
	bool any = dwarf_haschildren(die) > 0;
	Dwarf_Die child;

	l->cut |= depth > DIE_MAX_NESTING;
	if (l->cut || (any && dwarf_child(die, &child) != 0))
		return;
	for (; any; any = dwarf_siblingof(&child, &child) == 0) {
		int tag = dwarf_tag(&child);

		l->cut |= ++l->seen > MAX_DIES;
		if (l->cut)
			return;
		if (native_variables_is_variable(tag))
			native_variables_add(l, die, &child);
		else if (tag == DW_TAG_lexical_block && dwarf_haspc(&child, l->frame->pc) == 1)
			native_variables_add_scope(l, &child, depth + 1);
	}
	add_lost(l, die);
}

/* ---- names that are declared once ---- */

/* Lines of declarations by name, in the whole function. */
struct declared_lines {
	struct map by_name; /* map_key_of_text() -> line; MANY_LINES */
	size_t seen;        /* DIEs */
	bool cut;
};

enum { MANY_LINES = -1 };

static void note_line(struct declared_lines *d, Dwarf_Die *variable)
{
	Dwarf_Attribute attr;
	const char *name =
		dwarf_attr_integrate(variable, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
	int line = 0;

	if (!name)
		return;
	uint64_t key = map_key_of_text(name);
	intptr_t before = (intptr_t)map_get(&d->by_name, key);

	dwarf_decl_line(variable, &line);
	if (line <= 0 || (before && before != line))
		line = MANY_LINES;
	map_put(&d->by_name, key, (void *)(intptr_t)line);
}

static void native_variables_read_lines(struct declared_lines *d, Dwarf_Die *scope, int depth)
{
	Dwarf_Die child;

	d->cut |= depth > DIE_MAX_NESTING;
	if (d->cut || dwarf_child(scope, &child) != 0)
		return;
	do {
		d->cut |= ++d->seen > MAX_DIES;
		if (d->cut)
			return;
		if (native_variables_is_variable(dwarf_tag(&child)))
			note_line(d, &child);
		else if (dwarf_tag(&child) == DW_TAG_lexical_block)
			native_variables_read_lines(d, &child, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* An inlined copy lacks blocks of which it has no code; the function that it is a copy of has all.
 */
static void find_sole(struct native_variables_listing *l, Dwarf_Die *function)
{
	struct declared_lines d = { 0 };
	Dwarf_Attribute origin;
	Dwarf_Die abstract;

	if (!l->coroutine)
		return;
	if (dwarf_attr(function, DW_AT_abstract_origin, &origin) &&
	    dwarf_formref_die(&origin, &abstract))
		native_variables_read_lines(&d, &abstract, 0);
	else
		native_variables_read_lines(&d, function, 0);
	for (size_t i = 0; i < l->found.n && !d.cut; i++) {
		struct native_variable *v = &l->found.data[i];

		v->is_sole = (intptr_t)map_get(&d.by_name, map_key_of_text(v->name)) > 0;
	}
	map_free(&d.by_name);
}

/* Ends a list of variables that are not all. */
static const struct location_value cut = {
	.problem = "there are more variables than are read: those of inner blocks are missing"
};

/* Ends a list in which no value could be put in doubt, because the code was not read. */
static const struct location_value not_followed = {
	.problem = "the function has more code than is read: a value above may not be set yet"
};

static struct error *no_debuginfo(const struct location *l)
{
	return error_new(ERR_NO_DEBUGINFO, "%s has no debug info of its variables",
	                 l->name ? l->name : "this function");
}

struct error *native_variables_list(struct debuginfo *di, const struct native_scope *scope,
                                    struct arena *a, struct native_variable **ret, size_t *nret,
                                    struct native_coroutine *polled)
{
	size_t n, level = scope->level;
	const struct location *chain = lookup_functions_at(di, scope->frame->lookup_pc, a, &n);
	const struct function *outer = chain[n - 1].function;
	struct native_variables_listing l = { .a = a };
	Dwarf_Attribute base;
	Dwarf_Die function, die;

	if (level >= n)
		level = n - 1;
	if (!outer || !debuginfo_need(outer->dm) || !outer->dm->dwarf ||
	    outer->dm->tier != DWARF_FULL || !dwarf_offdie(outer->dm->dwarf, outer->die, &function))
		return no_debuginfo(&chain[level]);
	die = function;
	if (level < n - 1) {
		/* Not from the cache: its records do not have the site of an inlined call. */
		size_t nsites;
		const struct location *sites =
			lookup_dwarf_functions_at(di, scope->frame->lookup_pc, a, &nsites);

		if (nsites != n || !sites[level].site ||
		    !dwarf_offdie(outer->dm->dwarf, sites[level].site, &die))
			return no_debuginfo(&chain[level]);
	}
	const struct location_frame frame = {
		.target = di->target,
		.frame = scope->frame,
		.caller = scope->caller,
		.cfa = scope->caller && scope->caller->has_sp
		               ? scope->caller->sp
		               : cfa_rule_in_frame(di->target, scope->frame),
		.bias = outer->dm->module->bias,
		.base = dwarf_attr_integrate(&function, DW_AT_frame_base, &base),
		.pc = module_link_addr(outer->dm->module, scope->frame->lookup_pc).v,
	};
	l.dm = outer->dm;
	l.frame = &frame;
	l.function = &die;
	find_awaits(&l, &die);
	l.flow = variable_flow_open(outer, &function);
	l.inlined = level < n - 1;
	native_variables_add_scope(&l, &die, 0);
	find_sole(&l, &die);
	await_states_free(l.awaits);
	variable_flow_free(l.flow);
	if (level == n - 1 && variable_flow_is_cut(outer))
		*vec_push(&l.found) = (struct native_variable){ .name = "...",
			                                        .dm = l.dm,
			                                        .value = not_followed };
	if (l.cut)
		*vec_push(&l.found) =
			(struct native_variable){ .name = "...", .dm = l.dm, .value = cut };
	if (polled)
		*polled = (struct native_coroutine){ l.coroutine, l.coroutine_addr };
	*nret = l.found.n;
	*ret = vec_to_arena(&l.found, a);
	return NULL;
}

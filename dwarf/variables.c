#include "dwarf/variables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

enum { MAX_DEPTH = 128, MAX_STACK = 16, MAX_OPS = 64 };

struct scope_walk {
	struct target *target;
	const struct function *function;
	const struct frame *frame;
	uint64_t cfa;
	uint64_t pc; /* link-time */
	Dwarf_Attribute frame_base;
	bool has_frame_base;
	variable_fn *visit;
	void *arg;
};

/* A DWARF expression under evaluation (DWARF 5, 2.5 and 2.6). */
struct evaluation {
	uint64_t stack[MAX_STACK];
	size_t n;
	bool is_value; /* the result is the value itself, not its address */
	bool failed;
};

static void push(struct evaluation *e, uint64_t value)
{
	if (e->n == MAX_STACK)
		e->failed = true;
	else
		e->stack[e->n++] = value;
}

static uint64_t pop(struct evaluation *e)
{
	if (e->n == 0) {
		e->failed = true;
		return 0;
	}
	return e->stack[--e->n];
}

static void push_register(struct evaluation *e, const struct scope_walk *w, uint64_t number,
                          uint64_t offset)
{
	if (number >= FRAME_REGS || !(w->frame->known_regs & UINT32_C(1) << number))
		e->failed = true;
	else
		push(e, w->frame->regs[number] + offset);
}

static bool evaluate(const struct scope_walk *w, Dwarf_Attribute *attr, bool allow_base,
                     uint64_t *ret, bool *is_value);

static void push_frame_base(struct evaluation *e, const struct scope_walk *w, bool allow,
                            uint64_t offset)
{
	Dwarf_Attribute base = w->frame_base;
	uint64_t value;
	bool is_value;

	if (!allow || !w->has_frame_base || !evaluate(w, &base, false, &value, &is_value))
		e->failed = true;
	else
		push(e, value + offset);
}

static void push_memory(struct evaluation *e, const struct scope_walk *w)
{
	uint64_t value;
	struct error *err = target_read_uint(w->target, pop(e), 8, &value);

	e->failed |= err != NULL;
	if (!err)
		push(e, value);
	error_free(err);
}

static void step(struct evaluation *e, const struct scope_walk *w, const Dwarf_Op *op,
                 bool allow_base)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(e, w, op->atom - DW_OP_breg0, op->number);
		return;
	}
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		push_register(e, w, op->atom - DW_OP_reg0, 0);
		e->is_value = true;
		return;
	}
	switch (op->atom) {
	case DW_OP_fbreg:
		push_frame_base(e, w, allow_base, op->number);
		break;
	case DW_OP_call_frame_cfa:
		push(e, w->cfa);
		e->failed |= w->cfa == 0;
		break;
	case DW_OP_plus_uconst:
		push(e, pop(e) + op->number);
		break;
	case DW_OP_plus:
		push(e, pop(e) + pop(e));
		break;
	case DW_OP_constu:
	case DW_OP_consts:
		push(e, op->number);
		break;
	case DW_OP_deref:
		push_memory(e, w);
		break;
	case DW_OP_stack_value:
		e->is_value = true;
		break;
	default:
		e->failed = true;
	}
}

static bool evaluate(const struct scope_walk *w, Dwarf_Attribute *attr, bool allow_base,
                     uint64_t *ret, bool *is_value)
{
	struct evaluation e = { .n = 0 };
	Dwarf_Op *ops;
	size_t nops;

	if (dwarf_getlocation_addr(attr, w->pc, &ops, &nops, 1) != 1 || nops == 0 || nops > MAX_OPS)
		return false;
	for (size_t i = 0; i < nops && !e.failed; i++)
		step(&e, w, &ops[i], allow_base);
	if (e.failed || e.n == 0)
		return false;
	*ret = e.stack[e.n - 1];
	*is_value = e.is_value;
	return true;
}

static void visit_variable(const struct scope_walk *w, Dwarf_Die *die, bool of_callee)
{
	struct variable v = { .of_callee = of_callee,
		              .is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter };
	Dwarf_Attribute location, type;
	Dwarf_Die type_die;
	uint64_t result;
	bool is_value;

	if (!dwarf_attr(die, DW_AT_location, &location) ||
	    !dwarf_attr_integrate(die, DW_AT_type, &type) || !dwarf_formref_die(&type, &type_die) ||
	    !evaluate(w, &location, true, &result, &is_value))
		return;
	Dwarf_Attribute name;
	if (dwarf_attr_integrate(die, DW_AT_name, &name))
		v.name = dwarf_formstring(&name);
	v.type = type_at(w->function->dm, dwarf_dieoffset(&type_die));
	v.in_memory = !is_value;
	v.addr = is_value ? 0 : result;
	v.value = is_value ? result : 0;
	w->visit(&v, w->arg);
}

static void visit_scope(const struct scope_walk *w, Dwarf_Die *die, bool of_callee, int depth)
{
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			visit_variable(w, &child, of_callee);
		else if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		         dwarf_haspc(&child, w->pc) == 1)
			visit_scope(w, &child, of_callee || tag == DW_TAG_inlined_subroutine,
			            depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

void variables_in_frame(struct debuginfo *di, const struct frame *frame, uint64_t cfa,
                        variable_fn *visit, void *arg)
{
	const struct function *f = lookup_function(di, frame->lookup_pc);
	struct scope_walk w = { .target = di->target,
		                .function = f,
		                .frame = frame,
		                .cfa = cfa,
		                .visit = visit,
		                .arg = arg };
	Dwarf_Die die;

	if (!f || !dwarf_offdie(f->dm->dwarf, f->die, &die))
		return;
	w.pc = module_link_addr(f->dm->module, frame->lookup_pc).v;
	w.has_frame_base = dwarf_attr_integrate(&die, DW_AT_frame_base, &w.frame_base) != NULL;
	visit_scope(&w, &die, false, 0);
}

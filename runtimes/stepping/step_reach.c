/*
 * Which lines a thread can come to first. The processor has four breakpoints, and a function more
 * lines than that: with them alone, a step has places only where the code leads from here.
 */
#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/argument_place.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum { MAX_FUNCTION = 256 << 10 /* bytes */ };

struct walk {
	struct step_plan *p;
	struct instruction_reader *reader;
	const uint8_t *code; /* of the function */
	uint64_t low, high;
	struct map seen;        /* addresses of instructions */
	VEC(uint64_t) branches; /* to be followed */
	bool unknown;           /* a jump leads to where only the program knows */
};

static bool read_code(struct walk *w, const struct function *f, struct arena *a)
{
	w->low = f->low;
	w->high = f->high;
	if (f->high <= f->low || f->high - f->low > MAX_FUNCTION)
		return false;
	uint8_t *code = arena_alloc(a, f->high - f->low);
	struct error *err = control_read(&w->p->d->control, f->low, code, f->high - f->low);
	if (!err)
		err = instruction_reader_open(w->p->arch->elf_machine, SYNTAX_INTEL, &w->reader);
	w->code = code;
	bool known = !err;
	error_free(err);
	return known;
}

/* Takes the places that an instruction leads to; returns whether execution goes on behind it. */
static bool follow(struct walk *w, const struct instruction *in)
{
	bool jumps = in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH;

	if (in->bad) {
		w->unknown = true;
		return false;
	}
	if (jumps && in->is_branch)
		*vec_push(&w->branches) = in->target;
	else if (jumps)
		w->unknown = true;
	return in->flow == FLOW_NEXT || in->flow == FLOW_CALL || in->flow == FLOW_BRANCH;
}

/* Follows the code from an address to the first lines where the step may stop. */
static void walk_from(struct walk *w, uint64_t addr, uint64_t begin)
{
	struct instruction in;
	bool on = true;

	for (; on && addr >= w->low && addr < w->high; addr += in.size) {
		if (map_has(&w->seen, addr))
			return;
		map_put(&w->seen, addr, NULL);
		if (addr != begin && step_lines_has(w->p, addr)) {
			map_put(&w->p->reach.places, addr, NULL);
			return;
		}
		instruction_read(w->reader, addr, w->code + (addr - w->low), w->high - addr, &in);
		on = follow(w, &in);
	}
}

struct error *step_reach_find(struct step_plan *p, uint64_t pc)
{
	struct walk w = { .p = p };
	SCRATCH(tmp);

	/* Optimised code was found to have lines that are not seen in this way. */
	p->reach.limited =
		p->d->control.production && p->at.function && argument_place_stays(p->at.function);
	if (!p->reach.limited)
		return NULL;
	map_clear(&p->reach.places);
	w.unknown = !read_code(&w, p->at.function, &tmp);
	if (!w.unknown)
		*vec_push(&w.branches) = pc;
	while (w.branches.n && !w.unknown) {
		walk_from(&w, w.branches.data[--w.branches.n], pc);
		struct error *err = interrupt_check();
		if (err) {
			error_free(err);
			w.unknown = true;
		}
	}
	vec_free(&w.branches);
	map_free(&w.seen);
	instruction_reader_close(&w.reader);
	if (!w.unknown)
		return NULL;
	return error_new(ERR_STATE,
	                 "where the code leads from here is not known, and with --production a "
	                 "line needs one of the processor's breakpoints: \"tbreak LINE\" and "
	                 "\"continue\" do without");
}

/*
 * Lines to which the code leads first from a place, and whether it does nothing but leave a
 * coroutine. The CPU has four breakpoints, and a function more lines than that: with them alone, a
 * step has places only where the code leads from here.
 */
#include "debugger/base/str.h"
#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/argument_place.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum {
	MAX_FUNCTION = 256 << 10, /* bytes */
	MAX_CODE = 16 << 10,      /* bytes of one line in one row */
};

/* ---- code ---- */

/* Code of the function that steps; bytes: a copy of all of it, NULL: it is read piece by piece. */
struct reachable_lines_code {
	struct step_plan *p;
	struct instruction_reader *reader;
	const uint8_t *bytes;
};

static bool reachable_lines_read_one(void *arg, uint64_t addr, struct instruction *ret)
{
	struct reachable_lines_code *c = arg;
	const struct function *f = c->p->where.at.function;
	uint8_t bytes[INSTRUCTION_BYTES];
	uint64_t left = f->high - addr;
	size_t size = left < sizeof(bytes) ? left : sizeof(bytes);

	if (c->bytes) {
		instruction_read(c->reader, addr, c->bytes + (addr - f->low), left, ret);
		return true;
	}
	struct error *err CLEANUP(error_freep) = control_read(&c->p->d->control, addr, bytes, size);
	if (err)
		return false;
	instruction_read(c->reader, addr, bytes, size, ret);
	return true;
}

static struct reach_code reachable_lines_code(struct reachable_lines_code *c)
{
	const struct function *f = c->p->where.at.function;

	return (struct reach_code){
		.low = f->low, .high = f->high, .read = reachable_lines_read_one, .arg = c
	};
}

static bool reachable_lines_open(struct reachable_lines_code *c)
{
	struct error *err CLEANUP(error_freep) =
		instruction_reader_open(c->p->arch->elf_machine, SYNTAX_INTEL, &c->reader);

	return !err;
}

static bool reachable_lines_copy(struct reachable_lines_code *c, struct arena *a)
{
	const struct function *f = c->p->where.at.function;

	if (f->high <= f->low || f->high - f->low > MAX_FUNCTION)
		return false;
	uint8_t *bytes = arena_alloc(a, f->high - f->low);
	struct error *err CLEANUP(error_freep) =
		control_read(&c->p->d->control, f->low, bytes, f->high - f->low);
	c->bytes = bytes;
	return !err;
}

/* ---- the first lines ---- */

static bool reachable_lines_ends_at(void *plan, uint64_t addr)
{
	return step_lines_has(plan, addr);
}

struct error *reachable_lines_find(struct step_plan *p, uint64_t pc)
{
	struct reachable_lines_code c = { .p = p };
	SCRATCH(tmp);

	/* Optimised code was found to have lines that are not seen in this way. */
	p->breakpoints.reach.limited = p->d->control.hw_breakpoints_only && p->where.at.function &&
	                               argument_place_stays(p->where.at.function);
	if (!p->breakpoints.reach.limited)
		return NULL;
	reachable_lines_loops(p);
	map_clear(&p->breakpoints.reach.places);
	const struct reach_code code = reachable_lines_code(&c);
	bool known = reachable_lines_copy(&c, &tmp) && reachable_lines_open(&c) &&
	             reach_rules_first_ends(&code, pc, reachable_lines_ends_at, p,
	                                    &p->breakpoints.reach.places);
	instruction_reader_close(&c.reader);
	if (known)
		return NULL;
	return error_new(
		ERR_STATE,
		"it is unknown where the code continues from here, and with --production each line "
		"needs a hardware breakpoint: use \"tbreak LINE\" and \"continue\"");
}

/* ---- jumps back ---- */

/*
 * Jumps from the line that steps back into the middle of another line. Unoptimised code of `for i
 * in 0..3 { f(i) }` on three lines has its jump back behind the statement that begins the head
 * (rustc 1.95): without a place there, `next` at f(i) would go over all rounds at once.
 */

/* The bytes from an address to the end of the function, up to MAX_CODE. */
struct piece {
	uint64_t addr;
	uint8_t *code;
	size_t size;
};

static bool read_piece(struct step_plan *p, uint64_t addr, uint64_t end, struct arena *a,
                       struct piece *ret)
{
	if (end > p->where.at.function->high)
		end = p->where.at.function->high;
	if (addr < p->where.at.function->low || addr >= end)
		return false;
	*ret = (struct piece){ .addr = addr,
		               .size = end - addr < MAX_CODE ? end - addr : MAX_CODE };
	ret->code = arena_alloc(a, ret->size);
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, addr, ret->code, ret->size);
	return !err;
}

static void add_loop(struct step_plan *p, const struct reach_code *code, uint64_t target)
{
	const struct line_rules rules = step_lines_rules(p);
	uint64_t addr;
	const struct function_row *row = reach_rules_jump_back(code, &rules, target, &addr);

	if (!row || map_has(&p->breakpoints.loops, addr))
		return;
	map_put(&p->breakpoints.loops, addr, (void *)(uintptr_t)row);
	*vec_push(&p->breakpoints.loop_places) = addr;
}

/* Takes the jumps back of a piece of the line's code. */
static void scan_jumps(struct reachable_lines_code *c, const struct piece *piece)
{
	const struct reach_code code = reachable_lines_code(c);
	struct instruction in;

	for (size_t at = 0; at < piece->size; at += in.size) {
		uint64_t addr = piece->addr + at;

		instruction_read(c->reader, addr, piece->code + at, piece->size - at, &in);
		if (in.bad)
			return;
		if (reach_rules_is_jump_back(&in, addr))
			add_loop(c->p, &code, in.target);
	}
}

void reachable_lines_loops(struct step_plan *p)
{
	const struct function_lines *l = p->where.at.lines;
	const struct line_rules rules = step_lines_rules(p);
	const struct function_row *row = NULL; /* the last one with a line */
	struct reachable_lines_code c = { .p = p };

	map_clear(&p->breakpoints.loops);
	p->breakpoints.loop_places.n = 0;
	if (!l)
		return;
	bool known = reachable_lines_open(&c);
	for (size_t i = 0; known && i < l->nrows; i++) {
		uint64_t end = i + 1 < l->nrows ? l->rows[i + 1].addr : p->where.at.function->high;
		struct piece piece;
		SCRATCH(tmp);

		row = l->rows[i].line ? &l->rows[i] : row;
		if (row && line_rules_whose_line(&rules, row) == LINE_HERE &&
		    read_piece(p, l->rows[i].addr, end, &tmp, &piece))
			scan_jumps(&c, &piece);
	}
	instruction_reader_close(&c.reader);
}

/* ---- the way out ---- */

bool reachable_lines_leaves(struct step_plan *p, uint64_t pc)
{
	const struct function_lines *l = p->where.at.lines;
	const struct function_row *row = function_lines_at(l, pc);
	struct reachable_lines_code c = { .p = p };
	bool found = false;
	size_t call = row ? line_rules_coroutine(l, row, &found) : 0;

	if (!found || !reachable_lines_open(&c))
		return false;
	const struct reach_code code = reachable_lines_code(&c);
	bool leaves = reach_rules_leaves(&code, l, pc, call);
	instruction_reader_close(&c.reader);
	return leaves;
}

/*
 * Where the code leads from a place: which lines a thread can come to first, and whether it does
 * nothing but leave a coroutine. The processor has four breakpoints, and a function more lines than
 * that: with them alone, a step has places only where the code leads from here.
 */
#include "debugger/base/str.h"
#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/argument_place.h"
#include "runtimes/common/inspector.h"
#include "runtimes/stepping/step_plan.h"

enum {
	MAX_FUNCTION = 256 << 10, /* bytes */
	MAX_WAY_OUT = 64,         /* instructions */
	MAX_CODE = 16 << 10,      /* bytes of one line in one row */
	MAX_GAP = 16,             /* instructions without a line before those of the head */
	MAX_ROUND = 128,          /* instructions from a jump back to the line again */
};

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
	step_reach_loops(p);
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

/* ---- jumps back ---- */

/*
 * Where the line that steps jumps back into the middle of another line. Unoptimised code of `for i
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
	if (end > p->at.function->high)
		end = p->at.function->high;
	if (addr < p->at.function->low || addr >= end)
		return false;
	*ret = (struct piece){ .addr = addr,
		               .size = end - addr < MAX_CODE ? end - addr : MAX_CODE };
	ret->code = arena_alloc(a, ret->size);
	struct error *err CLEANUP(error_freep) =
		control_read(&p->d->control, addr, ret->code, ret->size);
	return !err;
}

/*
 * The row with a line at which a thread arrives from an address without a jump: *ret is its
 * address. NULL: there is none.
 */
static const struct function_row *find_arrival(struct step_plan *p,
                                               struct instruction_reader *reader, uint64_t addr,
                                               struct arena *a, uint64_t *ret)
{
	const struct function_lines *l = p->at.lines;
	struct instruction in;
	struct piece piece;
	size_t row = 0;

	if (!read_piece(p, addr, UINT64_MAX, a, &piece))
		return NULL;
	while (row < l->nrows && l->rows[row].addr <= addr)
		row++;
	/* In the middle of a row that has a line, or at its beginning. */
	if (row && l->rows[row - 1].line) {
		*ret = addr;
		return &l->rows[row - 1];
	}
	for (size_t at = 0, i = 0; i < MAX_GAP && at < piece.size; i++, at += in.size) {
		for (; row < l->nrows && l->rows[row].addr <= addr + at; row++) {
			*ret = l->rows[row].addr;
			if (l->rows[row].line)
				return &l->rows[row];
		}
		instruction_read(reader, addr + at, piece.code + at, piece.size - at, &in);
		if (in.bad || in.flow != FLOW_NEXT)
			return NULL;
	}
	return NULL;
}

static bool read_one(struct step_plan *p, struct instruction_reader *reader, uint64_t addr,
                     struct instruction *ret)
{
	uint8_t bytes[INSTRUCTION_BYTES];
	uint64_t left = p->at.function->high - addr;
	size_t size = left < sizeof(bytes) ? left : sizeof(bytes);

	if (addr < p->at.function->low || addr >= p->at.function->high)
		return false;
	struct error *err CLEANUP(error_freep) = control_read(&p->d->control, addr, bytes, size);
	if (err)
		return false;
	instruction_read(reader, addr, bytes, size, ret);
	return !ret->bad;
}

static void add_place(struct step_plan *p, uint64_t addr, const struct function_row *row)
{
	if (map_has(&p->loops, addr))
		return;
	map_put(&p->loops, addr, (void *)(uintptr_t)row);
	*vec_push(&p->loop_places) = addr;
}

enum whose_line { LINE_NONE, LINE_HERE, LINE_OTHER };

/*
 * Whether a row belongs to the line of the step: an inlined call belongs to the line where it is
 * called. LINE_NONE: unknown, or the row is of code around.
 */
static enum whose_line line_of(const struct step_plan *p, const struct function_row *row)
{
	const struct function_lines *l = p->at.lines;
	size_t call = row->call;

	if (!row->line || !step_lines_is_around(l, p->at.call, call))
		return LINE_NONE;
	if (call == p->at.call)
		return step_lines_is_here(p, row) ? LINE_HERE : LINE_OTHER;
	while (l->calls[call].parent != p->at.call)
		call = l->calls[call].parent;
	const struct function_row at = { .file = l->calls[call].call_file,
		                         .line = l->calls[call].call_line };
	if (!at.line || !at.file)
		return LINE_NONE;
	return step_lines_is_here(p, &at) ? LINE_HERE : LINE_OTHER;
}

/*
 * Where the thread comes to the beginning of the line again from an address, by way of another line
 * that has no place of its own: optimised code of a loop's head is that of inlined calls alone.
 */
static void add_round(struct step_plan *p, struct instruction_reader *reader, uint64_t addr)
{
	const struct function_lines *l = p->at.lines;
	struct instruction in;
	bool passed = false;

	for (unsigned i = 0; i < MAX_ROUND && read_one(p, reader, addr, &in); i++) {
		const struct function_row *row = function_lines_at(l, addr);
		const enum whose_line whose = row ? line_of(p, row) : LINE_NONE;
		const bool begins =
			row && row->addr == addr && row->statement && row->call == p->at.call;

		if (begins && (whose == LINE_OTHER || passed)) {
			if (whose == LINE_HERE && !row->in_await)
				add_place(p, addr, row);
			return;
		}
		passed |= whose == LINE_OTHER && row->call != p->at.call;
		if (in.flow == FLOW_END || (in.flow == FLOW_JUMP && !in.is_branch))
			return;
		addr = in.flow == FLOW_JUMP ? in.target : addr + in.size;
	}
}

static void add_loop(struct step_plan *p, struct instruction_reader *reader, uint64_t target)
{
	SCRATCH(tmp);
	uint64_t addr;
	const struct function_row *row = find_arrival(p, reader, target, &tmp, &addr);

	/* A row of a statement has a place already. */
	if (row && !(row->statement && row->addr == addr) && step_lines_may_stop_within(p, row))
		add_place(p, addr, row);
	else
		add_round(p, reader, target);
}

/* Takes the jumps back of a piece of the line's code. */
static void scan_jumps(struct step_plan *p, struct instruction_reader *reader,
                       const struct piece *piece)
{
	struct instruction in;

	for (size_t at = 0; at < piece->size; at += in.size) {
		uint64_t addr = piece->addr + at;

		instruction_read(reader, addr, piece->code + at, piece->size - at, &in);
		if (in.bad)
			return;
		if ((in.flow == FLOW_JUMP || in.flow == FLOW_BRANCH) && in.is_branch &&
		    in.target < addr)
			add_loop(p, reader, in.target);
	}
}

void step_reach_loops(struct step_plan *p)
{
	const struct function_lines *l = p->at.lines;
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;
	const struct function_row *row = NULL; /* the last one with a line */

	map_clear(&p->loops);
	p->loop_places.n = 0;
	if (!l)
		return;
	struct error *err CLEANUP(error_freep) =
		instruction_reader_open(p->arch->elf_machine, SYNTAX_INTEL, &reader);
	for (size_t i = 0; !err && i < l->nrows; i++) {
		uint64_t end = i + 1 < l->nrows ? l->rows[i + 1].addr : p->at.function->high;
		struct piece piece;
		SCRATCH(tmp);

		row = l->rows[i].line ? &l->rows[i] : row;
		if (row && line_of(p, row) == LINE_HERE &&
		    read_piece(p, l->rows[i].addr, end, &tmp, &piece))
			scan_jumps(p, reader, &piece);
	}
}

/* ---- the way out ---- */

/* The innermost coroutine around the code of a row: its call; false: there is none. */
static bool find_coroutine(const struct function_lines *l, const struct function_row *row,
                           size_t *ret)
{
	for (*ret = row->call; !l->calls[*ret].is_coroutine; *ret = l->calls[*ret].parent) {
		if (!*ret)
			return false;
	}
	return true;
}

/* A poll ends with a store of the state: code that stores nothing any more is behind its end. */
static bool leaves(struct step_plan *p, struct instruction_reader *reader, uint64_t pc, size_t call)
{
	const struct function_lines *l = p->at.lines;
	struct instruction in;

	for (unsigned i = 0; i < MAX_WAY_OUT && read_one(p, reader, pc, &in) && !in.stores; i++) {
		if (in.flow == FLOW_END)
			return str_begins(in.text, "ret");
		if (in.flow != FLOW_NEXT && (in.flow != FLOW_JUMP || !in.is_branch))
			return false;
		pc = in.flow == FLOW_JUMP ? in.target : pc + in.size;
		const struct function_row *row =
			in.flow == FLOW_JUMP ? function_lines_at(l, pc) : NULL;
		if (row && !step_lines_is_around(l, call, row->call))
			return true;
	}
	return false;
}

bool step_reach_leaves(struct step_plan *p, uint64_t pc)
{
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;
	const struct function_row *row = function_lines_at(p->at.lines, pc);
	size_t call;

	if (!row || !find_coroutine(p->at.lines, row, &call))
		return false;
	struct error *err CLEANUP(error_freep) =
		instruction_reader_open(p->arch->elf_machine, SYNTAX_INTEL, &reader);
	return !err && leaves(p, reader, pc, call);
}

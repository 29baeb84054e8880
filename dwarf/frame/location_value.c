#include "dwarf/frame/location_value.h"

#include <dwarf.h>
#include <string.h>

#include "debugger/target/target.h"

enum { MAX_STACK = 64, MAX_STEPS = 4096, MAX_NESTED = 4 };

static const char part_lost[] = "the compiler has left no place for a part of it (optimised out)",
		  optimised_out[] = "the compiler has left no place for it (optimised out)",
		  not_here[] = "it has no value at this instruction (optimised code)",
		  no_address[] =
			  "it points to a value that no longer has an address (optimised out)",
		  at_entry[] = "what it was when the function began is not kept (optimised code)",
		  unsupported[] = "its location is described by an operation that is not supported",
		  broken[] = "its location in the debug info is not valid";

/* How the value is described by what is on the stack. */
enum location_value_result_kind { RESULT_ADDRESS, RESULT_REGISTER, RESULT_VALUE, RESULT_BYTES };

struct location_value_machine {
	const struct location_frame *f;
	const struct frame *frame; /* whose registers are read */
	struct arena *a;
	Dwarf_Attribute *attr; /* whose expression it is */
	uint64_t stack[MAX_STACK];
	size_t n;
	enum location_value_result_kind kind;
	const uint8_t *bytes; /* RESULT_BYTES */
	size_t nbytes;
	unsigned steps, nested;
	const char *problem;
};

static void location_value_fail(struct location_value_machine *m, const char *problem)
{
	if (!m->problem)
		m->problem = problem;
}

static void location_value_push(struct location_value_machine *m, uint64_t value)
{
	if (m->n == MAX_STACK)
		location_value_fail(m, broken);
	else
		m->stack[m->n++] = value;
}

static uint64_t location_value_pop(struct location_value_machine *m)
{
	if (m->n == 0) {
		location_value_fail(m, broken);
		return 0;
	}
	return m->stack[--m->n];
}

/* The value at a depth of the stack, 0 the top. */
static uint64_t location_value_pick(struct location_value_machine *m, uint64_t depth)
{
	if (depth >= m->n) {
		location_value_fail(m, broken);
		return 0;
	}
	return m->stack[m->n - 1 - depth];
}

static uint64_t location_value_read_register(struct location_value_machine *m, uint64_t number)
{
	const struct arch *arch = m->f->target->arch;

	if (number < arch->nregs && m->frame->known_regs & UINT64_C(1) << number)
		return m->frame->regs[number];
	if (number < arch->nregs)
		location_value_fail(
			m,
			arena_printf(m->a,
		                     "it is in the register %s, which is not known in this frame",
		                     arch->regs[number].name));
	else
		location_value_fail(
			m, "it is in a register that is not known here, as one of vectors");
	return 0;
}

static void location_value_push_memory(struct location_value_machine *m, uint64_t addr,
                                       uint64_t size)
{
	uint64_t value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		location_value_fail(m, unsupported);
		return;
	}
	struct error *err = target_read_uint(m->f->target, addr, size, &value);
	if (err)
		location_value_fail(m, "the memory that leads to it cannot be read");
	error_free(err);
	location_value_push(m, value);
}

/* ---- parts of the machine ---- */

static bool location_value_evaluate(struct location_value_machine *m, const Dwarf_Op *ops,
                                    size_t n);

/* Runs another expression on a machine of its own; its result is a number. */
static bool run_number(struct location_value_machine *m, const Dwarf_Op *ops, size_t n,
                       const struct frame *frame, Dwarf_Attribute *attr, uint64_t *ret)
{
	struct location_value_machine inner = { .f = m->f,
		                                .frame = frame,
		                                .a = m->a,
		                                .attr = attr,
		                                .nested = m->nested + 1,
		                                .steps = m->steps };

	if (inner.nested > MAX_NESTED) {
		location_value_fail(m, broken);
		return false;
	}
	bool ok = location_value_evaluate(&inner, ops, n) && inner.n > 0 &&
	          inner.kind != RESULT_BYTES;
	m->steps = inner.steps;
	if (ok && inner.kind == RESULT_REGISTER)
		*ret = location_value_read_register(&inner, inner.stack[0]);
	else if (ok)
		*ret = inner.stack[inner.n - 1];
	if (inner.problem || !ok)
		location_value_fail(m, inner.problem ? inner.problem : broken);
	return !m->problem;
}

static void push_base(struct location_value_machine *m, uint64_t offset)
{
	uint64_t value = 0;
	Dwarf_Op *ops;
	size_t n;

	if (!m->f->base || dwarf_getlocation_addr(m->f->base, m->f->pc, &ops, &n, 1) != 1) {
		location_value_fail(m, "where the frame begins is not known");
		return;
	}
	if (run_number(m, ops, n, m->f->frame, m->f->base, &value))
		location_value_push(m, value + offset);
}

/* The value of an expression when the function began: known of registers that the caller keeps. */
static void push_entry_value(struct location_value_machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute attr;
	uint64_t value = 0;
	Dwarf_Op *ops;
	size_t n;

	if (!m->f->caller || dwarf_getlocation_attr(m->attr, op, &attr) != 0 ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1 || ops[0].atom < DW_OP_reg0 ||
	    ops[0].atom > DW_OP_reg31) {
		location_value_fail(m, at_entry);
		return;
	}
	if (run_number(m, ops, n, m->f->caller, &attr, &value)) {
		location_value_push(m, value);
		return;
	}
	m->problem = at_entry;
}

static void push_implicit(struct location_value_machine *m, const Dwarf_Op *op)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(m->attr, op, &block) != 0) {
		location_value_fail(m, broken);
		return;
	}
	m->kind = RESULT_BYTES;
	m->bytes = block.data;
	m->nbytes = block.length;
}

/* b is not 0 for divisions, and less than 64 for shifts. */
static uint64_t combine(unsigned atom, uint64_t a, uint64_t b)
{
	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_shl:
		return a << b;
	case DW_OP_shr:
		return a >> b;
	case DW_OP_shra:
		return (uint64_t)((int64_t)a >> b);
	case DW_OP_mod:
		return a % b;
	default: /* DW_OP_div; the only overflow is that of -1 */
		return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
	}
}

static bool location_value_compare(unsigned atom, int64_t a, int64_t b)
{
	switch (atom) {
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_lt:
		return a < b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_gt:
		return a > b;
	default:
		return a >= b;
	}
}

static void arithmetic(struct location_value_machine *m, unsigned atom)
{
	uint64_t b = location_value_pop(m), a = location_value_pop(m);
	bool is_shift = atom == DW_OP_shl || atom == DW_OP_shr || atom == DW_OP_shra;

	if ((atom == DW_OP_div || atom == DW_OP_mod) && !b)
		location_value_fail(m, broken);
	else if (is_shift && b > 63)
		location_value_push(m, atom == DW_OP_shra && (int64_t)a < 0 ? UINT64_MAX : 0);
	else if (atom >= DW_OP_eq && atom <= DW_OP_ne)
		location_value_push(m, location_value_compare(atom, (int64_t)a, (int64_t)b));
	else
		location_value_push(m, combine(atom, a, b));
}

static void unary(struct location_value_machine *m, const Dwarf_Op *op)
{
	uint64_t a = location_value_pop(m);

	switch (op->atom) {
	case DW_OP_not:
		location_value_push(m, ~a);
		break;
	case DW_OP_neg:
		location_value_push(m, 0 - a);
		break;
	case DW_OP_abs:
		location_value_push(m, (int64_t)a < 0 ? 0 - a : a);
		break;
	case DW_OP_plus_uconst:
		location_value_push(m, a + op->number);
		break;
	case DW_OP_deref:
		location_value_push_memory(m, a, 8);
		break;
	default:
		location_value_push_memory(m, a, op->number);
		break; /* DW_OP_deref_size */
	}
}

static void reorder(struct location_value_machine *m, const Dwarf_Op *op)
{
	uint64_t a, b, c;

	switch (op->atom) {
	case DW_OP_dup:
		location_value_push(m, location_value_pick(m, 0));
		break;
	case DW_OP_over:
		location_value_push(m, location_value_pick(m, 1));
		break;
	case DW_OP_pick:
		location_value_push(m, location_value_pick(m, op->number));
		break;
	case DW_OP_drop:
		location_value_pop(m);
		break;
	case DW_OP_swap:
		a = location_value_pop(m), b = location_value_pop(m);
		location_value_push(m, a), location_value_push(m, b);
		break;
	default: /* DW_OP_rot */
		a = location_value_pop(m), b = location_value_pop(m), c = location_value_pop(m);
		location_value_push(m, a), location_value_push(m, c), location_value_push(m, b);
		break;
	}
}

/* Operations without a stack effect of their own kind; true: it was one of them. */
static bool special(struct location_value_machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_addr:
		location_value_push(m, op->number + m->f->bias);
		return true;
	case DW_OP_fbreg:
		push_base(m, op->number);
		return true;
	case DW_OP_bregx:
		location_value_push(m, location_value_read_register(m, op->number) + op->number2);
		return true;
	case DW_OP_regx:
		location_value_push(m, op->number);
		m->kind = RESULT_REGISTER;
		return true;
	case DW_OP_call_frame_cfa:
		location_value_push(m, m->f->cfa);
		if (!m->f->cfa)
			location_value_fail(m, "where the frame ends is not known");
		return true;
	case DW_OP_stack_value:
		m->kind = RESULT_VALUE;
		return true;
	case DW_OP_implicit_value:
		push_implicit(m, op);
		return true;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		location_value_fail(m, no_address);
		return true;
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		push_entry_value(m, op);
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Operations on the stack; false: it is none of them. */
static bool ordinary(struct location_value_machine *m, const Dwarf_Op *op)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		location_value_push(m, atom - DW_OP_lit0);
	else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		location_value_push(m, op->number);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		location_value_push(m, location_value_read_register(m, atom - DW_OP_breg0) +
		                               op->number);
	else if (atom >= DW_OP_dup && atom <= DW_OP_rot)
		reorder(m, op);
	else if (atom == DW_OP_deref || atom == DW_OP_deref_size || atom == DW_OP_abs ||
	         atom == DW_OP_neg || atom == DW_OP_not || atom == DW_OP_plus_uconst)
		unary(m, op);
	else if ((atom >= DW_OP_and && atom <= DW_OP_xor) || (atom >= DW_OP_eq && atom <= DW_OP_ne))
		arithmetic(m, atom);
	else
		return false;
	return true;
}

/* The index behind a branch: of the operation at that offset of the expression. */
static size_t branch(struct location_value_machine *m, const Dwarf_Op *ops, size_t n, size_t at)
{
	/* The offset is relative to the end of the branch, which has three bytes. */
	uint64_t to = ops[at].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[at].number;

	for (size_t i = 0; i < n; i++) {
		if (ops[i].offset == to)
			return i;
	}
	if (at + 1 < n || ops[n - 1].offset + 1 > to)
		location_value_fail(m, broken);
	return n;
}

static bool location_value_evaluate(struct location_value_machine *m, const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n && !m->problem;) {
		const Dwarf_Op *op = &ops[i];

		if (++m->steps > MAX_STEPS) {
			location_value_fail(m, broken);
		} else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
			location_value_push(m, op->atom - DW_OP_reg0);
			m->kind = RESULT_REGISTER;
		} else if (op->atom == DW_OP_skip ||
		           (op->atom == DW_OP_bra && location_value_pop(m))) {
			i = branch(m, ops, n, i);
			continue;
		} else if (op->atom != DW_OP_bra && !special(m, op) && !ordinary(m, op)) {
			location_value_fail(m, unsupported);
		}
		i++;
	}
	return !m->problem;
}

/* ---- results ---- */

/* Copies the result of a machine, size bytes of it, to `to`. */
static bool copy_result(struct location_value_machine *m, uint8_t *to, size_t size)
{
	uint64_t word;

	if (m->kind == RESULT_BYTES) {
		memcpy(to, m->bytes, size < m->nbytes ? size : m->nbytes);
		return size <= m->nbytes;
	}
	if (m->n == 0)
		return false;
	word = m->stack[m->n - 1];
	if (m->kind == RESULT_ADDRESS) {
		struct error *err = target_read(m->f->target, word, to, size);
		bool ok = !err;

		if (err)
			location_value_fail(m, "its memory cannot be read");
		error_free(err);
		return ok;
	}
	if (m->kind == RESULT_REGISTER)
		word = location_value_read_register(m, word);
	if (size > sizeof(word))
		location_value_fail(
			m, "it is in a register that is not known here, as one of vectors");
	memcpy(to, &word, size < sizeof(word) ? size : sizeof(word));
	return !m->problem;
}

static struct location_value location_value_of_problem(const char *problem)
{
	return (struct location_value){ .problem = problem };
}

/* A location without pieces. */
static struct location_value simple(struct location_value_machine *m, const Dwarf_Op *ops, size_t n,
                                    uint64_t size)
{
	if (!location_value_evaluate(m, ops, n))
		return location_value_of_problem(m->problem);
	if (m->kind == RESULT_ADDRESS && m->n)
		return (struct location_value){ .in_memory = true, .addr = m->stack[m->n - 1] };
	uint8_t *bytes = arena_alloc(m->a, (size_t)size);
	if (!copy_result(m, bytes, (size_t)size))
		return location_value_of_problem(m->problem ? m->problem : broken);
	return (struct location_value){ .bytes = bytes };
}

static bool location_value_is_piece(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

/* Whether no piece has a location. */
static bool is_empty(const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!location_value_is_piece(&ops[i]))
			return false;
	}
	return true;
}

/* A location in pieces: each is a location, which may be empty, and the size of the piece. */
static struct location_value pieces(const struct location_value_machine *first, const Dwarf_Op *ops,
                                    size_t n, uint64_t size)
{
	uint8_t *bytes = arena_alloc(first->a, (size_t)size);
	size_t begin = 0, done = 0;

	if (is_empty(ops, n))
		return location_value_of_problem(optimised_out);
	for (size_t i = 0; i < n && done < size; i++) {
		struct location_value_machine m = *first;

		if (!location_value_is_piece(&ops[i]))
			continue;
		if (ops[i].atom == DW_OP_bit_piece)
			return location_value_of_problem(unsupported);
		size_t len =
			ops[i].number < size - done ? (size_t)ops[i].number : (size_t)(size - done);
		if (begin == i)
			return location_value_of_problem(part_lost);
		if (!location_value_evaluate(&m, ops + begin, i - begin) ||
		    !copy_result(&m, bytes + done, len))
			return location_value_of_problem(m.problem ? m.problem : broken);
		done += len;
		begin = i + 1;
	}
	return done == size ? (struct location_value){ .bytes = bytes }
	                    : location_value_of_problem(part_lost);
}

/* DW_AT_const_value: a number, or the bytes. */
static struct location_value location_value_constant(Dwarf_Attribute *attr, uint64_t size,
                                                     struct arena *a)
{
	uint8_t *bytes = arena_alloc(a, (size_t)size);
	Dwarf_Block block;
	Dwarf_Word number;
	Dwarf_Sword signed_number;

	if (dwarf_formblock(attr, &block) == 0) {
		if (block.length < size)
			return location_value_of_problem(broken);
		memcpy(bytes, block.data, (size_t)size);
	} else if (size > sizeof(number)) {
		return location_value_of_problem(unsupported);
	} else if (dwarf_formsdata(attr, &signed_number) == 0) {
		memcpy(bytes, &signed_number, (size_t)size);
	} else if (dwarf_formudata(attr, &number) == 0) {
		memcpy(bytes, &number, (size_t)size);
	} else {
		return location_value_of_problem(unsupported);
	}
	return (struct location_value){ .bytes = bytes };
}

struct location_value location_value_run(const struct location_frame *f, Dwarf_Attribute *attr,
                                         const Dwarf_Op *ops, size_t n, uint64_t size,
                                         struct arena *a)
{
	struct location_value_machine m = { .f = f, .frame = f->frame, .a = a, .attr = attr };
	size_t i = 0;

	if (size > LOCATION_MAX_BYTES)
		size = LOCATION_MAX_BYTES;
	if (n == 0)
		return location_value_of_problem(optimised_out);
	while (i < n && !location_value_is_piece(&ops[i]))
		i++;
	return i < n ? pieces(&m, ops, n, size) : simple(&m, ops, n, size);
}

struct location_value location_value_read(const struct location_frame *f, Dwarf_Attribute *attr,
                                          uint64_t size, struct arena *a)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_whatattr(attr) == DW_AT_const_value)
		return location_value_constant(
			attr, size < LOCATION_MAX_BYTES ? size : LOCATION_MAX_BYTES, a);
	int found = dwarf_getlocation_addr(attr, f->pc, &ops, &n, 1);
	if (found <= 0)
		return location_value_of_problem(found ? broken : not_here);
	return location_value_run(f, attr, ops, n, size, a);
}

/*
 * Simple instructions, executed in place of a thread that is stopped: those with which statements
 * begin in code of rustc. Intel SDM vol. 2: formats in chapter 2, opcodes in appendix A. An
 * instruction with an effect beyond general registers, flags and memory is left to the thread.
 */
#include <string.h>

#include "debugger/arch/x86_64.h"

enum flag {
	CARRY = 1 << 0,
	PARITY = 1 << 2,
	ADJUST = 1 << 4,
	ZERO = 1 << 6,
	SIGN = 1 << 7,
	TRAP = 1 << 8,
	OVERFLOW = 1 << 11,
	RESULT = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW
};
/* Prefixes; that of CS means nothing here, and makes a nop longer. */
enum { CS_PREFIX = 0x2e, WORD_PREFIX = 0x66, REX_FIRST = 0x40, REX_LAST = 0x4f };
enum rex { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };
/* The operations of opcodes 0x00 to 0x3f, and of 0x80 to 0x83. */
enum x86_64_execute_operation { ADD, OR, ADC, SBB, AND, SUB, XOR, CMP };
/* Memory at most this far above the stack pointer is the stack of the thread. */
enum { RED_ZONE = 128, STACK_NEAR = 1 << 16 };
/* Addresses of programs are below. */
#define USER_END (UINT64_C(1) << 47)

struct insn {
	const struct arch_memory *memory;
	const unsigned char *code;
	size_t len, at; /* bytes, and how many were read */
	bool bad;       /* it ends too early, or has what is not known here */
	unsigned rex;
	bool has_rex;
	unsigned size;       /* of operands: 1, 2, 4 or 8 */
	unsigned reg;        /* of the ModRM byte, with REX.R */
	bool is_memory;      /* the other operand: an address, or a register */
	unsigned rm;         /* that register */
	uint64_t disp, addr; /* that address; relative: disp, to be added to the end */
	bool relative;
	uint64_t w[USER_WORDS];
	uint64_t next; /* pc */
};

/* Words of the general registers, indexed by the number in an instruction. */
static const unsigned char words[] = { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI,
	                               R8,  R9,  R10, R11, R12, R13, R14, R15 };

/* ---- reading ---- */

static unsigned x86_64_execute_next_byte(struct insn *i)
{
	if (i->at >= i->len) {
		i->bad = true;
		return 0;
	}
	return i->code[i->at++];
}

/* A number of 1 or 4 bytes, with its sign. */
static uint64_t x86_64_execute_next_number(struct insn *i, unsigned size)
{
	int32_t wide = 0;

	if (size > i->len - i->at) {
		i->bad = true;
		return 0;
	}
	memcpy(&wide, i->code + i->at, size);
	i->at += size;
	return size == 1 ? (uint64_t)(int64_t)(int8_t)wide : (uint64_t)(int64_t)wide;
}

/* The immediate operand of an instruction whose operands have i->size. */
static uint64_t x86_64_execute_next_immediate(struct insn *i)
{
	if (i->size == 2) {
		uint64_t low = x86_64_execute_next_byte(i);

		return low | (uint64_t)x86_64_execute_next_byte(i) << 8;
	}
	return x86_64_execute_next_number(i, i->size == 1 ? 1 : 4);
}

static void next_sib(struct insn *i, unsigned mod)
{
	unsigned sib = x86_64_execute_next_byte(i);
	unsigned index = (sib >> 3 & 7) | (i->rex & REX_X ? 8 : 0);
	unsigned base = (sib & 7) | (i->rex & REX_B ? 8 : 0);

	if (index != 4)
		i->addr += i->w[words[index]] << (sib >> 6);
	if ((sib & 7) == 5 && mod == 0)
		i->addr += x86_64_execute_next_number(i, 4);
	else
		i->addr += i->w[words[base]];
}

static void x86_64_execute_next_modrm(struct insn *i)
{
	unsigned byte = x86_64_execute_next_byte(i), mod = byte >> 6;

	i->reg = (byte >> 3 & 7) | (i->rex & REX_R ? 8 : 0);
	i->rm = (byte & 7) | (i->rex & REX_B ? 8 : 0);
	i->is_memory = mod != 3;
	if (!i->is_memory)
		return;
	if ((byte & 7) == 4)
		next_sib(i, mod);
	else if ((byte & 7) == 5 && mod == 0)
		i->relative = true;
	else
		i->addr = i->w[words[i->rm]];
	if (mod == 1 || mod == 2 || i->relative)
		i->addr += x86_64_execute_next_number(i, mod == 1 ? 1 : 4);
}

/* Sets the next pc, and a relative address, after the last byte of the instruction. */
static void x86_64_execute_end(struct insn *i)
{
	i->next = i->w[RIP] + i->at;
	if (i->relative)
		i->addr += i->next;
}

/* ---- operands ---- */

static uint64_t x86_64_execute_cut(uint64_t value, unsigned size)
{
	return size == 8 ? value : value & ((UINT64_C(1) << (8 * size)) - 1);
}

static uint64_t widen(uint64_t value, unsigned size)
{
	unsigned above = 64 - 8 * size;

	return (uint64_t)((int64_t)(value << above) >> above);
}

/* AH, CH, DH, BH: the second byte of the first four. */
static bool is_second_byte(const struct insn *i, unsigned reg, unsigned size)
{
	return size == 1 && !i->has_rex && reg >= 4;
}

static uint64_t x86_64_execute_get_register(const struct insn *i, unsigned reg, unsigned size)
{
	if (is_second_byte(i, reg, size))
		return i->w[words[reg - 4]] >> 8 & 0xff;
	return x86_64_execute_cut(i->w[words[reg]], size);
}

static void x86_64_execute_set_register(struct insn *i, unsigned reg, unsigned size, uint64_t value)
{
	if (is_second_byte(i, reg, size)) {
		uint64_t *word = &i->w[words[reg - 4]];

		*word = (*word & ~UINT64_C(0xff00)) | x86_64_execute_cut(value, 1) << 8;
		return;
	}
	uint64_t *word = &i->w[words[reg]];
	/* A result of 4 bytes fills the register with zeros. */
	*word = size >= 4 ? x86_64_execute_cut(value, size)
	                  : (*word & ~x86_64_execute_cut(UINT64_MAX, size)) |
	                            x86_64_execute_cut(value, size);
}

static bool x86_64_execute_load(const struct insn *i, uint64_t addr, unsigned size, uint64_t *ret)
{
	*ret = 0;
	return addr < USER_END && i->memory->read(i->memory->arg, addr, ret, size);
}

/* Writes to memory, but only where no other thread can see the value half written. */
static bool store(const struct insn *i, uint64_t addr, unsigned size, uint64_t value)
{
	bool is_stack = addr - (i->w[RSP] - RED_ZONE) < STACK_NEAR;

	if (addr >= USER_END || (size != 1 && (size != 8 || addr % 8 || !is_stack)))
		return false;
	return i->memory->write(i->memory->arg, addr, &value, size);
}

static bool x86_64_execute_get_operand(const struct insn *i, unsigned size, uint64_t *ret)
{
	if (i->is_memory)
		return x86_64_execute_load(i, i->addr, size, ret);
	*ret = x86_64_execute_get_register(i, i->rm, size);
	return true;
}

static bool x86_64_execute_set_operand(struct insn *i, unsigned size, uint64_t value)
{
	if (i->is_memory)
		return store(i, i->addr, size, value);
	x86_64_execute_set_register(i, i->rm, size, value);
	return true;
}

/* ---- arithmetic ---- */

static void x86_64_execute_set_flags(struct insn *i, unsigned size, uint64_t result,
                                     unsigned others)
{
	unsigned flags = others;

	if (!x86_64_execute_cut(result, size))
		flags |= ZERO;
	if (result >> (8 * size - 1) & 1)
		flags |= SIGN;
	if (!__builtin_parity((unsigned)result & 0xff))
		flags |= PARITY;
	i->w[EFLAGS] = (i->w[EFLAGS] & ~(uint64_t)RESULT) | flags;
}

static unsigned sum_flags(uint64_t a, uint64_t b, uint64_t result, unsigned size, bool is_sum)
{
	uint64_t into = a ^ b ^ result;
	uint64_t over = is_sum ? (a ^ result) & (b ^ result) : (a ^ b) & (a ^ result);
	bool carry = is_sum ? x86_64_execute_cut(result, size) < x86_64_execute_cut(a, size)
	                    : x86_64_execute_cut(a, size) < x86_64_execute_cut(b, size);
	unsigned flags = carry ? CARRY : 0;

	if (into & ADJUST)
		flags |= ADJUST;
	if (over >> (8 * size - 1) & 1)
		flags |= OVERFLOW;
	return flags;
}

/* False: not one of those that are known here. */
static bool x86_64_execute_calculate(struct insn *i, enum x86_64_execute_operation op, uint64_t a,
                                     uint64_t b, uint64_t *ret)
{
	unsigned others = 0;

	switch (op) {
	case ADD:
		*ret = a + b;
		others = sum_flags(a, b, *ret, i->size, true);
		break;
	case SUB:
	case CMP:
		*ret = a - b;
		others = sum_flags(a, b, *ret, i->size, false);
		break;
	case OR:
		*ret = a | b;
		break;
	case AND:
		*ret = a & b;
		break;
	case XOR:
		*ret = a ^ b;
		break;
	default:
		return false;
	}
	x86_64_execute_set_flags(i, i->size, *ret, others);
	return true;
}

/* ModRM operand with an operand b. */
static bool calculate_operand(struct insn *i, enum x86_64_execute_operation op, uint64_t b)
{
	uint64_t a, result;

	return x86_64_execute_get_operand(i, i->size, &a) &&
	       x86_64_execute_calculate(i, op, a, b, &result) &&
	       (op == CMP || x86_64_execute_set_operand(i, i->size, result));
}

static bool calculate_register(struct insn *i, enum x86_64_execute_operation op, unsigned reg,
                               uint64_t b)
{
	uint64_t result;

	if (!x86_64_execute_calculate(i, op, x86_64_execute_get_register(i, reg, i->size), b,
	                              &result))
		return false;
	if (op != CMP)
		x86_64_execute_set_register(i, reg, i->size, result);
	return true;
}

/* Opcodes 0x00 to 0x3d. */
static bool binary(struct insn *i, unsigned opcode)
{
	enum x86_64_execute_operation op = opcode >> 3;
	unsigned form = opcode & 7;
	uint64_t b;

	if (!(form & 1))
		i->size = 1;
	if (form >= 4) {
		b = x86_64_execute_next_immediate(i);
		x86_64_execute_end(i);
		return !i->bad && calculate_register(i, op, 0, b);
	}
	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad)
		return false;
	if (form < 2)
		return calculate_operand(i, op, x86_64_execute_get_register(i, i->reg, i->size));
	return x86_64_execute_get_operand(i, i->size, &b) && calculate_register(i, op, i->reg, b);
}

/* 0x80, 0x81, 0x83. */
static bool binary_immediate(struct insn *i, unsigned opcode)
{
	if (opcode == 0x80)
		i->size = 1;
	x86_64_execute_next_modrm(i);
	uint64_t b = opcode == 0x83 ? x86_64_execute_next_number(i, 1)
	                            : x86_64_execute_next_immediate(i);
	x86_64_execute_end(i);
	return !i->bad && calculate_operand(i, i->reg & 7, b);
}

/* 0x84, 0x85. */
static bool test(struct insn *i, unsigned opcode)
{
	uint64_t a;

	if (!(opcode & 1))
		i->size = 1;
	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad || !x86_64_execute_get_operand(i, i->size, &a))
		return false;
	x86_64_execute_set_flags(i, i->size, a & x86_64_execute_get_register(i, i->reg, i->size),
	                         0);
	return true;
}

/* 0xa8, 0xa9. */
static bool test_immediate(struct insn *i, unsigned opcode)
{
	if (!(opcode & 1))
		i->size = 1;
	uint64_t b = x86_64_execute_next_immediate(i);
	x86_64_execute_end(i);
	x86_64_execute_set_flags(i, i->size, x86_64_execute_get_register(i, 0, i->size) & b, 0);
	return !i->bad;
}

/* 0xf6, 0xf7: test, not, neg. */
static bool unary(struct insn *i, unsigned opcode)
{
	uint64_t a, b = 0, result;

	if (!(opcode & 1))
		i->size = 1;
	x86_64_execute_next_modrm(i);
	if (!(i->reg & 7))
		b = x86_64_execute_next_immediate(i);
	x86_64_execute_end(i);
	if (i->bad || !x86_64_execute_get_operand(i, i->size, &a))
		return false;
	switch (i->reg & 7) {
	case 0:
		x86_64_execute_set_flags(i, i->size, a & b, 0);
		return true;
	case 2:
		return x86_64_execute_set_operand(i, i->size, ~a);
	case 3:
		return x86_64_execute_calculate(i, SUB, 0, a, &result) &&
		       x86_64_execute_set_operand(i, i->size, result);
	default:
		return false;
	}
}

/* The operations 0 and 1 of 0xfe and 0xff: inc, dec, which leave the carry flag alone. */
static bool execute_count_bits(struct insn *i)
{
	uint64_t a, result, carry = i->w[EFLAGS] & CARRY;

	if (!x86_64_execute_get_operand(i, i->size, &a) ||
	    !x86_64_execute_calculate(i, i->reg & 1 ? SUB : ADD, a, 1, &result))
		return false;
	i->w[EFLAGS] = (i->w[EFLAGS] & ~(uint64_t)CARRY) | carry;
	return x86_64_execute_set_operand(i, i->size, result);
}

/* Shifts by less than the width, which have defined results. False: others. */
static bool shifted(struct insn *i, uint64_t a, unsigned by, uint64_t *ret)
{
	unsigned bits = 8 * i->size, others = 0;
	bool out, over;

	if (!by || by >= bits)
		return false;
	switch (i->reg & 7) {
	case 4: /* shl */
		*ret = a << by;
		out = a >> (bits - by) & 1;
		over = (*ret >> (bits - 1) & 1) != out;
		break;
	case 5: /* shr */
		*ret = a >> by;
		out = a >> (by - 1) & 1;
		over = a >> (bits - 1) & 1;
		break;
	case 7: /* sar */
		*ret = (uint64_t)((int64_t)widen(a, i->size) >> by);
		out = a >> (by - 1) & 1;
		over = false;
		break;
	default:
		return false;
	}
	others |= out ? CARRY : 0;
	others |= over ? OVERFLOW : 0;
	x86_64_execute_set_flags(i, i->size, *ret, others);
	return true;
}

/* 0xc0, 0xc1: by an immediate operand; 0xd0, 0xd1: by 1; 0xd2, 0xd3: by CL. */
static bool shift(struct insn *i, unsigned opcode)
{
	uint64_t a, result;

	if (!(opcode & 1))
		i->size = 1;
	x86_64_execute_next_modrm(i);
	unsigned by = opcode < 0xd0   ? x86_64_execute_next_byte(i)
	              : opcode < 0xd2 ? 1
	                              : (unsigned)x86_64_execute_get_register(i, 1, 8);
	x86_64_execute_end(i);
	by &= i->size == 8 ? 63 : 31;
	return !i->bad && x86_64_execute_get_operand(i, i->size, &a) &&
	       shifted(i, a, by, &result) && x86_64_execute_set_operand(i, i->size, result);
}

/* ---- moves ---- */

/* 0x88 to 0x8b. */
static bool x86_64_execute_move(struct insn *i, unsigned opcode)
{
	uint64_t value;

	if (!(opcode & 1))
		i->size = 1;
	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad)
		return false;
	if (opcode < 0x8a)
		return x86_64_execute_set_operand(i, i->size,
		                                  x86_64_execute_get_register(i, i->reg, i->size));
	if (!x86_64_execute_get_operand(i, i->size, &value))
		return false;
	x86_64_execute_set_register(i, i->reg, i->size, value);
	return true;
}

/* 0xc6, 0xc7. */
static bool move_immediate(struct insn *i, unsigned opcode)
{
	if (opcode == 0xc6)
		i->size = 1;
	x86_64_execute_next_modrm(i);
	uint64_t value = x86_64_execute_next_immediate(i);
	x86_64_execute_end(i);
	return !i->bad && !(i->reg & 7) && x86_64_execute_set_operand(i, i->size, value);
}

/* 0xb0 to 0xbf. */
static bool move_to_register(struct insn *i, unsigned opcode)
{
	unsigned reg = (opcode & 7) | (i->rex & REX_B ? 8 : 0);
	uint64_t value;

	if (opcode < 0xb8)
		i->size = 1;
	if (i->size == 8) {
		value = x86_64_execute_next_number(i, 4) & UINT32_MAX;
		value |= x86_64_execute_next_number(i, 4) << 32;
	} else {
		value = x86_64_execute_next_immediate(i);
	}
	x86_64_execute_end(i);
	if (i->bad)
		return false;
	x86_64_execute_set_register(i, reg, i->size, value);
	return true;
}

/* 0x0f 0xb6, 0xb7, 0xbe, 0xbf; 0x63. */
static bool x86_64_execute_move_widened(struct insn *i, unsigned from, bool with_sign)
{
	uint64_t value;

	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad || !x86_64_execute_get_operand(i, from, &value))
		return false;
	x86_64_execute_set_register(i, i->reg, i->size, with_sign ? widen(value, from) : value);
	return true;
}

static bool load_address(struct insn *i)
{
	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad || !i->is_memory)
		return false;
	x86_64_execute_set_register(i, i->reg, i->size, i->addr);
	return true;
}

/* ---- the stack, and jumps ---- */

static bool x86_64_execute_push(struct insn *i, uint64_t value)
{
	uint64_t to = i->w[RSP] - 8;

	if (i->bad || !store(i, to, 8, value))
		return false;
	i->w[RSP] = to;
	return true;
}

static bool pop(struct insn *i, unsigned reg)
{
	uint64_t value;

	x86_64_execute_end(i);
	if (!x86_64_execute_load(i, i->w[RSP], 8, &value))
		return false;
	i->w[RSP] += 8;
	x86_64_execute_set_register(i, reg, 8, value);
	return true;
}

static bool x86_64_execute_has_plain_calls(const struct insn *i)
{
	return i->memory->plain_calls && i->memory->plain_calls(i->memory->arg);
}

static bool call(struct insn *i, uint64_t to)
{
	if (i->bad || to >= USER_END || !x86_64_execute_has_plain_calls(i) ||
	    !x86_64_execute_push(i, i->next))
		return false;
	i->next = to;
	return true;
}

static bool x86_64_execute_jump(struct insn *i, uint64_t to)
{
	i->next = to;
	return !i->bad && i->size != 2 && to < USER_END;
}

static bool call_relative(struct insn *i)
{
	uint64_t by = x86_64_execute_next_number(i, 4);

	x86_64_execute_end(i);
	return call(i, i->next + by);
}

static bool jump_relative(struct insn *i, unsigned size)
{
	uint64_t by = x86_64_execute_next_number(i, size);

	x86_64_execute_end(i);
	return x86_64_execute_jump(i, i->next + by);
}

/* Appendix B.1: the odd conditions are the opposite of the even ones. */
static bool x86_64_execute_condition(const struct insn *i, unsigned number)
{
	uint64_t f = i->w[EFLAGS];
	bool less = !(f & SIGN) != !(f & OVERFLOW);
	const bool list[] = { f & OVERFLOW, f & CARRY,  f & ZERO, f & (CARRY | ZERO),
		              f & SIGN,     f & PARITY, less,     less || f & ZERO };

	return list[number >> 1 & 7] != (number & 1);
}

static bool jump_if(struct insn *i, unsigned number, unsigned size)
{
	uint64_t by = x86_64_execute_next_number(i, size);

	x86_64_execute_end(i);
	return x86_64_execute_jump(i, x86_64_execute_condition(i, number) ? i->next + by : i->next);
}

/* 0xfe, 0xff: inc, dec, and the near calls, jumps and push of 0xff. */
static bool count_or_go(struct insn *i, unsigned opcode)
{
	uint64_t value;

	if (!(opcode & 1))
		i->size = 1;
	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad)
		return false;
	if ((i->reg & 7) < 2)
		return execute_count_bits(i);
	if (i->size < 4 || !x86_64_execute_get_operand(i, 8, &value))
		return false;
	switch (i->reg & 7) {
	case 2:
		return call(i, value);
	case 4:
		return x86_64_execute_jump(i, value);
	case 6:
		return x86_64_execute_push(i, value);
	default:
		return false;
	}
}

static bool execute_return(struct insn *i)
{
	uint64_t to;

	if (!x86_64_execute_has_plain_calls(i) || !x86_64_execute_load(i, i->w[RSP], 8, &to))
		return false;
	i->w[RSP] += 8;
	return x86_64_execute_jump(i, to);
}

/* 0x0f 0x90 to 0x9f. */
static bool set_if(struct insn *i, unsigned opcode)
{
	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	return !i->bad && x86_64_execute_set_operand(i, 1, x86_64_execute_condition(i, opcode));
}

/* 0x0f 0x40 to 0x4f. The memory is read, and a register of 4 bytes cut, in any case. */
static bool move_if(struct insn *i, unsigned opcode)
{
	uint64_t value;

	x86_64_execute_next_modrm(i);
	x86_64_execute_end(i);
	if (i->bad || !x86_64_execute_get_operand(i, i->size, &value))
		return false;
	if (!x86_64_execute_condition(i, opcode))
		value = x86_64_execute_get_register(i, i->reg, i->size);
	x86_64_execute_set_register(i, i->reg, i->size, value);
	return true;
}

/* ---- opcodes ---- */

static bool two_bytes(struct insn *i)
{
	unsigned opcode = x86_64_execute_next_byte(i);

	if (opcode >= 0x80 && opcode <= 0x8f)
		return jump_if(i, opcode, 4);
	if (opcode >= 0x90 && opcode <= 0x9f)
		return set_if(i, opcode);
	if (opcode >= 0x40 && opcode <= 0x4f)
		return move_if(i, opcode);
	switch (opcode) {
	case 0x1f: /* nop */
		x86_64_execute_next_modrm(i);
		x86_64_execute_end(i);
		return !i->bad;
	case 0xb6:
	case 0xb7:
		return x86_64_execute_move_widened(i, opcode & 1 ? 2 : 1, false);
	case 0xbe:
	case 0xbf:
		return x86_64_execute_move_widened(i, opcode & 1 ? 2 : 1, true);
	default:
		return false;
	}
}

static bool with_register(struct insn *i, unsigned opcode)
{
	unsigned reg = (opcode & 7) | (i->rex & REX_B ? 8 : 0);

	if (i->size == 2)
		return false;
	if (opcode >= 0x58)
		return pop(i, reg);
	x86_64_execute_end(i);
	return x86_64_execute_push(i, i->w[words[reg]]);
}

static bool one_byte(struct insn *i, unsigned opcode)
{
	switch (opcode) {
	case 0x63:
		return i->size == 8 && x86_64_execute_move_widened(i, 4, true);
	case 0x80:
	case 0x81:
	case 0x83:
		return binary_immediate(i, opcode);
	case 0x84:
	case 0x85:
		return test(i, opcode);
	case 0x8d:
		return load_address(i);
	case 0x90:
		x86_64_execute_end(i);
		return !i->rex;
	case 0xa8:
	case 0xa9:
		return test_immediate(i, opcode);
	case 0xc3:
		return execute_return(i);
	case 0xc6:
	case 0xc7:
		return move_immediate(i, opcode);
	case 0xe8:
		return i->size != 2 && call_relative(i);
	case 0xe9:
	case 0xeb:
		return jump_relative(i, opcode == 0xeb ? 1 : 4);
	case 0xf6:
	case 0xf7:
		return unary(i, opcode);
	case 0xfe:
	case 0xff:
		return count_or_go(i, opcode);
	default:
		return false;
	}
}

static bool of_range(struct insn *i, unsigned opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 6 && binary(i, opcode);
	if (opcode >= 0x50 && opcode <= 0x5f)
		return with_register(i, opcode);
	if (opcode >= 0x70 && opcode <= 0x7f)
		return jump_if(i, opcode, 1);
	if (opcode >= 0x88 && opcode <= 0x8b)
		return x86_64_execute_move(i, opcode);
	if (opcode >= 0xb0 && opcode <= 0xbf)
		return move_to_register(i, opcode);
	if ((opcode >= 0xd0 && opcode <= 0xd3) || opcode == 0xc0 || opcode == 0xc1)
		return shift(i, opcode);
	return one_byte(i, opcode);
}

static bool execute(struct insn *i)
{
	unsigned opcode = x86_64_execute_next_byte(i);

	i->size = 4;
	for (; opcode == WORD_PREFIX || opcode == CS_PREFIX; opcode = x86_64_execute_next_byte(i)) {
		if (opcode == WORD_PREFIX)
			i->size = 2;
	}
	if (opcode >= REX_FIRST && opcode <= REX_LAST) {
		i->has_rex = true;
		i->rex = opcode & 15;
		if (i->rex & REX_W)
			i->size = 8;
		opcode = x86_64_execute_next_byte(i);
	}
	if (opcode == 0x0f)
		return two_bytes(i);
	return of_range(i, opcode);
}

bool x86_64_execute(void *user_regs, const unsigned char *code, size_t len,
                    const struct arch_memory *memory)
{
	struct insn i = { .memory = memory, .code = code, .len = len };

	memcpy(i.w, user_regs, sizeof(i.w));
	/* A program that traps each instruction of its own would miss this one. */
	if (i.w[EFLAGS] & TRAP || !execute(&i) || i.bad)
		return false;
	i.w[RIP] = i.next;
	memcpy(user_regs, i.w, sizeof(i.w));
	return true;
}

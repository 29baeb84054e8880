#include "debugger/elf/usdt_operand.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REGISTER_NAME = 4, MAX_DIGITS = 20 };

/* The rest of one operand. */
struct usdt_operand_text {
	const char *p, *end;
};

static bool usdt_operand_take(struct usdt_operand_text *t, char c)
{
	if (t->p == t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

/* A decimal or hexadecimal number, perhaps with a sign, in the range of a signed or unsigned word.
 */
static bool usdt_operand_take_number(struct usdt_operand_text *t, int64_t *ret)
{
	char digits[MAX_DIGITS + 1], *stop;
	bool is_negative = usdt_operand_take(t, '-');
	size_t n = 0;

	while (t->p + n < t->end && n < MAX_DIGITS &&
	       ((t->p[n] >= '0' && t->p[n] <= '9') || (t->p[n] | 0x20) == 'x' ||
	        ((t->p[n] | 0x20) >= 'a' && (t->p[n] | 0x20) <= 'f')))
		n++;
	memcpy(digits, t->p, n);
	digits[n] = '\0';
	if (n == 0 || digits[0] < '0' || digits[0] > '9')
		return false;
	errno = 0;
	bool is_hexadecimal = digits[0] == '0' && (digits[1] | 0x20) == 'x';
	unsigned long long value = strtoull(digits, &stop, is_hexadecimal ? 16 : 10);
	if (errno || *stop || (is_negative && value > (unsigned long long)INT64_MAX + 1))
		return false;
	t->p += n;
	*ret = (int64_t)(is_negative ? -value : value);
	return true;
}

/* ---- registers of x86-64 ---- */

/* Register names, indexed by DWARF number: psABI 1.0, figure 3.36. */
static const struct {
	const char *name[4]; /* of 8, 4, 2 and 1 bytes */
} names[] = {
	{ { "rax", "eax", "ax", "al" } },      { { "rdx", "edx", "dx", "dl" } },
	{ { "rcx", "ecx", "cx", "cl" } },      { { "rbx", "ebx", "bx", "bl" } },
	{ { "rsi", "esi", "si", "sil" } },     { { "rdi", "edi", "di", "dil" } },
	{ { "rbp", "ebp", "bp", "bpl" } },     { { "rsp", "esp", "sp", "spl" } },
	{ { "r8", "r8d", "r8w", "r8b" } },     { { "r9", "r9d", "r9w", "r9b" } },
	{ { "r10", "r10d", "r10w", "r10b" } }, { { "r11", "r11d", "r11w", "r11b" } },
	{ { "r12", "r12d", "r12w", "r12b" } }, { { "r13", "r13d", "r13w", "r13b" } },
	{ { "r14", "r14d", "r14w", "r14b" } }, { { "r15", "r15d", "r15w", "r15b" } },
};
static const char *const high_bytes[] = { "ah", "dh", "ch", "bh" };

enum { NAMES = sizeof(names) / sizeof(names[0]) };

struct reg {
	unsigned number, size, shift;
};

static bool usdt_operand_find_register(const char *name, struct reg *ret)
{
	for (unsigned i = 0; i < NAMES; i++) {
		for (unsigned j = 0; j < 4; j++) {
			if (strcmp(name, names[i].name[j]) == 0) {
				*ret = (struct reg){ .number = i, .size = 8 >> j };
				return true;
			}
		}
	}
	for (unsigned i = 0; i < sizeof(high_bytes) / sizeof(high_bytes[0]); i++) {
		if (strcmp(name, high_bytes[i]) == 0) {
			*ret = (struct reg){ .number = i, .size = 1, .shift = 8 };
			return true;
		}
	}
	return false;
}

static bool take_register(struct usdt_operand_text *t, struct reg *ret)
{
	char name[MAX_REGISTER_NAME + 1] = "";
	size_t n = 0;

	if (!usdt_operand_take(t, '%'))
		return false;
	while (t->p + n < t->end && n < MAX_REGISTER_NAME && t->p[n] != ',' && t->p[n] != ')')
		n++;
	memcpy(name, t->p, n);
	t->p += n;
	return usdt_operand_find_register(name, ret);
}

/* ---- operands ---- */

/* A register of 64 bits: half of one as part of an address is not handled. */
static bool take_address_register(struct usdt_operand_text *t, unsigned *ret)
{
	struct reg reg;

	if (!take_register(t, &reg) || reg.size != 8)
		return false;
	*ret = reg.number;
	return true;
}

/* "%rax,8" behind the comma; the scale may be left out. */
static bool take_index(struct usdt_operand_text *t, struct usdt_operand *o)
{
	int64_t scale = 1;

	if (!take_address_register(t, &o->index))
		return false;
	if (usdt_operand_take(t, ',') && !usdt_operand_take_number(t, &scale))
		return false;
	o->has_index = true;
	o->scale = (unsigned)scale;
	return scale == 1 || scale == 2 || scale == 4 || scale == 8;
}

/* "(%rsp,%rax,8)", "(%rsp)", "(,%rax,8)" */
static bool take_address(struct usdt_operand_text *t, struct usdt_operand *o)
{
	if (!usdt_operand_take(t, '('))
		return false;
	if (t->p < t->end && *t->p == '%') {
		if (!take_address_register(t, &o->base))
			return false;
		o->has_base = true;
	}
	if (usdt_operand_take(t, ',') && !take_index(t, o))
		return false;
	return usdt_operand_take(t, ')') && (o->has_base || o->has_index);
}

static bool parse_place(struct usdt_operand_text *t, struct usdt_operand *o)
{
	struct reg reg;

	if (t->p == t->end)
		return false;
	if (usdt_operand_take(t, '$')) {
		o->kind = USDT_OPERAND_CONSTANT;
		return usdt_operand_take_number(t, &o->number);
	}
	if (*t->p == '%') {
		o->kind = USDT_OPERAND_REGISTER;
		if (!take_register(t, &reg) || reg.size < o->size)
			return false;
		o->has_base = true;
		o->base = reg.number;
		o->shift = reg.shift;
		return true;
	}
	o->kind = USDT_OPERAND_MEMORY;
	if (*t->p != '(' && !usdt_operand_take_number(t, &o->number))
		return false;
	return take_address(t, o);
}

/* "-4@": the size of the value, negative if it has a sign. */
static bool parse_size(struct usdt_operand_text *t, struct usdt_operand *o)
{
	int64_t size;

	o->is_signed = t->p < t->end && *t->p == '-';
	if (!usdt_operand_take_number(t, &size) || !usdt_operand_take(t, '@'))
		return false;
	if (size < -8 || size > 8)
		return false;
	o->size = (unsigned)(o->is_signed ? -size : size);
	return o->size == 1 || o->size == 2 || o->size == 4 || o->size == 8;
}

static void usdt_operand_parse_text(struct usdt_operand_text t, struct usdt_operand *ret)
{
	struct usdt_operand o = { 0 };

	*ret = o;
	if (parse_size(&t, &o) && parse_place(&t, &o) && t.p == t.end)
		*ret = o;
}

size_t usdt_operand_parse(uint16_t machine, const char *text,
                          struct usdt_operand ret[USDT_MAX_OPERANDS])
{
	size_t n = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		const char *end = text + strcspn(text, " ");

		if (n < USDT_MAX_OPERANDS && machine == EM_X86_64)
			usdt_operand_parse_text((struct usdt_operand_text){ text, end }, &ret[n]);
		else if (n < USDT_MAX_OPERANDS)
			ret[n] = (struct usdt_operand){ 0 };
		n++;
		text = end;
	}
	return n;
}

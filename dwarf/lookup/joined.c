#include "dwarf/lookup/joined.h"

#include <stdlib.h>

#include "debugger/arch/arch.h"
#include "debugger/base/arena.h"
#include "debugger/code/instruction.h"
#include "debugger/target/target.h"
#include "dwarf/lookup/lookup.h"

enum {
	MAX_STRAIGHT = 64,       /* bytes */
	MAX_FUNCTION = 64 << 10, /* bytes */
};

/* The code of a function. */
struct code {
	struct instruction_reader *reader;
	uint64_t low;
	size_t size;
	const uint8_t *bytes;
};

static void read_at(const struct code *c, uint64_t addr, struct instruction *ret)
{
	size_t at = addr - c->low;

	instruction_read(c->reader, addr, c->bytes + at, c->size - at, ret);
}

/* Whether execution goes on from one address to the other, whatever is there. */
static bool is_straight(const struct code *c, uint64_t from, uint64_t to)
{
	struct instruction in = { 0 };

	for (; from < to && !in.bad && in.flow == FLOW_NEXT; from += in.size)
		read_at(c, from, &in);
	return from == to && !in.bad && in.flow == FLOW_NEXT;
}

/* Whether a jump leads to an address behind from, up to to. */
static bool has_jump(const struct code *c, uint64_t from, uint64_t to)
{
	uint64_t high = c->low + c->size;
	struct instruction in;

	for (uint64_t addr = c->low; addr < high; addr += in.size) {
		read_at(c, addr, &in);
		if (in.is_branch && in.target > from && in.target <= to)
			return true;
	}
	return false;
}

static bool is_joined(struct debuginfo *di, const struct function *f, uint64_t from, uint64_t to)
{
	SCRATCH(tmp);
	struct code c = { .low = f->low, .size = f->high - f->low };
	uint8_t *bytes = arena_alloc(&tmp, c.size);
	struct instruction_reader *reader CLEANUP(instruction_reader_close) = NULL;

	struct error *err = target_read(di->target, c.low, bytes, c.size);
	if (!err)
		err = instruction_reader_open(di->target->arch->elf_machine, SYNTAX_INTEL, &reader);
	bool known = !err;
	error_free(err);
	c.bytes = bytes;
	c.reader = reader;
	return known && is_straight(&c, from, to) && has_jump(&c, from, to);
}

bool joined_behind(struct debuginfo *di, uint64_t from, uint64_t to)
{
	const struct function *f = lookup_function(di, from);

	return f && from < to && to - from <= MAX_STRAIGHT && f->low <= from && to < f->high &&
	       f->high - f->low <= MAX_FUNCTION && is_joined(di, f, from, to);
}

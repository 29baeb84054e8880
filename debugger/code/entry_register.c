#include "debugger/code/entry_register.h"

#include <elf.h>
#include <string.h>

#include "debugger/base/error.h"
#include "debugger/base/str.h"
#include "debugger/code/instruction.h"

/* Whether a text in the syntax of AT&T may write %rdi, or a part of it: its last operand is it. */
static bool may_write(const char *text)
{
	static const char *const names[] = { "%rdi", "%edi", "%di", "%dil" };
	/* Instructions that write their first operand, too, or step through memory by it. */
	static const char *const others[] = { "xchg", "xadd",   "cmpxchg", "lock",   "rep",
		                              "stos", "scas",   "cmps",    "insb",   "insw",
		                              "insl", "movsb ", "movsw ",  "movsl ", "movsq " };
	const char *last = strrchr(text, ' ');

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (str_begins(text, others[i]))
			return true;
	}
	for (size_t i = 0; last && i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(last + 1, names[i]) == 0)
			return true;
	}
	return false;
}

/* Whether an instruction lets the register be as it was at pc. */
static bool is_harmless(const struct instruction *in, uint64_t low, uint64_t pc)
{
	if (in->bad)
		return false;
	if (in->addr < pc && (in->flow != FLOW_NEXT || may_write(in->text)))
		return false;
	/* A table of jumps may lead anywhere. */
	if (in->flow == FLOW_JUMP && !in->is_branch)
		return false;
	return in->flow == FLOW_CALL || !in->is_branch || in->target <= low || in->target > pc;
}

bool entry_register_is_kept(uint16_t machine, uint64_t low, const uint8_t *code, size_t size,
                            uint64_t pc)
{
	struct instruction_reader *r CLEANUP(instruction_reader_close) = NULL;
	struct instruction in;

	if (pc == low)
		return true;
	if (machine != EM_X86_64 || pc < low || pc - low >= size)
		return false;
	struct error *err CLEANUP(error_freep) = instruction_reader_open(machine, SYNTAX_ATT, &r);
	if (err)
		return false;
	for (size_t at = 0; at < size; at += in.size) {
		instruction_read(r, low + at, code + at, size - at, &in);
		if (!is_harmless(&in, low, pc) || !in.size)
			return false;
	}
	return true;
}

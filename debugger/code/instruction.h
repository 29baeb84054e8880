/* Machine instructions as text. */
#ifndef DEBUGGER_CODE_INSTRUCTION_H
#define DEBUGGER_CODE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/error.h"

enum { INSTRUCTION_TEXT = 192, INSTRUCTION_BYTES = 16 };

/* How operands are written. */
enum instruction_syntax {
	SYNTAX_ATT,   /* source first: as gdb and lldb do by default */
	SYNTAX_INTEL, /* destination first */
};

/* Place where execution goes on after an instruction. */
enum instruction_flow {
	FLOW_NEXT,   /* behind it */
	FLOW_CALL,   /* behind it, when a function has returned */
	FLOW_BRANCH, /* behind it, or somewhere else */
	FLOW_JUMP,   /* somewhere else */
	FLOW_END,    /* an unknown place: a return, a trap, an interrupt */
};

/* The memory operand of an instruction. */
struct instruction_memory {
	bool is_there, reads, writes; /* neither read nor written: its address alone is taken */
	bool is_simple;               /* it is at a general register and a constant: */
	bool is_entry;                /* it is an entry of eight bytes of a table at a constant: */
	unsigned base;                /* DWARF number */
	int64_t offset;
	unsigned size; /* in bytes */
};

/* The effect of an instruction on general registers, as far as it is simple. */
enum instruction_move {
	MOVE_OTHER,
	MOVE_ADDRESS, /* to = address of the memory operand */
	MOVE_COPY,    /* to = from */
	MOVE_ADD,     /* to += number */
	MOVE_LOAD,    /* to = memory, eight bytes */
	MOVE_STORE,   /* memory = from, eight bytes */
	MOVE_PUT,     /* memory = number */
	MOVE_SUM,     /* to += from */
	MOVE_ENTRY,   /* to = entry of a table at memory.base, four bytes with a sign */
};

struct instruction {
	uint64_t addr;
	unsigned size;               /* in bytes, at most INSTRUCTION_BYTES */
	bool bad;                    /* it is none: the text is the first byte, size is 1 */
	char text[INSTRUCTION_TEXT]; /* "callq 0x401000" */
	bool has_target;             /* it names a place by its address: */
	uint64_t target;             /* of its jump or call, or of an operand relative to the pc */
	bool is_branch;              /* target is that of its jump or call */
	enum instruction_flow flow;
	bool stores; /* an operand of it is memory that it writes */
	/* The rest is known of x86-64 in the syntax of Intel alone. */
	struct instruction_memory memory;
	enum instruction_move move;
	unsigned to, from; /* DWARF numbers; from: also of a jump or call by a register */
	int64_t number;
	uint32_t changes; /* the general registers that it writes: a bit for each DWARF number */
	bool is_push, is_pop;
};

struct instruction_reader;

/*
 * A reader of the instructions of an ELF machine (EM_*). ERR_UNSUPPORTED: of this machine it cannot
 * be one, or this build has no disassembler.
 */
struct error *instruction_reader_open(uint16_t machine, enum instruction_syntax syntax,
                                      struct instruction_reader **ret) MUST_CHECK;
/* Reads the instruction at bytes, of which len are there (not 0); its first byte is at addr. */
void instruction_read(struct instruction_reader *r, uint64_t addr, const uint8_t *bytes, size_t len,
                      struct instruction *ret);
/* Frees a reader, if there is one; for CLEANUP(). */
void instruction_reader_close(struct instruction_reader **r);

#endif

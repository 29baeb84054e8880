/*
 * The arguments of a static probe (USDT), as its note describes them: where each value is when the
 * program is at the probe. They are operands as the assembler writes them, each with the size of
 * its value in front: "8@%rdi -4@-8(%rbp) 8@$5 4@16(%rsp,%rax,8)" (sys/sdt.h of SystemTap 4.8).
 */
#ifndef DEBUGGER_ELF_USDT_OPERAND_H
#define DEBUGGER_ELF_USDT_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { USDT_MAX_OPERANDS = 12 }; /* as many as sys/sdt.h has macros for */

enum usdt_operand_kind {
	USDT_OPERAND_UNKNOWN, /* no such operand, or one that is not handled: a symbol, a float */
	USDT_OPERAND_CONSTANT,
	USDT_OPERAND_REGISTER,
	USDT_OPERAND_MEMORY,
};

struct usdt_operand {
	enum usdt_operand_kind kind;
	unsigned size;  /* of the value in bytes: 1, 2, 4 or 8 */
	bool is_signed; /* extend the sign of a smaller value */
	int64_t number; /* the constant, or the displacement of the address */
	/*
	 * DWARF numbers: struct arch has the place of each in the kernel's user_regs, which on
	 * x86-64 are the first words of its pt_regs. A register's value begins shift bits above its
	 * lowest: 8 for %ah and the like, else 0.
	 */
	bool has_base; /* always for a register, which is the base then */
	unsigned base, shift;
	bool has_index;
	unsigned index, scale; /* address: number + base + index * scale */
};

/*
 * Reads all operands of an arguments text for a machine (EM_*; only EM_X86_64 is known, for others
 * all are unknown). Returns how many there are, of which at most USDT_MAX_OPERANDS are in ret:
 * those behind them were not looked at.
 */
size_t usdt_operand_parse(uint16_t machine, const char *text,
                          struct usdt_operand ret[USDT_MAX_OPERANDS]);

#endif

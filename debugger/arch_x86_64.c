#include "debugger/arch.h"

#include <elf.h>
#include <string.h>

/* Words of struct user_regs_struct, arch/x86/include/asm/user_64.h of the kernel. */
enum user_word {
	R15,
	R14,
	R13,
	R12,
	RBP,
	RBX,
	R11,
	R10,
	R9,
	R8,
	RAX,
	RCX,
	RDX,
	RSI,
	RDI,
	ORIG_RAX,
	RIP,
	CS,
	EFLAGS,
	RSP,
	SS,
	FS_BASE,
	GS_BASE,
	DS,
	ES,
	FS,
	GS,
	USER_WORDS
};

enum { DWARF_RBP = 6, DWARF_RSP = 7, DWARF_RIP = 16, DWARF_REGS = 17 };

/* By DWARF number: psABI 1.0, figure 3.36; 16 is the return address column. */
static const unsigned char from_user[DWARF_REGS] = {
	RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP,
};

static void regs_from_user(const void *user_regs, struct regs *ret)
{
	uint64_t words[USER_WORDS];

	memcpy(words, user_regs, sizeof(words)); /* a core note may be unaligned */
	*ret = (struct regs){ .thread_pointer = words[FS_BASE] };
	for (size_t i = 0; i < DWARF_REGS; i++)
		ret->r[i] = words[from_user[i]];
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.elf_machine = EM_X86_64,
	.nregs = DWARF_REGS,
	.pc = DWARF_RIP,
	.sp = DWARF_RSP,
	.fp = DWARF_RBP,
	.prstatus_size = 336,
	.prstatus_regs = 112,
	.user_regs_size = USER_WORDS * sizeof(uint64_t),
	.regs_from_user = regs_from_user,
};

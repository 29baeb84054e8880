/* Declarations shared by the files of x86-64. */
#ifndef DEBUGGER_ARCH_X86_64_H
#define DEBUGGER_ARCH_X86_64_H

#include "debugger/arch/arch.h"

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

/* arch->execute */
bool x86_64_execute(void *user_regs, const unsigned char *code, size_t len,
                    const struct arch_memory *memory);

#endif

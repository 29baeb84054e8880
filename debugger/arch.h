/*
 * What differs between processor architectures, one table each. DWARF register numbers are
 * those of the psABI (x86-64 psABI 1.0, figure 3.36).
 */
#ifndef DEBUGGER_ARCH_H
#define DEBUGGER_ARCH_H

#include <stddef.h>
#include <stdint.h>

enum { ARCH_MAX_REGS = 33 };

/* Registers of a stopped thread, indexed by DWARF number. */
struct regs {
	uint64_t r[ARCH_MAX_REGS];
	uint64_t thread_pointer; /* fs_base on x86-64 */
};

struct arch {
	const char *name;      /* "x86-64" */
	uint16_t elf_machine;  /* EM_* */
	unsigned nregs;        /* DWARF registers an unwinder needs, r[0..nregs) */
	unsigned pc, sp, fp;   /* indexes into r */
	size_t prstatus_size;  /* bytes of an NT_PRSTATUS descriptor in a core */
	size_t prstatus_regs;  /* offset of the general registers in it */
	size_t user_regs_size; /* bytes of what PTRACE_GETREGSET NT_PRSTATUS returns */
	/* From the kernel's user_regs (ptrace and core notes share the format). */
	void (*regs_from_user)(const void *user_regs, struct regs *ret);
};

extern const struct arch arch_x86_64;

#endif

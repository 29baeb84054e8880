/*
 * What differs between processor architectures, one table each (x86_64.c). A row of arch.c makes a
 * table known; nothing outside of this folder names one. CONTRIBUTING.md has the recipe.
 */
#ifndef DEBUGGER_ARCH_ARCH_H
#define DEBUGGER_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/arena.h"
#include "debugger/base/error.h"

enum { ARCH_SYSCALL_ARGS = 6 };

/* Registers of a stopped thread. */
struct regs {
	uint64_t *r;             /* arch->nregs of them, by DWARF number; see arch_regs_new() */
	uint64_t thread_pointer; /* 0 unknown */
	/*
	 * Did it sit in a system call when it was stopped: one that the stop interrupted, to be
	 * made again or to fail with EINTR? Not when the call was done.
	 */
	bool in_syscall;
	uint64_t syscall; /* its number */
	uint64_t syscall_args[ARCH_SYSCALL_ARGS];
};

/* A register that an unwinder needs. */
struct arch_reg {
	const char *name;
	size_t offset; /* in the kernel's user_regs */
};

/* A system call that may take long, and what its arguments mean to people. */
struct syscall {
	uint64_t number;
	const char *name;
	bool takes_fd;    /* the first argument is a file descriptor */
	bool takes_futex; /* the first argument is the address of a futex word */
	/*
	 * A thread that waits in it and is stopped gets EINTR when it goes on, where the kernel
	 * makes others go on unseen: signal(7), "Interruption of system calls and library functions
	 * by stop signals"; of a socket's calls only where it has a timeout, which nobody can see.
	 */
	bool interrupted;
};

/* Where static thread-local storage lies (ELF Handling For Thread-Local Storage, 3). */
enum arch_tls {
	ARCH_TLS_ABOVE, /* variant I: above the thread pointer, after tcb_size bytes */
	ARCH_TLS_BELOW, /* variant II: ends below the thread pointer, which points to itself */
};

struct arch {
	const char *name;     /* "x86-64" */
	uint16_t elf_machine; /* EM_* */
	bool supported;       /* false: only name and machine are filled in */

	const struct arch_reg *regs; /* nregs of them, at most 64; the index is the DWARF number */
	unsigned nregs;
	unsigned pc, sp, fp;
	unsigned return_column; /* of the CFI: where a frame's return address is */
	/* At the first instruction of a function: call-frame address - stack pointer. */
	unsigned entry_cfa;

	size_t prstatus_size;  /* bytes of an NT_PRSTATUS descriptor in a core */
	size_t prstatus_regs;  /* offset of the user_regs in it */
	size_t user_regs_size; /* bytes of what PTRACE_GETREGSET NT_PRSTATUS returns */

	uint32_t tp_regset; /* NT_*: the register set that has the thread pointer */
	size_t tp_offset;   /* in that set */
	enum arch_tls tls;
	size_t tcb_size; /* ARCH_TLS_ABOVE */
	size_t tcb_dtv;  /* glibc: offset from the thread pointer of the pointer to the DTV */

	const unsigned char *breakpoint; /* the instruction */
	size_t breakpoint_size;
	size_t breakpoint_pc; /* pc - address of the instruction, when a thread stops at it */

	/* Fills what struct regs says of a system call. */
	void (*syscall_from_user)(const void *user_regs, struct regs *ret);
	/* Those that may block, for names; ended by one without name. */
	const struct syscall *syscalls;
};

/* The table of an ELF machine, also of one that is not supported; NULL when there is none. */
const struct arch *arch_for_machine(uint16_t machine);
/* The same for the ELF file what. ERR_UNSUPPORTED with advice where it cannot be debugged. */
struct error *arch_find(uint16_t machine, const char *what, const struct arch **ret) MUST_CHECK;
/* The names of all that are supported: "x86-64". */
const char *arch_supported(struct arena *a);

/* Zeros, in arena a. */
struct regs arch_regs_new(const struct arch *arch, struct arena *a);
/*
 * From the kernel's user_regs: ptrace and core notes share the format. The thread pointer is 0
 * where another register set has it.
 */
struct regs arch_regs_from_user(const struct arch *arch, struct arena *a, const void *user_regs);

/* The static TLS block of the executable, whose PT_TLS has this size, address and alignment. */
uint64_t arch_tls_block(const struct arch *arch, uint64_t thread_pointer, uint64_t memsz,
                        uint64_t vaddr, uint64_t align);
/* Of a library that was there at program start, by glibc's link_map.l_tls_offset. */
uint64_t arch_tls_at_offset(const struct arch *arch, uint64_t thread_pointer, uint64_t offset);

/* What is known of a system call's number, NULL when it is none of arch->syscalls. */
const struct syscall *arch_syscall(const struct arch *arch, uint64_t number);
const struct syscall *arch_syscall_named(const struct arch *arch, const char *name);

#endif

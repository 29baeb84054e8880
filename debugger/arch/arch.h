/*
 * What differs between processor architectures, one table each. DWARF register numbers are
 * those of the psABI (x86-64 psABI 1.0, figure 3.36).
 */
#ifndef DEBUGGER_ARCH_ARCH_H
#define DEBUGGER_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARCH_MAX_REGS = 33, ARCH_SYSCALL_ARGS = 6 };

/* Registers of a stopped thread, indexed by DWARF number. */
struct regs {
	uint64_t r[ARCH_MAX_REGS];
	uint64_t thread_pointer; /* fs_base on x86-64 */
	/*
	 * Did it sit in a system call when it was stopped: one that the stop interrupted, to be
	 * made again or to fail with EINTR? Not when the call was done.
	 */
	bool in_syscall;
	uint64_t syscall; /* its number */
	uint64_t syscall_args[ARCH_SYSCALL_ARGS];
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
	/* Those that may block, for names; ended by one without name. */
	const struct syscall *syscalls;
};

extern const struct arch arch_x86_64;
/* What is known of a system call's number, NULL when it is none of arch->syscalls. */
const struct syscall *arch_syscall(const struct arch *arch, uint64_t number);
const struct syscall *arch_syscall_named(const struct arch *arch, const char *name);

#endif

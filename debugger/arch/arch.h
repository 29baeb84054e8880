/*
 * The differences between processor architectures, one table for each (x86_64.c). TABLES in arch.c
 * lists the tables; no code outside of this folder names one. docs/extending.md describes how to
 * add one.
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
	uint64_t flags;          /* of the last comparison; 0 where they are not known */
	uint64_t thread_pointer; /* 0 unknown */
	/*
	 * Whether the thread was inside a system call when it was stopped: one that the stop
	 * interrupted and that the kernel will restart or fail with EINTR. False if the call had
	 * finished.
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

/* A system call that may block, and the meaning of its arguments. */
struct syscall {
	uint64_t number;
	const char *name;
	bool takes_fd;    /* the first argument is a file descriptor */
	bool takes_futex; /* the first argument is the address of a futex word */
	/*
	 * If a thread is stopped in this call, the call fails with EINTR when the thread continues.
	 * Other calls are restarted by the kernel without the program noticing. See signal(7),
	 * "Interruption of system calls and library functions by stop signals". Socket calls fail
	 * only if the socket has a timeout, which a debugger cannot see.
	 */
	bool interrupted;
};

/* The memory of a stopped thread, for an instruction that is executed in its place. */
struct arch_memory {
	void *arg;
	/*
	 * False: not there. Other threads may write at the same time: one call reads up to 8 bytes
	 * of one moment.
	 */
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t len);
	/*
	 * False: not there. Other threads see all of a write or nothing if it is one byte, or 8
	 * aligned ones.
	 */
	bool (*write)(void *arg, uint64_t addr, const void *buf, size_t len);
	/*
	 * Whether calls and returns are only what is written to the stack: no shadow stack. May be
	 * NULL: not known.
	 */
	bool (*plain_calls)(void *arg);
};

/* Position of static thread-local storage (ELF Handling For Thread-Local Storage, 3). */
enum arch_tls {
	ARCH_TLS_ABOVE, /* variant I: above the thread pointer, after tcb_size bytes */
	ARCH_TLS_BELOW, /* variant II: ends below the thread pointer, which points to itself */
};

/* The general registers, in cores and by ptrace. */
struct arch_regset {
	size_t prstatus_size;  /* bytes of an NT_PRSTATUS descriptor in a core */
	size_t prstatus_regs;  /* offset of the user_regs in it */
	size_t user_regs_size; /* bytes of what PTRACE_GETREGSET NT_PRSTATUS returns */
};

/* The thread pointer, and how the thread-local data is found from it. */
struct arch_thread_pointer {
	uint32_t regset; /* NT_*: the register set that has the thread pointer */
	size_t offset;   /* in that set */
	enum arch_tls layout;
	size_t tcb_size; /* ARCH_TLS_ABOVE */
	size_t tcb_dtv;  /* glibc: offset from the thread pointer of the pointer to the DTV */
};

/* Instructions that trap. */
struct arch_breakpoint {
	const unsigned char *insn; /* the instruction */
	size_t size;
	size_t pc;                 /* pc - address of the instruction, when a thread stops at it */
	const unsigned char *trap; /* code that compilers put behind a call that does not return */
	size_t trap_size;
};

struct arch {
	const char *name;     /* "x86-64" */
	uint16_t elf_machine; /* EM_* */
	bool supported;       /* false: only name and machine are filled in */

	const struct arch_reg *regs; /* nregs of them, at most 64; the index is the DWARF number,
	                                or any free one where pc has none */
	unsigned nregs;
	unsigned pc, sp, fp;
	unsigned return_column; /* the CFI column of the return address */
	/* Bit n: a function may leave register n (DWARF number) changed when it returns. */
	uint64_t changed_regs;
	size_t flags;        /* offset of struct regs.flags in the kernel's user_regs */
	uint64_t equal_flag; /* of these flags: what was compared last was equal */
	/*
	 * Register numbers of the kernel's asm/perf_regs.h, indexed by DWARF number, nregs of them.
	 */
	const unsigned char *perf_regs;
	unsigned char arguments[3]; /* DWARF numbers of the registers of the first arguments */
	/* CFA - stack pointer at the first instruction of a function. */
	unsigned entry_cfa;

	struct arch_regset regset;
	uint32_t
		shadow_regset; /* NT_*: only a thread with a shadow stack has it; 0: none has one */

	struct arch_thread_pointer thread_pointer;

	struct arch_breakpoint breakpoint;

	/*
	 * A flag of the word at this offset in user_regs: the next instruction is executed though a
	 * hardware breakpoint is there. 0: there is none.
	 */
	size_t resume_offset;
	uint64_t resume_flag;

	const unsigned char *syscall_insn; /* the instruction that enters the kernel, */
	size_t syscall_insn_size;          /* at most a word */

	/*
	 * Does what the instruction in code (len bytes from the pc on) does: to user_regs, with the
	 * pc behind it or where it leads to, and to the memory. False, and nothing is changed: it
	 * is none of the simple ones, or must be executed by the thread itself. NULL: there is no
	 * such function.
	 */
	bool (*execute)(void *user_regs, const unsigned char *code, size_t len,
	                const struct arch_memory *memory);

	/* Fills the system call members of struct regs. */
	void (*syscall_from_user)(const void *user_regs, struct regs *ret);
	/* System calls that may block, ended by an entry without a name. */
	const struct syscall *syscalls;
};

/* The table of an ELF machine, including unsupported ones; NULL if there is none. */
const struct arch *arch_for_machine(uint16_t machine);
/* The table for the ELF file named what. ERR_UNSUPPORTED, with advice, if it cannot be debugged. */
struct error *arch_find(uint16_t machine, const char *what, const struct arch **ret) MUST_CHECK;
/* The names of all supported architectures: "x86-64". */
const char *arch_supported(struct arena *a);

/* Registers that are all zero, in arena a. */
struct regs arch_regs_new(const struct arch *arch, struct arena *a);
/*
 * Converts the kernel's user_regs, which ptrace and core notes share. The thread pointer is 0 if it
 * is in another register set.
 */
struct regs arch_regs_from_user(const struct arch *arch, struct arena *a, const void *user_regs);
/*
 * Takes the thread pointer from size bytes of the register set tp_regset. It stays 0 if they are
 * too few.
 */
void arch_regs_add_thread_pointer(const struct arch *arch, const void *regset, size_t size,
                                  struct regs *regs);

/* The address of the executable's static TLS block; PT_TLS has this size, address and alignment. */
uint64_t arch_tls_block(const struct arch *arch, uint64_t thread_pointer, uint64_t memsz,
                        uint64_t vaddr, uint64_t align);
/*
 * The address of the block of a library loaded at program start, from glibc's
 * link_map.l_tls_offset.
 */
uint64_t arch_tls_at_offset(const struct arch *arch, uint64_t thread_pointer, uint64_t offset);

/* The entry of a system call in arch->syscalls, by number or name; NULL if there is none. */
const struct syscall *arch_syscall(const struct arch *arch, uint64_t number);
const struct syscall *arch_syscall_named(const struct arch *arch, const char *name);

#endif

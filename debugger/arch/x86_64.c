#include <elf.h>
#include <errno.h>
#include <string.h>

#include "debugger/arch/x86_64.h"

enum {
	DWARF_RDX = 1,
	DWARF_RSI = 4,
	DWARF_RDI = 5,
	DWARF_RBP = 6,
	DWARF_RSP = 7,
	DWARF_RIP = 16,
	DWARF_REGS = 17
};
enum { ZERO_FLAG = 1 << 6 };
enum { SHADOW_STACK = 0x204 }; /* NT_X86_SHSTK, which older headers do not have */

#define REG(name, word)                                                                            \
	{                                                                                          \
		(name), (word) * sizeof(uint64_t)                                                  \
	}

/* Indexed by DWARF number: psABI 1.0, figure 3.36; 16 is the return address column. */
static const struct arch_reg registers[DWARF_REGS] = {
	REG("rax", RAX), REG("rdx", RDX), REG("rcx", RCX), REG("rbx", RBX), REG("rsi", RSI),
	REG("rdi", RDI), REG("rbp", RBP), REG("rsp", RSP), REG("r8", R8),   REG("r9", R9),
	REG("r10", R10), REG("r11", R11), REG("r12", R12), REG("r13", R13), REG("r14", R14),
	REG("r15", R15), REG("rip", RIP),
};

/* psABI 1.0, figure 3.4: rax, rdx, rcx, rsi, rdi and r8 to r11 do not belong to the caller. */
enum { CHANGED_REGS = 0xf37 };

/*
 * Indexed by DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip. asm/perf_regs.h
 * of the kernel has ax, bx, cx, dx, si, di, bp, sp, ip, flags, six segments, then r8 to r15.
 */
static const unsigned char perf_registers[DWARF_REGS] = { 0,  3,  2,  1,  4,  5,  6,  7, 16,
	                                                  17, 18, 19, 20, 21, 22, 23, 8 };

/* Registers of the arguments of a system call: psABI 1.0, A.2.1. */
static const unsigned char from_syscall[ARCH_SYSCALL_ARGS] = { RDI, RSI, RDX, R10, R8, R9 };

/*
 * Range of ERESTARTSYS and the like in the kernel's include/linux/errno.h. No program ever sees
 * these results: the call is restarted or fails with EINTR. A finished call returns none of this
 * range.
 */
enum { RESTART_FIRST = 512, RESTART_LAST = 516 };

/*
 * ORIG_RAX is -1 unless the kernel was entered for a system call. An interrupted call has EINTR or
 * a restart code in RAX.
 */
static void syscall_from_user(const void *user_regs, struct regs *ret)
{
	uint64_t words[USER_WORDS];

	memcpy(words, user_regs, sizeof(words)); /* a core note may be unaligned */
	uint64_t failure = -words[RAX];

	ret->in_syscall =
		(int64_t)words[ORIG_RAX] >= 0 &&
		(failure == EINTR || (failure >= RESTART_FIRST && failure <= RESTART_LAST));
	ret->syscall = words[ORIG_RAX];
	for (size_t i = 0; i < ARCH_SYSCALL_ARGS; i++)
		ret->syscall_args[i] = words[from_syscall[i]];
}

static const unsigned char int3[] = { 0xcc };
static const unsigned char ud2[] = { 0x0f, 0x0b };
static const unsigned char syscall_insn[] = { 0x0f, 0x05 };

/* asm/unistd_64.h of the kernel. */
static const struct syscall syscalls[] = {
	{ .number = 0, .name = "read", .takes_fd = true, .interrupted = true },
	{ .number = 1, .name = "write", .takes_fd = true, .interrupted = true },
	{ .number = 2, .name = "open" },
	{ .number = 3, .name = "close", .takes_fd = true },
	{ .number = 4, .name = "stat" },
	{ .number = 5, .name = "fstat", .takes_fd = true },
	{ .number = 7, .name = "poll" },
	{ .number = 8, .name = "lseek", .takes_fd = true },
	{ .number = 9, .name = "mmap" },
	{ .number = 10, .name = "mprotect" },
	{ .number = 11, .name = "munmap" },
	{ .number = 12, .name = "brk" },
	{ .number = 16, .name = "ioctl", .takes_fd = true },
	{ .number = 17, .name = "pread64", .takes_fd = true },
	{ .number = 18, .name = "pwrite64", .takes_fd = true },
	{ .number = 19, .name = "readv", .takes_fd = true, .interrupted = true },
	{ .number = 20, .name = "writev", .takes_fd = true, .interrupted = true },
	{ .number = 23, .name = "select" },
	{ .number = 24, .name = "sched_yield" },
	{ .number = 25, .name = "mremap" },
	{ .number = 26, .name = "msync" },
	{ .number = 28, .name = "madvise" },
	{ .number = 34, .name = "pause" },
	{ .number = 35, .name = "nanosleep" },
	{ .number = 40, .name = "sendfile", .takes_fd = true },
	{ .number = 42, .name = "connect", .takes_fd = true, .interrupted = true },
	{ .number = 43, .name = "accept", .takes_fd = true, .interrupted = true },
	{ .number = 44, .name = "sendto", .takes_fd = true, .interrupted = true },
	{ .number = 45, .name = "recvfrom", .takes_fd = true, .interrupted = true },
	{ .number = 46, .name = "sendmsg", .takes_fd = true, .interrupted = true },
	{ .number = 47, .name = "recvmsg", .takes_fd = true, .interrupted = true },
	{ .number = 48, .name = "shutdown", .takes_fd = true },
	{ .number = 56, .name = "clone" },
	{ .number = 57, .name = "fork" },
	{ .number = 58, .name = "vfork" },
	{ .number = 59, .name = "execve" },
	{ .number = 60, .name = "exit" },
	{ .number = 61, .name = "wait4" },
	{ .number = 65, .name = "semop", .interrupted = true },
	{ .number = 69, .name = "msgsnd" },
	{ .number = 70, .name = "msgrcv" },
	{ .number = 72, .name = "fcntl", .takes_fd = true },
	{ .number = 73, .name = "flock", .takes_fd = true },
	{ .number = 74, .name = "fsync", .takes_fd = true },
	{ .number = 75, .name = "fdatasync", .takes_fd = true },
	{ .number = 77, .name = "ftruncate", .takes_fd = true },
	{ .number = 82, .name = "rename" },
	{ .number = 83, .name = "mkdir" },
	{ .number = 84, .name = "rmdir" },
	{ .number = 85, .name = "creat" },
	{ .number = 87, .name = "unlink" },
	{ .number = 128, .name = "rt_sigtimedwait", .interrupted = true },
	{ .number = 130, .name = "rt_sigsuspend" },
	{ .number = 149, .name = "mlock" },
	{ .number = 151, .name = "mlockall" },
	{ .number = 162, .name = "sync" },
	{ .number = 187, .name = "readahead", .takes_fd = true },
	{ .number = 202, .name = "futex", .takes_futex = true },
	{ .number = 208, .name = "io_getevents", .interrupted = true },
	{ .number = 217, .name = "getdents64", .takes_fd = true },
	{ .number = 219, .name = "restart_syscall" },
	{ .number = 220, .name = "semtimedop", .interrupted = true },
	{ .number = 221, .name = "fadvise64" },
	{ .number = 230, .name = "clock_nanosleep" },
	{ .number = 231, .name = "exit_group" },
	{ .number = 232, .name = "epoll_wait", .takes_fd = true, .interrupted = true },
	{ .number = 242, .name = "mq_timedsend" },
	{ .number = 243, .name = "mq_timedreceive" },
	{ .number = 247, .name = "waitid" },
	{ .number = 257, .name = "openat" },
	{ .number = 263, .name = "unlinkat" },
	{ .number = 270, .name = "pselect6" },
	{ .number = 271, .name = "ppoll" },
	{ .number = 275, .name = "splice", .takes_fd = true },
	{ .number = 276, .name = "tee", .takes_fd = true },
	{ .number = 277, .name = "sync_file_range", .takes_fd = true },
	{ .number = 278, .name = "vmsplice", .takes_fd = true },
	{ .number = 281, .name = "epoll_pwait", .takes_fd = true, .interrupted = true },
	{ .number = 285, .name = "fallocate", .takes_fd = true },
	{ .number = 288, .name = "accept4", .takes_fd = true, .interrupted = true },
	{ .number = 295, .name = "preadv", .takes_fd = true },
	{ .number = 296, .name = "pwritev", .takes_fd = true },
	{ .number = 299, .name = "recvmmsg", .takes_fd = true, .interrupted = true },
	{ .number = 306, .name = "syncfs", .takes_fd = true },
	{ .number = 307, .name = "sendmmsg", .takes_fd = true, .interrupted = true },
	{ .number = 316, .name = "renameat2" },
	{ .number = 318, .name = "getrandom" },
	{ .number = 323, .name = "userfaultfd" },
	{ .number = 324, .name = "membarrier" },
	{ .number = 326, .name = "copy_file_range", .takes_fd = true },
	{ .number = 327, .name = "preadv2", .takes_fd = true },
	{ .number = 328, .name = "pwritev2", .takes_fd = true },
	{ .number = 332, .name = "statx" },
	{ .number = 333, .name = "io_pgetevents", .interrupted = true },
	{ .number = 426, .name = "io_uring_enter", .takes_fd = true, .interrupted = true },
	{ .number = 435, .name = "clone3" },
	{ .number = 441, .name = "epoll_pwait2", .takes_fd = true, .interrupted = true },
	{ .number = 449, .name = "futex_waitv" },
	{ 0 },
};

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.elf_machine = EM_X86_64,
	.supported = true,
	.regs = registers,
	.nregs = DWARF_REGS,
	.pc = DWARF_RIP,
	.sp = DWARF_RSP,
	.fp = DWARF_RBP,
	.return_column = DWARF_RIP,
	.changed_regs = CHANGED_REGS,
	.perf_regs = perf_registers,
	.arguments = { DWARF_RDI, DWARF_RSI, DWARF_RDX },
	.flags = EFLAGS * sizeof(uint64_t),
	.equal_flag = ZERO_FLAG,
	.entry_cfa = 8,
	.regset.prstatus_size = 336,
	.regset.prstatus_regs = 112,
	.regset.user_regs_size = USER_WORDS * sizeof(uint64_t),
	.shadow_regset = SHADOW_STACK,
	.thread_pointer.regset = NT_PRSTATUS,
	.thread_pointer.offset = FS_BASE * sizeof(uint64_t),
	.thread_pointer.layout = ARCH_TLS_BELOW,
	.thread_pointer.tcb_dtv = 8,
	.breakpoint.insn = int3,
	.breakpoint.size = sizeof(int3),
	.breakpoint.pc = sizeof(int3),
	.resume_offset = EFLAGS * sizeof(uint64_t),
	.resume_flag = UINT64_C(1) << 16, /* RF: Intel SDM vol. 3, 18.3.1.1 */
	.breakpoint.trap = ud2,
	.breakpoint.trap_size = sizeof(ud2),
	.syscall_insn = syscall_insn,
	.syscall_insn_size = sizeof(syscall_insn),
	.execute = x86_64_execute,
	.syscall_from_user = syscall_from_user,
	.syscalls = syscalls,
};

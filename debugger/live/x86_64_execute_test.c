/* Tests of arch->execute of x86-64: what the processor itself does with an instruction is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "debugger/arch/x86_64.h"

enum { AREA = 8192, CODE_AT = 256, STACK_AT = 4096, DATA_AT = 6144, ROUNDS = 200 };
enum {
	ADJUST = 1 << 4,
	OVERFLOW = 1 << 11,
	FLAGS = 0x8d5 /* carry, parity, adjust, zero, sign, overflow */
};

/* Executed both ways. The data is at RBX, R12 and R13, their negative offsets too. */
static const char *const simple[] = {
	"01d8",                 /* add eax, ebx */
	"4801d8",               /* add rax, rbx */
	"6601d8",               /* add ax, bx */
	"00e0",                 /* add al, ah */
	"4000f0",               /* add al, sil */
	"0303",                 /* add eax, [rbx] */
	"4c034b08",             /* add r9, [rbx + 8] */
	"0005fa040000",         /* add [rip + ...], al: the code's own bytes are not read again */
	"480144240c",           /* add [rsp + 12], rax: see below, not aligned */
	"4801442410",           /* add [rsp + 16], rax */
	"0023",                 /* add [rbx], ah */
	"0580000000",           /* add eax, 128 */
	"0480",                 /* add al, -128 */
	"660500ff",             /* add ax, -256 */
	"4829c8",               /* sub rax, rcx */
	"28c8",                 /* sub al, cl */
	"6629c8",               /* sub ax, cx */
	"4883ec08",             /* sub rsp, 8 */
	"4881ec78010000",       /* sub rsp, 376 */
	"83c0ff",               /* add eax, -1 */
	"6683c0ff",             /* add ax, -1 */
	"4181c0ffffff7f",       /* add r8d, INT_MAX */
	"4839d0",               /* cmp rax, rdx */
	"39d0",                 /* cmp eax, edx */
	"3b4304",               /* cmp eax, [rbx + 4] */
	"803b7f",               /* cmp byte [rbx], 127 */
	"66813b3412",           /* cmp word [rbx], 0x1234 */
	"3c41",                 /* cmp al, 65 */
	"21d0",                 /* and eax, edx */
	"4809d0",               /* or rax, rdx */
	"31c0",                 /* xor eax, eax */
	"4d31f6",               /* xor r14, r14 */
	"80e303",               /* and bl, 3 */
	"800f01",               /* or byte [rdi], 1 */
	"85c0",                 /* test eax, eax */
	"84c9",                 /* test cl, cl */
	"4885d2",               /* test rdx, rdx */
	"f60301",               /* test byte [rbx], 1 */
	"f7c200000080",         /* test edx, INT_MIN */
	"66f7c20080",           /* test dx, 0x8000 */
	"a87f",                 /* test al, 127 */
	"a900000080",           /* test eax, INT_MIN */
	"66a90080",             /* test ax, 0x8000 */
	"f6d4",                 /* not ah */
	"f7d1",                 /* not ecx */
	"48f7542410",           /* not qword [rsp + 16] */
	"f6d8",                 /* neg al */
	"66f7d9",               /* neg cx */
	"48f7da",               /* neg rdx */
	"f61b",                 /* neg byte [rbx] */
	"fec0",                 /* inc al */
	"feca",                 /* dec dl */
	"ffc1",                 /* inc ecx */
	"66ffc9",               /* dec cx */
	"49ffc0",               /* inc r8 */
	"48ff4c2408",           /* dec qword [rsp + 8] */
	"fe03",                 /* inc byte [rbx] */
	"c0e003",               /* shl al, 3 */
	"c1e81f",               /* shr eax, 31 */
	"48c1e03f",             /* shl rax, 63 */
	"49c1e820",             /* shr r8, 32 */
	"48c1f803",             /* sar rax, 3 */
	"66c1f90f",             /* sar cx, 15 */
	"d1e0",                 /* shl eax, 1 */
	"48d1ea",               /* shr rdx, 1 */
	"d1fa",                 /* sar edx, 1 */
	"d0e8",                 /* shr al, 1 */
	"66d1e2",               /* shl dx, 1 */
	"48d3e2",               /* shl rdx, cl */
	"d3fa",                 /* sar edx, cl */
	"89d8",                 /* mov eax, ebx */
	"4889d8",               /* mov rax, rbx */
	"4589c1",               /* mov r9d, r8d */
	"88e0",                 /* mov al, ah */
	"4088f0",               /* mov al, sil */
	"6689d8",               /* mov ax, bx */
	"8b03",                 /* mov eax, [rbx] */
	"498b0424",             /* mov rax, [r12] */
	"498b4500",             /* mov rax, [r13] */
	"488b83f8ffffff",       /* mov rax, [rbx - 8] */
	"428b44ab04",           /* mov eax, [rbx + r13 * 4 + 4]: not there */
	"8b04cb",               /* mov eax, [rbx + rcx * 8] */
	"428b04c3",             /* mov eax, [rbx + r8 * 8] */
	"4a8b040b",             /* mov rax, [rbx + r9] */
	"488b05fa040000",       /* mov rax, [rip + 1274] */
	"8a4301",               /* mov al, [rbx + 1] */
	"8a7301",               /* mov dh, [rbx + 1] */
	"668b03",               /* mov ax, [rbx] */
	"4889442410",           /* mov [rsp + 16], rax */
	"48895c24f8",           /* mov [rsp - 8], rbx */
	"882b",                 /* mov [rbx], ch */
	"4488430b",             /* mov [rbx + 11], r8b */
	"c60307",               /* mov byte [rbx], 7 */
	"c644241f01",           /* mov byte [rsp + 31], 1 */
	"48c7442410feffffff",   /* mov qword [rsp + 16], -2 */
	"c7c005000000",         /* mov eax, 5 */
	"48c7c0ffffffff",       /* mov rax, -1 */
	"b001",                 /* mov al, 1 */
	"b480",                 /* mov ah, 128 */
	"40b680",               /* mov sil, 128 */
	"b8ffffffff",           /* mov eax, -1 */
	"66b8ff7f",             /* mov ax, 0x7fff */
	"49b8f0debc9a78563412", /* mov r8, 0x123456789abcdef0 */
	"0fb603",               /* movzx eax, byte [rbx] */
	"0fb6c4",               /* movzx eax, ah */
	"400fb6c6",             /* movzx eax, sil */
	"480fb703",             /* movzx rax, word [rbx] */
	"0fbe03",               /* movsx eax, byte [rbx] */
	"480fbe03",             /* movsx rax, byte [rbx] */
	"480fbfc1",             /* movsx rax, cx */
	"4863c1",               /* movsxd rax, ecx */
	"486303",               /* movsxd rax, [rbx] */
	"0f44c2",               /* cmove eax, edx */
	"480f4203",             /* cmovb rax, [rbx] */
	"660f4fc2",             /* cmovg ax, dx */
	"0f95c0",               /* setne al */
	"410f9cc0",             /* setl r8b */
	"0f9703",               /* seta [rbx] */
	"488d442418",           /* lea rax, [rsp + 24] */
	"8d0449",               /* lea eax, [rcx + rcx * 2] */
	"488d04cd08000000",     /* lea rax, [rcx * 8 + 8] */
	"488d0500010000",       /* lea rax, [rip + 256] */
	"668d4104",             /* lea ax, [rcx + 4] */
	"50",                   /* push rax */
	"4156",                 /* push r14 */
	"54",                   /* push rsp */
	"ff33",                 /* push [rbx] */
	"58",                   /* pop rax */
	"415f",                 /* pop r15 */
	"5c",                   /* pop rsp */
	"90",                   /* nop */
	"6690",                 /* nop */
	"0f1f4000",             /* nop */
	"660f1f840000000000",   /* nop */
	"66662e0f1f4000",       /* nop */
	"662e0f1f840000000000", /* nop */
	"eb10",                 /* jmp */
	"e900010000",           /* jmp */
	"ffe3",                 /* jmp rbx */
	"e8fbff0000",           /* call */
	"ffd3",                 /* call rbx */
	"ff542408",             /* call [rsp + 8]: mostly not canonical */
	"c3",                   /* ret: likewise */
	"7010",
	"7110",
	"7210",
	"7310",
	"7410",
	"7510",
	"7610",
	"7710",
	"7810",
	"7910",
	"7a10",
	"7b10",
	"7c10",
	"7d10",
	"7e10",
	"7f80",
	"0f8400010000", /* je */
	"0f8fffffffff", /* jg */
};

/* Left to the thread. */
static const char *const refused[] = {
	"64488b042500000000",  /* mov rax, fs:0 */
	"f00103",              /* lock add [rbx], eax */
	"8903",                /* mov [rbx], eax: others might see half of it */
	"48898700e8ffff",      /* mov [rdi - 6144], rax: not on the stack */
	"6689442410",          /* mov [rsp + 16], ax */
	"4889442411",          /* mov [rsp + 17], rax */
	"668d",                /* ends too early */
	"e80000",              /* likewise */
	"48",                  /* likewise */
	"",                    /* likewise */
	"11d8",                /* adc */
	"d1d0",                /* rcl eax, 1 */
	"c1c003",              /* rol eax, 3 */
	"c1e020",              /* shl eax, 32: by 0 */
	"c0e009",              /* shl al, 9: what leaves it last is not defined */
	"f7e1",                /* mul ecx */
	"f7f1",                /* div ecx */
	"ff03",                /* inc dword [rbx]: others might see half of it */
	"fed0",                /* not there */
	"66ff33",              /* push word [rbx] */
	"66662e",              /* prefixes only */
	"f3a4",                /* rep movsb */
	"0f05",                /* syscall */
	"cc",                  /* int3 */
	"0f0b",                /* ud2 */
	"f4",                  /* hlt */
	"87d8",                /* xchg */
	"678b03",              /* mov eax, [ebx] */
	"8b0425f0ffff7f",      /* mov eax, [0x7ffffff0]: not mapped */
	"48a1f0debc9a78563412" /* mov rax, [...] */
};

/* ---- memory ---- */

struct area {
	unsigned char *bytes; /* a copy of what is at addr */
	uint64_t addr;
	bool shadow;
};

static unsigned char *find(void *arg, uint64_t addr, size_t len)
{
	struct area *a = arg;

	return addr >= a->addr && addr - a->addr <= AREA - len ? a->bytes + (addr - a->addr) : NULL;
}

static bool read_area(void *arg, uint64_t addr, void *buf, size_t len)
{
	const unsigned char *from = find(arg, addr, len);

	if (from)
		memcpy(buf, from, len);
	return from;
}

static bool write_area(void *arg, uint64_t addr, const void *buf, size_t len)
{
	unsigned char *to = find(arg, addr, len);

	if (to)
		memcpy(to, buf, len);
	return to;
}

static bool is_plain(void *arg)
{
	return !((const struct area *)arg)->shadow;
}

static bool execute(struct area *a, uint64_t *words, const unsigned char *code, size_t len)
{
	const struct arch_memory memory = {
		.arg = a, .read = read_area, .write = write_area, .plain_calls = is_plain
	};

	return x86_64_execute(words, code, len, &memory);
}

static size_t to_code(const char *hex, unsigned char *ret)
{
	size_t n = strlen(hex) / 2;
	unsigned byte;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		ret[i] = (unsigned char)byte;
	}
	return n;
}

/* ---- values ---- */

static uint64_t seed;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Small, large and edge ones. */
static uint64_t any_number(void)
{
	static const uint64_t edges[] = { 0,          1,          0x7f,      0x80,
		                          0xff,       0x7fff,     INT32_MAX, UINT64_C(1) << 31,
		                          UINT32_MAX, INT64_MAX,  INT64_MIN, UINT64_MAX,
		                          0x8000,     0xffffff80, 16,        8 };

	return any() & 1 ? edges[any() % 16] : any() >> (any() & 63);
}

static void set_words(uint64_t *words, uint64_t area)
{
	for (unsigned i = 0; i <= RDI; i++)
		words[i] = any_number();
	words[RBX] = words[R12] = words[R13] = words[RDI] = area + DATA_AT;
	words[RCX] = any() % 2 ? any() % 64 : words[RCX];
	words[R8] = words[R9] = any() % 64;
	words[RSP] = area + STACK_AT;
	words[RIP] = area + CODE_AT;
	words[EFLAGS] = 0x202 | (any() & FLAGS);
}

#ifdef __x86_64__
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that shares the area, and stops. */
static pid_t start(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	_exit(0);
}

/* By another number than 1: how the overflow flag ends is not defined. */
static bool is_long_shift(const char *hex)
{
	static const char *const opcodes[] = { "c0", "c1", "d2", "d3" };
	const char *opcode = hex[0] == '4' || strncmp(hex, "66", 2) == 0 ? hex + 2 : hex;

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(*opcodes); i++) {
		if (strncmp(opcode, opcodes[i], 2) == 0)
			return true;
	}
	return false;
}

static void check_same(const char *hex, const uint64_t *words, const uint64_t *wanted,
                       const struct area *a, const unsigned char *memory)
{
	/* Undefined after and, or, xor and test. */
	static const char defined[] = "0123";
	uint64_t flags = FLAGS & ~(uint64_t)(strchr(defined, hex[0]) ? 0 : ADJUST);

	if (hex[0] == '2' && hex[1] <= '5')
		flags &= ~(uint64_t)ADJUST; /* and */
	if (hex[0] == '3' && hex[1] <= '5')
		flags &= ~(uint64_t)ADJUST; /* xor */
	if (is_long_shift(hex))
		flags &= ~(uint64_t)OVERFLOW;
	for (unsigned i = 0; i <= RSP; i++) {
		uint64_t mask = i == EFLAGS ? flags : UINT64_MAX;

		if (i == ORIG_RAX || i == CS)
			continue;
		if ((words[i] & mask) != (wanted[i] & mask))
			fail_msg("%s: word %u is %#lx, not %#lx", hex, i, (long)words[i],
			         (long)wanted[i]);
	}
	if (memcmp(a->bytes, memory, AREA) != 0)
		fail_msg("%s: memory differs", hex);
}

/* How often it was executed. */
static unsigned compare(pid_t pid, unsigned char *memory, const char *hex)
{
	unsigned char bytes[AREA];
	uint64_t before[USER_WORDS], words[USER_WORDS];
	struct area a = { .bytes = bytes, .addr = (uint64_t)(uintptr_t)memory };
	unsigned done = 0;
	int status;

	for (unsigned round = 0; round < ROUNDS; round++) {
		ptrace(PTRACE_GETREGS, pid, NULL, before);
		for (unsigned i = 0; i < AREA; i++)
			memory[i] = (unsigned char)any();
		size_t len = to_code(hex, memory + CODE_AT);
		set_words(before, a.addr);
		before[ORIG_RAX] = UINT64_MAX;
		memcpy(words, before, sizeof(words));
		memcpy(bytes, memory, AREA);
		if (!execute(&a, words, memory + CODE_AT, len)) {
			assert_memory_equal(words, before, sizeof(words));
			assert_memory_equal(bytes, memory, AREA);
			continue;
		}
		done++;
		ptrace(PTRACE_SETREGS, pid, NULL, before);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
		ptrace(PTRACE_GETREGS, pid, NULL, before);
		check_same(hex, words, before, &a, memory);
	}
	return done;
}

static void test_same_as_processor(void **state)
{
	unsigned char *memory = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	(void)state;
	seed = UINT64_C(88172645463325252);
	assert_ptr_not_equal(memory, MAP_FAILED);
	pid_t pid = start();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < sizeof(simple) / sizeof(*simple); i++) {
		unsigned done = compare(pid, memory, simple[i]);

		/* Those that end in "not there" and the like are seldom or never executed. */
		if (!done && strcmp(simple[i], "480144240c") != 0 &&
		    strcmp(simple[i], "428b44ab04") != 0 && strcmp(simple[i], "ff542408") != 0 &&
		    strcmp(simple[i], "c3") != 0)
			fail_msg("%s: not executed", simple[i]);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	munmap(memory, AREA);
}
#endif

static void test_refused(void **state)
{
	unsigned char bytes[AREA] = { 0 }, zeros[AREA] = { 0 }, code[16];
	struct area a = { .bytes = bytes, .addr = 0x10000 };
	uint64_t words[USER_WORDS], before[USER_WORDS] = { 0 };

	(void)state;
	seed = 1;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		size_t len = to_code(refused[i], code);

		set_words(before, a.addr);
		memcpy(words, before, sizeof(words));
		if (execute(&a, words, code, len))
			fail_msg("%s: executed", refused[i]);
		assert_memory_equal(words, before, sizeof(words));
		assert_memory_equal(bytes, zeros, AREA);
	}
}

/* A shadow stack must have the same return address. */
static void test_shadow_stack(void **state)
{
	unsigned char bytes[AREA] = { 0 }, code[16];
	struct area a = { .bytes = bytes, .addr = 0x10000, .shadow = true };
	static const char *const list[] = { "e800010000", "ffd3", "c3" };
	uint64_t words[USER_WORDS] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		set_words(words, a.addr);
		assert_false(execute(&a, words, code, to_code(list[i], code)));
		a.shadow = false;
		assert_true(execute(&a, words, code, to_code(list[i], code)));
		a.shadow = true;
	}
}

/* The program traps its own instructions. */
static void test_trap_flag(void **state)
{
	unsigned char bytes[AREA] = { 0 };
	struct area a = { .bytes = bytes, .addr = 0x10000 };
	uint64_t words[USER_WORDS] = { 0 };

	(void)state;
	set_words(words, a.addr);
	words[EFLAGS] |= 0x100;
	assert_false(execute(&a, words, (const unsigned char[]){ 0x90 }, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(test_same_as_processor),
#endif
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_shadow_stack),
		cmocka_unit_test(test_trap_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

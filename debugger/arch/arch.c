#include "debugger/arch/arch.h"

#include <elf.h>
#include <string.h>

#include "debugger/base/str.h"

/* The tables of all architectures, one per line. */
#define TABLES(X)                                                                                  \
	X(arch_x86_64)                                                                             \
	X(arch_aarch64)

#define DECLARE(table) extern const struct arch table;
#define ADDRESS(table) &(table),

TABLES(DECLARE)

static const struct arch *const tables[] = { TABLES(ADDRESS) };

enum { NTABLES = sizeof(tables) / sizeof(tables[0]) };

const struct arch *arch_for_machine(uint16_t machine)
{
	for (size_t i = 0; i < NTABLES; i++) {
		if (tables[i]->elf_machine == machine)
			return tables[i];
	}
	return NULL;
}

const char *arch_supported(struct arena *a)
{
	STR(s);

	for (size_t i = 0; i < NTABLES; i++) {
		if (tables[i]->supported)
			str_printf(&s, "%s%s", s.len ? ", " : "", tables[i]->name);
	}
	return arena_strdup(a, str_text(&s));
}

struct error *arch_find(uint16_t machine, const char *what, const struct arch **ret)
{
	SCRATCH(scratch);
	const struct arch *arch = arch_for_machine(machine);

	if (arch && arch->supported) {
		*ret = arch;
		return NULL;
	}
	if (arch)
		return error_new(
			ERR_UNSUPPORTED,
			"%s: %s: not supported yet; this asyncdbg reads %s (docs/extending.md "
			"says how an architecture is added)",
			what, arch->name, arch_supported(&scratch));
	return error_new(ERR_UNSUPPORTED,
	                 "%s is from another machine (ELF machine %u); this asyncdbg reads %s",
	                 what, machine, arch_supported(&scratch));
}

struct regs arch_regs_new(const struct arch *arch, struct arena *a)
{
	return (struct regs){ .r = NEW_ARRAY(a, uint64_t, arch->nregs) };
}

/* Reads a word of user_regs, which may be unaligned in a core note. */
static uint64_t arch_word_at(const void *user_regs, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const char *)user_regs + offset, sizeof(word));
	return word;
}

struct regs arch_regs_from_user(const struct arch *arch, struct arena *a, const void *user_regs)
{
	struct regs regs = arch_regs_new(arch, a);

	for (size_t i = 0; i < arch->nregs; i++)
		regs.r[i] = arch_word_at(user_regs, arch->regs[i].offset);
	regs.flags = arch->equal_flag ? arch_word_at(user_regs, arch->flags) : 0;
	if (arch->thread_pointer.regset == NT_PRSTATUS)
		arch_regs_add_thread_pointer(arch, user_regs, arch->regset.user_regs_size, &regs);
	arch->syscall_from_user(user_regs, &regs);
	return regs;
}

void arch_regs_add_thread_pointer(const struct arch *arch, const void *regset, size_t size,
                                  struct regs *regs)
{
	if (size >= sizeof(uint64_t) && arch->thread_pointer.offset <= size - sizeof(uint64_t))
		regs->thread_pointer = arch_word_at(regset, arch->thread_pointer.offset);
}

uint64_t arch_tls_block(const struct arch *arch, uint64_t thread_pointer, uint64_t memsz,
                        uint64_t vaddr, uint64_t align)
{
	/* The address nearest to the thread pointer that equals vaddr modulo align. */
	if (arch->thread_pointer.layout == ARCH_TLS_BELOW)
		return thread_pointer - memsz - ((0 - vaddr - memsz) & (align - 1));
	return thread_pointer + arch->thread_pointer.tcb_size +
	       ((vaddr - arch->thread_pointer.tcb_size) & (align - 1));
}

uint64_t arch_tls_at_offset(const struct arch *arch, uint64_t thread_pointer, uint64_t offset)
{
	return arch->thread_pointer.layout == ARCH_TLS_BELOW ? thread_pointer - offset
	                                                     : thread_pointer + offset;
}

const struct syscall *arch_syscall(const struct arch *arch, uint64_t number)
{
	for (const struct syscall *s = arch->syscalls; s && s->name; s++) {
		if (s->number == number)
			return s;
	}
	return NULL;
}

const struct syscall *arch_syscall_named(const struct arch *arch, const char *name)
{
	for (const struct syscall *s = arch->syscalls; s && s->name; s++) {
		if (strcmp(s->name, name) == 0)
			return s;
	}
	return NULL;
}

#include "debugger/arch/arch.h"

#include <string.h>

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

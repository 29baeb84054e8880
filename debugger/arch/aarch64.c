#include <elf.h>

#include "debugger/arch/arch.h"

/* Known so that it can be named. */
const struct arch arch_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.supported = false,
};

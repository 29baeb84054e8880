#include <elf.h>

#include "debugger/arch/arch.h"

/* Not supported; listed so that error messages can name it. */
const struct arch arch_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.supported = false,
};

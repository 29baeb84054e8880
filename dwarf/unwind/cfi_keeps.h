/*
 * Registers that the unwind information of a function does not mention. libdw takes those for
 * lost, except for the ones that its backend lists, and the backend for x86-64 lists register 0 in
 * place of rbx, which has the number 3 (elfutils, backends/x86_64_cfi.c).
 */
#ifndef DWARF_UNWIND_CFI_KEEPS_H
#define DWARF_UNWIND_CFI_KEEPS_H

#include <stdint.h>

#include "debugger/target/target.h"

/*
 * Registers among regs (a bit for each, by DWARF number) for which the unwind information at pc, a
 * run-time address, has no rule: a function that the ABI lets its callers rely on them has not
 * changed them. None where there is no such information, or where it says that one is lost
 * (DW_CFA_undefined), as gcc 14 does in functions that do not return.
 */
uint64_t cfi_keeps(const struct target *t, uint64_t pc, uint64_t regs);

#endif

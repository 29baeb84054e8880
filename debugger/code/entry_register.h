/* Whether a function has left a register as it was when it was called; x86-64. */
#ifndef DEBUGGER_CODE_ENTRY_REGISTER_H
#define DEBUGGER_CODE_ENTRY_REGISTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the first argument of a function is still in its register at pc, whichever way a thread
 * has come there: nothing from the first instruction on writes it, and no jump leads in between.
 * code: size bytes of the function, which begins at low. False: it is not, or that is not known.
 */
bool entry_register_is_kept(uint16_t machine, uint64_t low, const uint8_t *code, size_t size,
                            uint64_t pc);

#endif

/*
 * Demangles Rust v0 symbols (RFC 2603), `_R...`. It is our own because a symbol may come from a
 * hostile file: libiberty follows back references without a budget, so that 160 bytes can keep it
 * busy for minutes and make it allocate gigabytes.
 */
#ifndef DWARF_NAMES_RUST_V0_H
#define DWARF_NAMES_RUST_V0_H

#include <stdbool.h>

#include "debugger/base/str.h"

/*
 * Appends the demangled symbol without crate hashes: "<app::A<u8>>::go::<3>::{closure#0}". Text
 * longer than the limit of demangle.h ends in "...". False, with out unchanged, when symbol is not
 * in this mangling or exceeds the limits of depth or steps.
 */
bool rust_v0_demangle(struct str *out, const char *symbol);

#endif

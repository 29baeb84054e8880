/*
 * The v0 mangling of Rust symbols (RFC 2603), `_R...`. Our own because a symbol may come from a
 * hostile file: libiberty's follows back references without a budget, so 160 bytes keep it busy
 * for minutes and make it ask for gigabytes.
 */
#ifndef DWARF_NAMES_RUST_V0_H
#define DWARF_NAMES_RUST_V0_H

#include <stdbool.h>

#include "debugger/base/str.h"

/*
 * Appends what symbol means, without crate hashes: "<app::A<u8>>::go::<3>::{closure#0}". Text
 * longer than the limit of demangle.h ends in "...". False, and out as it was, when symbol is
 * not of this mangling or is beyond reason (depth, steps).
 */
bool rust_v0_demangle(struct str *out, const char *symbol);

#endif

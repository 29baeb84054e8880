#!/bin/bash
# Makes shapes.elf from shapes.rs: one unit of Rust debug info, small enough to be committed, so
# that the unit tests need no rustc.
#
# usage: make_shapes.sh
#
# It is linked without std, whose own debug info would be a hundred times larger; that is why
# it cannot run. The tests know offsets only by name: it may be made again with another rustc.
#
# RUSTC  the compiler, default that in PATH
set -euo pipefail

cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${RUSTC:-rustc}" --edition 2021 --crate-type lib --crate-name shapes --emit obj \
	-C debuginfo=2 -C opt-level=0 -C codegen-units=1 -C panic=abort \
	-C relocation-model=static --remap-path-prefix "$PWD=/src" -o "$work/shapes.o" shapes.rs
ld -static --unresolved-symbols=ignore-all --build-id --gc-sections -e boxed -u integers -u structs \
	-u enums --compress-debug-sections=zlib -o shapes.elf "$work/shapes.o"
if strings -a shapes.elf | grep -F -e "$HOME/" -e "$PWD"; then
	echo "shapes.elf names a place of this machine" >&2
	exit 1
fi
ls -l shapes.elf

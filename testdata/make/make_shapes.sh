#!/bin/bash
# Makes shapes.elf from shapes.rs: one unit of Rust debug info, small enough to be committed, so
# that the unit tests need no rustc.
#
# usage: make_shapes.sh [NAME]
#
# NAME   shapes (the default), values, unsized, once, statics, endless, executor, executors, moved, futures, futures_util, walks,
#        owned, http, compio, smol, spread, resumed, unset, nested, probed, inlined, entry, shadowed, taken or slots:
#        NAME.elf from NAME.rs, optimised only for the last five. futures.elf also has streams.rs and sets.rs,
#        walks.elf and owned.elf futures.rs, spread.elf library.rs: each is a crate; http.elf is made of hyper.rs,
#        requests.rs, want.rs, h2.rs, websocket.rs, tls.rs and quinn.rs; compio.elf of compio.rs and schedules.rs, smol.elf
#        of pipes.rs, sources.rs and smol.rs, executor.elf of executor.rs, executor_state.rs and slab.rs
#        shared: shared.elf, which is http.elf with a part of its debug info in a file that it had in common with
#        others, as dwz -m makes it
#
# It is linked without std, whose own debug info would be a hundred times larger; that is why
# it cannot run. The tests know offsets only by name: it may be made again with another rustc.
#
# RUSTC  the compiler, default that in PATH
set -euo pipefail

cd "$(dirname "$0")/../unit"
name=${1:-shapes}
if [ "$name" = shared ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	for file in shapes values http; do
		objcopy --decompress-debug-sections "$file.elf" "$work/$file.elf"
	done
	(cd "$work" && dwz -m alternate -M alternate shapes.elf values.elf http.elf)
	mv "$work/http.elf" shared.elf
	ls -l shared.elf
	exit
fi
optimised=0 edition=2021 model=static
crates=("$name $name")
case $name in
shapes) roots=(-e boxed -u integers -u structs -u enums) ;;
inlined | entry | shadowed | taken) roots=(-e "$name") optimised=3 ;;
futures)
	roots=(-e futures -u locks -u channels -u tasks -u sets -u streams)
	crates=("futures tokio" "streams futures_core" "sets futures_util")
	;;
executors) roots=(-e executors -u channels) ;;
walks)
	roots=(-e walks)
	crates=("futures tokio" "walks walks")
	;;
owned)
	roots=(-e owned)
	crates=("futures tokio" "owned owned")
	;;
http)
	roots=(-e hyper -u requests -u want -u h2 -u websocket -u tls -u quinn)
	crates=("hyper hyper" "requests http" "want want" "h2 h2" "websocket tokio_tungstenite"
		"tls tokio_rustls" "quinn quinn")
	;;
compio)
	roots=(-e compio -u schedules)
	crates=("compio compio_runtime" "schedules another")
	;;
executor)
	roots=(-e executor)
	crates=("slab slab" "executor_state async_executor" "executor executor")
	;;
smol)
	roots=(-e smol)
	crates=("pipes piper" "sources async_io" "smol smol")
	;;
spread)
	roots=(-e spread -u polls)
	crates=("library library" "spread spread")
	;;
slots) roots=(-e "$name") edition=2024 model=pic optimised=3 ;;
unset) roots=(-e "$name") edition=2024 model=pic ;; # let chains; code that runs at any address
*) roots=(-e "$name") ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects=()
for each in "${crates[@]}"; do
	read -r file crate <<<"$each"
	"${RUSTC:-rustc}" --edition "$edition" --crate-type lib --crate-name "$crate" --emit obj="$work/$file.o",metadata -L "$work" \
		-C debuginfo=2 -C opt-level=$optimised -C codegen-units=1 -C panic=abort \
		-C relocation-model=$model --remap-path-prefix "$PWD=/src" --out-dir "$work" "$file.rs"
	objects+=("$work/$file.o")
done
# libdwfl finds .eh_frame of an executable by the program header that --eh-frame-hdr adds.
ld -static --unresolved-symbols=ignore-all --build-id --eh-frame-hdr --gc-sections "${roots[@]}" \
	--compress-debug-sections=zlib -o "$name.elf" "${objects[@]}"
if strings -a "$name.elf" | grep -F -e "$HOME/" -e "$PWD"; then
	echo "$name.elf names a place of this machine" >&2
	exit 1
fi
ls -l "$name.elf"

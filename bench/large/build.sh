#!/bin/bash
# Generates and builds the large program and the small one of the same 20 task types.
#
# usage: build.sh DIRECTORY [debug|release]...
#
# Prints the paths of the executables: DIRECTORY/{large,small}-{debug,release}. On two processors
# it takes 3 minutes of each for debug and 12 for release, 4 GB of memory and 8 GB of disk.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || {
	sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- debug release

for size in small large; do
	options=()
	[ $size = large ] || options=(--functions 2)
	python3 "$here/generate.py" "$out/src-$size" "${options[@]}"
	for profile in "$@"; do
		flags=(--locked)
		[ "$profile" = debug ] || flags+=(--release)
		(
			cd "$out/src-$size"
			RUSTFLAGS=-Awarnings CARGO_TARGET_DIR=$out/target-$size cargo build "${flags[@]}" >&2
		)
		ln -sf "target-$size/$profile/large" "$out/$size-$profile"
		echo "$out/$size-$profile"
	done
done

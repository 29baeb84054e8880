#!/bin/bash
# Builds the programs with one lock file and one profile.
#
# usage: build_programs.sh LOCK PROFILE [PROGRAM...]
#
# LOCK     a lock file, or its name in locks/ without ".lock", or a version of tokio
# PROFILE  debug, release (with full debug info), lto (fat), debug1 (release, names only),
#          each with any of +static (crt-static), +v0 (v0 symbol mangling), +nopie,
#          +dwarf5, +split (debug info in a .dwp file), +unstable (tokio_unstable) and
#          +installed (see below);
#          "static" and "v0" alone stand for release+static and release+v0
# PROGRAM  default: every program that this rustc can build
#
# Prints the directory of the executables as the last line.
#
# CARGO_TARGET_DIR  where to build, default a directory below TMPDIR
# CARGO, RUSTC      the compiler to build with, default those in PATH
# JOBS              default 2
# WHOLE             not empty: debug and release have every program, whatever the PROGRAMs are: each
#                   set of programs has its own features of tokio, for which cargo builds it again
#
# No path of this machine gets into the executables: sources of crates are below
# /cargo/registry there, the programs below /src, or with +installed in the registry too, as a
# package that `cargo install` has built.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -ge 2 ] || usage
lock=$1 profile=$2
shift 2
[ -z "${WHOLE:-}" ] || case $profile in debug | release) set -- ;; esac

for candidate in "$lock" "$testdata/locks/$lock.lock" "$testdata/locks/tokio-$lock.lock"; do
	[ -f "$candidate" ] && break
done
[ -f "$candidate" ] || fail "no lock file $lock"
lock=$candidate
tokio=$(tokio_version "$lock")

cargo=${CARGO:-cargo}
export RUSTC=${RUSTC:-rustc}
rustc_minor=$("$RUSTC" --version | cut -d. -f2)
target=$("$RUSTC" --version --verbose | sed -n 's/^host: //p')

case $profile in
static | v0) profile=release+$profile ;;
esac
base=${profile%%+*}
case $base in
debug) cargo_profile=dev ;;
release | lto | debug1) cargo_profile=$base ;;
*) fail "no profile $base" ;;
esac
flags=()
case +$profile+ in *+static+*) flags+=(-C target-feature=+crt-static) ;; esac
case +$profile+ in *+v0+*) flags+=(-C symbol-mangling-version=v0) ;; esac
case +$profile+ in *+nopie+*) flags+=(-C relocation-model=static) ;; esac
case +$profile+ in *+dwarf5+*) flags+=(-C dwarf-version=5) ;; esac
case +$profile+ in *+unstable+*) flags+=(--cfg tokio_unstable) ;; esac
case +$profile+ in *+split+*) flags+=(-C split-debuginfo=packed) ;; esac

out=${CARGO_TARGET_DIR:-${TMPDIR:-/tmp}/asyncdbg-programs}/$(basename "$lock" .lock)-$profile
src=$out/src
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$src"
cp -a "$testdata/programs" "$src"
rm -rf "$src/target"
cp "$lock" "$src/Cargo.lock"
cd "$src"

# cargo learned to read the registry as it is served today in 1.70; for an older one, today's
# cargo puts the crates into a directory.
options=(--locked)
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
if [ "$("$cargo" --version | cut -d. -f2)" -lt 70 ]; then
	env -u RUSTC cargo vendor --locked --versioned-dirs "$out/vendor" >/dev/null
	mkdir -p .cargo
	cat >.cargo/config.toml <<-CONFIG
		[source.crates-io]
		replace-with = "vendored"
		[source.vendored]
		directory = "$out/vendor"
	CONFIG
	options+=(--offline)
else
	"$cargo" fetch --locked --target "$target"
fi

# The workspace's packages as NAME MINOR, MINOR being the rustc they need.
packages() {
	local common manifest minor
	common=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"/\1/p' Cargo.toml)
	for manifest in */Cargo.toml; do
		minor=$(sed -n 's/^rust-version = "1\.\([0-9]*\)"/\1/p' "$manifest")
		echo "${manifest%/*} ${minor:-$common}"
	done
}

while read -r name minor; do
	case $name in truth*) continue ;; esac
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	if [ "$minor" -le "$rustc_minor" ]; then
		options+=(-p "$name")
	else
		echo "$name needs rustc 1.$minor, left out" >&2
	fi
done < <(packages)

features=()
tokio_minor=$(echo "$tokio" | cut -d. -f2)
[ "$tokio_minor" -lt 39 ] || features+=(truth_tokio/metrics)
[ "$tokio_minor" -lt 51 ] || features+=(truth_tokio/names truth_tokio/local)
[ "$tokio_minor" -lt 47 ] || features+=(truth_tokio/new_waits truth_tokio/coop)
for feature in armed/since_1_28 deadlocks/since_1_28 sockets/since_1_30 holders/since_1_36; do
	if [ "$tokio_minor" -ge "${feature##*_}" ] && [[ " ${options[*]} " == *" -p ${feature%%/*} "* ]]; then
		features+=("$feature")
	fi
done
if [ "$tokio" = 1.52.0 ] && [[ " ${options[*]} " == *" -p tasksets "* ]]; then
	features+=(tasksets/sharded)
fi
options+=(-p truth_tokio --features "${features[*]}")

place=/src
case +$profile+ in *+installed+*) place=/cargo/registry/programs-1.0.0 ;; esac
flags+=("--remap-path-prefix=$out/build=/build" "--remap-path-prefix=$src=$place")
for registry in "$sources"/* "$out/vendor"; do
	flags+=("--remap-path-prefix=$registry=/cargo/registry")
done
# With the rust-src component, rustc names the sources of std by their place on this machine.
sysroot=$("$RUSTC" --print sysroot)
flags+=("--remap-path-prefix=$sysroot/lib/rustlib/src/rust=/rustc/src")

# The flags are for the programs alone, not for build scripts and macros: hence --target.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
"$cargo" build "${options[@]}" -j "${JOBS:-2}" --profile "$cargo_profile" --target "$target" \
	--target-dir "$out/build" >&2
echo "$out/build/$target/$base"

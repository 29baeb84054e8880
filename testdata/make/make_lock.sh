#!/bin/sh
# Writes the lock file that pins the programs to one version of tokio.
#
# usage: make_lock.sh TOKIO_VERSION [RUSTC_VERSION]
#
# With RUSTC_VERSION, all other dependencies are chosen so that they build with that rustc, and
# the lock is named after it too.
set -eu

[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
tokio=$1
rustc=${2:-}
testdata=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -a "$testdata/programs/." "$work"
rm -f "$work/Cargo.lock"
cd "$work"
if [ -n "$rustc" ]; then
	# Packages that ask for a newer compiler cannot be built there; they must not decide.
	sed -i "s/^rust-version = .*/rust-version = \"$rustc\"/" Cargo.toml ./*/Cargo.toml
	export CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback
fi
# Asked for like this, the others are versions that go with it.
sed -i "s/^tokio = { version = \"[^\"]*\"/tokio = { version = \"=$tokio\"/" Cargo.toml
cargo generate-lockfile
lock=$testdata/locks/tokio-$tokio${rustc:+-rustc-$rustc}.lock
cp Cargo.lock "$lock"
if [ -n "$rustc" ]; then
	# An old cargo refuses a lock version that it does not know.
	sed -i 's/^version = 4$/version = 3/' "$lock"
fi
echo "$lock"

#!/bin/bash
# Attaches to every program of crates/, as run_live.sh does to those of programs/.
#
# usage: run_crates.sh ASYNCDBG PROFILE [PROGRAM...]
#
# PROFILE: debug or release. PROGRAM: default all that build in a minute. LOCK=FILE: a lock of
# crates/ in place of Cargo.lock, such as crates/older.lock. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" crates "$@"
shift 2
if [ $# -eq 0 ]; then
	mapfile -t programs < <(cd "$workspace" && cargo metadata --locked --no-deps --format-version 1 |
		jq -r '.workspace_default_members[]' | sed 's/#.*//; s/.*\///')
	set -- "${programs[@]}"
fi
lock=Cargo
[ -z "${LOCK:-}" ] || lock=$(basename "$LOCK" .lock)
build_with "$lock" "$@"
live "$@"

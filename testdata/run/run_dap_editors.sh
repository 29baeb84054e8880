#!/bin/bash
# Clients of `asyncdbg dap` that others wrote: dap-mode of Emacs in batch (Debian: emacs-nox,
# elpa-dap-mode), DebugClient of @vscode/debugadapter-testsupport (npm), and the extension of VS Code
# with a stub of the module vscode (node). Those that are not here are left out.
#
# usage: run_dap_editors.sh ASYNCDBG PROFILE [LOCK]
#
# Builds the programs `steps` and `stepping` in PROFILE with the newest lock, or LOCK. BINARIES=DIR uses
# those that are built already. Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
build_traced "${3:-}" steps stepping
make_cache
unpack_fixture locals "$work"
source=$testdata/programs/steps/src/main.rs
line=$(grep -n 'let first = orders.recv().await' "$source" | cut -d: -f1)
arguments=("$asyncdbg" "$BINARIES/steps" "$source" "$line" "$work/locals.core" "$work/locals.exe")

run_emacs() {
	local steps=$testdata/programs/stepping/src/awaits.rs

	env HOME="$work" emacs --batch -l "$testdata/dap/client.el" -- "${arguments[@]}" \
		"$BINARIES/stepping" "$steps" "$(sed -n '/^pub async fn migrates/,/^}/{/await/=}' "$steps" | head -n 1)"
}

# The package is not in the tree; where the registry cannot be reached, it is left out.
testsupport() {
	cd "$work"
	npm init -y > /dev/null
	npm install --no-audit --no-fund @vscode/debugadapter-testsupport@1.68 > npm.log 2>&1 || {
		echo "left out: @vscode/debugadapter-testsupport"
		return 0
	}
	NODE_PATH=$work/node_modules node "$testdata/dap/client.js" "${arguments[@]}"
}

if env HOME="$work" emacs --batch --eval "(require 'dap-mode)" > /dev/null 2>&1; then
	run_emacs
else
	echo "left out: Emacs, or its dap-mode"
fi
if command -v node > /dev/null && command -v npm > /dev/null; then
	node "$testdata/../editors/vscode/test.js" "$asyncdbg"
	(testsupport)
else
	echo "left out: node"
fi

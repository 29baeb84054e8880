#!/bin/bash
# Attaches to programs of actix/: actix_tasks, tasks of a System and its Arbiters, as run_live.sh does to
# programs; actix_load, a server of actix-web, at rest and under load, again and again: each leaf has a
# name, no verdict is given.
#
# usage: run_actix.sh ASYNCDBG PROFILE
#
# PROFILE: debug, release or lto. LOOKS: how many at the server, default 20. Exit status 77 where there is
# no cargo.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" actix "$@"
build_with Cargo actix_tasks actix_load
live actix_tasks
looks() {
	"$testdata/run/run_server_looks.py" --looks "$1" "$asyncdbg" "$binaries/actix_load" "${@:2}"
}
looks 2 rest
looks "${LOOKS:-20}"

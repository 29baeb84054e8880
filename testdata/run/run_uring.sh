#!/bin/bash
# Attaches to uring/uring_tasks, tasks of tokio-uring at operations in flight, as run_live.sh does to
# programs.
#
# usage: run_uring.sh ASYNCDBG PROFILE
#
# PROFILE: debug, release or lto. Exit status 77 where there is no cargo, or where the kernel forbids
# io_uring.
set -euo pipefail

# shellcheck source=testdata/run/workspace.sh
. "$(dirname "$0")/workspace.sh" uring "$@"
need_io_uring
build_with Cargo uring_tasks
live uring_tasks

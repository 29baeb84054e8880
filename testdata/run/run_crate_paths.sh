#!/bin/bash
# Names of source files in a program of three crates, each with a file src/lib.rs, two of them in folders of one
# name: one place has one name, whichever crate's code names it, and two places have two.
#
# usage: run_crate_paths.sh ASYNCDBG PROFILE
#
# Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
need_cargo
make_cache
trap 'stop_program; rm -rf "$work"' EXIT
cd "$work"

# manifest NAME DEPENDENCY...
manifest() {
	printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\n' "$1"
	shift
	printf '%s\n' 'tokio = { version = "1.24", features = ["macros", "rt", "time"] }' "$@"
}

mkdir -p app/src one/part/src two/part/src
for dir in app one/part two/part; do
	cat >$dir/src/lib.rs <<-'END'
		pub async fn waits() {
		    std::future::pending::<()>().await;
		}
		pub async fn keeps<T>(value: T) {
		    std::future::pending::<()>().await;
		    drop(value);
		}
	END
done
manifest one >one/part/Cargo.toml
manifest two >two/part/Cargo.toml
manifest app 'one = { path = "../one/part" }' 'two = { path = "../two/part" }' >app/Cargo.toml
cp "$testdata/locks/tokio-1.54.1.lock" app/Cargo.lock
cat >app/src/main.rs <<'END'
#[path = "lib.rs"]
mod own;
#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::spawn(own::waits());
    tokio::spawn(own::keeps(1u8));
    tokio::spawn(one::waits());
    tokio::spawn(one::keeps(1u8));
    tokio::spawn(two::waits());
    tokio::spawn(two::keeps(1u8));
    tokio::task::yield_now().await;
    println!("ready\n");
    std::future::pending::<()>().await;
}
END
target=${CARGO_TARGET_DIR:-$work/target}/crate_paths
(cd app && cargo build --quiet --target-dir "$target")
start_program "$target/debug/app" || fail "the program ended before it was ready"
"$asyncdbg" -p "$pid" --json async backtrace all </dev/null >said.json
"$asyncdbg" -p "$pid" --json tasks --group location </dev/null >groups.json
stop_program

jq -r '.tasks[].root | "\(.function) \(.file_short):\(.line) \(.library)"' said.json | sort >found
cat >wanted <<'END'
app::own::keeps src/lib.rs:5 false
app::own::waits src/lib.rs:2 false
one::keeps one/part/src/lib.rs:5 false
one::waits one/part/src/lib.rs:2 false
two::keeps two/part/src/lib.rs:5 false
two::waits two/part/src/lib.rs:2 false
END
diff wanted found || fail "the places of the tasks are not as they should be"
groups=$(jq '.tally.rows | length' groups.json)
[ "$groups" -eq 6 ] || { jq -c . groups.json && fail "$groups groups instead of six"; }
echo "six places, each with its name"

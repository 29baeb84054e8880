#!/bin/bash
# Names of source files in a program of three crates, each with a file src/lib.rs, two of them in folders of one
# name and with one name for their code: one place has one name, whichever crate's code or memory names it, and two
# places have two names, and are two for `top` and `profile`.
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
		    loop {
		        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
		    }
		}
		pub async fn keeps<T>(value: T) {
		    std::future::pending::<()>().await;
		    drop(value);
		}
		pub fn starts() {
		    tokio::spawn(waits());
		    tokio::spawn(keeps(1u8));
		}
	END
done
cat >one/part/src/first.rs <<'END'
pub fn starts() {
    tokio::spawn(std::future::pending::<()>());
}
END
echo 'pub mod first;' >>one/part/src/lib.rs
manifest one >one/part/Cargo.toml
manifest two >two/part/Cargo.toml
printf '[lib]\nname = "part"\n' | tee -a one/part/Cargo.toml >>two/part/Cargo.toml
manifest app 'one = { path = "../one/part", package = "one" }' 'two = { path = "../two/part", package = "two" }' >app/Cargo.toml
cp "$testdata/locks/tokio-1.54.1.lock" app/Cargo.lock
cat >app/src/main.rs <<'END'
#[path = "lib.rs"]
mod own;
#[tokio::main(flavor = "current_thread")]
async fn main() {
    own::starts();
    one::starts();
    two::starts();
    one::first::starts();
    tokio::task::yield_now().await;
    println!("ready\n");
    std::future::pending::<()>().await;
}
END

# rustc as other build systems call it: the file of a crate has a relative name.
cat >relative <<'END'
#!/bin/bash
rustc=$1 && shift
args=("$@")
case " $* " in
*" --crate-name part "*)
	for i in "${!args[@]}"; do args[i]=${args[i]/#"$PWD/"/}; done
	;;
esac
exec "$rustc" "${args[@]}"
END
chmod +x relative

# build NAME: builds the program; its tasks know where they were spawned.
build() {
	target=${CARGO_TARGET_DIR:-$work/target}/crate_paths_$1
	(cd app && RUSTFLAGS='--cfg tokio_unstable' cargo build --quiet --target-dir "$target")
}

# look: starts the program and asks what its tasks are, and where they were spawned.
look() {
	start_program "$target/debug/app" || fail "the program ended before it was ready"
	"$asyncdbg" -p "$pid" --json async backtrace all </dev/null >said.json
	jq -r '.tasks[].root | "\(.function) \(.file_short):\(.line) \(.library)"' said.json | grep src | sort >found
	cat >wanted <<-'END'
		app::own::keeps src/lib.rs:7 false
		app::own::waits src/lib.rs:3 false
		part::keeps one/part/src/lib.rs:7 false
		part::keeps two/part/src/lib.rs:7 false
		part::waits one/part/src/lib.rs:3 false
		part::waits two/part/src/lib.rs:3 false
	END
	diff wanted found || fail "the places of the tasks are not as they should be"
	jq -r '.tasks[].spawned_at | "\(.file_short):\(.line)"' said.json | sort >found
}

build plain
look
cat >wanted <<'END'
one/part/src/first.rs:2
one/part/src/lib.rs:11
one/part/src/lib.rs:12
src/lib.rs:11
src/lib.rs:12
two/part/src/lib.rs:11
two/part/src/lib.rs:12
END
diff wanted found || fail "where the tasks were spawned has other names"
"$asyncdbg" -p "$pid" --json tasks --group location </dev/null >groups.json
groups=$(jq '.tally.rows | length' groups.json)
[ "$groups" -eq 7 ] || { jq -c . groups.json && fail "$groups groups instead of seven"; }

# Functions of one name at one line of files with one name are two.
"$asyncdbg" -p "$pid" --json top --group place --count 1 --allow-slow </dev/null >top.json 2>top.err || :
if jq -e .top top.json >/dev/null; then
	jq -r '.top.rows[] | select(.place) | .place.frames[0].at = .tasks | .place.frames[0] |
		"\(.at) \(.function) \(.file):\(.line)"' top.json | sort >found
	cat >wanted <<-'END'
		1 app::own::keeps src/lib.rs:7
		1 app::own::waits src/lib.rs:3
		1 part::keeps one/part/src/lib.rs:7
		1 part::keeps two/part/src/lib.rs:7
		1 part::waits one/part/src/lib.rs:3
		1 part::waits two/part/src/lib.rs:3
	END
	diff wanted found || fail "the groups of top are not as they should be"
	"$asyncdbg" -p "$pid" profile --duration 1s --allow-slow </dev/null >profile.txt 2>profile.err || :
	for name in src one/part/src two/part/src; do
		grep -q " at $name/lib.rs:3" profile.txt || fail "no $name/lib.rs in the profile: $(<profile.txt)"
	done
else
	cat top.err
	echo "skipped: top and profile"
fi
stop_program

# A relative name is of the crate that has such a file, and of nobody where several have.
RUSTC_WRAPPER=$work/relative build relative
look
cat >wanted <<'END'
.../src/lib.rs:11
.../src/lib.rs:11
.../src/lib.rs:11
.../src/lib.rs:12
.../src/lib.rs:12
.../src/lib.rs:12
one/part/src/first.rs:2
END
diff wanted found || fail "where the tasks were spawned has other names than by relative ones"
stop_program
echo "six places, each with its name"

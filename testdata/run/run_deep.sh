#!/bin/bash
# Variables, lines and inlined calls in functions with as many `let` as compile.
#
# usage: run_deep.sh ASYNCDBG PROFILE
#
# Each `let` opens a block in that of the `let` before it. The program is generated and built with rustc.
# Exit status 77 where there is no cargo.
set -euo pipefail

# shellcheck source=testdata/run/traced.sh
. "$(dirname "$0")/traced.sh"
need_cargo
make_cache
cd "$work"
last=2000

# lets COUNT: that many variables, each with a value of its own.
lets() {
	seq "$1" | sed 's/.*/    let v& = n + &; black_box(\&v&);/'
}

{
	cat <<-'EOF'
		use std::hint::black_box;
		#[inline(never)]
		fn stop_here() { black_box(()); }
		#[inline(always)]
		fn inlined(x: u64) -> u64 { let inner = x + 1; stop_here(); inner }
		fn deep(n: u64) -> u64 {
	EOF
	lets "$last"
	echo "    inlined(v$last)"
	echo "}"
	echo "async fn deep_async(n: u64) -> u64 {"
	lets "$last"
	echo "    stop_here(); v$last"
	echo "}"
	cat <<-'EOF'
		fn after() { stop_here(); }
		fn main() {
		    let n = std::env::args().count() as u64;
		    black_box(deep(n));
		    let mut f = Box::pin(deep_async(n));
		    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
		    let _ = std::future::Future::poll(f.as_mut(), &mut cx);
		    after();
		}
	EOF
} >deep.rs
rustc -g --edition 2021 -o deep deep.rs
line=$(grep -n "inlined(v$last)" deep.rs | cut -d : -f 1)

cat >commands <<EOF
break deep::stop_here
run -- ./deep
bt 3
frame 2
print v1
print v$last
locals
continue
frame 1
print v$last
continue
bt 2
kill
EOF
"$asyncdbg" -x commands >said 2>&1 || true

# has WHAT REGEX [COUNT]: in the answers; COUNT times, default at least once.
has() {
	local n
	n=$(grep -cE "$2" said) || true
	[ "$n" -eq "${3:-$n}" ] && [ "$n" -gt 0 ] || { echo "$1: not so" && tail -n 30 said && exit 1; }
}

has "the inlined call" "^#1 .* deep::inlined \(\) at deep.rs:5 \[inlined\]"
has "the line of the call" "^#2 .* deep::deep \(\) at deep.rs:$line"
has "the first variable" "^v1: u64 = 2"
has "the last variable of each function" "^v$last: u64 = $((last + 1))" 2
has "all variables" "^ +v[0-9]+: u64 = " "$last"
has "the function behind them" "^#1 .* deep::after \(\) at deep.rs:"
echo "functions of $last variables: all as they should be"

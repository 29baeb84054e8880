# Shared pieces of scripts/demo and scripts/test; sourced, not run.
# shellcheck shell=bash disable=SC2034,SC2154

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where builds go, one directory a preset.
build_root=${ASYNCDBG_BUILD_DIR:-$root/build}
jobs=${JOBS:-$(nproc)}
fixtures=${FIXTURES:-$root/testdata/fixtures}

debian_packages=(cmake ninja-build gcc libc6-dev pkg-config libdw-dev libelf-dev libiberty-dev
	zlib1g-dev libedit-dev zstd clang libbpf-dev libcapstone-dev libncurses-dev)
debian_test_packages=(libcmocka-dev libjansson-dev binutils gdb python3 python3-jsonschema jq clang-format procps
	util-linux valgrind libdebuginfod1 tmux lld mold libclang-rt-dev)

say() {
	printf '== %s\n' "$*"
}

fail() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# usage: the head of the script that was called.
usage() {
	sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 64
}

have() {
	command -v "$1" >/dev/null 2>&1
}

# Runs a command as root; false when that is not possible.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		return 1
	fi
}

# need_space DIR GB: ends where the file system of a folder has less space. Without it, tests fail one
# by one, each with an empty core or file.
need_space() {
	local free

	free=$(df --output=avail -B1G "$1" | tail -n 1)
	[ "$free" -ge "$2" ] || fail "$2 GB are needed in $1, $((free)) are free"
}

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		"$@" </dev/null
}

apt_updated=
apt_update() {
	[ -z "$apt_updated" ] || return 0
	apt_updated=yes
	as_root apt-get update -q </dev/null || echo "apt-get update failed; going on" >&2
}

# project_version: the version of asyncdbg, which CMakeLists.txt alone has.
project_version() {
	sed -n 's/^project(asyncdbg VERSION \([^ ]*\) .*/\1/p' "$root/CMakeLists.txt"
}

# What other systems call the packages; printed where we cannot install them.
explain_packages() {
	cat >&2 <<-EOF
		Please install what asyncdbg is built and tested with:
		  Debian, Ubuntu  $*
		  Fedora          cmake ninja-build gcc pkgconf elfutils-devel elfutils-libelf-devel
		                  binutils-devel jansson-devel libedit-devel libcmocka-devel zstd zlib-devel
		                  clang libbpf-devel capstone-devel ncurses-devel
		                  gdb-headless tmux python3-jsonschema clang-tools-extra
		  Arch            cmake ninja gcc pkgconf elfutils binutils jansson libedit cmocka
		                  zlib zstd gdb python-jsonschema clang libbpf capstone ncurses tmux
	EOF
}

# install_packages PACKAGE...: installs those that are missing. Where apt is not at hand it says
# what is needed and goes on when the tools seem to be there.
install_packages() {
	local package missing=()

	if ! have apt-get || ! have dpkg-query; then
		if have cmake && have ninja && have cc && have pkg-config &&
			pkg-config --exists libdw libelf libedit; then
			return 0
		fi
		explain_packages "$@"
		exit 1
	fi
	for package; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${missing[*]}"
	apt_update
	apt_install "${missing[@]}" || {
		explain_packages "${missing[@]}"
		exit 1
	}
}

# Programs with the newest tokio need rustc 1.85; Debian 12's own is 1.63.
cargo_is_new_enough() {
	local version

	have cargo && have rustc || return 1
	version=$(cargo --version 2>/dev/null | cut -d. -f2)
	[ "${version:-0}" -ge 85 ]
}

# Puts a usable cargo in PATH; on failure the reason is in $no_cargo.
find_cargo() {
	local home

	no_cargo=
	cargo_is_new_enough && return
	for home in "${CARGO_HOME:-$HOME/.cargo}" /usr/local/cargo; do
		[ -x "$home/bin/cargo" ] || continue
		PATH=$home/bin:$PATH
		cargo_is_new_enough && return
	done
	no_cargo="no cargo 1.85 or newer in PATH"
	return 1
}

# find_cargo, and where that fails, Debian's. rustc-web and cargo-web, there for building
# browsers, are recent; they exclude rustc and cargo, and we remove nothing.
install_cargo() {
	local plan

	find_cargo && return
	have apt-get || return 1
	apt_update
	plan=$(apt-get install -s --no-install-recommends rustc-web cargo-web 2>/dev/null) || return 1
	! grep -q '^Remv' <<<"$plan" || return 1
	say "installing rustc-web and cargo-web"
	apt_install rustc-web cargo-web || return 1
	hash -r
	find_cargo
}

# What opens reports in tests: $browser, run by node with what npm installs. On failure the reason
# is in $no_browser.
find_browser() {
	no_browser=
	browser=$(command -v chromium || command -v chromium-headless-shell || true)
	[ -n "$browser" ] || no_browser="no chromium in PATH"
	have node && have npm || no_browser="no node and npm in PATH"
	[ -z "$no_browser" ]
}

# find_browser, and where that fails, Debian's. An npm that is not Debian's, with its own node, is
# as good.
install_browser() {
	local missing=()

	find_browser && return
	have apt-get || return 1
	have chromium || missing+=(chromium)
	have npm || missing+=(npm)
	say "installing ${missing[*]}"
	apt_update
	apt_install "${missing[@]}" || return 1
	hash -r
	find_browser
}

# install_playwright DIR: what drives $browser, into DIR/node_modules; once for each lock file.
install_playwright() {
	local from=$root/testdata/report

	cmp -s "$from/package-lock.json" "$1/installed" && return
	cp "$from/package.json" "$from/package-lock.json" "$1"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	cp "$1/package-lock.json" "$1/installed"
}

# build_preset PRESET [TARGET]: configures and builds into $build_root/PRESET; asyncdbg alone without
# the tests, which need more packages.
build_preset() {
	say "building ($1)"
	cmake -S "$root" --preset "$1" -B "$build_root/$1" -DBUILD_TESTING="$([ "${2:-}" = asyncdbg ] && echo OFF || echo ON)"
	cmake --build "$build_root/$1" -j "$jobs" ${2:+--target "$2"}
}

# Why we could not attach to a program of ours; empty when we can.
ptrace_obstacle() {
	local scope=0

	[ "$(id -u)" -ne 0 ] || return 0
	[ ! -r /proc/sys/kernel/yama/ptrace_scope ] || scope=$(</proc/sys/kernel/yama/ptrace_scope)
	[ "$scope" -eq 0 ] || echo "kernel.yama.ptrace_scope is $scope and we are not root"
}

# unpack_fixture NAME DIR: the core and executable of a fixture as DIR/NAME.core, DIR/NAME.exe, and
# DIR/NAME.layout where it has a layout file in place of its debug info. NAME may lack its versions.
unpack_fixture() {
	local file base part

	for file in "$fixtures/$1.core.zst" "$fixtures/$1"[-_.]*.core.zst; do
		[ -f "$file" ] && break
	done
	[ -f "$file" ] || fail "no fixture $1"
	base=${file%.core.zst}
	for part in core exe layout; do
		[ ! -f "$base.$part.zst" ] || zstd -qdf "$base.$part.zst" -o "$2/$1.$part"
	done
}

# newest_lock: the lock file with the newest tokio.
newest_lock() {
	find "$root/testdata/locks" -name 'tokio-*.lock' ! -name '*-rustc-*' | sort -V | tail -n 1
}

# tokio_version LOCK: the version of tokio in a lock file.
tokio_version() {
	grep -A1 '^name = "tokio"$' "$1" | sed -n 's/^version = "\(.*\)"/\1/p'
}

# wait_ready FILE PID: until the program PID has printed "ready" and its line of truth to FILE.
wait_ready() {
	local i

	for ((i = 0; i < 600; i++)); do
		[ "$(sed '0,/^ready/d' "$1" 2>/dev/null | wc -l)" -eq 0 ] || return 0
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

# A program of testdata/programs under test: $pid is the one that runs, empty when none does.
# Needs $work, a directory. It ends when its standard input does; fd 8 is the other end of that.
pid=

stop_program() {
	[ -n "$pid" ] || return 0
	exec 8>&-
	for _ in $(seq 100); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	kill -9 "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=
}

# start_program EXE [ARGUMENT...]: its output goes to $work/truth; false when it did not get ready.
start_program() {
	stop_program
	# The truth of the last program is not this one's.
	rm -f "$work/stdin" "$work/truth"
	mkfifo "$work/stdin"
	"$@" <"$work/stdin" >"$work/truth" 2>"$work/stderr" 8>&- &
	pid=$!
	exec 8>"$work/stdin"
	wait_ready "$work/truth" "$pid"
}

# copy_workspace WORKSPACE DIR LOCK: copies the sources of a workspace of testdata, with a lock of other
# versions, to DIR; of its programs those that the lock has. The paths to the other workspace stay the same.
copy_workspace() {
	local copy=$2/${1##*/} lock=$3 program members=

	rm -rf "$2"
	mkdir -p "$2"
	cp -a "$1" "$root/testdata/programs" "$2"
	cp "$lock" "$copy/Cargo.lock"
	for program in "$1"/*/; do
		program=$(basename "$program")
		! grep -q "^name = \"$program\"$" "$lock" || members+="\"$program\", "
	done
	perl -0pi -e "s/^members = \\[.*?\\]/members = [${members%, }]/ms; s/^default-members.*\n//m" "$copy/Cargo.toml"
}

#!/bin/bash
# Makes what a release consists of, twice, and tries it where it will be used: the static binary in
# the smallest systems of Debian 12, 13 and sid and in one with busybox alone, the packages in fresh
# systems of their releases.
#
# usage: run_release.sh [DIR]    DIR was written by scripts/release; without it, it is made
# CHROOTS, MIRROR                as for scripts/release
#
# Exit status 77 where no system can be made: that needs root and debootstrap.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

case ${1:-} in -*) usage ;; esac
find_debootstrap || { echo "skipped: $no_chroot" && exit 77; }
install_packages busybox-static binutils zstd python3
version=$(project_version)
fixture=selects
golden=$testdata/golden/$fixture/async-backtrace-all.txt
work=$(mktemp -d)
tried=()
trap 'rm -rf --one-file-system "$work" "${tried[@]}"' EXIT
files=${1:-$build_root/release-files}
[ $# -eq 1 ] || "$root/scripts/release" --twice "$files"
files=$(realpath "$files")

# What is run in each system, by sh: the core of a fixture, its program alive, and one that is not
# async. $1 is asyncdbg.
# shellcheck disable=SC2016
try='cd /tried
	"$1" --version >version
	status=0
	"$1" -c '$fixture'.core --exe '$fixture'.exe --color never async backtrace all >core.txt || status=$?
	echo "core $status" >status
	mkfifo input
	./'$fixture'.exe <input >truth &
	exec 9>input
	while ! grep -q "^{" truth; do sleep 0.1; done
	status=0
	"$1" -p $! --json async backtrace all >live.json || status=$?
	echo "live $status" >>status
	sleep 60 &
	while [ "$(cat /proc/$!/comm)" != sleep ]; do sleep 0.1; done
	status=0
	"$1" -p $! async backtrace all >other.txt 2>&1 || status=$?
	echo "other $status" >>status'

# try_in NAME DIR ASYNCDBG: all of that in DIR; ASYNCDBG is a path there.
try_in() {
	local dir=$2/tried

	mkdir -p "$dir"
	tried+=("$dir")
	unpack_fixture "$fixture" "$dir"
	cp "$files/asyncdbg" "$dir"
	(chroot_shell=(sh -eu) && inside "$2" "$try" "$3") || fail "$1: a trial failed"
	[ "$(cat "$dir/version")" = "asyncdbg $version" ] || fail "$1: another version: $(cat "$dir/version")"
	# There is no locale beside busybox.
	if [ "$1" = busybox ]; then
		sed 's/├─/|-/; s/└─/`-/; s/│/|/g; s/…/.../' "$golden"
	else
		cat "$golden"
	fi | diff -u - "$dir/core.txt" || fail "$1: another answer"
	sed '0,/^ready/d' "$dir/truth" >"$work/truth.json"
	"$testdata/check/check_truth.py" "$dir/live.json" "$work/truth.json" || fail "$1: not what the program is"
	diff - "$dir/status" <<-EOF || { cat "$dir/other.txt" && fail "$1: another exit status"; }
		core 0
		live 0
		other 1
	EOF
	rm -rf "$dir"
	say "$1: ok"
}

# The static binary needs no loader and nothing of the system.
try_static() {
	local suite

	! readelf -lW "$files/asyncdbg" | grep -E 'INTERP|DYNAMIC' || fail "asyncdbg is not static"
	mkdir -p "$work/busybox"/{bin,proc,dev,root,tmp}
	cp "$(command -v busybox)" "$work/busybox/bin/busybox"
	chroot "$work/busybox" /bin/busybox --install -s /bin
	try_in busybox "$work/busybox" /tried/asyncdbg
	for suite in bookworm trixie sid; do
		make_chroot "$suite" "$chroots/$suite.base"
		try_in "$suite" "$chroots/$suite.base" /tried/asyncdbg
	done
}

# try_libraries DIR: the static binary where libraries of another libc are there to be loaded: that
# of debuginfod, those of user names, those of character sets.
try_libraries() {
	mkdir "$1/tried"
	tried+=("$1/tried")
	unpack_fixture "$fixture" "$1/tried"
	unpack_fixture web "$1/tried"
	cp "$files/asyncdbg" "$1/tried"
	inside "$1" "{ $chroot_install libdebuginfod1 libnss-systemd locales bsdutils; } >/apt.log 2>&1
		localedef -i de_DE -f ISO-8859-1 de_DE.ISO-8859-1
		grep -q 'passwd:.*systemd' /etc/nsswitch.conf
		chmod 755 /tried && cd /tried
		status=0
		DEBUGINFOD_URLS=http://127.0.0.1:1/ ./asyncdbg -c web.core --exe web.exe tasks >/dev/null 2>&1 || status=\$?
		[ \$status -le 2 ] || { echo \"debuginfod: exit status \$status\"; exit 1; }
		setpriv --reuid=4242 --clear-groups sleep 60 &
		while [ \"\$(cat /proc/\$!/comm)\" != sleep ]; do sleep 0.1; done
		status=0
		HOME=/tmp setpriv --reuid=4343 --clear-groups ./asyncdbg -p \$! tasks >out 2>&1 || status=\$?
		grep -q 'uid 4242' out || { echo \"user: exit status \$status\"; cat out; exit 1; }
		: >out
		until_shown() { for i in \$(seq 600); do ! grep -qF \"(asyncdbg) \$1\" out || return 0; sleep 0.1; done; }
		{ until_shown ''; echo quit; until_shown quit; } | LC_ALL=de_DE.ISO-8859-1 timeout 60 script -qefc \
			'./asyncdbg -c $fixture.core --exe $fixture.exe' /dev/null >out
		grep -q '(asyncdbg) quit' out || { cat out; exit 1; }" || fail "a library of the system was loaded"
	rm -rf "$1/tried"
	say "static binary among libraries of another libc: ok"
}

# try_package SUITE NUMBER: installed, used and removed in a fresh system.
try_package() {
	local deb=asyncdbg_$version~deb$2_amd64.deb chroot=$chroots/$1.try

	rm -rf --one-file-system "$chroot"
	tried+=("$chroot")
	make_chroot "$1" "$chroots/$1.base"
	cp -a "$chroots/$1.base" "$chroot"
	cp "$files/$deb" "$chroot/root"
	inside "$chroot" "{ $chroot_install /root/$deb; } >/apt.log 2>&1 || { tail /apt.log; exit 1; }
		cd /usr/share
		ls man/man1/asyncdbg.1.gz doc/asyncdbg/copyright doc/asyncdbg/docs/incidents.md.gz \
			doc/asyncdbg/docs/asyncdbg.schema.json bash-completion/completions/asyncdbg \
			zsh/vendor-completions/_asyncdbg fish/vendor_completions.d/asyncdbg.fish \
			../lib/systemd/system/asyncdbg-watch@.service >/dev/null
		dpkg -L asyncdbg >/files" || fail "$deb cannot be installed"
	try_in "package for Debian $2" "$chroot" asyncdbg
	[ "$1" != trixie ] || try_libraries "$chroot"
	inside "$chroot" "apt-get purge -y -q asyncdbg >/apt.log 2>&1
		while read -r file; do [ -d \$file ] || [ ! -e \$file ] || { echo \$file is left; exit 1; }; done </files"
	rm -rf --one-file-system "$chroot"
}

(cd "$files" && sha256sum --quiet -c SHA256SUMS)
mkdir "$work/tarball"
tar -C "$work/tarball" --strip-components=1 -xf "$files/asyncdbg-$version-x86_64-linux.tar.gz"
cmp "$work/tarball/asyncdbg" "$files/asyncdbg"
try_static
try_package bookworm 12
try_package trixie 13
say "passed"

#!/bin/bash
# Builds and tests asyncdbg in a chroot of another Debian release, with its compiler and libraries:
# warnings are errors, first as a packager builds (no tests, and without what only they need), then
# with the sanitizers and all unit tests, then optimised with the goldens.
#
# usage: run_chroot.sh [SUITE...]      trixie (Debian 13) where none is named; sid works too
# CHROOTS  where chroots are kept, default ~/.cache/asyncdbg-chroots; 2 GB each
# MIRROR   where packages come from, default where apt gets those of this system
# JOBS     how many processors to use
#
# Can be interrupted and run again at any time: what passed for the same sources is not repeated.
# Needs root and debootstrap, else the exit status is 77. Nothing is mounted outside the namespace
# of the command that runs inside, and nothing that it started lives on.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

case "${1:-}" in -*) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64 ;; esac
[ $# -gt 0 ] || set -- trixie
find_debootstrap || { echo "skipped: $no_chroot" && exit 77; }
# clang-format differs from release to release, and is left out of what the tests need.
tests=()
for package in "${debian_test_packages[@]}"; do
	[ "$package" = clang-format ] || tests+=("$package")
done

# files: the names of the sources.
files() {
	if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$root" ls-files -z --cached --others --exclude-standard
	else
		(cd "$root" && find . -path ./build -prune -o -type f -print0)
	fi | (cd "$root" && while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done) | LC_ALL=C sort -z
}

# once PART COMMAND: runs it inside unless it has passed with these sources.
once() {
	local stamp=$chroot.$1

	if [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ]; then
		echo "$suite, $1: passed before"
		return
	fi
	say "$suite: $1"
	inside "$chroot" "$in_chroot; $2" || fail "$suite: $1 failed"
	echo "$sum" >"$stamp"
}

# Only what changed: what was built before is built upon.
copy_sources() {
	rm -rf "$chroot/src.new"
	mkdir -p "$chroot/src.new" "$chroot/src"
	tar -C "$root" --null -T <(files) -c | tar -C "$chroot/src.new" -x
	(cd "$chroot/src" && find . -type f ! -path './build/*' -print0) |
		(cd "$chroot/src.new" && while IFS= read -r -d '' file; do
			[ -e "$file" ] || rm -f "$chroot/src/$file"
		done)
	(cd "$chroot/src.new" && find . -type f -print0) |
		(cd "$chroot/src.new" && while IFS= read -r -d '' file; do
			cmp -s "$file" "$chroot/src/$file" || cp --parents -p "$file" "$chroot/src"
		done)
	rm -rf "$chroot/src.new"
}

# What commands inside may use.
# shellcheck disable=SC2016
in_chroot='build() {
	cmake --build "$1" -j "$JOBS" >/build.log || {
		grep -A 8 -E "FAILED|error:|warning:" /build.log | head -n 60
		return 1
	}
}'

for suite; do
	chroot=$chroots/$suite
	make_chroot "$suite" "$chroot"
	copy_sources
	sum=$( (cd "$root" && files | xargs -0 sha256sum) | sha256sum | cut -d' ' -f1)
	once package "{ $chroot_install ${debian_packages[*]}; } >/apt.log 2>&1 || { tail /apt.log; exit 1; }
		gcc --version | head -n 1
		dpkg-query -W libdw-dev libc6-dev
		cd /src
		cmake --preset release -B /package -DBUILD_TESTING=OFF -DASYNCDBG_WERROR=ON >/cmake.log
		build /package
		DESTDIR=/installed cmake --install /package >/install.log
		/installed/usr/local/bin/asyncdbg --version"
	once unit "{ $chroot_install ${tests[*]}; } >/apt.log 2>&1 || { tail /apt.log; exit 1; }
		cd /src
		cmake --preset dev -B /dev-build >/cmake.log
		build /dev-build
		ctest --test-dir /dev-build --output-on-failure --no-tests=error -j \"\$JOBS\" -L unit"
	once golden "cd /src
		cmake --preset release -B /release-build -DASYNCDBG_WERROR=ON >/cmake.log
		build /release-build
		ctest --test-dir /release-build --output-on-failure --no-tests=error -j \"\$JOBS\" -L golden"
done

#!/bin/bash
# Checks that a packager's build, without tests, needs neither cmocka nor jansson, and that it
# installs what a build with tests installs; that the packages' files name no version of their own.
#
# usage: check_packaging.sh
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configure NAME OPTION...: into $work/NAME.
configure() {
	local name=$1

	shift
	cmake -S "$root" --preset release -B "$work/$name" "$@" >"$work/$name.log" 2>&1 || {
		cat "$work/$name.log"
		exit 1
	}
}

# installed NAME: what is installed, from rules without the paths of the build.
installed() {
	grep -ho 'FILES.*\|TYPE [A-Z]*' "$work/$1/cmake_install.cmake" | sed "s|$work/$1|BUILD|"
}

# pkg-config that knows no jansson; a packager's machine has none.
mkdir "$work/bin"
cat >"$work/bin/pkg-config" <<-EOF
	#!/bin/sh
	case "\$*" in *jansson*) exit 1 ;; esac
	exec $(command -v pkg-config) "\$@"
EOF
chmod +x "$work/bin/pkg-config"
configure without -DBUILD_TESTING=OFF -DPKG_CONFIG_EXECUTABLE="$work/bin/pkg-config"
configure with -DBUILD_TESTING=ON
bad=$(grep -nE 'cmocka|jansson|_test\b' "$work/without/build.ninja" || true)
[ -z "$bad" ] || { printf 'a build without tests has:\n%s\n' "$bad" | head && exit 1; }
diff <(installed without) <(installed with) || { echo "what is installed depends on the tests" && exit 1; }

# One place has the version. The manual page repeats it, for a page that nothing generates can be
# read as it is.
version=$(project_version)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "CMakeLists.txt has no version" && exit 1; }
grep -q "^\.TH ASYNCDBG 1 \"\" \"asyncdbg $version\"" "$root/commands/asyncdbg.1" ||
	{ echo "commands/asyncdbg.1: its version is not $version, that of CMakeLists.txt" && exit 1; }
bad=$(cd "$root" && grep -nF "$version" -r scripts commands/completions) || true
[ -z "$bad" ] || { printf 'the version is derived from CMakeLists.txt, not written down:\n%s\n' "$bad" && exit 1; }
# What is documented to be typed names files of this version.
bad=$(cd "$root" && grep -noE 'asyncdbg[-_][0-9]+\.[0-9]+\.[0-9]+' docs/install.md | grep -vF "$version") || true
[ -z "$bad" ] || { printf 'docs/install.md names another version:\n%s\n' "$bad" && exit 1; }

#!/bin/bash
# Checks that a packager's build, without tests, needs neither cmocka nor jansson, and that it
# installs what a build with tests installs.
#
# usage: check_packaging.sh
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
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

#!/bin/bash
# Checks that the C sources are as clang-format has them and that scripts parse.
#
# usage: check_format.sh [FILE.c...]
#
# Debian 12's clang-format is 14; later ones lay out some lines differently, so with those
# nothing is checked.
set -euo pipefail

cd "$(dirname "$0")/../.."
for script in scripts/{demo,release,test,*.sh} .ci/run testdata/*/*.sh bench/run bench/large/*.sh \
	commands/completions/asyncdbg.bash; do
	bash -n "$script"
done
version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" != 14 ]; then
	echo "left out: this is clang-format $version, not 14"
	exit 0
fi
if [ $# -eq 0 ]; then
	mapfile -t files < <(find debugger dwarf runtimes commands testdata bench -maxdepth 3 -name '*.[ch]')
	set -- "${files[@]}"
fi
clang-format --dry-run -Werror "$@"

#!/bin/bash
# Checks which files may see libelf, libdw, ptrace, jansson, libedit and standard output. The order of
# folders is checked by check_rooms.py.
#
# usage: check_libraries.sh [ROOT]
#        check_libraries.sh --self-test    each rule must fail on a copy that breaks it
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
bad=

# report RULE LINES: LINES, if any, break a rule.
report() {
	[ -z "$2" ] && return 0
	printf '%s:\n%s\n' "$1" "$2"
	bad=yes
}

# find_lines REGEX FOLDER...: the lines of its C files that match, as FILE:NUMBER:LINE.
find_lines() {
	local regex=$1

	shift
	grep -rnE --include='*.[ch]' "$regex" "$@" || true
}

# deny FOLDER REGEX [ALLOWED_FILE...]: no file of FOLDER includes that, but for those allowed.
deny() {
	local folder=$1 regex=$2 lines file

	shift 2
	lines=$(find_lines "^[[:space:]]*#[[:space:]]*include[[:space:]]*$regex" "$folder")
	for file; do
		lines=$(grep -vF "$file:" <<<"$lines" || true)
	done
	report "$folder/ must not include $regex" "$lines"
}

check() {
	local elf='<(elfutils/|dwarf\.h|gelf\.h|libelf\.h)' folder lines

	deny debugger "$elf" debugger/target/{module,debug_file,tls}{,_test}.c debugger/core/target_core{,_test}.c \
		debugger/elf/elf_sections.c \
		debugger/elf/claimed_size{,_test}.c
	deny debugger '<sys/ptrace\.h>' debugger/live/{stop_after_exec,tracer{,_break,_control,_event,_filter,_batched_read,_launch,_stop,_watch}}.c \
		debugger/live/{target_live,tracer,x86_64_execute}_test.c
	for folder in dwarf runtimes commands; do
		deny "$folder" '<sys/ptrace\.h>'
	done
	for folder in runtimes commands; do
		deny "$folder" "$elf"
	done
	for folder in debugger runtimes commands; do
		deny "$folder" '<libiberty/'
	done
	deny debugger '<jansson\.h>' debugger/base/json_{reader,writer}_test.c debugger/base/json_reader_fuzz.c
	for folder in dwarf runtimes; do
		deny "$folder" '<jansson\.h>'
	done
	for folder in debugger dwarf runtimes; do
		deny "$folder" '<(editline/readline|histedit|argp)\.h>'
		lines=$(find_lines '(^|[^a-z_])(stdout|v?printf\(|puts\(|putchar\()' "$folder")
		report "only commands/ writes to standard output" \
			"$(grep -vE '_test\.c:|/test/' <<<"$lines" || true)"
	done
	for folder in debugger dwarf runtimes commands; do
		deny "$folder" '<(n?curses|term)\.h>' commands/top/top_screen.c
	done
	deny commands '<jansson\.h>' commands/json/out_json_test.c commands/report/report_test.c \
		commands/test/fuzz.h
}

# expect FILE LINE: a copy where FILE ends in LINE must not pass.
expect() {
	local copy

	copy=$(mktemp -d)
	cp -r "$root/debugger" "$root/dwarf" "$root/runtimes" "$root/commands" "$copy"
	printf '%s\n' "$2" >>"$copy/$1"
	if "$root/testdata/check/check_libraries.sh" "$copy" >/dev/null; then
		echo "not noticed: $2 in $1"
		bad=yes
	fi
	rm -rf "$copy"
}

if [ "${1:-}" = --self-test ]; then
	"$root/testdata/check/check_libraries.sh"
	expect runtimes/model/model.c '#include <elfutils/libdw.h>'
	expect commands/shell/main.c '#include <gelf.h>'
	expect commands/top/top_page.c '#include <curses.h>'
	expect debugger/target/target.c '#include <elfutils/libdwfl.h>'
	expect debugger/target/target.c '#include <sys/ptrace.h>'
	expect commands/shell/main.c '#include <sys/ptrace.h>'
	expect commands/shell/main.c '#include <jansson.h>'
	expect runtimes/model/model.c '#include <jansson.h>'
	expect runtimes/model/model.c 'static void f(void) { printf("x"); }'
	[ -z "$bad" ] || exit 1
	echo "each violation was noticed"
	exit 0
fi
cd "${1:-$root}"
check
[ -z "$bad" ] || exit 1
echo "every library is used only where it may be"

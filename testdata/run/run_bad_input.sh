#!/bin/bash
# Gives asyncdbg what it cannot work with: each time it must say so in one clear line, with the
# right exit code, and neither hang nor crash.
#
# usage: run_bad_input.sh ASYNCDBG
#
# Exit codes of asyncdbg: 0 all was shown, 1 a part, 2 nothing, 64 wrong usage. What needs cargo
# or root is left out with a word where that is not there.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
chmod 755 "$work"
cd "$work"
failures=0
cases=0
started=()

# Only what we started, and only by its id.
stop_all() {
	local pid

	# All before the first wait: who is traced ends only after its tracer.
	[ ${#started[@]} -eq 0 ] || kill -9 "${started[@]}" 2>/dev/null || true
	for pid in ${started[@]+"${started[@]}"}; do
		wait "$pid" 2>/dev/null || true
	done
	started=()
}
trap 'stop_all; rm -rf "$work"' EXIT

# expect CODES REGEX ARGUMENT...: the exit code is one of CODES (separated by commas) and a line
# on standard error matches REGEX. Without an answer that line is the only one.
expect() {
	local codes=$1 regex=$2 status=0 lines

	shift 2
	cases=$((cases + 1))
	timeout 60 "$asyncdbg" "$@" >out 2>err </dev/null || status=$?
	if [[ ",$codes," != *",$status,"* ]]; then
		complain "exit code $status, not $codes" "$@"
		return
	fi
	# The option parser adds where help is.
	lines=$(grep -vc '^Try .*--help' err || true)
	if grep -qE 'Sanitizer|runtime error|[Aa]ssert' err; then
		complain "crashed" "$@"
	elif [ -n "$regex" ] && ! grep -qE "$regex" err; then
		complain "standard error has no \"$regex\"" "$@"
	elif [ "$status" -gt 1 ] && [ "$lines" -ne 1 ]; then
		complain "$lines lines on standard error" "$@"
	elif [ "$status" -gt 1 ] && [ -s out ]; then
		complain "an answer and none" "$@"
	fi
}

complain() {
	echo "$1: asyncdbg ${*:2}"
	head -n 5 err | cut -c 1-300 | sed 's/^/    /'
	failures=$((failures + 1))
}

left_out() {
	echo "left out: $*"
}

# spawn COMMAND...: in the background, until it sleeps or has ended; its pid is $spawned.
spawn() {
	"$@" </dev/null >spawn.out 2>&1 &
	spawned=$!
	started+=("$spawned")
	until [[ ! /proc/$spawned/exe -ef /proc/$$/exe &&
		$(sed -n 's/^State:\t//p' "/proc/$spawned/status" 2>/dev/null) =~ ^([SZ]|$) ]]; do
		sleep 0.01
	done
}

check_usage() {
	: >known
	expect 64 'unknown command "frob"' -p $$ frob
	expect 64 'unknown command "frob"' frob
	expect 64 'async backtrace all' async
	expect 64 'no target' async backtrace
	expect 64 'is not a process id' -p 12x info
	expect 64 'cannot be combined' --stop-all --no-stop info
	expect 64 '"-1" is not a time: 5ms, 500us, 1s' --max-pause -1 info
	expect 64 '"nan" is not a time' --max-pause nan info
	expect 64 '"1d" is not a time' --max-pause 1d info
	ASYNCDBG_MAX_PAUSE=soon expect 64 'ASYNCDBG_MAX_PAUSE: "soon" is not a time' info
	expect 64 'is not a process id' -p 0 info
	expect 64 'is not a process id' -p 99999999999999999999 info
	expect 64 'only one of -p, --name, --unit and -c' -p 1 -c core info
	expect 64 'frobnicate' --frobnicate
	expect 64 '' -p $$ async task 1 2 3
	expect 64 'unknown command' -p $$ -e 'info; frob'
	expect 64 'not a task id' -p $$ async task frob
	expect 64 'not a task id' -p $$ task 1x
	expect 64 'not a frame number' -p $$ -e 'task 1; frame one'
	expect 64 'not a frame number' -p $$ frame 4294967296
	expect 64 'not a frame number' -p $$ -e 'down -1'
	expect 64 'takes no arguments' -p $$ up 1
	expect 64 'not a thread number' -p $$ thread one
	expect 64 'usage: print EXPR' -p $$ print
	expect 64 'unexpected argument' -p $$ print a b
	expect 64 'needs a variable' -p $$ print ''
	expect 64 'usage: whatis ADDR' -p $$ whatis
	expect 64 'not an address' -p $$ whatis 0x
	expect 64 'not an address' -p $$ whatis main
	expect 64 'not an address' -p $$ whatis 0x10000000000000000
	expect 64 'not an address' -p $$ -e 'whatis -1'
	expect 64 'has no option -v' -p $$ -e 'tasks -v'
	expect 64 'has no option --verbos' -p $$ -e 'async bt --verbos'
	expect 64 'did you mean --with' -p $$ tasks --wiht id 3
	expect 64 'help bt" lists its options' -p $$ bt --frob=x
	expect 64 'has no option --frob' -p $$ -e 'async graph --frob x'
	expect 64 'needs a value: --dot FILE' -p $$ async graph --dot
	expect 64 'async backtrace all" has no option --exec' -p $$ async bt all --exec
	expect 64 'async backtrace all" has no option --exec' -p $$ async bt all --exec info
	expect 64 'needs a value: --exec' -p $$ tasks --exec
	expect 64 'needs a command' -p $$ tasks --exec ''
	expect 64 '10..2 contains no number' -p $$ tasks --with depth 10..2
	expect 64 'file name is empty' -p $$ save ''
	expect 64 'file name is empty' -p $$ async graph --dot ''
	expect 64 'say which file to write: save FILE' -p $$ save
	expect 64 'say which file to write: report FILE' -p $$ report
	expect 64 'say which file to write: layout EXE -o FILE' layout "$asyncdbg"
	expect 64 '"tasks" does not write a file; these commands do: async graph, trace, ' -p $$ -o x tasks
	expect 64 '"tasks" does not write a file' -p $$ tasks -o x
	expect 64 'belongs to a command' -p $$ -o x -e tasks
	expect 64 'usage: layout EXE -o FILE' layout
	expect 64 'without quotes' -p $$ 'async backtrace all'
	expect 64 'may be given only once' -p $$ async graph --dot a --dot=b
	expect 64 'not a task id' -p $$ async graph --dot a main
	expect 64 'unknown check "frob"' -p $$ check --fail-on deadlock,frob
	expect 64 'reports only what is certain' -p $$ check --fail-on huge-future:possible
	expect 64 'unknown check "frob:possible"' -p $$ check --fail-on frob:possible
	expect 64 'not an interval' -p $$ check --interval soon
	expect 64 '"dprintf" does not exist: "logpoint PLACE' -p $$ dprintf
	expect 64 '"logpoint" needs more arguments' -p $$ logpoint main
	expect 64 'has no }' -p $$ logpoint main 'n is {n'
	expect 64 'not understood: watch EXPR if' -p $$ watch a b
	expect 64 '"rwatch" needs more arguments' -p $$ rwatch
	expect 2 'no program is being debugged' -p $$ awatch a if 'a > 3'
	expect 2 'breakpoints need a debugged program' -p $$ logpoint main 'n is {n}'
	expect 2 'no program is being debugged' -p $$ next
	expect 64 '"asyncdbg run -- /bin/true" starts and debugs it' /bin/true
	expect 64 '"asyncdbg /bin/true CORE" opens its core' /bin/true tasks
	expect 64 'nothing/there: No such file' nothing/there
	expect 64 '"some" is not a number of frames' -p $$ bt some
	expect 64 'unknown command "12"' -p $$ 12
	expect 64 'unknown command "known"; .* write ./known' known tasks
	expect 64 'only for guard, trace and run' -- /bin/true -x
	expect 64 'only for guard, trace and run' -p $$ -- /bin/true
	expect 64 'tasks" takes no arguments: "known"' -p $$ tasks known
	expect 2 'No such file' -p $$ -x nothing-there
}

# Patches of ELF files: OFFSET SIZE VALUE, little-endian.
patch() {
	python3 - "$@" <<-'EOF'
		import sys
		path, offset, size, value = sys.argv[1], *(int(arg, 0) for arg in sys.argv[2:])
		with open(path, "r+b") as file:
		    file.seek(offset)
		    file.write(value.to_bytes(size, "little"))
	EOF
}

# Makes every segment with notes an unused one: no threads, no auxv, no files.
drop_notes() {
	python3 - "$1" <<-'EOF'
		import struct, sys
		with open(sys.argv[1], "r+b") as file:
		    data = file.read(64)
		    table, size, count = struct.unpack_from("<Q14xHH", data, 32)
		    for i in range(count):
		        file.seek(table + i * size)
		        if struct.unpack("<I", file.read(4))[0] == 4:
		            file.seek(table + i * size)
		            file.write(bytes(4))
	EOF
}

# corrupt FILE SECTION SEED: every 97th byte of the section, or so, is another one.
corrupt() {
	python3 - "$@" <<-'EOF'
		import random, subprocess, sys
		path, section, seed = sys.argv[1:]
		random.seed(int(seed))
		for line in subprocess.check_output(["readelf", "-SW", path], text=True).splitlines():
		    words = line.replace("[", "").replace("]", "").split()
		    if len(words) > 5 and words[1] == section:
		        start, length = int(words[4], 16), int(words[5], 16)
		with open(path, "r+b") as file:
		    for at in range(start, start + length, 97):
		        file.seek(at + random.randrange(min(97, start + length - at)))
		        file.write(bytes([random.randrange(256)]))
	EOF
}

# changed SOURCE: a copy to spoil.
changed() {
	cp "$1" changed
}

check_cores() {
	local size section seed
	local core=(-c tokio_tcp.core --exe tokio_tcp.exe)

	expect 2 'no task 987654' "${core[@]}" async task 987654
	expect 2 'no task 987654' "${core[@]}" task 987654
	expect 2 'no frame #4000000000' "${core[@]}" frame 4000000000
	expect 2 'outermost' "${core[@]}" up
	expect 2 'no frame #99' "${core[@]}" -e 'frame 99; print x'
	expect 2 '' "${core[@]}" print no_such_variable
	expect 2 '' "${core[@]}" print '..'
	expect 2 '' "${core[@]}" print '%n%s'
	expect 2 '' "${core[@]}" print "$(printf 'a.%.0s' {1..20000})b"
	expect 0 '' "${core[@]}" whatis 0
	expect 0 '' "${core[@]}" whatis 0xffffffffffffffff
	expect 2 'No such file' -c nothing-there info
	expect 2 'not a file' -c / info
	expect 2 'not a file' -c /dev/null info
	expect 2 'No such file' -c tokio_tcp.core --exe nothing-there info
	printf 'no core at all%0100d\n' 0 >text
	: >empty
	expect 2 'not an ELF' -c text info
	expect 2 '' -c empty info
	expect 2 'not an ELF' -c tokio_tcp.core --exe text info
	expect 2 'core' -c tokio_tcp.exe info

	expect 2 'text is not a layout file: `asyncdbg layout' "${core[@]}" --layout text info
	expect 64 'full is a device.*-o -' layout tokio_tcp.exe -o /dev/full
	# Too few files may be open: no process counts as one that is not there, or not async.
	local whole=$asyncdbg
	printf '#!/bin/sh\nulimit -n 12\nexec "%s" "$@"\n' "$asyncdbg" >few
	chmod +x few
	asyncdbg=$PWD/few
	sleep 60 &
	expect 2 'Too many open files' ps
	expect 2 'Too many open files' -p $! tasks
	kill $!
	asyncdbg=$whole
	expect 2 '^asyncdbg: /nonexistent/x: No such' "${core[@]}" save /nonexistent/x

	# The executable of another program; this core has no build-id.
	cc -g -o other -x c - <<<'int main(void) { return 0; }'
	expect 0,1,2 '' -c tokio_tcp.core --exe other async backtrace all

	size=$(stat -c %s tokio_tcp.core)
	for i in 1 2 3 4 5 6 7; do
		head -c $((size * i / 8)) tokio_tcp.core >changed
		expect 1,2 '' -c changed --exe tokio_tcp.exe async backtrace all
	done
	for i in 1 20 63 64 100 500; do
		head -c "$i" tokio_tcp.core >changed
		expect 2 '' -c changed --exe tokio_tcp.exe info
	done

	changed tokio_tcp.core && drop_notes changed
	expect 2 'thread' -c changed --exe tokio_tcp.exe info
	# EI_CLASS, EI_DATA, e_machine (386, AArch64), e_phoff, e_phnum.
	changed tokio_tcp.core && patch changed 4 1 1
	expect 2 '32' -c changed info
	changed tokio_tcp.core && patch changed 5 1 2
	expect 2 '' -c changed info
	changed tokio_tcp.core && patch changed 18 2 3
	expect 2 '' -c changed info
	changed tokio_tcp.core && patch changed 18 2 183
	expect 2 '' -c changed info
	changed tokio_tcp.core && patch changed 32 8 0x7fffffffffffff00
	expect 2 '' -c changed info
	changed tokio_tcp.core && patch changed 56 2 0xfff0
	expect 0,1,2 '' -c changed --exe tokio_tcp.exe async backtrace all

	for section in .debug_info .debug_abbrev .debug_str .debug_line .debug_aranges \
		.debug_ranges .debug_loc .eh_frame; do
		for seed in 1 2 3; do
			changed tokio_tcp.exe && corrupt changed "$section" "$seed"
			expect 0,1,2 '' -c tokio_tcp.core --exe changed async backtrace all
		done
	done
	# Spoilt headers and notes.
	for seed in 1 2 3 4 5; do
		changed tokio_tcp.core
		for i in 1 2 3 4 5 6 7 8; do
			patch changed $(((seed * 7919 + i * 104729) % 4000 + 64)) 1 $((seed * i * 37 % 256))
		done
		expect 0,1,2 '' -c changed --exe tokio_tcp.exe async backtrace all
	done

	strip -o stripped tokio_tcp.exe
	expect 1,2 'strip.* --layout' -c tokio_tcp.core --exe stripped async backtrace all
	objcopy --strip-debug tokio_tcp.exe changed
	expect 1,2 'debug' -c tokio_tcp.core --exe changed async backtrace all
}

# Source files of a program are anybody's: what lies there may be anything.
check_sources() {
	local core=(-c tokio_tcp.core --exe tokio_tcp.exe) place=tokio_tcp/src/main.rs:3
	local map=(--source-map /src=sources) file=sources/tokio_tcp/src/main.rs

	mkdir -p "${file%/*}"
	expect 2 'not found: tried .*main.rs; "set source-map /src=DIRECTORY"' "${core[@]}" list "$place"
	expect 2 'not found: tried sources/' "${core[@]}" "${map[@]}" list "$place"
	mkfifo "$file"
	expect 2 'main.rs is not a regular file' "${core[@]}" "${map[@]}" list "$place"
	rm "$file" && ln -s /dev/zero "$file"
	expect 2 'main.rs is not a regular file' "${core[@]}" "${map[@]}" list "$place"
	rm "$file" && ln -s main.rs "$file"
	expect 2 'not found: tried' "${core[@]}" "${map[@]}" list "$place"
	rm "$file" && truncate -s 1T "$file"
	expect 2 'main.rs is too large' "${core[@]}" "${map[@]}" list "$place"
	head -c 300000 /dev/urandom | tr '\n' '\r' >sources/random
	printf '\n\e[31m\xe2\x80\xae\t\0\n' >>sources/random
	mv sources/random "$file"
	expect 0 '' "${core[@]}" "${map[@]}" list "$place"
	! LC_ALL=C grep -q $'[\e\t]' out || complain "control characters" list
	expect 0 '' "${core[@]}" --json "${map[@]}" list "$place"
	expect 2 'has no line 4294967295; it has 2' "${core[@]}" "${map[@]}" list "${place/3/4294967295}"
	expect 2 'no code of this program comes from a file nothing.rs' "${core[@]}" list nothing.rs:1
	expect 2 'no function named no::such' "${core[@]}" list no::such
	expect 64 'is not a line' "${core[@]}" list main.rs:4294967296
	expect 64 'not a source map' "${core[@]}" --source-map x list
	expect 64 'not a source map' "${core[@]}" set source-map =
}

check_code() {
	local core=(-c tokio_tcp.core --exe tokio_tcp.exe)

	expect 2 'no function at 0x10' "${core[@]}" disassemble 0x10
	expect 2 '0x10 is not readable' "${core[@]}" disassemble 0x10,+0xffffffffffffff00
	expect 64 'range of addresses is empty' "${core[@]}" disassemble 0xffffffffffffffff,+1
	expect 64 'range of addresses is empty' "${core[@]}" disassemble 0x20,0x10
	expect 2 'no function named no::such' "${core[@]}" disassemble no::such
	expect 64 'is the name of [0-9]+ functions' "${core[@]}" disassemble poll
	expect 64 'unknown format' "${core[@]}" disassemble /z
	expect 2 '0x10 is not readable' "${core[@]}" x/65536xg 0x10
	expect 2 'is not readable' "${core[@]}" x/s 0xffffffffffffffff
	expect 2 'is not readable' "${core[@]}" x/i 0
	expect 64 'number of units' "${core[@]}" x/65537xb 0
	expect 64 'number of units' "${core[@]}" x/99999999999999999999xb 0
	expect 64 'is not a format' "${core[@]}" x/%n 0
	expect 64 'no register "zz"' "${core[@]}" x '$zz'
	expect 64 'no register' "${core[@]}" info registers zz
	expect 64 'needs an address' "${core[@]}" x
	expect 0 '' "${core[@]}" x/65536xb '$sp'
}

# says_input REGEX: standard error matches it, and the summary is shown.
says_input() {
	local status=0

	cases=$((cases + 1))
	timeout 60 "$asyncdbg" -c tokio_tcp.core --exe tokio_tcp.exe "${@:2}" >out 2>err || status=$?
	[ "$status" -eq 0 ] && [ -s out ] && grep -qE "$1" <(cat err; echo end) ||
		complain "exit code $status, or not \"$1\", with commands piped in" "${@:2}"
}

check_input() {
	printf 'tasks\n' >commands
	says_input 'was not read: use -x -' < <(cat commands)
	says_input 'was not read: use -x -' <commands
	says_input '^end' </dev/null
	says_input '^end' <&-
	says_input '^end' --batch <commands
	says_input '^end' tasks <commands
	says_input '^end' -x - <commands
}

# Names that reorder what is around them, or that nobody sees, are shown by their escapes.
check_hidden_characters() {
	local name=$'a\u202eb\u200bc' format args

	mkdir "$name"
	cp "$(command -v sleep)" "$name/$name"
	spawn "./$name/$name" 60
	for args in info threads 'async bt all' 'report page.html' 'async graph --dot page.html'; do
		for format in --color=never --json --jsonl; do
			rm -f page.html
			# shellcheck disable=SC2086 # words of a command
			expect 0,1,2 '' "$format" -p "$spawned" $args
			cat page.html >>out 2>/dev/null || true
			if LC_ALL=C grep -q $'\xe2\x80[\xae\x8b]' out err; then
				complain "hidden characters" "$format" "$args"
			fi
		done
	done
	expect 0,1 '' -p "$spawned" info
	grep -qF 'a\u{202e}b\u{200b}c' out || complain "no escapes" info
	expect 64 '\\u\{202e\}' -p 1 $'\u202e'
	expect 2 '\\u\{202e\}' -c $'\u202e' info
}

check_no_process() {
	local pid i status

	spawn true
	pid=$spawned
	wait "$pid" || true
	expect 2 "no process $pid" -p "$pid" info
	expect 2 'kernel' -p 2 info
	# A zombie: python does not wait for its child.
	spawn python3 -c 'import os, time
pid = os.fork()
if not pid: os._exit(0)
print(pid, flush=True)
time.sleep(60)'
	until grep -q '^State:.Z' "/proc/$(cat spawn.out)/status" 2>/dev/null; do sleep 0.01; done
	expect 2 'exit|zombie|dead|ended|memory' -p "$(head -n 1 spawn.out)" info
	# Programs that end while asyncdbg is at work.
	for i in $(seq 30); do
		sleep "0.$(printf '%03d' $((i * 5)))" &
		pid=$!
		status=0
		timeout 30 "$asyncdbg" -p "$pid" bt all >out 2>err </dev/null || status=$?
		cases=$((cases + 1))
		[ "$status" -le 2 ] || complain "exit code $status" -p "a process that ends"
		[ "$status" -ne 2 ] || [ "$(wc -l <err)" -eq 1 ] ||
			complain "not one line on standard error" -p "a process that ends"
		wait "$pid" || true
	done
}

check_permission() {
	local state

	if [ "$(id -u)" -ne 0 ]; then
		expect 2 'ermi' -p 1 info
	else
		cp "$asyncdbg" asyncdbg
		chmod 755 asyncdbg
		spawn sleep 60
		state=0
		setpriv --reuid=65534 --regid=65534 --clear-groups "$work/asyncdbg" -p "$spawned" info \
			>out 2>err </dev/null || state=$?
		cases=$((cases + 1))
		if [ "$state" -ne 2 ] || ! grep -qi 'permi' err || [ "$(wc -l <err)" -ne 1 ]; then
			complain "exit code $state, not 2 and a line on permissions" -p "of another user"
		fi
		echo core >unreadable
		chmod 000 unreadable
	fi
	cat >tracer.c <<-'EOF'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/ptrace.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			if (argc < 2 || ptrace(PTRACE_SEIZE, atoi(argv[1]), NULL, NULL) != 0)
				return 1;
			for (;;)
				pause();
		}
	EOF
	cc -o tracer tracer.c
	spawn sleep 60
	state=$spawned
	spawn ./tracer "$state"
	expect 2 'trac' -p "$state" info
}

check_programs() {
	cat >sleeper.c <<-'EOF'
		#include <unistd.h>
		int main(void)
		{
			for (;;)
				pause();
		}
	EOF
	cc -g -o sleeper sleeper.c
	spawn ./sleeper
	expect 0,1 'runtime|tokio|Rust' -p "$spawned" async backtrace all
	expect 2 'no task 1' -p "$spawned" async task 1
	expect 2 'nothing-there: No such file' -p "$spawned" --exe nothing-there tasks
	expect 2 'text: not an ELF' -p "$spawned" --exe text tasks
	expect 2 'build-id' -p "$spawned" --exe other info
	expect 0,1 '' -p "$spawned" --exe other --force info
	gcore -o core "$spawned" >gcore.out 2>&1 || complain "gcore failed" "$spawned"
	expect 2 'build-id' -c "core.$spawned" --exe other info
	expect 0,1,2 '' -c "core.$spawned" --exe other --force info
	rm -f "core.$spawned"
	if cc -m32 -nostdlib -static -o sleeper32 -x c - 2>/dev/null <<-'EOF'; then
		void _start(void)
		{
			for (;;)
				__asm__ volatile("int $0x80" : : "a"(29));
		}
	EOF
		spawn ./sleeper32
		if kill -0 "$spawned" 2>/dev/null; then
			expect 2 '32|i386|x86-64' -p "$spawned" info
		else
			left_out "a 32-bit process: this kernel runs none"
		fi
	else
		left_out "a 32-bit process: this compiler makes none"
	fi
	if ! find_cargo; then
		left_out "programs without debug info: $no_cargo"
		return
	fi
	check_tiers
}

check_tiers() {
	local dir

	dir=$("$testdata/make/build_programs.sh" "$(newest_lock)" debug1 tokio_tcp notokio 2>build.log |
		tail -n 1)
	# They end with their standard input.
	mkfifo stdin
	"$dir/tokio_tcp" <stdin >truth &
	started+=($!)
	exec 8>stdin
	wait_ready truth $!
	expect 0,1 'debug' -p $! async backtrace all
	strip -o stripped-live "$dir/tokio_tcp"
	rm truth
	mkfifo stdin2
	./stripped-live <stdin2 >truth &
	started+=($!)
	exec 7>stdin2
	wait_ready truth $!
	expect 1,2 'strip' -p $! async backtrace all
	exec 7>&- 8>&-
}

unpack_fixture tokio_tcp "$work"
check_usage
check_cores
check_sources
check_code
check_input
obstacle=$(ptrace_obstacle)
if [ -n "$obstacle" ]; then
	left_out "live programs: $obstacle"
else
	check_hidden_characters
	check_no_process
	check_permission
	check_programs
fi
[ "$failures" -eq 0 ] || { echo "$failures of $cases failed" && exit 1; }
echo "$cases cases ok"

#!/bin/bash
# Separate debug files and layout files that are of another program, that nothing vouches for, or
# that are no files at all, wherever they are looked for: none may be believed, waited for, or get
# into the cache.
#
# usage: run_debug_files.sh ASYNCDBG
#
# On committed cores. What needs libdebuginfod or root is left out with a word where that is not
# there.
set -euo pipefail

testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT DEBUGINFOD_MAXTIME DEBUGINFOD_CACHE_PATH
failures=0
server=

stop_server() {
	[ -n "$server" ] || return 0
	exec 7>&-
	wait "$server" || true
	server=
	unset DEBUGINFOD_URLS
}
trap 'stop_server; rm -rf "$work"' EXIT

bad() {
	echo "$1: $2"
	tail -n 5 "$work/said" | cut -c 1-300 | sed 's/^/    /'
	failures=$((failures + 1))
}

# ask ARGUMENT...: into answer and said; the exit status is $status, 124 when it did not end.
ask() {
	status=0
	timeout -k 5 60 "$asyncdbg" "$@" --json async backtrace all >answer 2>said </dev/null || status=$?
	if grep -qE 'Sanitizer|runtime error' said; then bad "$*" "crashed"; fi
}

# whole NAME EXE: the answer is that of the program with its debug info in it.
whole() {
	ask -c core --exe "$2"
	if [ "$status" -ne "$whole_status" ] || ! "$testdata/check/compare_tasks.py" whole answer >difference; then
		bad "$1" "differs from the answer with debug info: $status"
	else
		echo "$1: whole"
	fi
}

# stripped NAME EXE [NOTE]: the answer is that without debug info, and NOTE says why.
stripped() {
	ask -c core --exe "$2"
	if [ "$status" -ne 1 ] || ! grep -q 'it is stripped' answer; then
		bad "$1" "ends with $status, not as a stripped program does"
	elif [ -n "${3:-}" ] && ! jq -r '.notes[]' answer | grep -q -- "$3"; then
		bad "$1" "does not say '$3': $(jq -c .notes answer)"
	elif ! jq -r '.notes[]' answer | grep -q "^[^ ]*$2: it is stripped"; then
		bad "$1" "calls another file stripped: $(jq -c .notes answer)"
	else
		echo "$1: not used"
	fi
}

# What was answered wrongly once must not be in the cache.
then_whole() {
	whole "$1, and later with the right one" exe
	rm -rf "$work/cache"
}

start_server() {
	rm -f "$work/stdin" "$work/url"
	mkfifo "$work/stdin"
	"$testdata/run/debuginfod.py" "$@" <"$work/stdin" >"$work/url" 2>/dev/null 7>&- &
	server=$!
	exec 7>"$work/stdin"
	until grep -qs http "$work/url"; do sleep 0.05; done
	DEBUGINFOD_URLS=$(head -n 1 "$work/url")
	export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH=$work/client
	rm -rf "$work/client"
}

# $1 with the build-id $2, in hexadecimal digits.
set_build_id() {
	python3 - "$1" "$2" <<-'EOF'
		import subprocess, sys
		path, wanted = sys.argv[1], bytes.fromhex(sys.argv[2])
		note = b"\4\0\0\0" + len(wanted).to_bytes(4, "little") + b"\3\0\0\0GNU\0" + wanted
		open("note", "wb").write(note)
		subprocess.run(["objcopy", "--update-section", ".note.gnu.build-id=note", path], check=True)
	EOF
}

cd "$work"
unpack_fixture tokio_tcp .
mv tokio_tcp.core core && mv tokio_tcp.exe exe
unpack_fixture boxed .
mv boxed.exe other
ask -c core --exe exe --no-cache
whole_status=$status
mv answer whole
id=$(readelf -n exe 2>/dev/null | sed -n 's/.*Build ID: //p')
objcopy --strip-all exe bare
objcopy --only-keep-debug exe debug
objcopy --only-keep-debug other wrong
objcopy --only-keep-debug --remove-section .note.gnu.build-id exe without-id
stripped "no debug file" bare
then_whole "no debug file"

# Beside the program, by debug link and by name, and below .debug.
mkdir -p linked/.debug
cp bare linked/exe
cp debug linked/exe.debug
(cd linked && objcopy --add-gnu-debuglink=exe.debug exe)
whole "debug link" linked/exe
rm linked/exe.debug
cp debug linked/.debug/exe.debug
whole "debug link, below .debug" linked/exe
cp wrong linked/exe.debug
whole "the wrong one first" linked/exe
rm -rf cache linked/.debug/exe.debug
stripped "debug link to another program" linked/exe "exe.debug has a different build-id: not used"
then_whole "debug link to another program"
cp without-id linked/exe.debug
stripped "debug link to a file without a build-id" linked/exe "exe.debug has no build-id: not used"
then_whole "debug link to a file without a build-id"
echo nonsense >linked/exe.debug
stripped "debug link to text" linked/exe "exe.debug is not an ELF file"
for kind in fifo directory device; do
	rm -rf linked/exe.debug linked/.debug/exe.debug
	case $kind in
	fifo) mkfifo linked/exe.debug linked/.debug/exe.debug ;;
	directory) mkdir linked/exe.debug ;;
	device) ln -s /dev/zero linked/exe.debug ;;
	esac
	stripped "debug link to a $kind" linked/exe "exe.debug is not a regular file"
done
rm -rf linked/exe.debug linked/.debug/exe.debug
truncate -s 1E linked/exe.debug 2>/dev/null || truncate -s 8T linked/exe.debug
stripped "debug link to a file of an exabyte" linked/exe "exe.debug is "
rm -f linked/exe.debug

# A program without a build-id: the checksum of the debug link decides, and a name alone is nothing.
objcopy --remove-section .note.gnu.build-id exe no-id
objcopy --strip-all no-id linked/exe
objcopy --only-keep-debug no-id linked/exe.debug
(cd linked && objcopy --add-gnu-debuglink=exe.debug exe)
ask -c core --exe linked/exe --force
"$testdata/check/compare_tasks.py" whole answer >difference || bad "debug link, by its checksum" "differs: $status"
cp wrong linked/exe.debug
ask -c core --exe linked/exe --force
grep -q 'exe.debug has a different checksum: not used' answer || bad "a wrong checksum" "not said: $status"
objcopy --remove-section .gnu_debuglink linked/exe
objcopy --only-keep-debug no-id linked/exe.debug
ask -c core --exe linked/exe --force
grep -q 'exe.debug is not used: nothing proves that it belongs to this build' answer || bad "a name alone" "believed: $status"
rm -rf linked/exe.debug cache

# An alternate debug file (dwz) that is none: what leads to it is in the debug info itself.
mkfifo alternate
printf '%s\0%s' "$work/alternate" 0123456789abcdef0123 >altlink
objcopy --add-section .gnu_debugaltlink=altlink exe dwz
ask -c core --exe dwz
[ "$status" -le 1 ] && "$testdata/check/compare_tasks.py" whole answer >difference || bad "alternate debug file that is a fifo" "$status"
status=0
timeout -k 5 20 "$asyncdbg" -c core --exe dwz threads >answer 2>said </dev/null || status=$?
[ "$status" -le 1 ] || bad "alternate debug file that is a fifo, native stacks" "$status"
rm -rf cache

# Whatever else is given by its name.
for what in "-c core --exe fifo" "-c fifo --exe exe" "-c core --exe bare --layout fifo" "layout fifo -o /dev/null"; do
	[ -e fifo ] || mkfifo fifo
	status=0
	# shellcheck disable=SC2086 # words
	timeout -k 5 20 "$asyncdbg" $what info >answer 2>said </dev/null || status=$?
	case $status in 2 | 64) ;; *) bad "$what" "ends with $status" ;; esac
done

# By build-id, in the directory of the system.
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
	by_id=/usr/lib/debug/.build-id/${id:0:2}/${id:2}
	in_system() {
		unshare --mount bash -euc 'mount -t tmpfs tmpfs /usr/lib/debug
			mkdir -p "$(dirname "$1")"
			case $2 in fifo) mkfifo "$1" ;; *) cp "$2" "$1" ;; esac
			shift 2
			exec "$@"' - "$by_id" "$@"
	}
	real=$asyncdbg
	# with_file ENDING KIND: asks with that file there.
	with_file() {
		cat >wrapped <<-EOF
			#!/bin/bash
			$(declare -f in_system)
			by_id=$by_id.$1
			in_system $2 "$real" "\$@"
		EOF
		chmod +x wrapped
		asyncdbg=$work/wrapped
	}
	for kind in fifo wrong debug; do
		with_file debug "$kind"
		case $kind in
		fifo) stripped "by build-id, a fifo" bare "${id:2}.debug is not a regular file" ;;
		wrong) stripped "by build-id, another program" bare "has a different build-id: not used" ;;
		debug) whole "by build-id" bare ;;
		esac
	done
	asyncdbg=$real
	rm -rf cache

	# A layout file beside the debug files.
	"$asyncdbg" layout exe -o right.layout 2>/dev/null
	"$asyncdbg" layout other -o wrong.layout 2>/dev/null
	head -c 1000 right.layout >torn.layout
	with_file layout right.layout
	ask -c core --exe bare
	"$testdata/check/compare_tasks.py" whole answer >difference || bad "a layout file by build-id" "differs: $status"
	[ "$(jq -r .target.debug_info_reason answer)" = "from the layout file $by_id.layout" ] ||
		bad "a layout file by build-id" "not named"
	ask -c core --exe exe
	[ "$(jq -r .target.debug_info_reason answer)" = null ] || bad "debug info and a layout file" "the latter is used"
	for kind in fifo wrong.layout torn.layout; do
		with_file layout $kind
		case $kind in
		fifo) stripped "a layout file that is a fifo" bare ;;
		wrong.layout) stripped "a layout file of another program" bare "is not used: .*belongs to another program" ;;
		torn.layout) stripped "a torn layout file" bare "is not used: .*layout: " ;;
		esac
	done
	asyncdbg=$real
	rm -rf cache
else
	echo "left out: debug files of the system need root"
fi

# From a server.
if ! ldconfig -p | grep -q libdebuginfod.so.1; then
	echo "left out: no libdebuginfod"
else
	mkdir -p "served/buildid/$id"
	cp debug "served/buildid/$id/debuginfo"
	start_server served
	whole "from a server" bare
	rm -rf cache
	cp wrong "served/buildid/$id/debuginfo"
	rm -rf client
	stripped "another program from a server" bare "has a different build-id: not used"
	stripped "another program from the client's cache" bare "has a different build-id: not used"
	then_whole "another program from a server"
	rm -rf client/*
	mkdir -p "client/$id" && mkfifo "client/$id/debuginfo"
	DEBUGINFOD_TIMEOUT=3 stripped "a fifo in the client's cache" bare "debuginfod did not answer"
	stop_server
	for how in --silent --endless; do
		note="debuginfod did not answer"
		# The library itself may give up on a slow server first, and says then that there is no file.
		[ "$how" = --silent ] || note= DEBUGINFOD_TIMEOUT=3
		export DEBUGINFOD_TIMEOUT
		start_server "$how"
		stripped "a server that is $how" bare "$note"
		# ^C ends the wait. Shells leave it ignored in what runs beside them. The client's cache says by now
		# that there is no file.
		rm -rf client
		status=0
		DEBUGINFOD_TIMEOUT=60 timeout -k 5 60 python3 - "$asyncdbg" >answer 2>said <<-'EOF' || status=$?
			import signal, subprocess, sys
			signal.signal(signal.SIGINT, signal.SIG_DFL)
			command = [sys.argv[1], "-c", "core", "--exe", "bare", "--log", "module", "async", "backtrace", "all"]
			child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
			for line in child.stderr:
			    if b"querying debuginfod" in line:
			        break
			child.send_signal(signal.SIGINT)
			said = child.stderr.read()
			print(child.wait(), said)
			sys.exit(not said.endswith(b"asyncdbg: interrupted\n"))
		EOF
		[ "$status" -eq 0 ] || bad "^C while a server is $how" "$(cat answer)"
		rm -rf cache
		stop_server
	done
fi

[ "$failures" -eq 0 ] || { echo "$failures failures" && exit 1; }

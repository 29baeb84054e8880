#!/bin/bash
# Where the files go that commands write: not through links of a container or of another user, not into
# pipes or devices, and not over files of another format.
#
# usage: run_writes.sh ASYNCDBG
#
# The parts with another root and another user are left out without root.
set -euo pipefail

export LC_ALL=C.UTF-8
testdata=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$testdata/../scripts/lib.sh"
[ $# -eq 1 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2 && exit 64; }
asyncdbg=$(realpath "$1")
work=$(mktemp -d)
chmod 755 "$work"
inside=

finish() {
	[ -z "$inside" ] || kill "$inside" 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
export XDG_CACHE_HOME=$work/cache
cd "$work"
unpack_fixture tokio_tcp "$work"
failures=0

complain() {
	echo "$*"
	failures=$((failures + 1))
}

# write WANTED_STATUS WANTED_MESSAGE ARGUMENT...: a command on the core.
write() {
	local wanted=$1 message=$2 status=0

	shift 2
	timeout 60 "$asyncdbg" -c tokio_tcp.core --exe tokio_tcp.exe "$@" >out 2>err </dev/null || status=$?
	[ $status -eq "$wanted" ] || complain "status $status instead of $wanted: $*"
	[ -z "$message" ] || grep -qe "$message" err || complain "it does not say \"$message\": $* says $(head -c 300 err)"
}

# Formats: a core is not replaced by anything, nor is an HTML page or JSON of somebody else.
cp tokio_tcp.core kept
printf '<!doctype html>\n<title>a page of the user</title>\n' >page.html
for command in save report 'async graph'; do
	# shellcheck disable=SC2086 # a command of two words
	write 64 'is not such a file\|is not a saved snapshot' $command -o kept
done
write 64 'is not such a file' report -o page.html
cmp -s kept tokio_tcp.core || complain "a core was changed"
grep -q 'of the user' page.html || complain "a page was replaced"
write 0 '' report -o own.html
write 0 '' report -o own.html
write 0 '' save -o own.snapshot
write 0 '' save -o own.snapshot

# trace refuses before it traces anything: the traced program is no async one.
cp tokio_tcp.core a.core
printf '{"a": 1}\n' >a.json
printf '\na text\n' >a.pftrace
for words in '-o a.core' '-o a.json --jsonl' '-o a.pftrace'; do
	status=0
	# shellcheck disable=SC2086 # several words
	"$asyncdbg" trace $words -- "$(command -v true)" >out 2>err || status=$?
	[ $status -eq 64 ] && grep -q 'is not such a file' err || complain "trace $words: status $status, $(cat err)"
done
cmp -s a.core tokio_tcp.core || complain "trace replaced a core"
[ "$(cat a.json)" = '{"a": 1}' ] || complain "trace replaced a JSON file"

# Pipes and devices block, or are written by the start of a snapshot.
mkfifo pipe
write 64 'is a pipe.*-o -' save -o pipe
ln -s pipe link_to_pipe
write 64 'is a pipe.*-o -' report -o link_to_pipe
write 64 'is a device.*-o -' save -o /dev/full
write 0 '' save -o /dev/null
[ -c /dev/null ] || complain "/dev/null is no device any more"

# The history of the prompt: not through a link, and not in a folder of another user.
mkdir -m 700 state state/asyncdbg
printf 'a file of the user\n' >victim
ln -s "$work/victim" state/asyncdbg/history
printf 'info\nquit\n' | XDG_STATE_HOME=$work/state script -qec \
	"$asyncdbg $work/tokio_tcp.exe $work/tokio_tcp.core" /dev/null >out 2>&1 || true
[ "$(cat victim)" = 'a file of the user' ] || complain "the history went through a link"

if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	# A container whose /tmp is an absolute link, which the host has, too.
	mkdir -p root/bin root/host_only root/proc "$work/host_only"
	mkdir -p "root$work/host_only"
	ln -s "$work/host_only" root/link
	: >host_only/empty
	ln -s "$work/host_only/empty" root/last
	cp "$(command -v busybox || echo /bin/sleep)" root/bin/sleep
	# Its libraries, unless it needs none.
	ldd root/bin/sleep 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "root$(dirname "$library")"
		cp "$library" "root$library"
	done
	chroot root /bin/sleep 1000 &
	inside=$!
	until [ "$(readlink /proc/$inside/root)" = "$work/root" ]; do sleep 0.1; done
	write 0 '' save -o /proc/$inside/root/link/x.snapshot
	[ ! -e host_only/x.snapshot ] || complain "an absolute link of a container was followed on the host"
	[ -s "root$work/host_only/x.snapshot" ] || complain "there is no file in the container"
	write 64 'symbolic link' report -o /proc/$inside/root/last
	[ ! -s host_only/empty ] || complain "report replaced an empty file of the host"

	# Links that another user put where the name of a file can be guessed.
	mkdir theirs
	: >own_file
	ln -s "$work/own_file" theirs/x.snapshot
	chown -h 12345:12345 theirs theirs/x.snapshot
	write 64 'of another user' save -o theirs/x.snapshot
	[ ! -s own_file ] || complain "a link of another user was followed"
	write 0 '' save -o theirs/y.snapshot

	# A home that is not ours, as sudo may keep it.
	mkdir -p home/.local/state/asyncdbg
	chown -R 12345:12345 home
	printf 'info\nquit\n' | env -u XDG_STATE_HOME HOME="$work/home" script -qec \
		"$asyncdbg $work/tokio_tcp.exe $work/tokio_tcp.core" /dev/null >out 2>&1 || true
	[ -z "$(find home -uid 0)" ] || complain "files in the home of another user: $(find home -uid 0)"
else
	echo "left out: other roots and users"
fi

[ $failures -eq 0 ] || { echo "$failures failures" && exit 1; }
echo "files go where they should"

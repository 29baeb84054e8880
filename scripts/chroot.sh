# Root file systems of Debian releases, and commands in them; sourced after lib.sh. Needs root.
# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# CHROOTS  where they are kept, default ~/.cache/asyncdbg-chroots
# MIRROR   where packages come from, default where apt gets those of this system

chroots=${CHROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/asyncdbg-chroots}
# A mirror may stand still, as snapshot.debian.org does; its signature counts all the same.
chroot_install="apt-get update -q -o Acquire::Check-Valid-Until=false && apt-get install -y -q --no-install-recommends"

# find_debootstrap: false, with the reason in $no_chroot, where no root file system can be made.
# Sets $mirror.
find_debootstrap() {
	no_chroot=
	mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		grep -vi security | head -n 1)}
	if [ -z "$mirror" ]; then
		no_chroot="apt names no mirror; set MIRROR"
	elif [ "$(id -u)" -ne 0 ]; then
		no_chroot="a chroot needs root"
	elif ! have debootstrap && ! { apt_update && apt_install debootstrap; }; then
		no_chroot="no debootstrap"
	fi
	[ -z "$no_chroot" ]
}

# make_chroot SUITE DIR: the smallest system of a release, unless it is there.
make_chroot() {
	[ ! -d "$2" ] || return 0
	say "$1: making $2"
	rm -rf --one-file-system "$2.new"
	mkdir -p "$(dirname "$2")"
	debootstrap --variant=minbase "$1" "$2.new" "$mirror" >"$2.log" 2>&1 || {
		tail "$2.log"
		fail "$1: debootstrap failed"
	}
	mv "$2.new" "$2"
}

# inside DIR COMMAND [ARGUMENT...]: runs COMMAND with $chroot_shell in DIR, in namespaces of its own.
# Nothing is mounted outside of them, and nothing that it started lives on.
chroot_shell=(bash -euo pipefail)
inside() {
	unshare --mount --pid --fork --kill-child bash -euc '
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		mount -t tmpfs tmpfs "$1/dev/shm"
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive JOBS="$2" chroot "$1" "${@:3}"' - "$1" "$jobs" \
		"${chroot_shell[@]}" -c "$2" - "${@:3}" </dev/null
}

#!/usr/bin/python3
"""Looks at servers that Cargo installs from its registry, under load and at rest.

usage: run_third_party.py [--looks N] [--workspace] ASYNCDBG PROFILE [PACKAGE...]

Installs each package of third_party.py (--workspace: builds it in a directory of its own) with debug
info and starts it. Under load it is looked at N times (default 20) by "async backtrace all" and
"check"; then its clients stop between two requests:

- every future is in a state that a task that goes on can be in, and says where it is suspended;
- check finds no deadlock, futurelock or lost wake-up, and its status with --fail-on of these
  and by default is never 3;
- every socket that the kernel lists for the process is in a leaf, or "info sockets" says that
  nobody waits for it;
- at rest the core's answer is the live one.

Leaves whose wait has no name are counted and listed by type. Exit status 77 where there is no
cargo. CARGO_TARGET_DIR says where to build.
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import third_party
import run_servers
from third_party import Failure

TESTDATA = Path(__file__).resolve().parents[1]
# Verdicts that a healthy server can never deserve.
NEVER = ["deadlock", "futurelock", "no-waker", "closed-channel-wait"]


def build_environment(target):
    env = dict(os.environ, CARGO_TARGET_DIR=str(target))
    for profile in ("DEV", "RELEASE"):
        env[f"CARGO_PROFILE_{profile}_DEBUG"] = "2"
        env[f"CARGO_PROFILE_{profile}_STRIP"] = "none"
        env[f"CARGO_PROFILE_{profile}_PANIC"] = "unwind"
    # Their own profiles optimise for size, as one unit: that takes long and is not what is tested.
    env.update(CARGO_PROFILE_RELEASE_LTO="off", CARGO_PROFILE_RELEASE_CODEGEN_UNITS="16")
    return env


def install(package, profile, target):
    """The directory of its executables, as `cargo install` leaves them."""
    version, options, _ = third_party.SERVERS[package]
    root = target / "installed" / f"{package}-{profile}"
    command = ["cargo", "install", "--quiet", "--root", str(root), "--version", version, *options]
    command += ["--debug"] if profile == "debug" else []
    env = build_environment(target / "installed" / "target")
    subprocess.run([*command, package], env=env, check=True)
    return root / "bin"


def build_workspace(package, profile, target):
    """The same of a copy of its sources that is a workspace of its own."""
    version, options, _ = third_party.SERVERS[package]
    locked = "--locked" in options
    options = [option for option in options if option != "--locked"]
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    sources = sorted(home.glob(f"registry/src/*/{package}-{version}"))
    if not sources:
        raise Failure("its sources are not in Cargo's registry: install it first")
    copy = target / "workspaces" / package
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(sources[-1], copy)
    if not locked:  # its own lock does not build: see SERVERS
        (copy / "Cargo.lock").unlink(missing_ok=True)
    command = ["cargo", "build", "--quiet", "--bins", *options]
    command += ["--release"] if profile == "release" else []
    env = build_environment(target / "workspaces" / "target")
    subprocess.run(command, cwd=copy, env=env, check=True)
    return target / "workspaces" / "target" / profile


class Looker:
    """Asks asyncdbg about one process."""

    def __init__(self, asyncdbg, schema, process):
        self.asyncdbg = asyncdbg
        self.schema = schema
        self.pid = str(process.pid)
        self.name = Path(process.args[0]).name
        self.found = collections.Counter()

    def run(self, *words):
        return subprocess.run(
            [self.asyncdbg, *words],
            capture_output=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def check(self):
        done = self.run("-p", self.pid, "--json", "check", "--fail-on", ",".join(NEVER))
        if done.returncode not in (0, 1):
            raise Failure(f"{self.name}: check ends with {done.returncode}: {done.stdout[-2000:]}")
        for finding in json.loads(done.stdout)["findings"]:
            self.found[finding["check"]] += 1
            if finding["check"] in NEVER:
                raise Failure(f"{self.name}: {json.dumps(finding)}")

    def backtrace(self):
        document = run_servers.ask(self.asyncdbg, self.schema, "-p", self.pid)
        run_servers.check_futures(document)
        return document

    def core(self, work):
        core = f"{work}/core"
        subprocess.run(["gcore", "-o", core, self.pid], check=True, capture_output=True)
        document = run_servers.ask(self.asyncdbg, self.schema, "-c", f"{core}.{self.pid}")
        os.unlink(f"{core}.{self.pid}")
        return document

    def kernel_sockets(self):
        """Numbers of the process's descriptors that are sockets of the internet."""
        inodes = set()
        for table in ("tcp", "tcp6", "udp", "udp6"):
            lines = Path(f"/proc/{self.pid}/net/{table}").read_text().splitlines()[1:]
            inodes.update(line.split()[9] for line in lines)
        sockets = set()
        for entry in os.scandir(f"/proc/{self.pid}/fd"):
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry.path))
            if match and match[1] in inodes:
                sockets.add(int(entry.name))
        return sockets

    def check_sockets(self, document):
        waited = set()
        for _, _, root in run_servers.roots(document):
            for future in run_servers.futures(root):
                waited.add((future["wait"] or {}).get("fd"))
        done = self.run("-p", self.pid, "--json", "info", "sockets")
        if done.returncode != 0:
            raise Failure(f"{self.name}: info sockets ends with {done.returncode}: {done.stderr}")
        said = {row["fd"]: row for row in json.loads(done.stdout)["sockets"]}
        kernel = self.kernel_sockets()
        for fd in sorted(kernel):
            if fd not in said:
                raise Failure(f"{self.name}: info sockets lacks fd {fd}")
            if bool(said[fd]["waiters"]) != (fd in waited):
                raise Failure(f"{self.name}: info sockets contradicts the leaves: {said[fd]}")
        idle = [f"fd {fd}" for fd in sorted(kernel - waited)]
        print(f"    {self.name}: {len(kernel)} sockets, idle: {', '.join(idle) or 'none'}")


def check_package(arguments, schema, package, binaries, work):
    run = third_party.Running(work)
    try:
        third_party.SERVERS[package][2](run, binaries)
        lookers = [Looker(arguments.asyncdbg, schema, process) for process in run.processes]
        for look in range(arguments.looks):
            for looker in lookers:
                looker.check()
                if look < 5:
                    looker.backtrace()
        run.hold()
        for looker in lookers:
            for _ in range(max(1, arguments.looks // 10)):
                looker.check()
            live = looker.backtrace()
            if not live["complete"]:
                raise Failure(f"{looker.name}: not complete: {live['notes']}")
            run_servers.check_leaves(live, f"    {looker.name} at rest")
            looker.check_sockets(live)
            if run_servers.shape(live) != run_servers.shape(looker.core(work)):
                raise Failure(f"{looker.name}: the core's answer differs from the live one")
        run.resume()
        run.check()
    finally:
        run.close()
    for looker in lookers:
        print(f"    {looker.name}: found {dict(looker.found) or 'nothing'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--looks", type=int, default=20, help="how many at each process")
    parser.add_argument("--workspace", action="store_true", help="build a copy of the sources")
    parser.add_argument("asyncdbg")
    parser.add_argument("profile", choices=["debug", "release"])
    parser.add_argument("packages", nargs="*", default=list(third_party.SERVERS))
    arguments = parser.parse_args()
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        return 77
    arguments.asyncdbg = str(Path(arguments.asyncdbg).resolve())
    schema = json.loads((TESTDATA.parent / "docs" / "asyncdbg.schema.json").read_text())
    target = os.environ.get("CARGO_TARGET_DIR", tempfile.gettempdir() + "/asyncdbg-programs")
    build = build_workspace if arguments.workspace else install
    failures = 0
    for package in arguments.packages:
        with tempfile.TemporaryDirectory() as work:
            os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
            try:
                binaries = build(package, arguments.profile, Path(target))
                check_package(arguments, schema, package, binaries, work)
                print(f"{package} ({arguments.profile}): ok")
            except (Failure, run_servers.Failure, OSError, subprocess.SubprocessError) as failure:
                print(f"{package} ({arguments.profile}): {failure}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

# The parts of `scripts/test --all`: sourced. Each prints NAME COMMAND on a line; a command runs in
# testdata/ with $asyncdbg, a release build. Each ends within 100 minutes on two processors.
# shellcheck shell=bash

# parts: all of them, the shorter first.
parts() {
	local lock parser

	# What scripts/test runs.
	echo "base ../scripts/test"
	# What it leaves out: of each test one of two builds.
	echo "rest-sanitized build_preset dev && run_tests dev -L 'optimised|rare|prepares'"
	echo "rest-release build_preset release && run_tests release -L 'sanitized|rare|prepares'"
	# Servers that nobody here wrote: 200 looks at each process.
	echo "third-party-release run/run_third_party.py --looks 200 \$asyncdbg release"
	echo "third-party-debug run/run_third_party.py --looks 200 \$asyncdbg debug"
	echo "third-party-workspace run/run_third_party.py --workspace --looks 20 \$asyncdbg release"
	# A service of many crates, which takes minutes to build.
	echo "service run/run_servers.py \$asyncdbg debug service && run/run_servers.py \$asyncdbg release service"
	echo "service-healthy run/run_healthy.py --looks 200 \$asyncdbg release service"
	# The pool of sqlx and quinn, which take minutes to build, too.
	echo "crates-slow run/run_crates.sh \$asyncdbg debug pools_sqlx quic && run/run_crates.sh \$asyncdbg release pools_sqlx quic"
	# Older versions of the crates, of those too that cannot be twice in one lock file.
	echo "crates-older export LOCK=crates/older.lock && run/run_crates.sh \$asyncdbg debug && run/run_crates.sh \$asyncdbg release"
	echo "crates-older-slow export LOCK=crates/older.lock && run/run_crates.sh \$asyncdbg debug pools_sqlx quic && run/run_crates.sh \$asyncdbg release pools_sqlx quic"
	# Tasks of each version of async-executor.
	echo "async-tasks run/run_async_tasks.sh \$asyncdbg debug && run/run_async_tasks.sh \$asyncdbg release"
	# Repetitions that CI makes a few of.
	echo "healthy run/run_healthy.py --looks 200 \$asyncdbg release"
	echo "family-healthy run/run_family_load.py --looks 200 \$asyncdbg debug && run/run_family_load.py --looks 200 \$asyncdbg release"
	echo "healthy-no-stop run/run_healthy.py --looks 200 --no-stop \$asyncdbg release"
	# Traces as kernels before 6.6 make them, and of the other builds.
	local built="run/run_built.sh \$asyncdbg" oldest="LOCK=tokio-1.24.2 run/run_built.sh \$asyncdbg"
	echo "trace-perf ASYNCDBG_PROBES=perf $built release 'run_trace.py traced'"
	echo "trace-bpftrace WITH_BPFTRACE=1 $built release 'run_trace.py traced'"
	echo "trace-lto $built lto 'run_trace.py traced' 'run_metrics.py traced' 'run_profile.py traced burn'"
	echo "trace-oldest $oldest release 'run_trace.py traced' 'run_top.py traced' && $oldest lto 'run_trace.py traced'"
	# Shortcuts against the full search.
	echo "verify run/run_verify.sh \$asyncdbg \${asyncdbg%/*}/testdata/asyncdbg_verify"
	echo "hostile SEEDS=400 run/run_hostile.sh \$asyncdbg"
	# Other compilers and libraries.
	echo "debian-13 run/run_chroot.sh trixie"
	echo "debian-sid run/run_chroot.sh sid"
	# What a release consists of: made twice, tried in systems of Debian and in an empty one.
	echo "release run/run_release.sh"
	# Every version of tokio; the table of each is kept beside the part's log.
	while read -r lock; do
		echo "matrix-$lock run/matrix.sh --output \$part.md tokio-$lock:debug tokio-$lock:release"
	done < <(find "$root/testdata/locks" -name 'tokio-*.lock' -printf '%f\n' |
		sed 's/^tokio-//; s/\.lock$//' | sort -V)
	lock=$(newest_lock)
	lock=$(basename "$lock" .lock)
	echo "matrix-builds run/matrix.sh --output \$part.md $lock:lto $lock:v0 $lock:static"
	for parser in "$root"/testdata/fuzz/*/; do
		parser=$(basename "$parser")
		echo "fuzz-$parser fuzz/run.sh $parser 3600"
	done
}

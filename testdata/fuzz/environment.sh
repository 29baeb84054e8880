# What fuzzers need around them; sourced, not run.
# shellcheck shell=bash

# fuzz_environment PARSER DIR: of a parser that looks at a program, the core and executable of a
# fixture, unpacked once into DIR.
fuzz_environment() {
	export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:max_allocation_size_mb=2000
	export UBSAN_OPTIONS=print_stacktrace=1
	export SOURCE_DIR=$root
	local fixture=

	case $1 in
	layout) fixture=selects ;;
	print | dap) fixture=locals ;;
	*) return 0 ;;
	esac
	[ -f "$2/$fixture.exe" ] || unpack_fixture "$fixture" "$2"
	export FUZZ_CORE=$2/$fixture.core FUZZ_EXE=$2/$fixture.exe
}

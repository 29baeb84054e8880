"""What all scripts check with: expect() ends a script at the first thing that is wrong, check() counts it and goes on."""
import sys

SKIPPED = 77  # the exit status of a test that cannot run here
failures = 0


class Failure(SystemExit):
    """What a test did not expect. Where nobody catches it, it ends the script, which prints it."""


def expect(what, wanted, got):
    if got != wanted:
        raise Failure(f"{what}: {got!r} instead of {wanted!r}")


def expect_in(what, part, text):
    if part not in text:
        raise Failure(f"{what}: {text!r} has no {part!r}")


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"FAILED: {what}: {got}, not {wanted}")


def check_true(what, got):
    check(what, bool(got), True)


def failed():
    """How many checks have failed so far."""
    return failures


def report(name, before):
    """before: what had failed when it began."""
    print(f"{name}: {'ok' if failures == before else 'FAILED'}", flush=True)


def end():
    sys.exit(1 if failures else 0)


def run_tests(functions, names, arguments):
    """Those whose names begin with "test_", or only NAMES of them."""
    for name, test in list(functions.items()):
        if name.startswith("test_") and (not names or name[len("test_"):] in names):
            before = failures
            test(*arguments)
            report(name[len("test_"):], before)

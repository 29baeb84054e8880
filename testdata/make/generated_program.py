"""Builds programs of one file, as those that are made by chance, for the tests that run them."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
MANIFEST = """\
[package]
name = "generated"
version = "0.1.0"
edition = "{}"

[dependencies]
tokio = {{ version = "1.24", features = ["macros", "rt-multi-thread", "sync", "time"] }}

[profile.release]
debug = 2

[workspace]
"""


def read_options(seeds=None):
    """The options of such a test; ends it where there is no cargo. seeds: the first and the last one by default; None:
    the test takes no numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("asyncdbg")
    parser.add_argument("profile", choices=["debug", "release"])
    if seeds:
        parser.add_argument("--seeds", nargs=2, type=int, default=seeds)
    options = parser.parse_args()
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        sys.exit(77)
    if seeds:
        options.numbers = range(options.seeds[0], options.seeds[1] + 1)
    return options


def build(text, profile, name, edition, *more):
    """The path of the program. name: of its folder; more: files that lie beside its main.rs."""
    folder = pathlib.Path(os.environ["CARGO_TARGET_DIR"]).resolve() / name
    source = folder / "src"
    source.mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST.format(edition))
    shutil.copy(TESTDATA / "locks/tokio-1.54.1.lock", folder / "Cargo.lock")
    for each in more:
        shutil.copy(TESTDATA / each, source)
    (source / "main.rs").write_text(text)
    subprocess.run(["cargo", "build", "--quiet", "--target-dir", folder / "target",
                    *(["--release"] if profile == "release" else [])], cwd=folder, check=True)
    return folder / "target" / profile / "generated"

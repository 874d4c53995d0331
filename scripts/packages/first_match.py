#!/usr/bin/env python3
"""Prints how long it takes from a package to the result of a first match.

    scripts/packages/make.py --only musl,wheel && scripts/packages/first_match.py

Once from unpacking the archive for this machine, once from `pip install` of the wheel in a new environment. Everything
happens in an empty folder with an empty home directory.
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2] / "target" / "packages"


def package(pattern):
    found = list(PACKAGES.glob(pattern))
    if len(found) != 1:
        sys.exit(f"first_match.py: there is no {pattern} in {PACKAGES}; run scripts/packages/make.py")
    return found[0]


def measured(what, folder, steps):
    """Runs the steps, and prints the result of the match, the last of them."""
    home = folder / "home"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    begun = time.monotonic()
    for step in steps:
        run = subprocess.run(step, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            sys.exit(f"{step}: status {run.returncode}\n{run.stdout}")
    passed = time.monotonic() - begun
    print(f"{passed:.2f} s from {what} to: {run.stdout.splitlines()[-1]}")


def main():
    machine = platform.machine()
    archive = package(f"referee-*-{machine}-unknown-linux-musl.tar.gz")
    wheel = package(f"referee-*linux*_{machine}.whl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unpacked = folder / archive.name.removesuffix(".tar.gz")
        steps = [
            ["tar", "xzf", str(archive)],
            [str(unpacked / "referee"), str(unpacked / "players" / "random.sh"), "builtin:greedy"],
        ]
        measured("unpacking the archive", folder, steps)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "python", with_pip=True)
        programs = folder / "python" / "bin"
        steps = [
            [str(programs / "pip"), "install", "--no-index", str(wheel)],
            [str(programs / "referee"), "new", "python", "first.py"],
            [str(programs / "referee"), "first.py", "builtin:greedy"],
        ]
        measured("pip install", folder, steps)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Tries the wheel in target/packages: in fresh environments of the oldest and the newest Python that are here, from 3.9 on.

    scripts/packages/check_wheel.py --download     fetches what the tests need into target/wheelhouse
    scripts/packages/check_wheel.py                tries the wheel, without a network
    scripts/packages/check_wheel.py --speed        measures what docs/python.md says

In each it runs crates/python/tests, in the newest also the blocks of docs/python.md and examples/learn.py.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "target" / "wheelhouse"
NEEDS = ["pettingzoo", "pandas", "polars"]


def pythons():
    """The oldest and the newest: version and program."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    places = [Path(folder) / f"python3.{minor}" for folder in folders for minor in range(9, 20)]
    places += Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin/python3")
    found = {}
    for place in [Path(sys.executable), *places]:
        if place.is_file():
            code = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
            said = subprocess.run([str(place), "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            version = tuple(map(int, said.split()))
            if version >= (3, 9):
                found.setdefault(version, place)
    return [found[version] for version in sorted({min(found), max(found)})]


def download():
    for python in pythons():
        command = [python, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", HOUSE, *NEEDS]
        subprocess.run(command, check=True)


def wheel():
    found = list((ROOT / "target" / "packages").glob(f"referee-*linux*_{platform.machine()}.whl"))
    if len(found) != 1:
        sys.exit("check_wheel.py: there is no wheel; run scripts/packages/make.py --only wheel")
    return found[0]


def environment(python, folder):
    """A fresh one with the wheel; returns the environment of its programs."""
    home = folder / "venv"
    subprocess.run([python, "-m", "venv", home], check=True)
    pip = [home / "bin" / "pip", "install", "--quiet", "--no-index", "--find-links", HOUSE]
    subprocess.run([*pip, wheel(), *NEEDS], check=True)
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "REFEREE_SOURCES": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


def run(words, folder, env, **options):
    return subprocess.run(words, cwd=folder, env=env, check=True, text=True, **options)


def blocks(text):
    return re.findall(r"^```(\S+)(.*)\n([\s\S]*?)^```$", text, re.MULTILINE)


def document(folder, env):
    """A block of `python` is a script of its own; the block of `text` that follows is what it prints."""
    printed = None
    for language, more, block in blocks((ROOT / "docs" / "python.md").read_text("utf-8")):
        if more.strip() == "ignore":
            continue
        if language == "sh":
            run(["sh", "-e", "-c", block], folder, env)
        elif language == "python":
            (folder / "block.py").write_text(block, "utf-8")
            printed = run(["python", "block.py"], folder, env, stdout=subprocess.PIPE).stdout
        elif language == "text" and printed is not None:
            if printed.strip() != block.strip():
                sys.exit(f"docs/python.md shows\n{block}\nbut it prints\n{printed}")
            printed = None


def main():
    if "--download" in sys.argv:
        return download()
    chosen = pythons()
    for python in chosen:
        with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as work:
            env = environment(python, Path(name))
            # Not beside the environment, which would be a part of every bot there.
            folder = Path(work)
            if "--speed" in sys.argv:
                if python == chosen[-1]:
                    run(["python", ROOT / "crates/python/benches/speed.py"], folder, env)
                continue
            for file, source in [("pieces.txt", "english"), ("stukken.txt", "dutch")]:
                shutil.copy(ROOT / "sets" / f"{source}.csv", folder / file)
            shutil.copy(ROOT / "examples" / "learn.py", folder)
            run(["python", "--version"], folder, env)
            run(["python", ROOT / "crates/python/tests/test_module.py"], folder, env)
            if python == chosen[-1]:
                document(folder, env)
    return None


main()

#!/usr/bin/env python3
"""Tries the wheel in target/packages: in fresh environments of the oldest and the newest Python that are here, from 3.10 on.

    scripts/packages/check_wheel.py --download     fetches what the tests need into target/wheelhouse
    scripts/packages/check_wheel.py                tries the wheel, without a network
    scripts/packages/check_wheel.py --speed        measures what docs/python.md says of speed
    scripts/packages/check_wheel.py --trainers     trains as docs/python.md says, for some minutes; installs PyTorch

In each it runs crates/python/tests, in the oldest with numpy 1.26; in the newest also the blocks of docs/python.md,
examples/learn.py, examples/trainers with a small budget, and what checks types: mypy, stubtest and pyright. The trainer
that needs PyTorch, some gigabytes, runs with --trainers only.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "target" / "wheelhouse"
NEEDS = ["pettingzoo", "gymnasium", "pandas", "polars", "hypothesis"]
# Of the oldest Python, and of the newest.
OLD, TYPES = ["numpy==1.26.*"], ["mypy"]
PYRIGHT = "pyright@1.1.414"
#: With a small budget: what they write plays, and not well.
TRAINERS = {"self_play.py": ["--rounds", "20"], "alpha_zero.py": ["--rounds", "1", "--searches", "10"]}
WITH_PYTORCH = "maskable_ppo.py"
TESTS = ["test_module.py", "test_copies.py", "test_any_input.py"]


def pythons():
    """The oldest and the newest: version and program."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    places = [Path(folder) / f"python3.{minor}" for folder in folders for minor in range(10, 20)]
    places += Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.*/bin/python3")
    found = {}
    for place in [Path(sys.executable), *places]:
        if place.is_file():
            code = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
            said = subprocess.run([str(place), "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            version = tuple(map(int, said.split()))
            if version >= (3, 10):
                found.setdefault(version, place)
    return [found[version] for version in sorted({min(found), max(found)})]


def needs(python):
    chosen = pythons()
    more = (OLD if python == chosen[0] else []) + (TYPES if python == chosen[-1] else [])
    return [*NEEDS, *(more if len(chosen) > 1 else TYPES)]


def download():
    for python in pythons():
        command = [python, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", HOUSE, *needs(python)]
        subprocess.run(command, check=True)
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", HOUSE, PYRIGHT], check=True)


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
    subprocess.run([*pip, wheel(), *needs(python)], check=True)
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


def trainers(folder, env, budgets):
    """Each writes a bot, and these play a tournament in the sandbox, in which no bot forfeits."""
    shutil.copytree(ROOT / "examples" / "trainers", folder / "trainers")
    (folder / "trained").mkdir()
    for name, budget in budgets.items():
        begun = time.monotonic()
        run(["python", f"trainers/{name}", f"trained/{name}", *budget], folder, env)
        print(f"{name}: {time.monotonic() - begun:.0f} s", flush=True)
    words = "tournament --game four-in-a-row --pairs 20 --seed 1 --out cup trained builtin:random builtin:greedy"
    run(["referee", *words.split()], folder, env)
    code = """if True:
        import referee, sys
        games = list(referee.read_records("cup"))
        names = {bot["name"] for game in games for bot in game["bots"]}
        forfeits = [game["result"] for game in games if game["result"].get("by") is not None]
        assert len(names) == 2 + int(sys.argv[1]) and not forfeits, (names, forfeits)
    """
    run(["python", "-c", code, str(len(budgets))], folder, env)


def types(env):
    """The package as it is installed, what is compiled, and a program that uses both."""
    source = ROOT / "crates" / "python"
    client, config = source / "tests" / "client.py", source / "mypy.ini"
    run(["python", "-m", "mypy", "--config-file", config, "-p", "referee"], HOUSE, env)
    run(["python", "-m", "mypy", "--strict", client], HOUSE, env)
    run(["python", "-m", "mypy.stubtest", "--mypy-config-file", config, "referee._referee"], HOUSE, env)
    python = shutil.which("python", path=env["PATH"])
    code = "import pathlib, referee; print(pathlib.Path(referee.__file__).parent)"
    package = run(["python", "-c", code], HOUSE, env, stdout=subprocess.PIPE).stdout.strip()
    run([HOUSE / "node_modules" / ".bin" / "pyright", "--pythonpath", python, package, client], HOUSE, env)


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
            if "--trainers" in sys.argv:
                if python == chosen[-1]:
                    run(["python", "-m", "pip", "install", "--quiet", "sb3-contrib"], folder, env)
                    trainers(folder, env, {name: [] for name in [*TRAINERS, WITH_PYTORCH]})
                continue
            for file, source in [("pieces.txt", "english"), ("stukken.txt", "dutch")]:
                shutil.copy(ROOT / "sets" / f"{source}.csv", folder / file)
            shutil.copy(ROOT / "examples" / "learn.py", folder)
            run(["python", "--version"], folder, env)
            for test in TESTS:
                run(["python", ROOT / "crates/python/tests" / test], folder, env)
            if python == chosen[-1]:
                document(folder, env)
                trainers(folder, env, TRAINERS)
                types(env)
    return None


main()

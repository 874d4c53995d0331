#!/usr/bin/env python3
"""Makes the packages of a release, in target/packages.

    scripts/packages/make.py                    all that are made on Linux
    scripts/packages/make.py --only wheel       some of them

    musl      referee-VERSION-TARGET.tar.gz   Linux, x86-64 and arm64: a static program that needs nothing
    windows   referee-VERSION-TARGET.zip      Windows, x86-64
    deb       referee_VERSION_ARCH.deb        Debian, Ubuntu: amd64 and arm64
    wheel     referee-VERSION-*.whl           pip and uv, for this machine: the program, and the module of Python
    wheels    referee-VERSION-*.whl           for the other targets above
    macos     referee-VERSION-TARGET.tar.gz   macOS, and its wheels; only made on a Mac

and SHA256SUMS. All of a target are made from one build. What they need: the targets (`rustup target add`), the linkers
gcc-aarch64-linux-gnu and gcc-mingw-w64-x86-64 (Debian), `cargo install cargo-deb` for deb, `pip install maturin` for
wheels. `wheel` needs nothing else; where the target of musl is there, its program runs with every C library. Times in them
are that of the commit, and paths of this machine are left out.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target"
OUT = BUILT / "packages"
# Where `[package.metadata.deb]` in Cargo.toml finds the manual and the completions.
SHARE = BUILT / "packages-share"
PROFILE = os.environ.get("PACKAGES_PROFILE", "dist")
# What is only tried is packed quickly.
LEVEL = 9 if PROFILE == "dist" else 1

LINUX = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"]
WINDOWS = ["x86_64-pc-windows-gnu"]
MACOS = ["x86_64-apple-darwin", "aarch64-apple-darwin"]
KINDS = ["musl", "windows", "deb", "wheel", "wheels", "macos"]
USUAL = [kind for kind in KINDS if kind != "macos"]
LINKERS = {
    "aarch64-unknown-linux-musl": ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
    "x86_64-pc-windows-gnu": ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"),
}
LINKERS["aarch64-unknown-linux-gnu"] = LINKERS["aarch64-unknown-linux-musl"]
# Where pyproject.toml has maturin find the program.
SCRIPTS = BUILT / "wheel" / "scripts"

# The licences of what the program is made of, which ask to be passed on with it. It lies here because maturin takes
# every LICENSE-* into the wheel; git ignores it.
THIRD_PARTY = ROOT / "LICENSE-THIRD-PARTY.txt"

# What an archive has beside the program, the manual and the completions.
BESIDE = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "protocol.md", "protocol-games.md", "games", "CHANGELOG.md", "SECURITY.md", "STYLE.md", "LICENSE-APACHE", "LICENSE-MIT", "docs", "examples", "players", "schemas", "scripts", "sets"]
COMPLETIONS = {"bash": "referee.bash", "zsh": "_referee", "fish": "referee.fish", "powershell": "_referee.ps1"}


def fail(words):
    sys.exit(f"make.py: {words}")


def run(command, **options):
    print("+", *command, flush=True)
    try:
        subprocess.run(command, check=True, cwd=ROOT, **options)
    except FileNotFoundError:
        fail(f"there is no {command[0]} here; --help says what the packages need")
    except subprocess.CalledProcessError as error:
        fail(f"{command[0]} ended with status {error.returncode}")


def printed(command):
    return subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout


def date():
    """The time of everything in the packages: that of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        try:
            given = printed(["git", "log", "-1", "--format=%ct"]).decode()
        except (OSError, subprocess.CalledProcessError):
            given = "1577836800"  # not a repository: 2020
    return int(given)


def environment(seconds):
    """That of all builds, so that one serves all packages of a target."""
    home = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    found = dict(os.environ)
    for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "CARGO_ENCODED_RUSTFLAGS"]:
        found.pop(name, None)
    found["SOURCE_DATE_EPOCH"] = str(seconds)
    # Paths of this machine are in the messages of panics. What is only tried shares its build with others.
    if PROFILE == "dist":
        found["RUSTFLAGS"] = f"--remap-path-prefix={home}=cargo --remap-path-prefix={ROOT}=referee"
    for target, (linker, package) in LINKERS.items():
        found[f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"] = linker
    return found


def build(targets, env):
    """All together: the last step of each, the program itself, keeps one core busy."""
    command = ["cargo", "build", "--locked", "--profile", PROFILE, "--bin", "referee", "--features", "class-server"]
    for target in targets:
        linker, package = LINKERS.get(target, (None, None))
        if linker and not shutil.which(linker):
            fail(f"there is no {linker} here; apt install {package}")
        command += ["--target", target]
    run(command, env=env)


def program(target):
    name = "referee.exe" if "windows" in target else "referee"
    return BUILT / target / ("debug" if PROFILE == "dev" else PROFILE) / name


def target_here():
    """The target among those of the packages whose program runs on this machine."""
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    system = {"Linux": "unknown-linux-musl", "Darwin": "apple-darwin"}.get(platform.system())
    if system is None:
        fail("packages are made on Linux, and those for macOS on a Mac")
    return f"{machine}-{system}"


def has_standard_library(target):
    return Path(printed(["rustc", "--print", "target-libdir", "--target", target]).decode().strip()).is_dir()


def targets_of(kind, here):
    if kind == "wheel":
        return [here if has_standard_library(here) else module_target(here)]
    others = {"musl": LINUX, "windows": WINDOWS, "deb": LINUX, "macos": MACOS, "wheels": LINUX + WINDOWS}[kind]
    return [target for target in others if kind != "wheels" or target != here]


def module_target(target):
    """A module is loaded by a Python, which has its C library."""
    return target.replace("-linux-musl", "-linux-gnu")


def write_share(referee):
    """The manual and the completions, as the program prints them."""
    shutil.rmtree(SHARE, ignore_errors=True)
    manual, completions = SHARE / "man", SHARE / "completions"
    manual.mkdir(parents=True)
    completions.mkdir()
    (manual / "referee.1").write_bytes(printed([referee, "print", "man"]))
    for command in commands(referee):
        (manual / f"referee-{command}.1").write_bytes(printed([referee, "print", "man", command]))
    for shell, file in COMPLETIONS.items():
        (completions / file).write_bytes(printed([referee, "print", "completions", shell]))


def commands(referee):
    listed = printed([referee, "--help"]).decode().split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
    return [name for name in names if name != "help"]


def write_third_party(metadata):
    """The names and licences of all crates that the program is linked with, on any system."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    roots = [one for one in packages if packages[one]["name"] in ("referee", "referee-python")]
    found, left = set(roots), list(roots)
    while left:
        for dependency in nodes[left.pop()]["deps"]:
            is_linked = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if is_linked and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                left.append(dependency["pkg"])
    texts = {}
    crates = sorted((packages[one] for one in found - set(roots)), key=lambda package: (package["name"], package["version"]))
    head = ["The program and the module of Python contain parts of the Rust standard library (MIT OR Apache-2.0), on Linux of musl (MIT), and of:", ""]
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        head.append(f"    {name} ({crate['license']})")
        for file in sorted(Path(crate["manifest_path"]).parent.iterdir()):
            if file.is_file() and file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")):
                texts.setdefault(file.read_text("utf-8", "replace").strip(), []).append(name)
    parts = ["\n".join(head)]
    parts += [", ".join(dict.fromkeys(names)) + ":\n\n" + text for text, names in texts.items()]
    THIRD_PARTY.write_text(("\n\n" + "-" * 80 + "\n\n").join(parts) + "\n", "utf-8")


def contents(target):
    """The files of an archive: (name in it, file, whether it is run)."""
    yield program(target).name, program(target), True
    yield THIRD_PARTY.name, THIRD_PARTY, False
    for place in ["man", "completions"]:
        for file in sorted((SHARE / place).iterdir()):
            yield f"{place}/{file.name}", file, False
    tracked = printed(["git", "ls-files", "-z", "--", *BESIDE]).decode().split("\0")
    for name in sorted(filter(None, tracked)):
        file = ROOT / name
        yield name, file, bool(file.stat().st_mode & 0o100)


def tar(target, stem, seconds):
    def entry(info, size, executable):
        info.size, info.mtime = size, seconds
        info.mode = 0o755 if executable else 0o644
        return info

    path = OUT / f"{stem}.tar.gz"
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, file, executable in contents(target):
                data = file.read_bytes()
                archive.addfile(entry(tarfile.TarInfo(f"{stem}/{name}"), len(data), executable), io.BytesIO(data))


def zipped(target, stem, seconds):
    with zipfile.ZipFile(OUT / f"{stem}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, file, executable in contents(target):
            info = zipfile.ZipInfo(f"{stem}/{name}", time.gmtime(seconds)[:6])
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, file.read_bytes())


def deb(target, env):
    run(["cargo", "deb", "--locked", "--no-build", "--no-strip", "--profile", PROFILE, "--target", target, "--output", str(OUT)] + ["--fast"] * (LEVEL == 1), env=env)


def wheel(target, env, here):
    shutil.rmtree(SCRIPTS, ignore_errors=True)
    SCRIPTS.mkdir(parents=True)
    shutil.copy2(program(target), SCRIPTS)
    module = module_target(target)
    # CI only tries how the others are made.
    profile = "module" if module == module_target(here) else PROFILE
    run(["maturin", "build", "--locked", "--profile", profile, "--target", module, "--out", str(OUT)], env=env)


def write_sums():
    files = sorted(file for file in OUT.iterdir() if file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (OUT / "SHA256SUMS").write_text("".join(lines))
    for file in files:
        print(f"{file.stat().st_size / 1e6:8.2f} MB  {file.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="KIND,…", default=",".join(USUAL), help="which: " + ", ".join(KINDS))
    kinds = parser.parse_args().only.split(",")
    for kind in kinds:
        if kind not in KINDS:
            parser.error(f"there are no packages called {kind!r}; choose from {', '.join(KINDS)}")
    here = target_here()
    if "macos" in kinds and "darwin" not in here:
        parser.error("packages for macOS are made on a Mac")

    seconds = date()
    env = environment(seconds)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    targets = {kind: targets_of(kind, here) for kind in kinds}
    build(list(dict.fromkeys(target for kind in kinds for target in targets[kind])), env)
    if set(kinds) - {"wheel", "wheels"}:
        if here not in sum(targets.values(), []):
            build([here], env)
        write_share(program(here))

    metadata = json.loads(printed(["cargo", "metadata", "--locked", "--format-version", "1"]))
    write_third_party(metadata)
    number = next(package["version"] for package in metadata["packages"] if package["name"] == "referee")
    for kind in kinds:
        for target in targets[kind]:
            stem = f"referee-{number}-{target}"
            if kind == "musl":
                tar(target, stem, seconds)
            elif kind == "windows":
                zipped(target, stem, seconds)
            elif kind == "deb":
                deb(target, env)
            elif kind in ("wheel", "wheels"):
                wheel(target, env, here)
            else:
                tar(target, stem, seconds)
                wheel(target, env, here)
    write_sums()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Plants one mistake in each layer of the program, and tries whether the tests of .ci/run become red.

    scripts/ci/planted.py              all; half an hour on two cores
    scripts/ci/planted.py rules page   some
    scripts/ci/planted.py --list

Each is tried in a clone of HEAD in target/planted, against that part of the tests which should notice it: a part that is red
makes .ci/run red. A mistake that no test notices, or whose place is no longer there, makes the exit status 1.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLONE = ROOT / "target/planted/referee"
CARGO = ["cargo", "test", "--locked", "--quiet"]


def crate(name: str) -> list[str]:
    return [*CARGO, "-p", name]


def integration(module: str) -> list[str]:
    return [*CARGO, "--test", "integration", "--", f"{module}::"]


# Layer: its file, what is there, what is planted, the tests that should notice it.
MISTAKES = {
    "rules": (
        "crates/games/src/game/quarto/board.rs",
        "self.count == 4 && (self.and != 0 || self.or != 0b1111)",
        "self.count == 4 && self.and != 0",
        crate("referee-games"),
    ),
    "fault": (
        "crates/match/src/bot/channel.rs",
        "let more = new.len() > end;",
        "let more = false;",
        integration("faults"),
    ),
    "charge": (
        "crates/match/src/bot/process/charge.rs",
        "let limit = total.saturating_add(usage.excused(elapsed));",
        "let limit = total;",
        crate("referee-match"),
    ),
    "journal": (
        "crates/match/src/record/journal.rs",
        "self.storage.sync().inspect_err(|_| self.broken = true)",
        "Ok(())",
        integration("journal"),
    ),
    "replay": (
        "crates/match/src/play/replay.rs",
        "if side.index() != record.side_of(index) {",
        "if false {",
        integration("replay_check"),
    ),
    "pairing": (
        "crates/stats/src/schedule/mod.rs",
        "Pairing::new(at(k), at(circle - k))",
        "Pairing::new(at(k), at(circle - 1))",
        crate("referee-stats"),
    ),
    "ratings": (
        "crates/stats/src/ratings/fit.rs",
        "first * down - second * up",
        "first * down - second * down",
        crate("referee-stats"),
    ),
    "table": (
        "crates/report/src/standings.rs",
        "text.starts_with(['=', '+', '-', '@'])",
        "text.starts_with(['+', '-', '@'])",
        integration("standings"),
    ),
    "page": (
        "crates/report/src/html/assets/tables.js",
        "sorted[1] * (keys[a] - keys[b]) || a - b",
        "sorted[1] * (keys[a] - keys[b]) || b - a",
        ["scripts/pages/check.sh"],
    ),
    "intake": (
        "crates/class/src/league/intake/names.rs",
        'b".." => Err("its path leads out of the archive"),\n',
        "",
        crate("referee-class"),
    ),
    "class server": (
        "crates/class-server/src/http/guard.rs",
        "!origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())",
        "false && !origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())",
        [*CARGO, "--features", "class-server", "-p", "referee-class-server", "-p", "referee"]
        + ["--lib", "--test", "class_server"],
    ),
    "sandbox": (
        "crates/sandbox/src/seccomp/calls.rs",
        "libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,",
        "",
        [*CARGO, "--test", "environment", "--", "hostile::"],
    ),
}


def main() -> int:
    names = sys.argv[1:] or list(MISTAKES)
    if names == ["--list"]:
        for name, (file, before, after, _) in MISTAKES.items():
            print(f"{name}: {file}: {before.strip()!r} becomes {after.strip()!r}")
        return 0
    unknown = [name for name in names if name not in MISTAKES]
    if unknown:
        print(f"planted.py: {', '.join(unknown)}: expected some of {', '.join(MISTAKES)}", file=sys.stderr)
        return 2
    if not CLONE.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, CLONE], check=True)
    subprocess.run(["git", "fetch", "--quiet", "origin", "HEAD"], cwd=CLONE, check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard", "FETCH_HEAD"], cwd=CLONE, check=True)
    unnoticed = []
    for name in names:
        file, before, after, tests = MISTAKES[name]
        path = CLONE / file
        text = path.read_text()
        if text.count(before) != 1:
            unnoticed.append(f"{name}: {file} has {text.count(before)} places of {before!r}")
            continue
        path.write_text(text.replace(before, after))
        print(f"== {name}: {' '.join(tests)}", flush=True)
        result = subprocess.run(tests, cwd=CLONE, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        path.write_text(text)
        output = result.stdout + result.stderr
        # One that does not compile is no mistake that a test has to notice.
        failed = [line.strip() for line in output.splitlines() if line.startswith("    ") and "::" in line]
        if result.returncode == 0 or "could not compile" in output:
            unnoticed.append(f"{name}: {output[-2000:] if result.returncode else 'all tests passed'}")
        else:
            print(f"noticed: {'; '.join(failed[:3]) or output[-300:]}", flush=True)
    for line in unnoticed:
        print(f"not noticed: {line}")
    print(f"{len(names) - len(unnoticed)} of {len(names)} mistakes noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How long people wait: what they type most, with the medians of some runs.

    scripts/waits.py target/release/referee                     # one build
    scripts/waits.py old/referee target/release/referee         # two, in turns
    scripts/waits.py --rows check,tournament --runs 3 target/release/referee
    scripts/waits.py --estimates --runs 10 target/release/referee       # is "about 6s left" true?

Of two builds each is measured in every run, one after the other, so that both meet the same machine. A row has the time
that passed and the CPU time of the referee and all bots; docs/internals/benchmarks.md shows the table. --estimates compares
what a terminal is told to be left, when half is done, with how long it took from there.
"""

import argparse
import json
import os
import platform
import pty
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
PLAYERS = HOME / "players"

# Bots, and games, of the records that are read: a class, a course, a large cup.
SIZES = {"class": (30, 870), "course": (200, 20_000), "cup": (1000, 20_000)}


# Of a match whose page is served while it is played.
LIVE = 20_000

GROUPS = "check,tournament,strangers,alike,game,compare,analyse,live,report,standings"


class Row:
    """A command that people wait for; `group` selects it."""

    def __init__(self, group, name, command, statuses=(0,)):
        self.group, self.name, self.command, self.statuses = group, name, command, statuses


def copies(folder, bot, count):
    """A folder of so many copies of a bot, each in a folder of its own."""
    for number in range(count):
        (folder / f"bot{number}").mkdir(parents=True)
        shutil.copy(bot, folder / f"bot{number}" / bot.name)
    return str(folder)


def runnable_players():
    """The players that run here as they are: with `#!` and an interpreter that is installed."""
    found = []
    for path in sorted(PLAYERS.iterdir()):
        if path.is_file() and os.access(path, os.X_OK):
            with open(path, "rb") as file:
                line = file.readline()
            words = [word for word in line.removeprefix(b"#!").decode().split() if word[0] != "-"]
            words = [word for word in words if not word.endswith("/env")]
            if line.startswith(b"#!") and words and shutil.which(words[0]):
                found.append(str(path))
    return found


def records(folder, referee, size):
    """A file of so many games of so many bots: those of two, under other names."""
    bots, games = SIZES[size]
    played, file = folder / "played.jsonl", folder / f"{size}.jsonl"
    if not played.exists():
        most = max(games for _, games in SIZES.values())
        command = [referee, "-n", str(most), "--seed", "1", "--record", str(played)]
        subprocess.run([*command, "builtin:greedy", "builtin:random"], check=True, stdout=subprocess.DEVNULL)
    with open(played, encoding="utf-8") as lines, open(file, "w", encoding="utf-8") as out:
        for number, line in zip(range(games), lines):
            record = json.loads(line)
            first, step = number % bots, 1 + number // bots % (bots - 1)
            for bot, place in zip(record["bots"], (first, (first + step) % bots)):
                bot["name"] = f"bot{place}"
                bot["command"] = [f"./bot{place}"]
            out.write(json.dumps(record, separators=(",", ":")) + "\n")
    return str(file)


def rows(folder, referee, groups):
    """All that is measured, of some groups. `{out}` is a path that does not exist yet, `{referee}` the build."""
    greedy, minimax = str(PLAYERS / "greedy.py"), str(PLAYERS / "minimax.py")
    class_of_eight = copies(folder / "eight", PLAYERS / "greedy.py", 8)
    shipped = [str(path) for path in sorted(PLAYERS.glob("*.py"))]
    tournament = ["{referee}", "tournament", class_of_eight, "--pairs", "1", "--seed", "1", "--out", "{out}"]
    yield Row("check", "check of minimax.py", ["{referee}", "check", minimax])
    yield Row("check", "check of greedy.py", ["{referee}", "check", greedy])
    yield Row("tournament", "tournament of eight greedy.py, a pair", tournament)
    yield Row("tournament", "the same with --no-check", [*tournament, "--no-check"])
    runnable = runnable_players()
    strangers = ["{referee}", "tournament", *runnable, "--pairs", "1", "--seed", "1", "--out", "{out}"]
    yield Row("strangers", f"tournament of {len(runnable)} shipped bots, a pair", strangers)
    yield Row("strangers", "the same with --no-check", [*strangers, "--no-check"])
    yield Row("alike", f"alike of {len(shipped)} shipped bots", ["{referee}", "alike", *shipped, "--json"])
    for sandbox in ("none", "landlock", "bwrap"):
        game = ["{referee}", "--seed", "1", "--sandbox", sandbox, greedy, "builtin:random"]
        yield Row("game", f"a game of greedy.py, --sandbox {sandbox}", game)
    compare = ["{referee}", "compare", str(PLAYERS / "safe.py"), str(PLAYERS / "random.py"), "--seed", "1"]
    yield Row("compare", "compare of safe.py with random.py", compare, (0, 3, 4))
    if "analyse" in groups:
        file = str(folder / "analysed.jsonl")
        game = [referee, "--seed", "1", "--record", file, "builtin:greedy", "builtin:random"]
        subprocess.run(game, check=True, stdout=subprocess.DEVNULL)
        yield Row("analyse", "analyse of one game", ["{referee}", "analyse", file])
    served = ["{referee}", "-n", str(LIVE), "--seed", "1", "builtin:greedy", "builtin:random"]
    yield Row("live", f"{LIVE:,} games, kept in a file", [*served, "--record", "{out}"])
    yield Row("live", "the same with --live", [*served, "--record", "{out}", "--live=127.0.0.1:0", "--live-exit"])
    for size, (bots, games) in SIZES.items() if {"report", "standings"} & set(groups) else ():
        file = records(folder, referee, size)
        of = f"{games:,} games of {bots:,} bots"
        yield Row("report", f"report of {of}", ["{referee}", "report", file, "-o", "{out}"])
        yield Row("standings", f"standings of {of}", ["{referee}", "standings", file])


def measured(row, referee, folder):
    """Seconds that passed, and of CPU time of it and its children."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "out"
    words = [word.format(referee=referee, out=out) for word in row.command]
    begun = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    passed = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    shutil.rmtree(out.parent, ignore_errors=True)
    if process.returncode not in row.statuses:
        sys.exit(f"{' '.join(words)}: exit status {process.returncode}\n{error.decode(errors='replace')}")
    return passed, usage.ru_utime + usage.ru_stime


def estimated(folder):
    """What shows how long it goes on, each some seconds long."""
    minimax = str(PLAYERS / "minimax.py")
    bots = [str(PLAYERS / name) for name in ("random.py", "greedy.py", "safe.py", "wins.py")]
    yield "a tournament of four", ["{referee}", "tournament", *bots, "--no-check", "--pairs", "40", "--out", "{out}"]
    played = copies(folder / "fast_and_slow", PLAYERS / "random.py", 3)
    shutil.copy(minimax, folder / "fast_and_slow" / "minimax.py")
    slow = ["{referee}", "tournament", played, "--no-check", "--pairs", "1", "--out", "{out}"]
    yield "a tournament with a slow bot", slow


LEFT = re.compile(r"(\d+)/(\d+) [a-z]+.*?, (?:about )?((?:\d+ ?[hms] ?)+)left")
SECONDS = {"h": 3600, "m": 60, "s": 1}


def estimate(command, referee, folder):
    """When half is done: the seconds that are said to be left, and that it takes. None if that was not told."""
    out = Path(tempfile.mkdtemp(dir=folder)) / "out"
    words = [word.format(referee=referee, out=out) for word in command]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    told, text = None, ""
    while True:
        try:
            part = os.read(ours, 65536).decode(errors="replace")
        except OSError:
            break
        text = (text + part)[-2000:]
        found = LEFT.findall(text)
        if told is None and found and 2 * int(found[-1][0]) >= int(found[-1][1]):
            left = sum(int(count) * SECONDS[unit] for count, unit in re.findall(r"(\d+) ?([hms])", found[-1][2]))
            told = (left, time.monotonic())
    process.wait()
    os.close(ours)
    ended = time.monotonic()
    shutil.rmtree(out.parent, ignore_errors=True)
    return told and (told[0], ended - told[1])


def compare_estimates(referee, runs):
    """A row for each command: how often the estimate was within 30 %, or within the second to which it is rounded."""
    print("| what | told | within 30 % | left when half was done: told, taken, s |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, command in estimated(folder):
            found = [estimate(command, referee, folder) for _ in range(runs)]
            told = [one for one in found if one]
            near = sum(abs(left - taken) <= max(0.3 * taken, 1.0) for left, taken in told)
            pairs = ", ".join(f"{left:.0f} {taken:.1f}" for left, taken in told)
            print(f"| {name} | {len(told)} of {runs} | {near} | {pairs} |", flush=True)


def machine():
    """What measured it, and how busy it was."""
    load = os.getloadavg()[0]
    return f"{platform.system()} {platform.release()}, {os.cpu_count()} CPUs, load {load:.1f} before the first run"


def main():
    parser = argparse.ArgumentParser(description="How long people wait")
    parser.add_argument("builds", nargs="+", metavar="REFEREE", help="one build, or two: the old one and the new one")
    parser.add_argument("--runs", type=int, default=5, help="runs of each row, of which the median is printed (5)")
    parser.add_argument("--estimates", action="store_true", help="compare what is said to be left with what it takes")
    parser.add_argument("--rows", default=GROUPS, help=f"only these groups ({GROUPS})")
    args = parser.parse_args()
    builds = [str(Path(build).resolve()) for build in args.builds]
    if len(builds) > 2:
        parser.error("one build or two")
    groups = args.rows.split(",")
    print(machine())
    if args.estimates:
        compare_estimates(builds[-1], args.runs)
        return
    titles = ["s"] if len(builds) == 1 else ["old s", "new s", "ratio"]
    print("| what | " + " | ".join(titles + [f"CPU {title}" for title in titles]) + " |")
    print("|---|" + "---|" * 2 * len(titles))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for row in rows(folder, builds[-1], groups):
            if row.group not in groups:
                continue
            runs = [[measured(row, build, folder) for build in builds] for _ in range(args.runs)]
            cells = []
            for kind in (0, 1):
                medians = [statistics.median(run[place][kind] for run in runs) for place in range(len(builds))]
                cells += [f"{median:.2f}" for median in medians]
                if len(builds) == 2:
                    # In turns: each pair of runs met the same machine.
                    ratios = (run[1][kind] / max(run[0][kind], 1e-6) for run in runs)
                    cells.append(f"{statistics.median(ratios):.2f}")
            print(f"| {row.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How long people wait: what they type most, with the medians of some runs.

    scripts/waits.py target/release/referee                     # one build
    scripts/waits.py old/referee target/release/referee         # two, in turns
    scripts/waits.py --rows check,tournament --runs 3 target/release/referee

Of two builds each is measured in every run, one after the other, so that both meet the same machine. A row has the time
that passed and the CPU time of the referee and all bots; docs/internals/benchmarks.md shows the table.
"""

import argparse
import json
import os
import platform
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


GROUPS = "check,tournament,strangers,alike,game,compare,analyse,report,standings"


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
    strangers = ["{referee}", "tournament", *shipped, "--pairs", "1", "--seed", "1", "--out", "{out}"]
    yield Row("strangers", f"tournament of {len(shipped)} shipped bots, a pair", strangers)
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
    for size, (bots, games) in SIZES.items() if {"report", "standings"} & set(groups) else ():
        file = records(folder, referee, size)
        of = f"{games:,} games of {bots:,} bots"
        yield Row("report", f"report of {of}", ["{referee}", "report", file, "--html", "{out}"])
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


def machine():
    """What measured it, and how busy it was."""
    load = os.getloadavg()[0]
    return f"{platform.system()} {platform.release()}, {os.cpu_count()} CPUs, load {load:.1f} before the first run"


def main():
    parser = argparse.ArgumentParser(description="How long people wait")
    parser.add_argument("builds", nargs="+", metavar="REFEREE", help="one build, or two: the old one and the new one")
    parser.add_argument("--runs", type=int, default=5, help="runs of each row, of which the median is printed (5)")
    parser.add_argument("--rows", default=GROUPS, help=f"only these groups ({GROUPS})")
    args = parser.parse_args()
    builds = [str(Path(build).resolve()) for build in args.builds]
    if len(builds) > 2:
        parser.error("one build or two")
    groups = args.rows.split(",")
    print(machine())
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

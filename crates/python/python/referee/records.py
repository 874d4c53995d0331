"""Records of games: to read them, to make tables of them, and to play for them."""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypedDict, cast

__all__ = ["Record", "command", "play", "read_records", "to_dataframe"]


class Bot(TypedDict):
    name: str
    command: list[str]


class _Result(TypedDict):
    winner: int | None
    reason: str
    lines: list[list[str]]


class Result(_Result, total=False):
    by: int
    adjudicated: bool
    answer: str
    detail: str
    stderr: str
    played: bool


class _Record(TypedDict):
    v: int
    game: str
    rules: str
    id: str
    bots: list[Bot]
    first: int
    seed: int
    start: str
    turns: list[str]
    times_ms: list[float]
    result: Result
    started: str


class Record(_Record, total=False):
    """A dictionary; docs/reference.md says what its fields are. Later versions may have more."""

    pieces: str
    movers: str
    charged_ms: list[float]
    info: list[dict[str, Any]]
    usage: list[Any]
    processes: list[Any]
    delayed: str
    voids: int
    tie_break: bool
    analysis: dict[str, Any]


def read_records(path: "str | os.PathLike[str]") -> Iterator[Record]:
    """The records of a file, or of a tournament's folder, one after the other; the file is read as far as needed.

    A record is a dictionary with the fields of `referee print schema record`.
    A last line that is incomplete, as a crash leaves it, is left out.

    Raises:
        ValueError: A line is not a record: the file, the line, and what was expected.
        OSError: The file cannot be read.
        TypeError: The path is not one.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "games.jsonl"
    # An editor may have put a byte order mark before the first line.
    with open(path, encoding="utf-8-sig") as file:
        try:
            yield from _records(file, path)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: {error}; expected UTF-8") from None


def _records(lines: Iterable[str], name: object) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if not line.endswith("\n"):
            return
        if line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{name}:{number}: {error}; expected a record, a JSON object on one line") from None
        try:
            _row(record)
        except _BROKEN:
            raise ValueError(f"{name}:{number}: fields are missing or wrong; expected the record of a game") from None
        yield cast(Record, record)


#: What `_row` raises of something that is not a record.
_BROKEN = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def to_dataframe(records: "str | os.PathLike[str] | Iterable[Record]", library: str | None = None) -> Any:
    """A table with a row for each game.

    Its columns: id, game, rules, first and second (the names of the bots that acted first and second), winner (a name,
    or missing for a draw), reason, by (the bot that forfeited), plies (turns), seed, started, and of each seat
    first_ms and second_ms, the slowest answer in milliseconds.

    Args:
        records: A path, as `read_records` takes it, or records.
        library: "pandas" or "polars"; without it pandas where it is installed, else polars.

    Raises:
        ModuleNotFoundError: Neither is installed, or not that one.
        ValueError: A record is not one, or there is no such library.
        TypeError: They are neither a path nor records.
    """
    names = [library] if library else ["pandas", "polars"]
    for name in names:
        if name not in ("pandas", "polars"):
            raise ValueError(f"library is {name!r}; expected 'pandas' or 'polars'")
    if isinstance(records, (str, os.PathLike)):
        records = read_records(records)
    columns: dict[str, list[Any]] = {}
    for number, record in enumerate(records, 1):
        try:
            row = _row(record)
        except _BROKEN:
            raise ValueError(f"record {number} is {record!r:.60}; expected the record of a game") from None
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    for name in names:
        try:
            module = __import__(name)
        except ModuleNotFoundError:
            if name == names[-1]:
                raise
            continue
        return module.DataFrame(columns)


def _row(record: Record) -> dict[str, Any]:
    bots, first, result = [bot["name"] for bot in record["bots"]], record["first"], record["result"]
    movers = record.get("movers") or "01" * len(record["turns"])
    slowest = [0.0, 0.0]
    for mover, time in zip(movers, record["times_ms"]):
        slowest[int(mover)] = max(slowest[int(mover)], time)
    names: dict[int | None, str] = dict(enumerate(bots))
    return {
        "id": record["id"],
        "game": record["game"],
        "rules": record["rules"],
        "first": bots[first],
        "second": bots[1 - first],
        "winner": names.get(result["winner"]),
        "reason": result["reason"],
        "by": names.get(result.get("by")),
        "plies": len(record["turns"]),
        "seed": record["seed"],
        "started": record["started"],
        "first_ms": slowest[0],
        "second_ms": slowest[1],
    }


def command() -> str:
    """The path of the program `referee` that was installed with this module.

    Raises:
        FileNotFoundError: It is not beside the Python that runs, nor in a user's folder for programs.
    """
    name = "referee.exe" if os.name == "nt" else "referee"
    schemes = ["posix_user", "nt_user", "osx_framework_user"]
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    folders += [sysconfig.get_path("scripts", scheme) for scheme in schemes if scheme in sysconfig.get_scheme_names()]
    # `pip install --target FOLDER` makes FOLDER/bin.
    folders.append(str(Path(__file__).parents[1] / "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"there is no {name} in {', '.join(folders)}; install the wheel of referee again")


def play(bots: "Iterable[str | os.PathLike[str]]", games: int = 1, seed: int | None = None, options: Iterable[str] = ()) -> list[Record]:
    """Lets two bots play each other, by the program in the wheel; returns the records.

    Args:
        bots: Two bots as on the command line: a file, a command line, or "builtin:NAME".
        games: How many. Each bot acts first in half of them.
        seed: Everything random follows from it; drawn when it is not given.
        options: Further options of `referee BOT1 BOT2`, such as ["--move-time", "100ms"].

    Raises:
        ValueError: The program refuses the bots or the options; what it says.
        RuntimeError: The program or the machine failed; what it says.
        TypeError: The bots or the options are not text.
    """
    both = [bots] if isinstance(bots, str) else [os.fspath(bot) for bot in bots]
    if len(both) != 2:
        raise ValueError(f"{len(both)} bots; expected two")
    first, second = both
    words = [command(), "--json", "--games", str(games)]
    if seed is not None:
        words += ["--seed", str(seed)]
    words += [*options, "--", first, second]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        kind = ValueError if done.returncode == 2 else RuntimeError
        raise kind(done.stderr.decode(errors="replace").strip() or f"referee ended with status {done.returncode}")
    return list(_records(done.stdout.decode().splitlines(keepends=True), "referee"))

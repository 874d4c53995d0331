"""Bots that are programs, asked one question after the other: `referee ask`, which runs them in the sandbox."""

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from ._referee import Position, Quarto
from .records import command

__all__ = ["Program"]


class Program:
    """A bot that is asked about positions, in the sandbox, by the program in the wheel.

    Its process starts with the first question. A copy, or what a pickle holds, has a process of its own. Two are equal
    when bot, options and seed are, whatever their processes were asked.

    Args:
        bot: A bot as on the command line: a file, a folder, a command line, or "builtin:NAME".
        options: Further options of `referee ask`, such as ["--move-time", "100ms"].
        seed: What `REFEREE_SEED` says.
    """

    def __init__(self, bot: str, options: Sequence[str] = (), seed: int = 0) -> None:
        if not isinstance(bot, str):
            raise TypeError(f"bot is {bot!r}; expected a bot as on the command line")
        self.bot = bot
        self.options = list(options)
        self.seed = seed
        self._asked: subprocess.Popen[str] | None = None
        self._game: object = None

    # It can be changed, so it has no hash: Python gives a class with `__eq__` alone none.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program) or type(other) is not type(self):
            return NotImplemented
        return (self.bot, self.options, self.seed) == (other.bot, other.options, other.seed)

    def answer(self, position: Position) -> tuple[str | None, str | None]:
        """The turn, or None and why the bot has forfeited.

        Raises:
            ValueError: The program refuses the bot or the options; what it says.
            RuntimeError: The program or the machine failed; what it says.
        """
        if self._asked is None or self._game != position.game:
            self.close()
            self._start(position.game)
        asked = self._asked
        assert asked is not None and asked.stdin is not None and asked.stdout is not None
        try:
            asked.stdin.write(position.text + "\n")
            asked.stdin.flush()
            line = asked.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._failed(asked)
        told: dict[str, Any] = json.loads(line)
        if "turn" in told:
            return str(told["turn"]), None
        return None, f"{told['reason']}: {told['detail']}"

    def _start(self, game: object) -> None:
        words = [command(), "ask", "--json", "--seed", str(self.seed), *self.options]
        if isinstance(game, Quarto):
            words += ["--rules", game.rules]
            path = game.path
            if path is not None:
                words += ["--pieces", path]
        else:
            words += ["--game", "four-in-a-row"]
        pipe = subprocess.PIPE
        self._asked = subprocess.Popen(
            [*words, "--", self.bot], stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
        )
        self._game = game

    def _failed(self, asked: "subprocess.Popen[str]") -> None:
        told = asked.communicate()[1].strip()
        self._asked = None
        kind = ValueError if asked.returncode == 2 else RuntimeError
        raise kind(told or f"referee ask ended with status {asked.returncode}")

    def close(self) -> None:
        """Ends the bot's process."""
        asked, self._asked = self._asked, None
        if asked is not None:
            asked.communicate()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_asked": None, "_game": None}

    def __del__(self) -> None:
        asked = getattr(self, "_asked", None)
        if asked is not None:
            asked.stdin.close()
            asked.stdout.close()
            asked.stderr.close()
            asked.wait()

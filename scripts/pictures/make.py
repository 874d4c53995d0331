#!/usr/bin/env python3
"""Makes the pictures of the documents from the real program, in docs/pictures, and docs/sample.html.

    cargo build --release && scripts/pictures/make.py

The match is text drawn as SVG; the report is a screenshot of headless Chromium, driven by chromedriver.
"""

import base64
import html
import json
import os
import pty
import re
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFEREE = ROOT / "target" / "release" / "referee"
OUT = ROOT / "docs" / "pictures"

# The last lines of the match are shown, after the command.
LINES = 24
COLUMNS = 78
CELL = (8.4, 18.0)

THEMES = {
    "light": {"back": "#ffffff", "text": "#1f2328", "dim": "#656d76", "accent": "#1a7f37", "frame": "#d0d7de"},
    "dark": {"back": "#0d1117", "text": "#e6edf3", "dim": "#8d96a0", "accent": "#3fb950", "frame": "#30363d"},
}


def on_a_terminal(command: list[str]) -> str:
    """What a command prints on a terminal."""
    master, slave = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdout=slave, stderr=slave, stdin=slave, env=environment)
    os.close(slave)
    printed = b""
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        printed += chunk
    process.wait()
    return printed.decode().replace("\r\n", "\n")


def spans(line: str) -> list[tuple[str, str]]:
    """The parts of a line: the colour of each, by its name in a theme, and its text."""
    parts, colour = [], "dim" if line.startswith("$") else "text"
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        if piece.startswith("\x1b["):
            codes = piece[2:-1].split(";")
            colour = "text" if codes in (["0"], [""]) else "dim" if codes == ["2"] else "accent"
        elif piece:
            parts.append((colour, piece))
    return parts


def terminal(lines: list[str], theme: dict[str, str], title: str) -> str:
    """An SVG of a terminal with these lines."""
    width, height = COLUMNS * CELL[0] + 32, len(lines) * CELL[1] + 32
    rows = []
    for number, line in enumerate(lines):
        x, y = 16.0, 16 + (number + 0.75) * CELL[1]
        for colour, text in spans(line):
            weight = ' font-weight="bold"' if colour == "accent" else ""
            rows.append(
                f'<text x="{x:.1f}" y="{y:.1f}" fill="{theme[colour]}"{weight} xml:space="preserve"'
                f' textLength="{len(text) * CELL[0]:.1f}">{html.escape(text)}</text>'
            )
            x += len(text) * CELL[0]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{html.escape(title)}"'
        ' font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">'
        f'<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8"'
        f' fill="{theme["back"]}" stroke="{theme["frame"]}"/>' + "".join(rows) + "</svg>\n"
    )


def match() -> None:
    """A match between two players of the tree, as it ends."""
    command = ["-v", "--seed", "4", "players/greedy.py", "players/random.sh"]
    printed = on_a_terminal([str(REFEREE), *command]).rstrip("\n").split("\n")
    lines = ["$ referee " + " ".join(command), "…", *printed[-LINES:]]
    for name, theme in THEMES.items():
        (OUT / f"match-{name}.svg").write_text(terminal(lines, theme, "The end of a match"))


def screenshots(page: str, name: str, width: int, height: int, ready: str) -> None:
    """A page in both themes, when this script is true."""
    driver = subprocess.Popen(["chromedriver", "--port=9517"], stdout=subprocess.DEVNULL)

    def call(path: str, **body: object) -> object:
        request = urllib.request.Request(f"http://127.0.0.1:9517/session{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["value"]

    try:
        for theme in THEMES:
            time.sleep(1)
            options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={width},{height}"]
            options += ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
            chrome = {"browserName": "chrome", "goog:chromeOptions": {"args": options}}
            session = call("", capabilities={"alwaysMatch": chrome})["sessionId"]
            call(f"/{session}/url", url=f"file://{page}")
            while not call(f"/{session}/execute/sync", script=f"return {ready}", args=[]):
                time.sleep(0.2)
            with urllib.request.urlopen(f"http://127.0.0.1:9517/session/{session}/screenshot") as answer:
                (OUT / f"{name}-{theme}.png").write_bytes(base64.b64decode(json.load(answer)["value"]))
            stop = urllib.request.Request(f"http://127.0.0.1:9517/session/{session}", method="DELETE")
            urllib.request.urlopen(stop).close()
    finally:
        driver.terminate()
        driver.wait()


def report() -> None:
    """The page of a tournament of players of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "spring.html"
        bots = ["players/greedy.py", "players/random.py", "players/random.sh", "builtin:greedy"]
        arguments = ["tournament", *bots, "--pairs", "20", "--seed", "4", "--report", str(page)]
        subprocess.run([REFEREE, *arguments, "--out", f"{folder}/spring"], check=True, stdout=subprocess.DEVNULL)
        screenshots(str(page), "report", 1280, 1040, "document.querySelector('.decisive svg') !== null")


def board() -> None:
    """A board with what its turns are worth."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "board.html"
        subprocess.run([REFEREE, "board", "--page", str(page), "KH.FN.CMD..JP.O. B"], check=True, stderr=subprocess.DEVNULL)
        solved = "document.querySelector('.worth-bar')?.textContent.endsWith('with best play.')"
        screenshots(str(page), "board", 1280, 1000, solved)


def sample() -> None:
    """A finished report for visitors: docs/sample.html."""
    with tempfile.TemporaryDirectory() as folder:
        bots = ["builtin:greedy", "builtin:random", "builtin:search", "builtin:perfect?slips=0.2"]
        options = ["--pairs", "4", "--seed", "4", "--analyse"]
        subprocess.run(
            [REFEREE, "tournament", *bots, *options, "--report", ROOT / "docs" / "sample.html", "--out", f"{folder}/sample"],
            check=True,
            stdout=subprocess.DEVNULL,
        )


def main() -> None:
    os.chdir(ROOT)
    OUT.mkdir(exist_ok=True)
    match()
    report()
    board()
    sample()


main()

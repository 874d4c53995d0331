#!/usr/bin/env python3
"""Makes the pictures of the documents from the real program, in docs/pictures.

    cargo build --release && scripts/pictures/make.py
    scripts/pictures/make.py game stage        # only these; `REFEREE` names another program

The game is drawn by `referee replay --format svg`; report, board and stage are screenshots of
headless Chromium, driven by chromedriver.
"""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFEREE = Path(os.environ.get("REFEREE", ROOT / "target" / "release" / "referee")).absolute()
OUT = ROOT / "docs" / "pictures"

THEMES = {
    "light": {"back": "#ffffff", "dim": "#656d76"},
    "dark": {"back": "#0d1117", "dim": "#8d96a0"},
}


# Seconds that a turn of the animated game is shown, and its end.
TURN, END = 1.1, 4.0


def game() -> None:
    """A game as an animation: every position is a frame, shown for a while; its pieces are drawn once."""
    with tempfile.TemporaryDirectory() as folder:
        records = f"{folder}/game.jsonl"
        bots = ["builtin:search?depth=3", "builtin:search?depth=2"]
        subprocess.run([REFEREE, "--seed", "6", "--record", records, *bots], check=True, stdout=subprocess.DEVNULL)
        turns = len(json.loads(Path(records).read_text())["turns"])
        drawing = [REFEREE, "replay", records, "--format", "svg", "--turn"]
        drawn = [subprocess.run([*drawing, str(turn)], check=True, capture_output=True).stdout for turn in range(1, turns + 1)]
    tokens: dict[str, str] = {}

    def once(token: re.Match[str]) -> str:
        return f'<use href="#{tokens.setdefault(token[0], f"t{len(tokens)}")}"/>'

    frames = []
    for picture in drawn:
        inside = re.sub(r"<title>.*?</title>|<rect width[^>]*/>", "", picture.decode().split(">", 1)[1].rsplit("</svg>", 1)[0])
        frames.append(re.sub(r'<g class="token.*?</g>', once, inside))
    size = re.search(r'viewBox="(0 0 \S+ \S+)"', drawn[0].decode())[1]
    length = TURN * (turns - 1) + END
    style = (
        ".frame{visibility:hidden;animation:turn %gs infinite step-end}" % length
        + ".frame:last-child{animation-name:end}"
        + "@keyframes turn{0%%{visibility:visible}%.2f%%{visibility:hidden}}" % (100 * TURN / length)
        + "@keyframes end{0%%{visibility:visible}%.2f%%{visibility:hidden}}" % (100 * END / length)
        + "@media(prefers-reduced-motion:reduce){.frame{animation:none}.frame:last-child{visibility:visible}}"
    )
    defs = "".join(token.replace("<g ", f'<g id="{name}" ', 1) for token, name in tokens.items())
    shown = "".join(
        f'<g class="frame" style="animation-delay:{TURN * number:g}s">{frame}</g>' for number, frame in enumerate(frames)
    )
    for name, theme in THEMES.items():
        picture = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img" font-family="sans-serif">'
            f"<title>A game of Quarto, turn by turn</title><style>{style}</style><defs>{defs}</defs>"
            f'<rect width="100%" height="100%" rx="14" fill="{theme["back"]}"/>{shown}</svg>\n'
        )
        (OUT / f"game-{name}.svg").write_text(picture.replace('fill="#566072"', f'fill="{theme["dim"]}"'))


def screenshots(address: str, name: str, width: int, height: int, ready: str) -> None:
    """What is at this address in both themes, when this script is true."""
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
            call(f"/{session}/url", url=address)
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
        screenshots(page.as_uri(), "report", 1280, 1040, "document.querySelector('.latest svg') !== null")


def board() -> None:
    """A board with what its turns are worth."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "board.html"
        subprocess.run([REFEREE, "board", "--out", str(page), "KH.FN.CMD..JP.O. B"], check=True, stderr=subprocess.DEVNULL)
        solved = "document.querySelector('.worth-bar')?.textContent.endsWith('with best play.')"
        screenshots(page.as_uri(), "board", 1280, 1000, solved)


def stage() -> None:
    """The stage of a tournament that is being played."""
    with tempfile.TemporaryDirectory() as folder:
        bots = ["players/minimax.py", "players/safe.py", "builtin:search?depth=2", "builtin:greedy"]
        options = ["--pairs", "20", "--seed", "4", "--move-time", "6s", "--live=127.0.0.1:9518", "--out", f"{folder}/cup"]
        playing = subprocess.Popen([REFEREE, "tournament", *bots, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(60)
            ready = "document.querySelectorAll('.stage-board .piece').length > 8 && document.querySelector('.stage-evaluation')?.textContent.endsWith('best play')"
            screenshots("http://127.0.0.1:9518/#stage", "stage", 1920, 1220, ready)
        finally:
            playing.kill()
            playing.wait()


def main() -> None:
    os.chdir(ROOT)
    OUT.mkdir(exist_ok=True)
    makers = [game, report, board, stage]
    for maker in makers:
        if not sys.argv[1:] or maker.__name__ in sys.argv[1:]:
            maker()


main()

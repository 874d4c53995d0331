#!/usr/bin/env python3
"""Makes the guide as a site with search, in target/guide/site, from the documents as they are.

    cargo install --locked mdbook@0.5.4 --no-default-features --features search
    scripts/book.py

All documents are copied to a folder with what they link to, so that every link is the same in the tree and in the site;
docs/SUMMARY.md is the list of chapters. `<!-- sample -->` in a document becomes a link to a finished report, which `./referee`
makes, or the program `REFEREE`. Links of the site that lead nowhere are named, and the exit status is then 1.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
SOURCE, SITE = ROOT / "target/guide/src", ROOT / "target/guide/site"
REFEREE = os.environ.get("REFEREE", ROOT / "referee")
SAMPLE = ROOT / "docs/sample.html"
LINK = re.compile(r'\]\(([^)#:\s]+)|src(?:set)?="([^":]+)"')


def copy(file: Path) -> None:
    """Copies a file with all that it links to."""
    target = SOURCE / file.relative_to(ROOT)
    if target.exists() or not file.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix != ".md":
        shutil.copy(file, target)
        return
    text = file.read_text()
    sample = os.path.relpath(SAMPLE, file.parent)
    target.write_text(text.replace("<!-- sample -->", f" [See a finished one]({sample})."))
    for links in LINK.findall(text):
        copy((file.parent / "".join(links)).resolve())


def make_sample() -> None:
    """A finished report of a small tournament."""
    bots = ["builtin:greedy", "builtin:random", "builtin:search", "builtin:perfect?slips=0.2"]
    options = ["--pairs", "4", "--seed", "4", "--analyse", "--report", SOURCE / SAMPLE.relative_to(ROOT)]
    with tempfile.TemporaryDirectory() as folder:
        command = [REFEREE, "tournament", *bots, *options, "--out", f"{folder}/sample"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Links(HTMLParser):
    """The links of a page, and the names of its places."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links, self.names = set(), set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src", "srcset") and value and not re.match(r"[a-z]+:|//", value):
                self.links.add(unquote(value))
            elif name == "id":
                self.names.add(value)


def main() -> int:
    shutil.rmtree(SOURCE.parent, ignore_errors=True)
    summary = ROOT / "docs/SUMMARY.md"
    copy(summary)
    make_sample()
    # mdBook looks for the list at the top.
    (SOURCE / "docs/SUMMARY.md").unlink()
    chapters = re.sub(r"\]\((?!\.\./)", "](docs/", summary.read_text()).replace("](../", "](")
    (SOURCE / "SUMMARY.md").write_text(chapters)
    subprocess.run(["mdbook", "build", ROOT], check=True)
    pages = {}
    for page in SITE.rglob("*.html"):
        if page.name not in ("toc.html", "404.html", "sample.html"):
            # That is how mdBook calls the page of a README, but not in links.
            page.write_text(page.read_text().replace("README.html", "index.html"))
            pages[page] = Links(page)
    dangling = 0
    for page, found in pages.items():
        for link in sorted(found.links):
            path, _, name = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            there = target.is_file() and (not name or target not in pages or name in pages[target].names)
            if not there:
                dangling += 1
                print(f"{page.relative_to(SITE)}: {link} leads nowhere")
    return min(dangling, 1)


sys.exit(main())

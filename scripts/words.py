#!/usr/bin/env python3
"""Finds words that STYLE.md replaces, in documents, and in the comments and texts of the program.

    scripts/words.py            # names each with its place; the exit status is 1 if there are any
"""

import re
import subprocess
import sys

WORDS = {
    r"processors?": "CPU, core",
    r"mend(s|ed|ing)?(?!\")": "fix",
    r"blanks?(?! (lines?|ones?)\b)": "space, whitespace",
    r"at once": "immediately; at the same time",
    r"whoever|somebody|nobody|anybody|those who": "name the actor",
    r"also when": "even when; and when",
    r"(?<!there )is no (?!longer\b|more\b|or\b|\w+ any more\b)\w+": "is not a; invalid",
    r"last words": "stderr ended with",
    r"own games|the own \w+": "your games, that bot's games",
    r"each against each": "head to head",
    r"(is|are|was|were|be|been) ended": "killed, stopped; exited",
    r"(file|its|an?|the|same|known|that) endings?": "extension",
    r"fit to enter": "passes the entry check",
    r"with a known value": "solved",
}
FOUND = [(re.compile(rf"(?:\b|(?<=\\[nt]))({pattern})\b", re.IGNORECASE), words) for pattern, words in WORDS.items()]
# What the words stand for themselves.
EXCEPT = ("STYLE.md", "docs/internals/decisions.md")
# A comment or a text, not the code between.
TOLD = re.compile(r"'(?:\\\\.|[^\\\\'\n])'" r'|//[^\n]*|/\*\*.*?\*/|r#".*?"#|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`', re.DOTALL)


def told(file: str, text: str) -> str:
    """What people read of a file; other characters are spaces, so places stay."""
    if file.endswith(".md"):
        return re.sub(r"```.*?```|`[^`\n]*`", lambda code: re.sub(r"[^\n]", " ", code[0]), text, flags=re.DOTALL)
    text = text.split("\n#[cfg(test)]\nmod tests {")[0]
    kept, at = [], 0
    for part in TOLD.finditer(text):
        kept += [re.sub(r"[^\n]", " ", text[at : part.start()]), part[0]]
        at = part.end()
    return "".join(kept)


def main() -> int:
    paths = ["*.md", "src/*.rs", "crates/*/src/*.rs", "crates/report/src/html/assets/*.js"]
    files = subprocess.run(["git", "ls-files", "--", *paths], check=True, capture_output=True, text=True).stdout.split("\n")
    status = 0
    for file in filter(None, files):
        if file in EXCEPT:
            continue
        # Words on two lines are found, too.
        text = re.sub(r"\n[ /!*#]*", lambda gap: "\n" + " " * (len(gap[0]) - 1), told(file, open(file).read()))
        for pattern, words in FOUND:
            for match in pattern.finditer(text):
                line = text[: match.start()].count("\n") + 1
                print(f"{file}:{line}: {' '.join(match[0].split())!r}; {words}")
                status = 1
    return status


sys.exit(main())

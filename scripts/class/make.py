#!/usr/bin/env python3
"""Makes the example class of docs/league.md from the players: what Moodle's download would be, and the list of students.

    make.py [--week 1|2] [--players FOLDER] [--out FOLDER]

writes submissions.zip and students.csv into the folder.
"""

import argparse
import io
import pathlib
import zipfile

STUDENTS = """name,team,email,id
Anna Adams,,anna@example.org,
Ben Brown,,ben@example.org,
Cem Can,owls,cem@example.org,
Dana Diaz,owls,dana@example.org,
Eve Evans,,eve@example.org,
Finn Fox,,finn@example.org,
"""


def zipped(files):
    """A student's own archive."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return memory.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--week", type=int, choices=(1, 2), default=1)
    parser.add_argument("--players", type=pathlib.Path, default="players")
    parser.add_argument("--out", type=pathlib.Path, default=".")
    options = parser.parse_args()

    def player(name):
        return (options.players / name).read_bytes()

    submissions = {
        "Anna Adams_1001": {"random.py": player("random.py")},
        "Ben Brown_1002": {"my bot.zip": zipped({"my bot/greedy.py": player("greedy.py")})},
        # A team hands in sources, which are built.
        "Cem Can_1003": {"random.c": player("random.c")},
        # A path that leads out: refused.
        "Eve Evans_1005": {"bot.zip": zipped({"../bot.py": player("random.py")})},
    }
    if options.week == 2:
        submissions["Anna Adams_1001"] = {"greedy.py": player("greedy.py") + b"# mine\n"}
    options.out.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(options.out / "submissions.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for student, files in submissions.items():
            for name, content in files.items():
                archive.writestr(f"{student}_assignsubmission_file_/{name}", content)
    (options.out / "students.csv").write_text(STUDENTS)


main()

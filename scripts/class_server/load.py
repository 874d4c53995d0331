#!/usr/bin/env python3
"""What a class asks of its server: students hand in within a minute, several times, beside watchers and the ladder.

    cargo build --release --features class-server && scripts/class_server/load.py [REFEREE] [--students 30] [--watchers 300]

Bots in six languages of players/, those of which an interpreter or a compiler is installed. Prints how long uploads took to be
answered and versions to be checked, the server's own CPU time, and forfeits of the games that were played, of which there may
be none. The figures of docs/internals/benchmarks.md are its output.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A player, and what has to be installed.
BOTS = [
    ("random.py", "python3"),
    ("random.js", "node"),
    ("random.c", "gcc"),
    ("Random.java", "java"),
    ("random.pl", "perl"),
    ("random.sh", "sh"),
    ("greedy.py", "python3"),
]
ROUNDS = 3
WITHIN = 60.0
BOUNDARY = "a-boundary-of-the-load"


def arguments():
    parser = argparse.ArgumentParser(description="What a class asks of its server")
    parser.add_argument("referee", nargs="?", default=str(ROOT / "target/release/referee"))
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--watchers", type=int, default=300)
    return parser.parse_args()


def request(address, path, token=None, body=None):
    headers = {"Accept": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        headers["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
    asked = urllib.request.Request(address + path, data=body, headers=headers)
    with urllib.request.urlopen(asked, timeout=120) as answer:
        return json.load(answer)


def form(name, content):
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


def bot(number, turn):
    """Of a student in a round: its name and its text, which no other has."""
    here = [one for one in BOTS if shutil.which(one[1])]
    name, _ = here[(number + turn) % len(here)]
    text = (ROOT / "players" / name).read_bytes()
    mark = f"student {number}, round {turn}\n".encode()
    comment = b"//" if name.endswith((".js", ".c", ".java")) else b"#"
    return name, text + b"\n" + comment + b" " + mark


def watch(address, stop):
    """Reads the changes of the public page for as long as it is told to."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as stream:
        stream.sendall(f"GET /changes HTTP/1.1\r\nHost: {host}:{port}\r\nAccept: text/event-stream\r\n\r\n".encode())
        stream.settimeout(1)
        while not stop.is_set():
            try:
                if not stream.recv(1 << 16):
                    return
            except TimeoutError:
                pass


class Student(threading.Thread):
    def __init__(self, address, token, number):
        super().__init__()
        self.address, self.token, self.number = address, token, number
        self.answered, self.checked, self.failures = [], [], []

    def run(self):
        begun = time.monotonic()
        for turn in range(ROUNDS):
            due = begun + turn * WITHIN + (self.number * 2.0) % WITHIN
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                self.hand_in(turn)
            except OSError as error:
                self.failures.append(str(error))

    def hand_in(self, turn):
        begun = time.monotonic()
        answer = request(self.address, "/submissions", self.token, form(*bot(self.number, turn)))
        self.answered.append(time.monotonic() - begun)
        while True:
            state = request(self.address, answer["url"], self.token)["state"]
            if state not in ("waiting", "building", "checking"):
                self.checked.append(time.monotonic() - begun)
                if state == "refused":
                    self.failures.append(f"student {self.number}, round {turn}: refused")
                return
            time.sleep(0.5)


def cpu_of(process):
    """Of it alone, in seconds: its bots are processes of their own."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve(referee, folder, students):
    names = [f"Student {number:02}" for number in range(students)]
    lines = ["name,id", *(f"{name},s{number}" for number, name in enumerate(names))]
    (folder / "students.csv").write_text("\n".join(lines) + "\n")
    log = open(folder / "out.log", "w")
    command = [referee, "league", "serve", "term", "--students", "students.csv", "--listen", "127.0.0.1:0", "--pairs", "1"]
    process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    while True:
        for line in (folder / "out.log").read_text().splitlines():
            if line.startswith("class at http://"):
                links = (folder / "term/links.csv").read_text().splitlines()
                tokens = {line.split(",")[0]: line.rsplit("/in/", 1)[1] for line in links if "/in/" in line}
                return process, line.split()[2].rstrip("/"), [tokens[name] for name in names]
        if process.poll() is not None:
            raise SystemExit((folder / "out.log").read_text())
        time.sleep(0.05)


def line(what, values):
    return f"{what}: median {statistics.median(values):.2f} s, longest {max(values):.2f} s"


def main():
    given = arguments()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        process, address, tokens = serve(str(Path(given.referee).resolve()), folder, given.students)
        stop = threading.Event()
        watchers = [threading.Thread(target=watch, args=(address, stop), daemon=True) for _ in range(given.watchers)]
        students = [Student(address, token, number) for number, token in enumerate(tokens)]
        try:
            for thread in watchers + students:
                thread.start()
            begun, before = time.monotonic(), cpu_of(process.pid)
            for student in students:
                student.join()
            took, used = time.monotonic() - begun, cpu_of(process.pid) - before
        finally:
            stop.set()
            process.terminate()
            process.wait()
        games = [json.loads(text) for text in (folder / "term/games.jsonl").read_text().splitlines()]
    forfeits = [game["result"]["reason"] for game in games if game["result"].get("by") is not None]
    answered = [time for student in students for time in student.answered]
    checked = [time for student in students for time in student.checked]
    failures = [failure for student in students for failure in student.failures]
    print(f"{len(answered)} uploads of {given.students} students beside {given.watchers} watchers, {took:.0f} s")
    print(line("answered after", answered))
    print(line("checked after", checked))
    print(f"the server's own CPU time: {used:.1f} s, {100 * used / took / os.cpu_count():.1f} % of {os.cpu_count()} cores")
    print(f"{len(games)} games in the folder at the end, forfeits: {len(forfeits)} {sorted(set(forfeits))}")
    for failure in failures:
        print("failed:", failure)
    raise SystemExit(1 if failures or forfeits else 0)


if __name__ == "__main__":
    main()

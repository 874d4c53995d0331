#!/usr/bin/env python3
"""Recomputes people, grades and tables from submissions and records, and compares them with what the referee wrote.

    recompute.py JOBS.json

Python's standard library alone, and nothing of the referee: the rules are those of docs/league.md, docs/grades.md,
docs/tournaments.md, docs/standings.md and docs/internals/ratings.md, and of chapter C.07 of the FIDE handbook (2024).

JOBS.json is a list of objects with a `kind`:

    {"kind": "tournament", "folder": …, "seeds": [names] (optional)}
    {"kind": "league", "folder": …, "weeks": [{"download": …, "students": … or null, "deadline": …, "accept_late": hours,
     "withdrawn": [labels], "standings": that of the week (not of the last one)}], "notes": what was printed,
     "before": the table that there was before, if it was already one of the last week (optional)}
    {"kind": "grades", "folder": …, "scale": …, "league": a job of the kind league}

Prints each cell that differs, a line each, then how many were compared. Exit status: 0 nothing differs, 1 something
does, 2 the input is not what was expected.
"""

import csv
import io
import json
import math
import re
import sys
import tarfile
import unicodedata
import zipfile
from collections import Counter, defaultdict
from datetime import datetime, timezone
from pathlib import Path

# Comparing


class Findings:
    """What differs, and how much was compared."""

    def __init__(self):
        self.compared = Counter()
        self.lines = []

    def report(self, place, found, expected):
        self.lines.append(f"{place}: found {found!r}, recomputed {expected!r}")

    def same(self, what, place, found, expected):
        """Texts, whole numbers and lists."""
        self.compared[what] += 1
        if found != expected:
            self.report(place, found, expected)

    def near(self, what, place, found, expected, tolerance):
        """Numbers, of which `found` may be a text."""
        self.compared[what] += 1
        try:
            is_near = abs(float(found) - expected) <= tolerance
        except (TypeError, ValueError):
            is_near = False
        if not is_near:
            self.report(place, found, expected)


FINDINGS = Findings()


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_records(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line]


def read_table(path):
    """A CSV table as a list of rows by heading."""
    text = Path(path).read_text(encoding="utf-8").removeprefix("\ufeff")
    return list(csv.DictReader(io.StringIO(text)))


# Numbers of tables have four decimals.
ROUNDED = 0.5e-4 + 1e-9


# The rules of Quarto

LINES = (
    [[4 * row + column for column in range(4)] for row in range(4)]
    + [[4 * row + column for row in range(4)] for column in range(4)]
    + [[0, 5, 10, 15], [3, 6, 9, 12]]
)
PIECES = "ABCDEFGHIJKLMNOP"


def has_quarto(board):
    for line in LINES:
        pieces = [board[cell] for cell in line]
        if "." in pieces:
            continue
        bits = [PIECES.index(piece) for piece in pieces]
        if bits[0] & bits[1] & bits[2] & bits[3] or 15 & ~(bits[0] | bits[1] | bits[2] | bits[3]):
            return True
    return False


def judge(record):
    """Who won by the turns: 0, 1, "draw", or None while the game is not over. Raises ValueError at a wrong turn."""
    start = record["start"].split(" ")
    board = list(start[0])
    in_hand = start[1] if len(start) > 1 else "-"
    mover = record["first"]
    for turn in record["turns"]:
        cell, gift = turn.split(" ")
        if (cell == "-") != (in_hand == "-"):
            raise ValueError(f"cell of {turn}")
        if cell != "-":
            if board[int(cell) - 1] != ".":
                raise ValueError(f"occupied: {turn}")
            board[int(cell) - 1] = in_hand
            if has_quarto(board):
                return mover
        if gift == "-":
            if "." in board:
                raise ValueError(f"no gift: {turn}")
            return "draw"
        if gift not in PIECES or gift in board:
            raise ValueError(f"gift of {turn}")
        in_hand = gift
        mover = 1 - mover
    return None


# Tournaments


class Game:
    def __init__(self, record):
        result = record["result"]
        self.id = record["id"]
        self.names = [bot["name"] for bot in record["bots"]]
        self.first = record["first"]
        self.winner = result["winner"]
        self.by = result.get("by")
        self.reason = result["reason"]
        self.is_played = result.get("played", True)
        self.turns = record["turns"]
        self.start = record["start"]
        self.record = record

    def points(self, side):
        if self.winner is None:
            return 0.5
        return 1.0 if self.winner == side else 0.0

    def was_asked(self, side):
        """It answered, or was waited for."""
        if not self.is_played:
            return False
        return self.has_moved(side) or self.by == side

    def has_moved(self, side):
        return len(self.turns[0 if side == self.first else 1 :: 2]) > 0


class Meeting:
    """Two bots in a round: of a knockout with the tie-break games."""

    def __init__(self, round_number, pairing, games):
        self.round = round_number
        self.bots = pairing
        self.games = games

    def points(self, side):
        return sum(game.points(side) for game in self.games)

    def is_played(self):
        return any(game.is_played for game in self.games)


class Tournament:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.plan = read_json(self.folder / "plan.json")
        self.format = self.plan["format"]
        self.bots = [bot["name"] for bot in self.plan["bots"]]
        self.records = {}
        for record in read_records(self.folder / "games.jsonl"):
            if record["id"] in self.records:
                FINDINGS.report(f"{self.folder}/games.jsonl: {record['id']}", "twice", "once")
            self.records[record["id"]] = Game(record)
        self.rounds = self.plan["rounds"]
        self.meetings = self.all_meetings()
        # The bots that are benched before each round, and the pairs of games with the bots that are benched in them.
        self.benched_before, self.pairs = self.benching()

    def all_meetings(self):
        """In the order of the schedule; one for each pairing of each entry of `rounds`."""
        meetings = []
        planned = set()
        for entry in self.rounds:
            each = entry["pairs_each"]
            openings = entry.get("first_openings") or []
            for place, pairing in enumerate(entry["pairings"]):
                pair = entry["first_pair"] + place * each
                labels = entry.get("labels") or []
                label = labels[place] if labels else pair
                first = openings[place] if openings else (entry["number"] - 1) * each
                games = []
                for offset in range(each):
                    start = self.plan["openings"][(first + offset) % len(self.plan["openings"])]
                    for number, letter in enumerate("ab"):
                        name = f"p{label + offset:06}{letter}"
                        planned.add(name)
                        game = self.records.get(name)
                        if game is None:
                            FINDINGS.report(f"{self.folder}/games.jsonl: {name}", "no record", "a game")
                            continue
                        place_of = f"{self.folder}/games.jsonl: {name}"
                        names = [self.bots[pairing[side]] for side in "ab"]
                        FINDINGS.same("games", f"{place_of}, bots", game.names, names)
                        FINDINGS.same("games", f"{place_of}, first", game.first, number)
                        FINDINGS.same("games", f"{place_of}, start", game.start, start)
                        self.judged(place_of, game)
                        games.append(game)
                meeting = Meeting(entry["number"], (pairing["a"], pairing["b"]), games)
                meeting.is_tie_break = entry.get("tie_break", False)
                meetings.append(meeting)
        for name in set(self.records) - planned:
            FINDINGS.report(f"{self.folder}/games.jsonl: {name}", "a game", "not in the plan")
        return meetings

    @staticmethod
    def judged(place, game):
        if game.by is not None:
            FINDINGS.same("games", f"{place}, winner", game.winner, 1 - game.by)
            return
        try:
            winner = judge(game.record)
        except ValueError as error:
            winner = str(error)
        found = "draw" if game.winner is None else game.winner
        FINDINGS.same("games", f"{place}, winner", found, winner)

    def benching(self):
        """A bot that, after a pair of games, has forfeited so many in a row is benched. It is still asked by one that has
        made no turn in earlier pairs."""
        after = self.plan["bench_after"]
        row = [0] * len(self.bots)
        is_benched = [False] * len(self.bots)
        has_moved = [False] * len(self.bots)
        before, pairs = {}, []
        for meeting in self.meetings:
            before.setdefault(meeting.round, list(is_benched))
            for start in range(0, len(meeting.games), 2):
                pair = meeting.games[start : start + 2]
                out = [is_benched[bot] for bot in meeting.bots]
                if sum(out) == 1 and not has_moved[meeting.bots[out.index(False)]]:
                    out = [False, False]
                pairs.append((pair, out))
                for side, bot in enumerate(meeting.bots):
                    for game in pair:
                        if game.was_asked(side):
                            row[bot] = row[bot] + 1 if game.by == side else 0
                        has_moved[bot] |= game.is_played and game.has_moved(side)
                    if after and row[bot] >= after:
                        is_benched[bot] = True
        return before, pairs

    def benched(self, kept=()):
        """Which games were played. Games that a league has `kept` from earlier weeks count as they were played."""
        for pair, out in self.pairs:
            for game in pair:
                place = f"{self.folder}/games.jsonl: {game.id}"
                if game.id in kept and game.is_played:
                    continue
                FINDINGS.same("benched", f"{place}, played", game.is_played, not any(out))
                if any(out):
                    # If both are, the one to move first forfeits.
                    by = game.first if out[game.first] else 1 - game.first
                    FINDINGS.same("benched", f"{place}, by", game.by, by)

    # Schedules

    def scheduled(self):
        check = {
            "round-robin": self.round_robin,
            "gauntlet": self.gauntlet,
            "swiss": self.swiss,
            "knockout": self.knockout,
            "groups+knockout": self.groups_and_knockout,
        }
        check[self.format]()

    def place(self, what):
        return f"{self.folder}/plan.json: {what}"

    def once_a_round(self):
        for entry in self.rounds:
            bots = [bot for pairing in entry["pairings"] for bot in (pairing["a"], pairing["b"])]
            bots += entry["byes"]
            twice = [bot for bot, count in Counter(bots).items() if count > 1]
            FINDINGS.same("schedule", self.place(f"round {entry['number']}, twice in it"), twice, [])

    def round_robin(self):
        met = Counter(frozenset(meeting.bots) for meeting in self.meetings)
        count = len(self.bots)
        everybody = {frozenset((a, b)) for a in range(count) for b in range(a)}
        FINDINGS.same("schedule", self.place("who met"), set(met), everybody)
        # A league has one round for all.
        if not self.plan.get("by_version"):
            self.once_a_round()
        times = {self.plan["rounds_planned"] // (count - 1 + count % 2)}
        if not self.plan.get("by_version"):
            FINDINGS.same("schedule", self.place("how often two met"), set(met.values()), times)

    def gauntlet(self):
        met = Counter(frozenset(meeting.bots) for meeting in self.meetings)
        all_others = {frozenset((0, other)) for other in range(1, len(self.bots))}
        FINDINGS.same("schedule", self.place("who met"), set(met), all_others)

    def swiss(self):
        """No pairing can be better, by the criteria, if two of its pairs exchange bots."""
        self.once_a_round()
        count = len(self.bots)
        points = [0.0] * count
        # Rounds without an opponent, or that were won without playing.
        given = [0] * count
        met = Counter()
        FINDINGS.same("schedule", self.place("rounds"), len(self.rounds), self.plan["rounds_planned"])
        for entry in self.rounds:
            ranking = sorted(range(count), key=lambda bot: (-points[bot], bot))
            pairs = [(pairing["a"], pairing["b"]) for pairing in entry["pairings"]]
            everybody = sorted([bot for pair in pairs for bot in pair] + entry["byes"])
            where = self.place(f"round {entry['number']}")
            FINDINGS.same("schedule", f"{where}, everybody", everybody, list(range(count)))
            FINDINGS.same("schedule", f"{where}, byes", len(entry["byes"]), count % 2)
            pairs += [(bot, None) for bot in entry["byes"]]
            benched = self.benched_before.get(entry["number"], [False] * count)
            cost = swiss_costs(ranking, points, given, met, benched)
            for place, one in enumerate(pairs):
                for other in pairs[:place]:
                    now = add(cost(*one), cost(*other))
                    (a, b), (c, d) = one, other
                    for better in ([(a, c), (b, d)], [(a, d), (b, c)]):
                        if (None, None) in better:
                            continue
                        changed = add(cost(*better[0]), cost(*better[1]))
                        FINDINGS.compared["schedule"] += 1
                        if changed < now:
                            FINDINGS.report(f"{where}, pairs {one} and {other}", now, f"{better}: {changed}")
            number = entry["number"]
            for meeting in [one for one in self.meetings if one.round == number]:
                met[frozenset(meeting.bots)] += 1
                for side, bot in enumerate(meeting.bots):
                    points[bot] += meeting.points(side)
                    given[bot] += not meeting.is_played() and not any(game.by == side for game in meeting.games)
            for bot in entry["byes"]:
                given[bot] += 1
                points[bot] += 0.0 if benched[bot] else 2.0 * entry["pairs_each"]

    def bracket(self, seeds, entries):
        """Plays the bracket of these seeds through; returns the place of each bot and how it is called."""
        size = 1
        while size < len(seeds):
            size *= 2
        left = dict(enumerate(seeds, start=1))
        better = {bot: seed for seed, bot in left.items()}
        entries = list(entries)
        reached = {}
        most = self.plan.get("tie_break_games", 0) // 2
        while size > 1:
            # Seed k meets seed size + 1 - k; the winner takes the better one's place.
            matches = {}
            for place in range(1, size // 2 + 1):
                if size + 1 - place in left:
                    matches[place] = (left[place], left[size + 1 - place])
            where = self.place(f"round of {size}")
            entry = entries.pop(0) if entries else {"pairings": [], "byes": [], "number": None}
            found = {frozenset((one["a"], one["b"])) for one in entry["pairings"]}
            FINDINGS.same("schedule", f"{where}, pairings", found, {frozenset(two) for two in matches.values()})
            alone = sorted(left[place] for place in range(1, size // 2 + 1) if place not in matches)
            FINDINGS.same("schedule", f"{where}, byes", sorted(entry["byes"]), alone)
            played = {frozenset(one.bots): one for one in self.meetings_of(entry)}
            extra = defaultdict(list)
            while entries and entries[0].get("tie_break"):
                more = entries.pop(0)
                FINDINGS.same("schedule", f"{where}, number", more["number"], entry["number"])
                for meeting in self.meetings_of(more):
                    extra[frozenset(meeting.bots)].append(meeting)
            for place, two in matches.items():
                one = played.get(frozenset(two))
                if one is None:
                    return reached
                winner = self.advances(where, one, extra[frozenset(two)], most, better)
                loser = two[0] if winner == two[1] else two[1]
                left[place] = winner
                reached[loser] = out_in(size)
            left = {place: bot for place, bot in left.items() if place <= size // 2}
            size //= 2
        FINDINGS.same("schedule", self.place("rounds after the final"), len(entries), 0)
        # One that made no turn has not won.
        has_won = any(game.has_moved(meeting.bots.index(left[1])) for meeting in self.meetings if left[1] in meeting.bots for game in meeting.games)
        reached[left[1]] = (1, "champion" if has_won else "finalist")
        return reached

    def meetings_of(self, entry):
        wanted = {(one["a"], one["b"]) for one in entry["pairings"]}
        is_extra = entry.get("tie_break", False)
        first = entry.get("first_pair", 0)
        last = first + len(entry["pairings"]) * entry.get("pairs_each", 0)
        for meeting in self.meetings:
            if meeting.bots in wanted and meeting.is_tie_break == is_extra and meeting.games:
                number = int(meeting.games[0].id[1:-1])
                if first <= number < last:
                    yield meeting

    @staticmethod
    def advances(where, match, extra, most, better):
        """Points; tie-break games, or wins, those as the second to move, and quick ones; the better seed."""
        place = f"{where}, {match.bots}"
        a, b = match.bots
        seed = a if better[a] < better[b] else b
        made = [match.points(0), match.points(1)]
        if made[0] != made[1]:
            FINDINGS.same("schedule", f"{place}, tie-break games", len(extra), 0)
            return a if made[0] > made[1] else b
        if most:
            lead = 0.0
            for number, pair in enumerate(extra, start=1):
                lead += pair.points(0) - pair.points(1) if pair.bots == match.bots else pair.points(1) - pair.points(0)
                is_last = number == len(extra)
                FINDINGS.same("schedule", f"{place}, ends after {number}", lead != 0 or number == most, is_last)
            if not extra:
                FINDINGS.report(f"{place}, tie-break games", 0, "some")
            if lead:
                return a if lead > 0 else b
            return seed
        # A forfeit is a win by points alone.
        won = [[game for game in match.games if game.winner == side and game.by is None] for side in (0, 1)]
        if len(won[0]) != len(won[1]):
            return a if len(won[0]) > len(won[1]) else b
        second = [sum(1 for game in won[side] if side != game.first) for side in (0, 1)]
        if second[0] != second[1]:
            return a if second[0] > second[1] else b
        turns = [sum(len(game.turns) for game in won[side]) for side in (0, 1)]
        if turns[0] != turns[1]:
            return a if turns[0] < turns[1] else b
        return seed

    def knockout(self):
        self.reached = self.bracket(list(range(len(self.bots))), self.rounds)
        # In the order of the seeds where a place is shared.
        self.order_in_place = {bot: bot for bot in range(len(self.bots))}

    def groups_and_knockout(self):
        count = len(self.bots)
        groups = self.plan.get("groups") or -(-count // 4)
        members = [[] for _ in range(groups)]
        # Dealt back and forth.
        for bot in range(count):
            deal, place = divmod(bot, groups)
            members[place if deal % 2 == 0 else groups - 1 - place].append(bot)
        of = {bot: number for number, group in enumerate(members) for bot in group}
        rounds = max(len(group) - 1 + len(group) % 2 for group in members)
        first = [entry for entry in self.rounds if entry["number"] <= rounds]
        later = [entry for entry in self.rounds if entry["number"] > rounds]
        meetings = [meeting for meeting in self.meetings if meeting.round <= rounds]
        met = Counter(frozenset(meeting.bots) for meeting in meetings)
        within = {frozenset((a, b)) for group in members for a in group for b in group if a < b}
        FINDINGS.same("schedule", self.place("who met in groups"), met, Counter(within))
        FINDINGS.same("schedule", self.place("rounds of groups"), len(first), rounds)
        tables = []
        for group in members:
            table = Table(group, [meeting for meeting in meetings if of[meeting.bots[0]] == of[group[0]]])
            # The better seed, where nothing else decides.
            key = {bot: (table.points[bot],) for bot in group}
            ranked = table.ranked(group, key, ["direct", "sonneborn-berger"], {bot: -bot for bot in group}, str)
            tables.append([bot for bot, _ in ranked])
        winners = [table[0] for table in tables]
        second = [table[1] for table in tables if len(table) > 1]
        middle = len(second) // 2
        if len(second) % 2 == 1 and len(second) > 1:
            second[middle], second[middle - 1] = second[middle - 1], second[middle]
        seeds = winners + second
        self.reached = self.bracket(seeds, later)
        self.order_in_place = {bot: place for place, bot in enumerate(seeds)}
        place = len(seeds) + 1
        for of_group in range(2, max(len(table) for table in tables)):
            those = [(number, table[of_group]) for number, table in enumerate(tables) if len(table) > of_group]
            for order, (number, bot) in enumerate(those):
                self.reached[bot] = (place, f"{ordinal(of_group + 1)} in group {group_name(number)}")
                self.order_in_place[bot] = order
            place += len(those)

    # Tables

    def byes(self):
        """Of each bot the points of its rounds without an opponent; a benched bot gets none."""
        byes = defaultdict(list)
        if self.format == "swiss":
            for entry in self.rounds:
                for bot in entry["byes"]:
                    is_benched = self.benched_before[entry["number"]][bot]
                    byes[bot].append(0.0 if is_benched else 2.0 * entry["pairs_each"])
        return byes

    def ranked(self):
        bots = range(len(self.bots))
        merged = {}
        for meeting in self.meetings:
            key = (meeting.round, frozenset(meeting.bots))
            if key in merged and meeting.bots == merged[key].bots:
                merged[key].games = merged[key].games + meeting.games
            elif key in merged:
                raise ValueError(f"{self.folder}: two pairings of {meeting.bots} in a round")
            else:
                merged[key] = Meeting(meeting.round, meeting.bots, list(meeting.games))
        table = Table(list(bots), list(merged.values()), self.byes(), self.format == "swiss")
        ratings = Ratings(list(bots), self.meetings)
        level = ratings.levels()
        name = lambda bot: self.bots[bot]
        usual = {
            "round-robin": ["direct", "sonneborn-berger"],
            "gauntlet": ["direct", "sonneborn-berger"],
            "swiss": ["direct", "buchholz-cut-1", "sonneborn-berger"],
        }
        criteria = self.plan.get("tie_breaks") or usual.get(self.format)
        tables = []
        if self.format in ("knockout", "groups+knockout"):
            ranked = sorted(bots, key=lambda bot: (self.reached[bot][0], self.order_in_place[bot]))
            tables.append([(bot, self.reached[bot][0]) for bot in ranked])
        elif self.format == "swiss":
            key = {bot: (table.points[bot],) for bot in bots}
            tables.append(table.ranked(list(bots), key, criteria, level, name))
        else:
            for group in sorted(ratings.groups(), key=lambda group: (-len(group), min(map(name, group)))):
                counts = {table.games[bot] for bot in (group if self.format == "gauntlet" else bots)}
                if len(counts) == 1:
                    key = {bot: (table.points[bot],) for bot in group}
                elif self.format == "gauntlet":
                    key = {bot: (level[bot],) for bot in group}
                else:
                    key = {bot: (table.score(bot),) for bot in group}
                tables.append(table.ranked(group, key, criteria, level, name))
        return table, ratings, tables

    def compare_tables(self, before=None):
        table, ratings, tables = self.ranked()
        elo = ratings.elo()
        rows = []
        for number, ranked in enumerate(tables, start=1):
            tied = defaultdict(list)
            for bot, _ in ranked:
                tied[table.points[bot]].append(bot)
            for bot, rank in ranked:
                row = {
                    "rank": rank,
                    "name": self.bots[bot],
                    "table": number,
                    "games": table.games[bot],
                    "wins": table.wins[bot],
                    "draws": table.draws[bot],
                    "losses": table.losses[bot],
                    "byes": len(table.byes[bot]),
                    "bye_points": float(sum(table.byes[bot])),
                    "points": table.points[bot],
                    "direct": table.direct(bot, tied[table.points[bot]]) or 0.0,
                    "buchholz": table.buchholz(bot),
                    "buchholz_cut_1": table.buchholz_cut_1(bot),
                    "sonneborn_berger": table.sonneborn_berger(bot),
                    "wins_as_second": table.wins_as_second[bot],
                    "score": table.score(bot),
                    "elo": elo[bot],
                    "forfeits": table.forfeits[bot],
                }
                if self.format in ("knockout", "groups+knockout"):
                    row["reached"] = self.reached[bot][1]
                if before is not None:
                    previous = before.get(bot)
                    row["moved"] = "new" if previous is None else previous - rank
                rows.append((bot, row))
        self.compare_csv(rows)
        self.compare_json(rows, table, ratings)
        self.compare_crosstable(rows, table)
        return rows

    def compare_csv(self, rows):
        path = self.folder / "standings.csv"
        found = read_table(path)
        entered = [row for row in found if row["rank"]]
        for written, row in by_name("standings.csv", path, entered, [row for _, row in rows]):
            place = f"{path}: {row['name']}"
            for column, expected in row.items():
                self.compare_cell("standings.csv", f"{place}, {column}", column, written.get(column), expected)
            unknown = set(written) - set(row) - UNCOMPUTED
            FINDINGS.same("standings.csv", f"{place}, further columns", unknown, set())
        absent = [row["name"] for row in found if not row["rank"]]
        turned_away = [bot["bot"]["name"] for bot in self.plan["turned_away"]]
        turned_away = [name for name in turned_away if name not in self.bots]
        FINDINGS.same("standings.csv", f"{path}: rows without a rank", absent, turned_away)

    @staticmethod
    def compare_cell(what, place, column, found, expected):
        if column == "forfeits":
            expected = ", ".join(f"{reason} {count}" for reason, count in sorted(expected.items()))
            FINDINGS.same(what, place, found, expected)
        elif isinstance(expected, str):
            FINDINGS.same(what, place, found, expected)
        elif isinstance(expected, int):
            FINDINGS.same(what, place, found, str(expected))
        else:
            FINDINGS.near(what, place, found, expected, ROUNDED)

    def compare_json(self, rows, table, ratings):
        path = self.folder / "standings.json"
        found = read_json(path)
        FINDINGS.same("standings.json", f"{path}: games", found["games"], len(self.records))
        if found.get("advantage") is not None:
            FINDINGS.near("standings.json", f"{path}: advantage", found["advantage"], ratings.advantage(), 1e-5)
        order = [bot for bot, _ in rows]
        bots = {row["name"]: bot for bot, row in rows}
        for written, row in by_name("standings.json", path, found["standings"], [row for _, row in rows]):
            bot = bots[row["name"]]
            place = f"{path}: {row['name']}"
            for column, expected in row.items():
                where = f"{place}, {column}"
                if isinstance(expected, float):
                    FINDINGS.near("standings.json", where, written.get(column), expected, 1e-5 if column == "elo" else 1e-9)
                else:
                    FINDINGS.same("standings.json", where, written.get(column), expected)
            against = [table.against.get((bot, other)) for other in order]
            FINDINGS.same("standings.json", f"{place}, against", written["against"], against)

    def compare_crosstable(self, rows, table):
        path = self.folder / "crosstable.csv"
        text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
        found = list(csv.reader(io.StringIO(text)))
        names = [row["name"] for _, row in rows]
        FINDINGS.same("crosstable.csv", f"{path}: headings", found[0][1:], names)
        bots = {row["name"]: bot for bot, row in rows}
        found = [{"name": row[0], "cells": row[1:]} for row in found[1:]]
        for written, row in by_name("crosstable.csv", path, found, [row for _, row in rows]):
            bot = bots[row["name"]]
            place = f"{path}: {row['name']}"
            for cell, (other, against) in zip(written["cells"], rows):
                points = table.against.get((bot, other))
                where = f"{place}, {against['name']}"
                if points is None:
                    FINDINGS.same("crosstable.csv", where, cell, "")
                else:
                    FINDINGS.near("crosstable.csv", where, cell, points, 1e-9)


def by_name(what, path, found, expected):
    """The names in their order; then the rows of each name, as found and as recomputed."""
    FINDINGS.same(what, f"{path}: rows", len(found), len(expected))
    for line, (written, row) in enumerate(zip(found, expected), start=1):
        FINDINGS.same(what, f"{path}: row {line}, name", written["name"], row["name"])
    of = {written["name"]: written for written in found}
    for row in expected:
        if row["name"] in of:
            yield of[row["name"]], row
        else:
            FINDINGS.report(f"{path}: {row['name']}", "no such row", row)


# Of the clock, or estimates of how certain a rating is.
UNCOMPUTED = {"elo_low", "elo_high", "los", "did_not_enter", "median_ms", "p95_ms", "worst_ms"}


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def swiss_costs(ranking, points, given, met, benched):
    """What a pair costs: repeated meetings; nobody to meet for one that is not benched, if any is; for one that had none
    before, or has won without playing; for one high in the ranking; the distance in score groups; the deviation from the upper half
    against the lower one."""
    place = {bot: rank for rank, bot in enumerate(ranking)}
    scores = sorted({points[bot] for bot in ranking}, reverse=True)
    group = {bot: scores.index(points[bot]) for bot in ranking}
    size = Counter(group.values())

    def cost(a, b):
        if a is None or b is None:
            bot = b if a is None else a
            return (0, any(benched) and not benched[bot], given[bot], len(ranking) - 1 - place[bot], 0, 0)
        upper, lower = sorted((a, b), key=place.get)
        apart = group[lower] - group[upper]
        wanted = size[group[upper]] // 2 if apart == 0 else 1
        deviation = abs(place[lower] - place[upper] - wanted)
        return (met[frozenset((a, b))], 0, 0, 0, apart**2, deviation**2)

    return cost


def out_in(size):
    """The place and the title of a bot that is eliminated where so many are left."""
    titles = {2: "finalist", 4: "semi-finalist", 8: "quarter-finalist"}
    return (size // 2 + 1, titles.get(size, f"round of {size}"))


def ordinal(number):
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def group_name(number):
    return chr(ord("A") + number) if number < 26 else str(number + 1)


class Table:
    """Sums, and the tie-breaks of docs/standings.md."""

    def __init__(self, bots, meetings, byes=None, is_swiss=False):
        self.byes = byes or defaultdict(list)
        zero = dict.fromkeys(bots, 0)
        self.games, self.wins, self.draws, self.losses, self.wins_as_second = (dict(zero) for _ in range(5))
        self.of_games = dict.fromkeys(bots, 0.0)
        self.forfeits = {bot: {} for bot in bots}
        self.against = {}
        # The opponents of each bot, a round each: points made, and for unplayed rounds whether the bot itself is benched.
        self.met = {bot: [] for bot in bots}
        for meeting in meetings:
            is_played = meeting.is_played() or not is_swiss
            for side, bot in enumerate(meeting.bots):
                other = meeting.bots[1 - side]
                points = meeting.points(side)
                is_benched = not is_played and any(game.by == side for game in meeting.games)
                self.met[bot].append((other, points, is_played, is_benched))
                key = (bot, other)
                if meeting.games:
                    self.against[key] = self.against.get(key, 0.0) + points
                self.of_games[bot] += points
                for game in meeting.games:
                    self.games[bot] += 1
                    is_won, is_drawn = game.winner == side, game.winner is None
                    self.wins[bot] += is_won
                    self.draws[bot] += is_drawn
                    self.losses[bot] += not is_won and not is_drawn
                    self.wins_as_second[bot] += is_won and game.first != side
                    if game.by == side:
                        of = self.forfeits[bot]
                        # A game that was not played has no reason of its own.
                        reason = game.reason if game.is_played else "benched"
                        of[reason] = of.get(reason, 0) + 1
        self.points = {bot: self.of_games[bot] + sum(self.byes[bot]) for bot in bots}

    def score(self, bot):
        return self.of_games[bot] / self.games[bot] if self.games[bot] else 0.0

    def direct(self, bot, tied):
        """The points among those that are tied; None if two of them have not met."""
        met = {(one, other) for one in tied for other, _, is_played, _ in self.met[one] if is_played}
        if any(one != other and (one, other) not in met for one in tied for other in tied):
            return None
        return float(sum(points for other, points, is_played, _ in self.met[bot] if is_played and other in tied))

    def opponents(self, bot):
        """Of each round: the opponent's points and those made; unplayed rounds are dummies with the bot's points (16.4)."""
        for other, points, is_played, is_benched in self.met[bot]:
            of_opponent = self.points[other] if is_played else self.points[bot]
            yield of_opponent, points, is_benched
        for points in self.byes[bot]:
            # Without points it is that of a benched bot.
            yield self.points[bot], points, points == 0.0

    def buchholz(self, bot):
        return float(sum(of_opponent for of_opponent, _, _ in self.opponents(bot)))

    def buchholz_cut_1(self, bot):
        """Without the lowest opponent; a round of a benched bot is left out first (16.5)."""
        all_of_them = list(self.opponents(bot))
        benched = [of_opponent for of_opponent, _, is_benched in all_of_them if is_benched]
        lowest = min(benched or [of_opponent for of_opponent, _, _ in all_of_them], default=0.0)
        return self.buchholz(bot) - lowest

    def sonneborn_berger(self, bot):
        return float(sum(of_opponent * points for of_opponent, points, _ in self.opponents(bot)))

    def ranked(self, bots, key, criteria, level, name):
        """Bots with their ranks. `key` comes first, then the criteria, then `level`; equal bots are listed by name."""
        ranked = []
        for _, tied in grouped(bots, lambda bot: key[bot]):
            self.break_ties(tied, criteria, level, name, ranked)
        return ranked

    def break_ties(self, tied, criteria, level, name, ranked):
        if not criteria:
            for _, equal in grouped(tied, lambda bot: level[bot]):
                rank = len(ranked) + 1
                ranked.extend((bot, rank) for bot in sorted(equal, key=name))
            return
        first, *rest = criteria
        of = {
            "direct": lambda bot: self.direct(bot, tied) or 0.0,
            "buchholz": self.buchholz,
            "buchholz-cut-1": self.buchholz_cut_1,
            "sonneborn-berger": self.sonneborn_berger,
            "wins": lambda bot: self.wins[bot],
            "wins-as-second": lambda bot: self.wins_as_second[bot],
            "rating": lambda bot: level[bot],
        }[first]
        for _, still in grouped(tied, of):
            # Those still tied are compared again, among fewer.
            is_again = first == "direct" and len(still) < len(tied)
            self.break_ties(still, criteria if is_again else rest, level, name, ranked)


def grouped(bots, key):
    """Those with equal keys together, the highest first."""
    groups = defaultdict(list)
    for bot in bots:
        groups[key(bot)].append(bot)
    return sorted(groups.items(), key=lambda item: item[0], reverse=True)


class Ratings:
    """Bradley and Terry with an advantage of moving first; docs/internals/ratings.md."""

    def __init__(self, bots, meetings):
        self.bots = bots
        # By first mover and other: its points and the other's.
        self.points = defaultdict(lambda: [0.0, 0.0])
        games = Counter()
        together = Counter()
        for meeting in meetings:
            for game in meeting.games:
                first, second = meeting.bots[game.first], meeting.bots[1 - game.first]
                won = game.points(game.first)
                self.points[first, second][0] += won
                self.points[first, second][1] += 1.0 - won
                games[first] += 1
                games[second] += 1
                together[frozenset((first, second))] += 1
        # A virtual draw of each bot, spread over its opponents by their games, half of it with each moving first.
        for pair, count in together.items():
            a, b = pair
            draws = 0.5 * (count / games[a] + count / games[b])
            for first, second in ((a, b), (b, a)):
                self.points[first, second][0] += draws / 2
                self.points[first, second][1] += draws / 2
        self.neighbours = defaultdict(set)
        for pair in together:
            a, b = pair
            self.neighbours[a].add(b)
            self.neighbours[b].add(a)
        self.strength, self.of_first = self.fit()

    def groups(self):
        left = set(self.bots)
        groups = []
        while left:
            group, waiting = set(), [min(left)]
            while waiting:
                bot = waiting.pop()
                if bot not in group:
                    group.add(bot)
                    waiting.extend(self.neighbours[bot])
            groups.append(sorted(group))
            left -= group
        return groups

    def fit(self):
        """Newton's method, with the mean of each group held at 0."""
        count = len(self.bots)
        place = {bot: number for number, bot in enumerate(self.bots)}
        values = [0.0] * (count + 1)
        groups = [[place[bot] for bot in group] for group in self.groups()]
        for _ in range(100):
            gradient = [0.0] * (count + 1)
            curvature = [[0.0] * (count + 1) for _ in range(count + 1)]
            for (first, second), (won, lost) in self.points.items():
                a, b = place[first], place[second]
                expected = 1.0 / (1.0 + math.exp(-(values[a] - values[b] + values[count])))
                slope = won - (won + lost) * expected
                weight = (won + lost) * expected * (1.0 - expected)
                signed = ((a, 1.0), (b, -1.0), (count, 1.0))
                for i, sign in signed:
                    gradient[i] += sign * slope
                    for j, other in signed:
                        curvature[i][j] += sign * other * weight
            for group in groups:
                for i in group:
                    gradient[i] -= sum(values[j] for j in group)
                    for j in group:
                        curvature[i][j] += 1.0
            if not self.points:
                break
            step = solved(curvature, gradient)
            longest = max(map(abs, step))
            share = min(1.0, 1.0 / longest) if longest else 1.0
            values = [value + share * part for value, part in zip(values, step)]
            if longest < 1e-12:
                break
        return {bot: values[place[bot]] for bot in self.bots}, values[count]

    def elo(self):
        return {bot: 400.0 / math.log(10.0) * value for bot, value in self.strength.items()}

    def advantage(self):
        return 400.0 / math.log(10.0) * self.of_first

    def levels(self):
        """Ratings within a millionth of an Elo are equal."""
        elo = self.elo()
        levels, before = {}, None
        for bot in sorted(elo, key=elo.get, reverse=True):
            if before is None or elo[before] - elo[bot] >= 1e-6:
                level = elo[bot]
            levels[bot] = level
            before = bot
        return levels


def solved(matrix, vector):
    """The solution of linear equations, by Gauss with pivots."""
    rows = [row[:] + [value] for row, value in zip(matrix, vector)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        top = rows[column]
        for row in rows[column + 1 :]:
            factor = row[column] / top[column]
            if factor:
                for place in range(column, size + 1):
                    row[place] -= factor * top[place]
    solution = [0.0] * size
    for column in reversed(range(size)):
        rest = sum(rows[column][place] * solution[place] for place in range(column + 1, size))
        solution[column] = (rows[column][size] - rest) / rows[column][column]
    return solution


def check_tournament(job):
    tournament = Tournament(job["folder"])
    if job.get("seeds"):
        FINDINGS.same("schedule", tournament.place("bots, by seed"), tournament.bots, job["seeds"])
    tournament.scheduled()
    tournament.benched()
    tournament.compare_tables()


# People


def composed(text):
    return unicodedata.normalize("NFC", text)


def words_of(name):
    """Letters and digits of a name, in lower case."""
    return re.findall(r"[^\W_]+", composed(name).lower())


def plain(name):
    return " ".join(words_of(name))


def bare(name):
    """Without accents."""
    marks = unicodedata.normalize("NFD", name)
    return plain("".join(letter for letter in marks if not unicodedata.combining(letter)))


LEVELS = (
    lambda found, known: plain(found) == plain(known) != "",
    lambda found, known: bare(found) == bare(known) != "",
    lambda found, known: bare(known) != "" and bare(found).endswith(" " + bare(known)),
)


def are_same_words(a, b):
    return sorted(bare(a).split()) == sorted(bare(b).split()) != []


class Person:
    def __init__(self, row):
        self.name = row["name"]
        self.id = row["id"]
        self.email = row["email"]
        self.team = row["team"]
        self.submissions = row["submissions"]
        self.names = {self.name}
        self.is_listed = True

    def tag(self):
        return self.id or self.email or (self.submissions[0] if self.submissions else "")

    def owner(self):
        return ("team", plain(self.team)) if self.team and self.is_listed else ("person", id(self))


class Entry:
    """All that came under one number, or under one name without a number."""

    def __init__(self, number, name):
        self.number = number
        self.name = name
        self.names = [name]
        # Of an earlier week or this one: by the list, an id or an address.
        self.firm = None
        self.firm_by = ""
        self.join = None
        self.by = ""
        self.versions = []
        self.problem = None
        self.is_withdrawn = False
        # Of the team in whose name it was submitted.
        self.people_of_team = []

    def text(self):
        return self.number or self.names[0]

    def is_named_by(self, submission):
        if self.number:
            return submission.split(" ")[-1] == self.number
        return plain(submission) == plain(self.text())


class Version:
    def __init__(self, files, received):
        self.files = files
        self.received = received

    def is_unfit(self):
        return any(b"\n# unfit\n" in content for content in self.files.values())


HEADINGS = {
    "name": ("name", "full name"),
    "id": ("id", "id number"),
    "email": ("email", "email address"),
    "team": ("team", "group"),
    "submission": ("submission",),
}


def read_list(path):
    text = Path(path).read_text(encoding="utf-8").removeprefix("\ufeff")
    separator = max(",;\t", key=text.splitlines()[0].count)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    heads = [head.strip().lower() for head in rows[0]]
    people = []
    for row in rows[1:]:
        values = {}
        for field, names in HEADINGS.items():
            places = [place for place, head in enumerate(heads) if head in names]
            value = row[places[0]].strip() if places and places[0] < len(row) else ""
            values[field] = composed(value)
        values["submissions"] = [one.strip() for one in values["submission"].split(";") if one.strip()]
        if values["name"] or values["team"]:
            people.append(Person(values))
    return people


MOODLE = re.compile(r"(.+)_(\d+)_assignsubmission_file(?:_(.*))?$", re.DOTALL)
STAMPED = re.compile(r"(.+?)[-_. ](\d{4})-?(\d\d)-?(\d\d)(?:[_ T-]?(\d\d)-?:?(\d\d)(?::?(\d\d))?)?Z?$", re.DOTALL)
ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")
PROGRAMS = (".sh", ".py")
LEFTOVERS = re.compile(r"(^|/)(\.DS_Store|\.[^/]*\.sw[a-p]|[^/]*~|[^/]*\.log|nohup\.out|__pycache__(/.*)?)$")


def read_download(path):
    """Entries by name: files with their times."""
    path = Path(path)
    entries = defaultdict(dict)
    if path.is_dir():
        for file in path.rglob("*"):
            relative = file.relative_to(path).as_posix()
            first, _, rest = relative.partition("/")
            if file.is_file():
                entries[first][rest] = (file.read_bytes(), file.stat().st_mtime)
            elif not rest:
                entries.setdefault(first, {})
        return dict(entries)
    for name, content, time in archived(path.name, path.read_bytes()):
        first, _, rest = name.partition("/")
        if content is None:
            entries.setdefault(first, {})
        else:
            entries[first][rest] = (content, time)
    return dict(entries)


def archived(name, content):
    """The files of an archive: name, content (none for a folder) and time."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for one in archive.infolist():
                # Times in zip files have no zone.
                time = datetime(*one.date_time, tzinfo=timezone.utc).timestamp()
                yield one.filename.rstrip("/"), None if one.is_dir() else archive.read(one), time
    else:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for one in archive.getmembers():
                file = archive.extractfile(one) if one.isfile() else None
                yield one.name.rstrip("/"), file.read() if file else None, one.mtime


def opened(files):
    """A single archive is unpacked, a single folder is entered. The times stay those of what was handed in."""
    while len(files) == 1:
        ((name, (content, time)),) = files.items()
        if not name.endswith(ARCHIVES):
            break
        inner = archived(name, content)
        files = {name: (content, time) for name, content, _ in inner if content is not None}
        if any(".." in name.split("/") for name in files):
            return {}
    while files and all("/" in name for name in files) and len({name.split("/")[0] for name in files}) == 1:
        files = {name.partition("/")[2]: file for name, file in files.items()}
    return files


def submissions_of(download):
    """Number, name, files and time of each entry; without files one is refused."""
    found = []
    for entry, files in sorted(download.items()):
        alone = files.get("") if set(files) == {""} else None
        stem = entry
        if alone is not None:
            files = {entry: alone}
            for extension in ARCHIVES + PROGRAMS:
                stem = stem.removesuffix(extension)
        moodle = MOODLE.match(entry)
        if moodle:
            number, name = moodle[2], moodle[1]
            if moodle[3]:
                files = {moodle[3]: next(iter(files.values()))}
        else:
            number, name = None, stem
        stamp = None if moodle else STAMPED.match(name)
        files = {name: file for name, file in files.items() if not LEFTOVERS.search(name)}
        received = max((time for _, time in files.values()), default=None)
        if stamp:
            name = stamp[1]
            parts = [int(part or 0) for part in stamp.groups()[1:]]
            received = datetime(*parts, tzinfo=timezone.utc).timestamp()
        contents = {name: content for name, (content, _) in opened(files).items()}
        found.append((number, composed(name), contents, received))
    return found


class Class:
    """Who is who, from the lists and downloads of all weeks."""

    def __init__(self):
        self.people = []
        self.entries = []
        self.asked = []
        self.deadline = None
        self.accept_late = 0
        self.had_bot = set()

    # Lists

    def enlist(self, people):
        """A row is who has its id in an earlier list, else its address, else its name if that is one person's in both."""
        before = self.people
        differ = lambda a, b: bool(a.id and b.id and a.id != b.id) or bool(
            a.email and b.email and a.email.lower() != b.email.lower()
        )
        rules = (
            lambda a, b: bool(a.id) and a.id == b.id,
            lambda a, b: bool(a.email) and a.email.lower() == b.email.lower() and not differ(a, b),
            lambda a, b: plain(a.name) == plain(b.name) and not differ(a, b),
        )
        known = {}
        for rule in rules:
            free = [person for person in before if person not in known.values()]
            new = [person for person in people if person not in known]
            for person in new:
                fitting = [old for old in free if rule(old, person)]
                if len(fitting) == 1 and sum(rule(fitting[0], other) for other in new) == 1:
                    known[person] = fitting[0]
        for person in before:
            person.is_listed = False
        listed = []
        for person in people:
            old = known.get(person)
            if old is None:
                listed.append(person)
                continue
            old.name, old.team, old.is_listed = person.name, person.team, True
            old.names.add(person.name)
            old.id = person.id or old.id
            old.email = person.email or old.email
            old.submissions = person.submissions or old.submissions
            listed.append(old)
        self.people = listed + [person for person in before if person not in listed]

    def listed(self):
        return [person for person in self.people if person.is_listed]

    # Downloads

    def receive(self, download):
        for number, name, files, received in submissions_of(download):
            entry = self.entry(number, name)
            if not files:
                entry.problem = "refused"
                continue
            entry.problem = None
            if not entry.versions or entry.versions[-1].files != files:
                entry.versions.append(Version(files, received))

    def entry(self, number, name):
        for entry in self.entries:
            if (entry.number, entry.text()) == (number, number or name):
                if name != entry.name:
                    entry.name = name
                    entry.names.append(name)
                return entry
        entry = Entry(number, name)
        self.entries.append(entry)
        return entry

    # Joins

    def may_be(self, person, entry):
        return not person.submissions or any(map(entry.is_named_by, person.submissions))

    def has_id(self, person, entry):
        if entry.number:
            return person.id.split(" ")[-1] == entry.number
        return bool(person.id) and plain(person.id) == plain(entry.text())

    def agree(self, person, entry):
        return any(are_same_words(name, known) for name in entry.names for known in person.names)

    def ids_are_numbers(self):
        agree = differ = 0
        for entry in self.entries:
            for person in self.people:
                if entry.number and self.has_id(person, entry) and person.name:
                    is_same = self.agree(person, entry)
                    agree += is_same
                    differ += not is_same
        return agree > differ

    def is_excluded(self, person, entry):
        """Certainly somebody else, whatever the names."""
        if not self.may_be(person, entry):
            return True
        if not entry.number:
            return False
        has_other_id = self.numbers and person.id.isdigit() and person.id != entry.number
        has_other = any(other.number and other is not entry and other.firm is person for other in self.entries)
        return has_other_id or has_other

    def named(self, entry):
        """People and teams whose names fit best."""
        for level, fits in enumerate(LEVELS):
            if level == 2 and entry.number:
                break
            holds = lambda known: any(fits(name, known) for name in entry.names)
            people = []
            for person in self.people:
                known = set(person.names)
                known.update(name for other in self.entries if other.firm is person for name in other.names)
                if level == 2:
                    known.update([person.id, person.email, person.email.split("@")[0]])
                if any(holds(name) for name in known if name):
                    people.append(person)
            teams = {plain(person.team) for person in self.listed() if person.team and holds(person.team)}
            if people or teams:
                return [person for person in people if not self.is_excluded(person, entry)], teams
        return [], set()

    def settle(self):
        """Each entry by the first rule that says whose it is."""
        self.numbers = self.ids_are_numbers()
        self.asked = []
        for _ in range(3):
            self.asked = []
            for entry in self.entries:
                self.certain(entry)
        certain = {id(entry) for entry in self.entries if entry.join}
        unclear = {id(entry) for entries, _ in self.asked for entry in entries}
        open_ones = [entry for entry in self.entries if id(entry) not in certain | unclear]
        candidates = {id(entry): self.named(entry) for entry in open_ones}
        joins = []
        for entry in open_ones:
            people, teams = candidates[id(entry)]
            owners = {person.owner() for person in people} | {("team", team) for team in teams}
            of_teams = [person for person in self.listed() if plain(person.team) in teams and person.team]
            if not owners:
                team = self.renamed_team(entry)
                if team:
                    joins.append((entry, ("team", team)))
                continue
            everybody = people + [person for person in of_teams if person not in people]
            if len(owners) > 1:
                self.asked.append(([entry], everybody))
                continue
            if len(people) != 1 or teams:
                ((kind, team),) = owners
                if kind == "team":
                    joins.append((entry, ("team", team)))
                continue
            (person,) = people
            rivals = [one for one in open_ones if one.number and person in candidates[id(one)][0]]
            is_namesake = not entry.number and any(
                one.number and not candidates[id(one)][0] and any(are_same_words(a, b) for a in one.names for b in entry.names)
                for one in open_ones
            )
            if len(rivals) > 1 or is_namesake:
                self.asked.append(([entry], everybody))
            else:
                joins.append((entry, person))
        for entry, to in joins:
            entry.join, entry.by = to, "name"
            if isinstance(to, tuple):
                entry.people_of_team = [person for person in self.listed() if person.owner() == to]
        self.perhaps_missing()
        self.asked = [
            (entries, people) for entries, people in merged(self.asked) if any(person.is_listed for person in people)
        ]

    def renamed_team(self, entry):
        """The same people may have given their team another name."""
        before = entry.people_of_team
        if not before or not before[0].is_listed or not before[0].team:
            return None
        team = plain(before[0].team)
        now = [person for person in self.listed() if person.team and plain(person.team) == team]
        return team if set(map(id, now)) == set(map(id, before)) else None

    def certain(self, entry):
        """By the list, an earlier week, an id or an address."""
        entry.join, entry.by = None, ""

        def joined(people, by):
            if len(people) == 1:
                entry.join = entry.firm = people[0]
                entry.by = entry.firm_by = by
            elif people:
                entry.firm = None
                self.asked.append(([entry], people))
            return bool(people)

        listed = [person for person in self.listed() if any(map(entry.is_named_by, person.submissions))]
        if joined(listed, "list"):
            return
        if entry.firm is not None and self.may_be(entry.firm, entry):
            entry.join, entry.by = entry.firm, entry.firm_by
            return
        entry.firm = None
        possible = [person for person in self.people if self.may_be(person, entry)]
        with_id = [person for person in possible if self.has_id(person, entry)]
        if any(
            entry.number and person.name and not self.numbers and not self.agree(person, entry) for person in with_id
        ):
            named, _ = self.named(entry)
            self.asked.append(([entry], with_id + [person for person in named if person not in with_id]))
            return
        if joined(with_id, "id"):
            return
        called = {plain(name) for name in entry.names + [entry.text()]}
        whole = [person for person in possible if person.email and plain(person.email) in called]
        if joined(whole, "address"):
            return
        local = [person for person in possible if person.email and plain(person.email.split("@")[0]) in called]
        if local:
            named, _ = self.named(entry)
            joined(local + [person for person in named if person not in local], "address")

    def perhaps_missing(self):
        """An entry that nobody of the list has, with the name of somebody of whom nothing came."""
        asked = {id(entry) for entries, _ in self.asked for entry in entries}
        bots = self.bots()
        for entry in self.entries:
            is_unlisted = entry.join is None or (isinstance(entry.join, Person) and not entry.join.is_listed)
            if not is_unlisted or id(entry) in asked:
                continue
            people = []
            for person in self.listed():
                has_none = not bots[person.owner()].entries
                names_fit = any(LEVELS[1](name, known) for name in entry.names for known in person.names)
                if has_none and names_fit and not self.is_excluded(person, entry):
                    people.append(person)
            if people:
                self.asked.append(([entry], people))

    def is_asked_about(self, person):
        return any(person in people for _, people in self.asked)

    # Bots

    def bots(self):
        bots = {}
        for entry in self.entries:
            if isinstance(entry.join, Person):
                owner = entry.join.owner()
            else:
                owner = entry.join or ("entry", id(entry))
            bots.setdefault(owner, Bot(owner)).entries.append(entry)
        for person in self.listed():
            bots.setdefault(person.owner(), Bot(person.owner()))
        for owner, bot in bots.items():
            bot.people = [person for person in self.listed() if person.owner() == owner]
            left = [entry.join for entry in bot.entries if isinstance(entry.join, Person)]
            if owner[0] == "team":
                bot.label, bot.tag = bot.people[0].team, "team"
            elif owner[0] == "person":
                person = (bot.people + left)[0]
                bot.label = person.name or person.tag()
                bot.tag = person.tag() or next((entry.number for entry in bot.entries if entry.number), "not joined")
            else:
                (entry,) = bot.entries
                bot.label, bot.tag = entry.name, entry.number or "not joined"
        count = Counter(bot.label for bot in bots.values())
        for bot in bots.values():
            if count[bot.label] > 1:
                bot.label = f"{bot.label} ({bot.tag})"
        return bots


def merged(questions):
    """Those that share entries or people are one question."""
    groups = []
    for entries, people in questions:
        entries, people = list(entries), list(people)
        rest = []
        for group in groups:
            if any(one in entries for one in group[0]) or any(one in people for one in group[1]):
                entries += [one for one in group[0] if one not in entries]
                people += [one for one in group[1] if one not in people]
            else:
                rest.append(group)
        groups = rest + [(entries, people)]
    return groups


class Bot:
    def __init__(self, owner):
        self.owner = owner
        self.entries = []
        self.people = []

    def is_withdrawn(self):
        return bool(self.entries) and all(entry.is_withdrawn for entry in self.entries)

    def versions(self):
        """With the entry of each, the oldest first."""
        everything = self.is_withdrawn()
        counted = [entry for entry in self.entries if everything or not entry.is_withdrawn]
        versions = [(version, entry) for entry in counted for version in entry.versions]
        return sorted(versions, key=lambda one: one[0].received)

    def playing(self, until, is_unfit):
        if self.is_withdrawn():
            return None
        for version, entry in reversed(self.versions()):
            if (until is None or version.received <= until) and not is_unfit(version):
                return version, entry
        return None


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def rfc3339(time):
    return datetime.fromtimestamp(math.floor(time), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_offset(time):
    """As the league shows its deadline, here in the zone of the tests."""
    return datetime.fromtimestamp(time, timezone.utc).isoformat()


def hours_late(received, deadline):
    """Begun hours."""
    if deadline is None or received <= deadline:
        return None
    return math.ceil((received - deadline) / 3600)


class League:
    """The class and its league after the last of these weeks."""

    def __init__(self, job):
        self.folder = Path(job["folder"])
        self.notes = Path(job["notes"]).read_text(encoding="utf-8") if job.get("notes") else None
        self.tournament = None
        self.places = None
        self.before = None
        everybody = Class()
        for number, week in enumerate(job["weeks"]):
            had = self.with_bots(everybody)
            if week.get("students"):
                everybody.enlist(read_list(week["students"]))
                everybody.settle()
                self.note_lost(everybody, had)
                had = self.with_bots(everybody)
            everybody.receive(read_download(week["download"]))
            everybody.settle()
            self.note_lost(everybody, had)
            for entry in everybody.entries:
                entry.is_withdrawn = False
            bots = everybody.bots()
            for label in week.get("withdrawn", []):
                (bot,) = [bot for bot in bots.values() if bot.label == label]
                for entry in bot.entries:
                    entry.is_withdrawn = True
            if week.get("deadline"):
                everybody.deadline = seconds(week["deadline"])
            if week.get("accept_late") is not None:
                everybody.accept_late = 3600 * week["accept_late"]
            everybody.until = None if everybody.deadline is None else everybody.deadline + everybody.accept_late
            self.everybody = everybody
            self.bots = bots
            if number + 1 < len(job["weeks"]):
                # Where each program stood that week.
                ranks = ranks_of(week["standings"])
                self.places = {}
                for bot in bots.values():
                    playing = bot.playing(everybody.until, self.is_unfit)
                    if playing and bot.label in ranks:
                        self.places[id(playing[1])] = ranks[bot.label]
        self.by_label = {bot.label: bot for bot in self.bots.values()}
        if job.get("before"):
            self.before = ranks_of(job["before"])

    @staticmethod
    def is_unfit(version):
        return version.is_unfit()

    @staticmethod
    def with_bots(everybody):
        return {id(person) for bot in everybody.bots().values() if bot.entries for person in bot.people}

    def note_lost(self, everybody, had):
        now = self.with_bots(everybody)
        everybody.had_bot |= {person for person in had if person not in now}

    def check_people(self):
        path = self.folder / "people.csv"
        found = [tuple(row.values()) for row in read_table(path)]
        heads = list(read_table(path)[0])
        wanted = ["name", "id", "email", "group", "submission", "joined_by", "plays_as"]
        FINDINGS.same("people.csv", f"{path}: headings", heads, wanted)
        expected = []
        for bot in sorted(self.bots.values(), key=lambda bot: bot.label):
            for person in bot.people:
                own = [entry for entry in bot.entries if entry.join is person]
                joins = [";".join(entry.text() for entry in own), ";".join(entry.by for entry in own)]
                expected.append((person.name, person.id, person.email, person.team, *joins, bot.label))
            for entry in bot.entries:
                if entry.join not in bot.people:
                    expected.append(("", "", "", "", entry.text(), entry.by, bot.label))
        compare_rows(path, "people.csv", wanted, found, expected)

    def check_students(self):
        everybody = self.everybody
        path = self.folder / "students.csv"
        rows = read_table(path)
        wanted = "name plays newest received versions problem people identical late deadline".split()
        FINDINGS.same("students.csv", f"{path}: headings", list(rows[0]), wanted)
        asked = {id(entry) for entries, _ in everybody.asked for entry in entries}
        programs = {}
        expected = []
        missing = []
        labels = {row["name"]: row for row in rows}
        for bot in sorted(self.bots.values(), key=lambda bot: bot.label):
            people = "; ".join(person.name for person in bot.people)
            if not bot.entries:
                if not any(everybody.is_asked_about(person) for person in bot.people):
                    missing.append((bot.label, "", "", "", "0", "nothing was handed in", people, "", "", ""))
                continue
            written = labels.get(bot.label, {})
            playing = bot.playing(everybody.until, self.is_unfit)
            versions = bot.versions()
            newest = versions[-1] if versions else None
            for version, name in ((playing, written.get("plays")), (newest, written.get("newest"))):
                self.same_program(path, bot, version, name, programs)
            late = hours_late((playing or newest)[0].received, everybody.deadline) if newest else None
            is_unlisted = not bot.people and not bot.is_withdrawn()
            is_unlisted = is_unlisted and not any(id(entry) in asked for entry in bot.entries)
            refused = [entry for entry in bot.entries if entry.problem and not entry.is_withdrawn]
            has_problem = bot.is_withdrawn() or bool(refused) or newest is None or is_unlisted
            has_problem = has_problem or playing is None or playing[0] is not newest[0]
            same = []
            if playing:
                for other in self.bots.values():
                    of_other = other.playing(everybody.until, self.is_unfit)
                    if other is not bot and of_other and of_other[0].files == playing[0].files:
                        same.append(other.label)
            expected.append(
                (
                    bot.label,
                    written.get("plays") if playing else "",
                    written.get("newest") if newest else "",
                    rfc3339(newest[0].received) if newest else "",
                    str(len(versions)),
                    written.get("problem") or "a problem" if has_problem else "",
                    people,
                    "; ".join(sorted(same)),
                    "" if late is None else str(late),
                    "" if late is None else with_offset(everybody.deadline),
                )
            )
        found = [tuple(row.values()) for row in rows]
        compare_rows(path, "students.csv", wanted, found, expected + missing)

    def same_program(self, path, bot, version, name, programs):
        """The same name for the same files, another one for others; and the files are those that were handed in."""
        place = f"{path}: {bot.label}, version {name}"
        if version is None:
            return
        files = version[0].files
        known = programs.setdefault(name, files)
        FINDINGS.same("students.csv", f"{place}, files", known == files and bool(name), True)
        folders = list((self.folder / "bots").glob(f"*/{name}"))
        for folder in folders:
            kept = {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
            FINDINGS.same("students.csv", f"{folder}: files of {bot.label}", kept == files, True)
        FINDINGS.same("students.csv", f"{place}, kept", bool(folders), True)

    def check_notes(self):
        """Who is named in what needs attention, and the lines that decide."""
        kinds = ("unclear", "late", "unfit", "missing", "alone", "unknown")
        found = defaultdict(set)
        for line in self.notes.splitlines():
            cells = re.split(r"\s{2,}", line)
            if cells[0] in kinds and len(cells) > 1:
                found[cells[0]].add(cells[1])
        lines = {line.strip() for line in self.notes.splitlines()}
        everybody = self.everybody
        expected = {kind: set() for kind in kinds}
        asked = {id(entry) for entries, _ in everybody.asked for entry in entries}
        label_of = {id(entry): bot.label for bot in self.bots.values() for entry in bot.entries}
        for entries, people in everybody.asked:
            names = list(dict.fromkeys(label_of[id(entry)] for entry in sorted(entries, key=everybody.entries.index)))
            expected["unclear"].add(", ".join(names))
            for entry in entries:
                ends = [line for line in lines if line.endswith("," + entry.text()) and line.count(",") >= 2]
                FINDINGS.same("notes", f"notes: a line for {entry.text()}", bool(ends), True)
        for bot in self.bots.values():
            if not bot.entries:
                if not any(everybody.is_asked_about(person) for person in bot.people):
                    is_alone = any(id(person) in everybody.had_bot for person in bot.people)
                    expected["alone" if is_alone else "missing"].add(bot.label)
                continue
            if bot.is_withdrawn():
                continue
            if not bot.people and not any(id(entry) in asked for entry in bot.entries):
                expected["unknown"].add(bot.label)
            versions = bot.versions()
            playing = bot.playing(everybody.until, self.is_unfit)
            newest = versions[-1][0] if versions else None
            is_too_late = bool(newest and everybody.until is not None and newest.received > everybody.until)
            if is_too_late or (playing and hours_late(playing[0].received, everybody.deadline)):
                expected["late"].add(bot.label)
            refused = any(entry.problem for entry in bot.entries)
            if refused or newest is None or (not is_too_late and self.is_unfit(newest)):
                expected["unfit"].add(bot.label)
        for kind in kinds:
            FINDINGS.same("notes", f"notes: {kind}", found[kind], expected[kind])

    def check_programs(self):
        """Every recorded game was played by the program that its student handed in."""
        playing = {}
        for bot in self.bots.values():
            version = bot.playing(self.everybody.until, self.is_unfit)
            if version:
                playing[bot.label] = version[0]
        names = [bot["name"] for bot in self.tournament.plan["bots"]]
        FINDINGS.same("programs", f"{self.folder}/plan.json: bots", sorted(names), sorted(playing))
        for game in self.tournament.records.values():
            for bot in game.record["bots"]:
                path = Path(bot["command"][-1])
                version = playing.get(bot["name"])
                content = path.read_bytes() if path.is_file() else None
                is_own = version is not None and content in version.files.values()
                place = f"{self.folder}/games.jsonl: {game.id}, program of {bot['name']}"
                FINDINGS.same("programs", place, is_own, True)

    def check(self):
        self.check_people()
        self.check_students()
        if self.notes is not None:
            self.check_notes()
        self.tournament = Tournament(self.folder)
        self.tournament.scheduled()
        archive = self.folder / "archive.jsonl"
        archived = read_records(archive) if archive.exists() else []
        self.tournament.benched({record["id"] for record in archived if "void" not in record})
        self.check_programs()
        before = None
        if self.before is not None:
            before = {number: self.before[name] for number, name in enumerate(self.tournament.bots) if name in self.before}
        elif self.places is not None:
            before = {}
            for number, name in enumerate(self.tournament.bots):
                entries = self.by_label[name].entries if name in self.by_label else []
                known = [self.places[id(entry)] for entry in entries if id(entry) in self.places]
                if known:
                    before[number] = min(known)
        self.tournament.compare_tables(before)


def ranks_of(path):
    return {row["name"]: int(row["rank"]) for row in read_table(path) if row["rank"]}


def compare_rows(path, what, heads, found, expected):
    """Rows in any order, by their cells: those that are in both are left out, the others compared in order."""
    left = list(expected)
    over = []
    for row in found:
        if row in left:
            left.remove(row)
            FINDINGS.compared[what] += len(row)
        else:
            over.append(row)
    for row in over:
        near = [one for one in left if one[0] == row[0] and one[-1] == row[-1]] or [one for one in left if one[0] == row[0]]
        near = near or [one for one in left if one[-1] == row[-1]]
        if not near:
            FINDINGS.report(f"{path}: row", row, "no such row")
            continue
        left.remove(near[0])
        for head, cell, wanted in zip(heads, row, near[0]):
            FINDINGS.same(what, f"{path}: {near[0][0] or near[0][-1]}, {head}", cell, wanted)
    for row in left:
        FINDINGS.report(f"{path}: row", "no such row", row)


def check_league(job):
    League(job).check()


# Grades


def read_scale(path):
    """The lines `key = value` of a scale, with its lists of tables."""
    scale = {"alpha": 0.05, "beta": 0.05, "budget": 100, "rung": [], "late": []}
    into = scale
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if line.startswith("[["):
            into = {}
            scale[line.strip("[]")].append(into)
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            into[key.strip()] = json.loads(value.partition(" #")[0].strip())
    return scale


def score_of(elo):
    return 1.0 / (1.0 + 10.0 ** (-elo / 400.0))


BETS = 40


def capital(scores, mean):
    """What a stake of 1 has become, spread evenly over bets of 1/41 to 40/41 of what there is."""
    bets = [1.0] * BETS
    for score in scores:
        for place in range(BETS):
            share = (place + 1) / (BETS + 1)
            bets[place] *= 1.0 + share * (score / mean - 1.0)
    return sum(bets) / BETS


def verdict(scale, rung, pairs):
    """The verdict, and after how many pairs; `pairs` are points of 0 to 2."""
    above = score_of(rung["elo0"]) if "elo0" in rung else rung["score"]
    below = score_of(rung["elo1"]) if "elo1" in rung else rung["score"]
    scores = []
    for number, points in enumerate(pairs, start=1):
        scores.append(points / 2.0)
        if capital(scores, above) >= 1.0 / scale["alpha"]:
            return "passed", number
        if capital([1.0 - score for score in scores], 1.0 - below) >= 1.0 / scale["beta"]:
            return "not-passed", number
        if number == scale["budget"]:
            return "undecided", number
    return "too few games", len(pairs)


def penalty(scale, hours):
    lost = 0
    for rule in scale["late"]:
        if hours is not None and hours > rule["after"]:
            lost = rule["loses"]
    return lost


def climbed(scale, folder, grade):
    """The rungs from the records: verdict, points, pairs, forfeits."""
    is_over = False
    points = 0
    for rung, found in zip(scale["rung"], grade["rungs"]):
        place = f"{folder}/grades.json: {grade['name']}, rung {rung['name']}"
        FINDINGS.same("grades", f"{place}, name", found["rung"], rung["name"])
        FINDINGS.same("grades", f"{place}, most points", found["most_points"], rung["points"])
        if is_over:
            FINDINGS.same("grades", f"{place}, verdict", found["verdict"], "not-played")
            FINDINGS.same("grades", f"{place}, points", found["points"], 0)
            continue
        games = {}
        for record in read_records(folder / found["folder"] / "games.jsonl"):
            game = Game(record)
            games[game.id] = game
            Tournament.judged(f"{folder / found['folder']}/games.jsonl: {game.id}", game)
        pairs = []
        forfeits = []
        while True:
            both = [games.get(f"p{len(pairs) + 1:06}{letter}") for letter in "ab"]
            if None in both:
                break
            # The graded one may have had another name then.
            of = [1 - game.names.index(f"rung {rung['name']}") for game in both]
            pairs.append(sum(game.points(side) for game, side in zip(both, of)))
            forfeits.append(sum(game.by == side for game, side in zip(both, of)))
        decided, count = verdict(scale, rung, pairs)
        FINDINGS.same("grades", f"{place}, verdict", found["verdict"], decided)
        FINDINGS.same("grades", f"{place}, pairs", found["pairs"], pairs[:count])
        FINDINGS.same("grades", f"{place}, forfeits", found["forfeits"], sum(forfeits[:count]))
        if count:
            FINDINGS.near("grades", f"{place}, score", found["score"], sum(pairs[:count]) / 2.0 / count, 1e-9)
        made = rung["points"] if decided == "passed" else 0
        FINDINGS.same("grades", f"{place}, points", found["points"], made)
        points += made
        is_over = decided != "passed"
    return points


def check_grades(job):
    folder = Path(job["folder"])
    scale = read_scale(job["scale"])
    league = League(job["league"])
    everybody = league.everybody
    found = read_json(folder / "grades.json")["grades"]
    most = sum(rung["points"] for rung in scale["rung"])
    expected = {}
    names = sorted(bot.label for bot in league.bots.values() if bot.entries)
    FINDINGS.same("grades", f"{folder}/grades.json: names", [grade["name"] for grade in found], names)
    for grade in found:
        place = f"{folder}/grades.json: {grade['name']}"
        bot = league.by_label.get(grade["name"])
        playing = bot.playing(everybody.until, league.is_unfit) if bot else None
        FINDINGS.same("grades", f"{place}, can play", "problem" not in grade, playing is not None)
        FINDINGS.same("grades", f"{place}, most points", grade["most_points"], most)
        if playing is None:
            FINDINGS.same("grades", f"{place}, points", grade["points"], 0)
            expected[grade["name"]] = (0, None)
            continue
        hours = hours_late(playing[0].received, everybody.deadline)
        lost = penalty(scale, hours)
        late = None
        if hours is not None:
            late = {"hours": hours, "deadline": with_offset(everybody.deadline), "points_lost": lost}
        FINDINGS.same("grades", f"{place}, late", grade.get("late"), late)
        points = max(0, climbed(scale, folder, grade) - lost)
        FINDINGS.same("grades", f"{place}, points", grade["points"], points)
        expected[grade["name"]] = (points, late)
        score = read_json(folder / grade["folder"] / "results.json")["score"]
        FINDINGS.same("grades", f"{folder / grade['folder']}/results.json: score", score, points)
    check_moodle(folder, league, expected, most)


def check_moodle(folder, league, grades, most):
    """A row for each student whose bot has a grade, in the order of the list."""
    path = folder / "grades.csv"
    rows = read_table(path)
    columns = [("Full name", "name"), ("Email address", "email"), ("ID number", "id")]
    expected = []
    for person in league.everybody.listed():
        bot = league.bots[person.owner()]
        if bot.label in grades and bot.entries:
            expected.append((person, *grades[bot.label]))
    FINDINGS.same("grades", f"{path}: rows", len(rows), len(expected))
    for row, (person, points, late) in zip(rows, expected):
        place = f"{path}: {person.name} ({person.tag()})"
        for column, field in columns:
            FINDINGS.same("grades", f"{place}, {column}", row.get(column), getattr(person, field))
        FINDINGS.same("grades", f"{place}, Grade", row["Grade"], str(points))
        begins = f"{points} of {most} points."
        FINDINGS.same("grades", f"{place}, Feedback", row["Feedback"][: len(begins)], begins)
        if late:
            hours, lost = late["hours"], late["points_lost"]
            words = f"{hours} hour{'' if hours == 1 else 's'} late, after {late['deadline']}: "
            words += f"{lost} point{'' if lost == 1 else 's'} lost."
            FINDINGS.same("grades", f"{place}, lateness in Feedback", words in row["Feedback"], True)


CHECKS = {"tournament": check_tournament, "league": check_league, "grades": check_grades}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for job in read_json(sys.argv[1]):
        CHECKS[job["kind"]](job)
    for line in FINDINGS.lines:
        print(line)
    compared = ", ".join(f"{count} of {what}" for what, count in sorted(FINDINGS.compared.items()))
    print(f"{len(FINDINGS.lines)} differences; compared: {compared}")
    return 1 if FINDINGS.lines else 0


if __name__ == "__main__":
    # Exceptions of Python end with 1, which is for differences.
    try:
        STATUS = main()
    except Exception:
        import traceback

        traceback.print_exc()
        STATUS = 2
    sys.exit(STATUS)

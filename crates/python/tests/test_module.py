"""Tests of the module as it was installed, with numpy, PettingZoo, pandas and, where it is there, polars.

scripts/packages/check_wheel.py runs them in a folder with pieces.txt and stukken.txt; REFEREE_SOURCES names the sources.
"""

import doctest
import importlib
import importlib.util
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from pathlib import Path

import numpy as np

import referee
from referee.env import four_in_a_row_v0, quarto_v0

SOURCES = Path(os.environ["REFEREE_SOURCES"])
GREEK = SOURCES / "sets" / "greek.csv"
GAMES = [referee.Quarto(), referee.Quarto(rules="squares"), referee.Quarto(GREEK), referee.FourInARow()]


def program(*words):
    return subprocess.run([referee.command(), *words], check=True, stdout=subprocess.PIPE).stdout.decode()


def random_games(count):
    """All positions of some random games of every kind."""
    draw = random.Random(count)
    for game in GAMES * count:
        position = game.start()
        while position.outcome is None:
            yield position
            position = position.act(position.action_at(draw.random()))
        yield position


class Positions(unittest.TestCase):
    def test_repr_evaluates_and_text_is_read(self):
        for position in random_games(3):
            again = eval(repr(position))
            self.assertEqual((again, hash(again)), (position, hash(position)))
            self.assertEqual(pickle.loads(pickle.dumps(position)), position)
            if position.outcome is None and isinstance(position.game, referee.FourInARow):
                self.assertEqual(position.game.position(position.text), position)
            elif position.outcome is None:
                self.assertEqual(position.game.position(str(position), position.to_move), position)

    def test_actions_are_the_turns(self):
        for position in random_games(2):
            actions = np.flatnonzero(position.action_mask)
            self.assertEqual({position.action_text(int(a)) for a in actions}, set(position.turns()))
            for action in actions[:5]:
                turn = position.action_text(int(action))
                self.assertEqual(position.act(int(action)), position.play(turn))
            for action in range(300):
                if action not in actions:
                    self.assertRaises(ValueError, position.act, action)

    def test_outcomes(self):
        position = referee.Quarto().position("IJK............. L", "second")
        won = position.play("4 A")
        self.assertEqual((won.outcome, won.to_move, won.turns()), ("second", "second", []))
        self.assertEqual(won.winning_lines, [("H1", "square"), ("H1", "solid")])
        self.assertEqual((won.value().value, won.value().plies), ("win", 0))
        self.assertNotEqual(position, referee.Quarto().position(position.text, "first"))
        self.assertNotEqual(position, referee.Quarto(rules="squares").position(position.text, "second"))

    def test_errors(self):
        quarto = referee.Quarto()
        for wrong, words in [
            (lambda: quarto.position("IJ"), "16 characters"),
            (lambda: quarto.position("................ -", "second"), "nothing is in hand"),
            (lambda: quarto.position("................ -", "third"), "'first' or 'second'"),
            (lambda: quarto.start().play("- Z"), "not a piece of this set"),
            (lambda: referee.Quarto(rules="cubes"), "'standard' or 'squares'"),
            (lambda: referee.FourInARow().start().play("8"), "no column 8"),
            (lambda: quarto.start().value(time=-1), "seconds"),
            (lambda: referee.Batch(quarto, 2).step([0]), "1 actions for 2 games"),
            (lambda: referee.Batch(quarto, 1).step([3]), "not legal"),
        ]:
            with self.assertRaises(ValueError) as error:
                wrong()
            self.assertIn(words, str(error.exception))
        self.assertRaises(AttributeError, getattr, referee.FourInARow().start(), "hand")

    def test_a_wrong_set_says_where(self):
        wrong = Path("wrong.txt")
        wrong.write_text(Path("pieces.txt").read_text().replace("D,small,blue", "D,small,green"))
        for read in (referee.Quarto, referee.exercise.read_pieces, referee.exercise.lees_stukken):
            with self.assertRaises(ValueError) as error:
                read("wrong.txt")
            self.assertEqual(
                str(error.exception),
                "wrong.txt, line 5, column 9: `green` is a third property of `color`; expected `red` or `blue`",
            )
        self.assertRaises(FileNotFoundError, referee.exercise.read_pieces, "nothing.txt")

    def test_arrays(self):
        position = referee.Quarto().position("A..PC...J..EF... G")
        board, features, seen = position.board, position.features, position.observation
        self.assertEqual([a.dtype for a in (board, features, seen)], [np.int8] * 3)
        self.assertEqual(board.tolist()[0], [0, -1, -1, 15])
        # A is big, red, square and hollow, which the set names first; P is none of these.
        self.assertEqual((features[0, 0].tolist(), features[0, 3].tolist()), ([1] * 4, [-1] * 4))
        self.assertEqual(features[0, 1].tolist(), [0] * 4)
        np.testing.assert_array_equal(seen[:, :, :4], features)
        self.assertEqual(seen[2, 2, 4:8].tolist(), [1, -1, -1, 1])
        left = [position.game.symbols[i] for i in np.flatnonzero(seen[:, :, 8])]
        self.assertEqual("".join(left), position.left)
        four = referee.FourInARow().start().play("4").play("4")
        self.assertEqual((four.board[5, 3], four.board[4, 3], np.abs(four.board).sum()), (1, -1, 2))
        self.assertEqual(four.observation.sum(axis=(0, 1)).tolist(), [1, 1])
        board[0, 1] = 3  # it is the caller's own


class Values(unittest.TestCase):
    def test_they_are_those_of_the_program(self):
        for game, options in [(GAMES[0], []), (GAMES[1], ["--rules", "squares"]), (GAMES[3], ["--game", "four-in-a-row"])]:
            draw = random.Random(5)
            position = game.start()
            while position.text.count(".") > 9 or position.outcome is not None:
                start = game.start() if position.outcome is not None else position
                position = start.act(start.action_at(draw.random()))
            said = json.loads(program("solve", "--json", "--all", *options, position.text))
            self.assertEqual((position.value().value, position.value().plies), (said["value"], said["plies"]))
            turns = {turn["move"]: (turn["value"], turn["plies"]) for turn in said["moves"]}
            found = {turn: (value.value, value.plies) for turn, value in position.turn_values().items()}
            self.assertEqual(found, turns)

    def test_a_limit_ends_it_with_what_is_proven(self):
        hard = referee.Quarto(rules="squares").position("AP.............. B")
        begun = time.monotonic()
        values = [hard.value(nodes=1000), hard.value(time=0.2), *hard.turn_values(time=0.2).values()]
        self.assertLess(time.monotonic() - begun, 30)
        for value in values:
            self.assertIn(value.value, [None, "win", "draw", "loss"])
            self.assertEqual(value.score is None, value.at_least != value.at_most)

    def test_other_threads_run_and_ctrl_c_ends_it(self):
        hard = referee.Quarto(rules="squares").position("AP.............. B")
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.wait(0.01):
                ticks.append(time.monotonic())
                if len(ticks) == 20:
                    signal.raise_signal(signal.SIGINT)

        # Tests that are started in the background ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        thread = threading.Thread(target=tick)
        thread.start()
        begun = time.monotonic()
        try:
            with self.assertRaises(KeyboardInterrupt):
                while time.monotonic() < begun + 60:
                    hard.turn_values(time=20)
        finally:
            stop.set()
            thread.join()
        self.assertGreaterEqual(len(ticks), 20)


class Environments(unittest.TestCase):
    def test_pettingzoo(self):
        from pettingzoo.test import api_test, parallel_seed_test, render_test, seed_test

        with warnings.catch_warnings():
            # Observations with a mask are dictionaries; PettingZoo knows its own by name.
            warnings.simplefilter("ignore", UserWarning)
            for module in (quarto_v0, four_in_a_row_v0):
                for make in (module.env, module.raw_env):
                    api_test(make(), num_cycles=100)
                    seed_test(make, num_cycles=10)
                    render_test(make)
                parallel = module.parallel_env()
                observations, _ = parallel.reset(seed=1)
                while parallel.agents:
                    act = {a: int(o["action_mask"].argmax()) for a, o in observations.items()}
                    observations, rewards, *_ = parallel.step(act)
                self.assertEqual(sum(rewards.values()), 0)

    def test_rewards_and_a_start(self):
        position = referee.Quarto().position("IJK............. L", "second")
        env = quarto_v0.env()
        env.reset(options={"position": position})
        self.assertEqual(env.agent_selection, "player_1")
        env.step(17 * 3 + 16)
        self.assertEqual(env.rewards, {"player_0": -1, "player_1": 1})
        self.assertEqual(env.terminations, {"player_0": True, "player_1": True})
        env.reset(options={"position": position})
        env.step(0)  # cell 1 is occupied
        self.assertEqual(env.rewards["player_1"], -1)

    def test_a_batch_plays_as_positions_do(self):
        for game in GAMES:
            batch = referee.Batch(game, 50, seed=3)
            positions = [game.start()] * 50
            ended = 0
            for _ in range(30):
                np.testing.assert_array_equal(batch.observations, [p.observation for p in positions])
                np.testing.assert_array_equal(batch.action_masks, [p.action_mask for p in positions])
                actions = batch.random_actions()
                rewards, over = batch.step(actions)
                for i, (position, action) in enumerate(zip(positions, actions)):
                    if position.outcome is not None:
                        positions[i] = game.start()
                        self.assertEqual((rewards[i], over[i]), (0, 0))
                        continue
                    positions[i] = position.act(int(action))
                    outcome = positions[i].outcome
                    self.assertEqual(over[i], outcome is not None)
                    self.assertEqual(rewards[i], outcome == position.to_move)
                ended += over.sum()
            self.assertGreater(ended, 30)
            same = referee.Batch(game, 50, seed=3)
            np.testing.assert_array_equal(same.random_actions(), referee.Batch(game, 50, seed=3).random_actions())


class Records(unittest.TestCase):
    def test_play_read_and_tables(self):
        records = referee.play(["builtin:greedy", "builtin:random"], games=6, seed=1, options=["--sandbox", "none"])
        self.assertEqual([record["result"]["winner"] for record in records], [0] * 6)
        with open("games.jsonl", "w") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
            file.write('{"v": 1, "ga')  # as a crash leaves it
        read = referee.read_records("games.jsonl")
        self.assertEqual(next(read), records[0])
        self.assertEqual(list(referee.read_records(".")), records)
        with open("broken.jsonl", "w") as file:
            file.write("\n{}\n")
        with self.assertRaises(ValueError) as error:
            list(referee.read_records("broken.jsonl"))
        self.assertIn("broken.jsonl:2: ", str(error.exception))
        with self.assertRaises(ValueError) as error:
            referee.play(["nothing.py", "builtin:random"])
        self.assertIn("nothing.py", str(error.exception))
        for library in ("pandas", "polars"):
            if importlib.util.find_spec(library) is None:
                continue
            table = referee.to_dataframe("games.jsonl", library)
            self.assertEqual((len(table), list(table["winner"])), (6, ["builtin:greedy"] * 6))
            self.assertEqual(list(table["plies"]), [len(record["turns"]) for record in records])
        # The records hold what the module says of the rules.
        for record in records:
            position = referee.Quarto().start()
            for turn in record["turns"]:
                position = position.play(turn)
            self.assertEqual(position.outcome == "first", record["result"]["winner"] == record["first"])

    def test_the_fields_are_those_of_the_schema(self):
        schema = json.loads(program("print", "schema", "record"))
        self.assertEqual(set(referee.Record.__annotations__), set(schema["properties"]))
        result = schema["properties"]["result"]["properties"]
        self.assertEqual(set(referee.records.Result.__annotations__), set(result))

    def test_a_bot_with_the_helper_beside_it_or_installed(self):
        Path("bot").mkdir()
        subprocess.run([referee.command(), "new", "python", "--with-helper", "bot/mine.py"], check=True)
        helper = Path(referee.bot.__file__).read_text()
        self.assertEqual(Path("bot/referee_bot.py").read_text(), helper)
        text = Path("bot/mine.py").read_text()
        Path("installed.py").write_text(text.replace("import referee_bot as bot", "from referee import bot"))
        for words in ([], ["--rules", "squares", "--pieces", str(GREEK)], ["--game", "four-in-a-row"]):
            bots = [f"{sys.executable} bot/mine.py", f"{sys.executable} installed.py"]
            options = ["--sandbox", "none", *words]
            games = [referee.play(bots, 4, 7, options) for _ in range(2)]
            turns = [[record["turns"] for record in records] for records in games]
            self.assertEqual(turns[0], turns[1])
            reasons = {record["result"]["reason"] for record in games[0]}
            self.assertLessEqual(reasons, {"quarto", "four-in-a-row", "draw"})

    def test_the_helper_knows_the_rules(self):
        for name, game in [("standard", GAMES[0]), ("squares", GAMES[1])]:
            os.environ["REFEREE_RULES"] = name
            helper = importlib.reload(referee.bot)
            for position in random_games(2):
                if position.outcome is None and position.game == game:
                    turns = helper.Quarto(position.text).turns()
                    texts = [" ".join("-" if word is None else str(word) for word in turn) for turn in turns]
                    self.assertEqual(sorted(texts), sorted(position.turns()))
        for position in random_games(4):
            if position.outcome is None and isinstance(position.game, referee.FourInARow):
                question = referee.bot.FourInARow(position.text)
                self.assertEqual([str(column) for column in question.turns()], position.turns())
                for column in question.turns():
                    won = position.play(str(column)).outcome == position.to_move
                    self.assertEqual(question.wins(column), won)

    def test_info(self):
        code = "from referee import bot; bot.info(depth=6, score=0.35, nodes=12000, string='take the\\ncorner')"
        done = subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.PIPE)
        self.assertEqual(done.stderr, b"info depth 6 score 0.35 nodes 12000 string take the corner\n")
        Path("thinks.py").write_text(
            "from referee import bot\n"
            "def choose(question):\n"
            "    bot.info(score=0.5, string='a thought')\n"
            "    return question.turns()[0]\n"
            "bot.run(choose)\n"
        )
        bots = [f"{sys.executable} thinks.py", "builtin:random"]
        (record,) = referee.play(bots, 1, 1, ["--sandbox", "none"])
        thought = {"score": 0.5, "string": "a thought"}
        self.assertLessEqual(thought.items(), record["info"][0].items())


#: What Dodona's schema of a judge's partial output asks for: the fields of each command.
DODONA = {
    "start-judgement": [], "start-tab": ["title"], "start-context": [], "start-testcase": ["description"],
    "start-test": ["expected"], "append-message": ["message"], "close-test": ["generated", "status"],
    "close-testcase": [], "close-context": [], "close-tab": [], "close-judgement": [],
}
STATUS = ["internal error", "runtime error", "wrong", "correct"]


class HandedIn(unittest.TestCase):
    def judged(self, source, **evaluation):
        """What the judge prints, with the status of each test."""
        judge = SOURCES / "scripts" / "judges" / "dodona" / "run"
        config = {"programming_language": "python", "source": str(source), "workdir": os.getcwd(), "resources": os.getcwd()}
        environment = {**os.environ, "PATH": os.path.dirname(referee.command()) + os.pathsep + os.environ["PATH"]}
        words = json.dumps({**config, "evaluation": evaluation}).encode()
        done = subprocess.run([sys.executable, str(judge)], input=words, env=environment, check=True, stdout=subprocess.PIPE)
        lines, open_parts = [json.loads(line) for line in done.stdout.splitlines()], []
        for line in lines:
            self.assertLessEqual(set(DODONA[line["command"]]), set(line), line)
            kind, part = line["command"].split("-", 1)
            if kind == "start":
                open_parts.append(part)
            elif kind == "close":
                self.assertEqual(open_parts.pop(), part)
            if "status" in line:
                self.assertIn(line["status"]["enum"], STATUS)
            if "message" in line:
                self.assertLessEqual({"format", "description"}, set(line["message"]))
        self.assertEqual(open_parts, [])
        return [line["status"]["enum"] for line in lines if line["command"] == "close-test"], lines

    def test_dodona(self):
        options = ["--sandbox", "none"]
        opponents = [{"bot": "builtin:random", "games": 4, "score": 0.7}, {"bot": "builtin:perfect", "games": 2, "score": 1}]
        good, lines = self.judged(SOURCES / "players" / "greedy.py", options=options, opponents=opponents)
        self.assertEqual((good[-2:], set(good[:-2])), (["correct", "wrong"], {"correct"}))
        bad, lines = self.judged(SOURCES / "tests/bots/mistakes/debug-print.py", options=options)
        self.assertIn("wrong", bad)
        self.assertEqual([line["title"] for line in lines if line["command"] == "start-tab"], ["Protocol"])

    def test_junit(self):
        from xml.etree import ElementTree as xml

        bots = SOURCES / "tests/bots/mistakes"
        said = subprocess.run(
            [referee.command(), "check", "--json", "--sandbox", "none", str(bots / "debug-print.py")], stdout=subprocess.PIPE
        ).stdout
        junit = [sys.executable, str(SOURCES / "scripts/judges/junit.py")]
        root = xml.fromstring(subprocess.run(junit, input=said, check=True, stdout=subprocess.PIPE).stdout)
        (suite,) = root
        report = json.loads(said)
        self.assertEqual((suite.get("name"), int(suite.get("tests"))), (report["bot"], len(report["checks"])))
        failures = [case.get("name") for case in suite if case.find("failure") is not None]
        self.assertEqual(int(suite.get("failures")), len(failures))
        self.assertIn(report["fix_first"]["check"], failures)

        # 3: something was found.
        words = [referee.command(), "hunt", "--json", "--time", "10s", "builtin:random"]
        said = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        (suite,) = xml.fromstring(subprocess.run(junit, input=said, check=True, stdout=subprocess.PIPE).stdout)
        found = json.loads(said)["findings"]
        self.assertTrue(found)
        self.assertEqual([case.find("failure").text for case in suite], [one["reproduce"] for one in found])

        Path("scale.toml").write_text(
            'alpha = 0.05\nbeta = 0.05\nbudget = 20\nseed = 1\n'
            '[[rung]]\nname = "random"\nbot = "builtin:random"\nelo0 = 0\nelo1 = 300\npoints = 60\n'
            '[[rung]]\nname = "greedy"\nbot = "builtin:greedy"\nelo0 = 0\nelo1 = 300\npoints = 40\n'
        )
        bot = str(SOURCES / "players" / "greedy.py")
        words = [referee.command(), "grade", "--sandbox", "none", "--scale", "scale.toml", "--out", "grades", bot]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        grades = json.loads(Path("grades/grades.json").read_text())["grades"]
        root = xml.fromstring(subprocess.run([*junit, "grades/grades.json"], check=True, stdout=subprocess.PIPE).stdout)
        self.assertEqual(
            [case.find("failure") is None for case in root[0]], [r["verdict"] == "passed" for r in grades[0]["rungs"]]
        )
        result = json.loads(next(Path("grades").glob("*/results.json")).read_text())
        self.assertEqual(result["leaderboard"][0], {"name": "Points", "value": grades[0]["points"]})


def load_tests(loader, tests, pattern):
    for module in (referee, referee.exercise):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()

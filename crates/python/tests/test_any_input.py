"""Whatever a public function is given, it does what it says or raises TypeError, ValueError or MemoryError with a sentence:
it never ends the process, panics, wraps a number or waits for ever.
"""

import copy
import logging
import os
import random
import unittest
import warnings
from pathlib import Path

import gymnasium
import hypothesis
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import referee
from referee import bot, exercise
from referee.env import four_in_a_row_v0, quarto_v0

GREEK = Path(os.environ["REFEREE_SOURCES"]) / "sets" / "greek.csv"
QUARTO, GREEK_GAME, FOUR = referee.Quarto(), referee.Quarto(GREEK, "squares"), referee.FourInARow()


def late(game, free):
    """A position with so few free cells, or one in which the game is over."""
    draw = random.Random(1)
    while True:
        position = game.start()
        while position.outcome is None and position.text.count(".") > free:
            position = position.act(position.action_at(draw.random()))
        if (position.outcome is None) == (free > 0):
            return position


#: With few free cells: a value of theirs is found in milliseconds.
LATE = [late(QUARTO, 5), late(FOUR, 12), late(QUARTO, 0), late(FOUR, 0)]
POSITIONS = [QUARTO.start(), GREEK_GAME.start(), FOUR.start(), *LATE]
PIECES = {name: set(words) for name, words in QUARTO.pieces.items()}

NUMBERS = st.one_of(
    st.integers(-3, 300),
    st.integers(),
    st.sampled_from([2**31, 2**32, 2**63, 2**64, -(2**63), 10**4000, -(10**4000), np.int64(-1), np.uint64(2**64 - 1), True]),
)
FLOATS = st.one_of(st.floats(), st.sampled_from([np.float32("nan"), np.float64(0.5), 1e300, 0.999999999999999999]))
ARRAYS = st.builds(
    lambda shape, kind, seed: np.random.default_rng(seed).integers(-2, 9, shape).astype(kind),
    st.sampled_from([(), (0,), (1,), (2,), (3,), (2, 2), (1, 2, 3)]),
    st.sampled_from(["int8", "uint8", ">i4", "int64", "uint64", "float32", "bool", "complex64", "U3", "object", "M8[s]"]),
    st.integers(0, 99),
)
#: Not text, which could be a path or a program.
OTHERS = st.one_of(
    st.none(), NUMBERS, FLOATS, ARRAYS, st.binary(max_size=9), st.complex_numbers(), st.builds(object),
    st.lists(st.one_of(NUMBERS, FLOATS, st.none(), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=9), NUMBERS, max_size=2),
    st.sampled_from([*POSITIONS, QUARTO, GREEK_GAME, FOUR, LATE[0].value(), referee.Batch(FOUR, 2), int, print]),
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.text("ABCDEFGHIJKLMNOP.-@O 123456789", max_size=45),
    st.sampled_from(["first", "second", "standard", "squares", "random", "greedy", "search?depth=1", "perfect?slips=1",
                     "perfect?slips=nan", "6 A", "- A", "4", "\ud800", "\0", *(position.text for position in POSITIONS)]),
)
ANY = st.one_of(OTHERS, TEXTS)
#: Few of a batch's own size would be found by chance.
ACTIONS = st.one_of(ANY, st.lists(NUMBERS, min_size=2, max_size=2), st.just([0, 0]))
STARTS = st.one_of(ANY, st.lists(st.sampled_from(POSITIONS), max_size=3), st.just(iter(lambda: POSITIONS[0], 1)))
OPTIONS = st.one_of(ANY, st.dictionaries(st.sampled_from(["position", "postion", 3]), ANY, max_size=2))
ENVIRONMENTS = [
    make
    for module in (quarto_v0, four_in_a_row_v0)
    for make in (module.raw_env, module.env, module.parallel_env, lambda module=module: module.gym_env("builtin:random"))
]

ALLOWED = (TypeError, ValueError, MemoryError, gymnasium.error.ResetNeeded)


def call(function, *arguments, also=(), **named):
    """What it returns; None for an error that is allowed."""
    try:
        return function(*arguments, **named)
    except (*ALLOWED, *also) as error:
        assert str(error).strip(), f"{error!r} has no sentence"
        return None


def named(*names):
    """Some arguments of these names."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, ANY))


any_of = settings(
    max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


class AnyInput(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)  # of PettingZoo, at each illegal action

    @any_of
    @given(ANY, ANY, ANY)
    def test_games(self, first, second, text):
        # A directory or a file that may not be read is an OSError, as of `open`.
        call(referee.Quarto, first, second, also=[OSError])
        call(referee.Quarto, rules=second)
        for game in (QUARTO, GREEK_GAME):
            position = call(game.position, text, second)
            assert position is None or eval(repr(position), {"referee": referee}) == position
            call(game.position, text)
        call(FOUR.position, text)
        for game in (QUARTO, FOUR):
            assert game != [first]

    @any_of
    @given(st.sampled_from(POSITIONS), ANY, ANY, ANY)
    def test_positions(self, position, first, second, third):
        for name in ("game", "to_move", "outcome", "text", "left", "winning_lines", "board", "observation", "action_mask"):
            call(getattr, position, name, also=[AttributeError])
        for method in (position.play, position.act, position.action_at, position.action_text, position.observe):
            call(method, first)
        call(position.choose, first, second)
        turn = call(position.choose, "random", seed=second, time=third)
        assert turn is None or turn in position.turns()
        after = call(position.act, first)
        if after is not None:
            assert position.action_mask[int(first)] == 1
        assert position != [first]

    @any_of
    @given(st.sampled_from(POSITIONS), st.one_of(ANY, st.integers(0, 200)))
    def test_images(self, position, height):
        image = call(position.image, height)
        if image is not None and height is not None:
            assert image.shape[0] == int(height)

    @any_of
    @given(st.sampled_from(LATE), st.fixed_dictionaries({}, optional={"time": ANY, "nodes": ANY}))
    def test_values(self, position, limits):
        call(position.value, **limits)
        call(position.turn_values, **limits)

    @any_of
    @given(st.one_of(ANY, st.sampled_from([QUARTO, FOUR])), st.one_of(ANY, st.integers(0, 3)), ANY, STARTS)
    def test_batches(self, game, count, seed, starts):
        for arguments in ([game, count], [game, count, seed], [game, count, 0, starts], [game, count, seed, starts]):
            batch = call(referee.Batch, *arguments)
            assert batch is None or len(batch) == int(count)

    @any_of
    @given(st.sampled_from([QUARTO, GREEK_GAME, FOUR]), st.lists(st.tuples(ACTIONS, ANY, STARTS), max_size=4))
    def test_steps_of_a_batch(self, game, steps):
        batch = referee.Batch(game, 2)
        for actions, which, starts in steps:
            before = batch.copy()
            done = call(batch.step, actions)
            if done is None:
                assert batch == before
            else:
                masks = before.action_masks
                assert all(masks[i, int(np.asarray(actions).astype(object)[i])] or not masks[i].any() for i in range(2))
            before = batch.copy()
            if call(lambda: batch.reset(which, starts) or True) is None:
                assert batch == before
            assert batch == batch.copy() and len(batch.positions()) == 2
            assert batch != [actions]

    @any_of
    @given(st.sampled_from(ENVIRONMENTS), ANY, OPTIONS, st.lists(ANY, max_size=4), ANY)
    def test_environments(self, make, seed, options, actions, agent):
        env = make()
        for name in ("observe", "observation_space", "action_space"):
            method = getattr(env, name, None)
            if callable(method) and not isinstance(method, gymnasium.Space):
                call(method, agent)
        for method in ("last", "agent_iter", "render", "action_masks"):
            if hasattr(env, method):
                call(getattr(env, method))
        call(env.step, 0)
        call(env.reset, seed=seed, options=options)
        env.reset(seed=3)
        for action in actions:
            call(env.step, action)
            call(env.step, {"player_0": action})
            if hasattr(env, "observe"):
                call(env.observe, agent)
        env.close()

    @any_of
    @given(ANY, named("pieces", "rules", "render_mode"), named("render_mode", "side"), OTHERS)
    def test_makers(self, count, arguments, single, opponent):
        for module, known in ((quarto_v0, arguments), (four_in_a_row_v0, {})):
            given = {name: value for name, value in arguments.items() if known or name == "render_mode"}
            for make in (module.env, module.raw_env, module.parallel_env):
                call(make, also=[OSError], **given)
            call(module.gym_env, opponent, **single)
            call(module.batch, count)
        call(referee.Program, opponent)

    @any_of
    @given(ANY, st.one_of(ANY, st.text("ABCDP?.#", min_size=16, max_size=16)), st.dictionaries(ANY.filter(lambda k: k.__hash__ is not None and not isinstance(k, (list, dict, np.ndarray, referee.Batch))), ANY, max_size=3))
    def test_the_exercise(self, value, configuration, properties):
        for given in (value, properties, PIECES, {**PIECES, "A": value}):
            for function in (exercise.quarto, exercise.create_grid):
                call(function, configuration, given)
            call(exercise.piece_properties, given)
        call(exercise.read_pieces, value, also=[OSError])

    @any_of
    @given(OTHERS, OTHERS, ANY)
    def test_records(self, first, second, library):
        call(lambda: list(referee.read_records(first)), also=[OSError])
        call(referee.to_dataframe, first, library, also=[OSError])
        call(referee.play, first, second)

    @any_of
    @given(st.one_of(st.recursive(st.one_of(st.none(), NUMBERS, st.text(max_size=5)), lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["turns", "result", "bots", "first", "times_ms", "movers"]), inner, max_size=6)
    )), st.binary(max_size=20)))
    def test_lines_of_records(self, value):
        import json

        try:
            line = value if isinstance(value, bytes) else json.dumps(value).encode()
        except (TypeError, ValueError):
            return
        Path("any.jsonl").write_bytes(line + b"\n")
        call(lambda: list(referee.read_records("any.jsonl")))
        call(lambda: referee.to_dataframe("any.jsonl", "pandas"))
        call(referee.to_dataframe, [value], "pandas")

    def test_a_line_of_many_brackets(self):
        Path("any.jsonl").write_text("[" * 100_000 + "\n")
        self.assertRaises(ValueError, lambda: list(referee.read_records("any.jsonl")))

    @any_of
    @given(st.one_of(st.text(max_size=20), TEXTS), st.one_of(NUMBERS, ANY))
    def test_the_helper_of_bots(self, text, place):
        for kind in (bot.Quarto, bot.FourInARow):
            question = call(kind, text)
            if question is not None:
                call(question.turns, also=[KeyError])
                call(question.wins, place, also=[KeyError])


class Refusals(unittest.TestCase):
    """What is easily taken for another number, or not looked at: an error with what was given, and nothing has changed."""

    def setUp(self):
        warnings.simplefilter("ignore")

    def refused(self, kind, words, function, *arguments, **named):
        with self.assertRaises(kind, msg=(arguments, named)) as error:
            function(*arguments, **named)
        for word in words:
            self.assertIn(word, str(error.exception))

    def test_actions_of_a_batch_that_are_cut_or_wrap(self):
        for module, most in ((four_in_a_row_v0, 6), (quarto_v0, 288)):
            batch = module.batch(2)
            legal = int(batch.action_masks[0].argmax())
            before = batch.copy()
            # Each is the legal one in some type of fewer bits.
            wrapped = [sign * 2**bits + legal for sign in (1, -1) for bits in (9, 16, 32)]
            for number in (most + 1, -1, *wrapped, 2**64 + legal):
                for actions in ([legal, number], np.array([legal, number]), [number, 2**64]):
                    self.refused(ValueError, [str(number), f"0 to {most}"], batch.step, actions)
            for actions in (
                [legal + 0.9, legal], [float(legal), float(legal)], [legal, float("nan")], np.float32([legal, legal]),
                [str(legal)] * 2, [None, legal], [True, True], [legal + 0j, legal], [b"1", b"1"], np.array([legal + 0.5, legal], object),
            ):
                self.refused(TypeError, [], batch.step, actions)
            self.refused(ValueError, ["(2, 1)"], batch.step, np.array([[0.9], [65542]]))
            self.refused(ValueError, ["(2, 1)"], batch.step, np.array([[legal], [legal]]))
            self.refused(ValueError, ["(2, 2)"], module.batch(4).step, np.full((2, 2), legal))
            self.refused(ValueError, ["()"], module.batch(1).step, legal)
            self.assertEqual(batch, before)
            batch.step(np.array([legal, legal], np.uint16))
            self.assertNotEqual(batch, before)

    def test_an_action_that_is_cut_or_wraps(self):
        for module, most in ((four_in_a_row_v0, 6), (quarto_v0, 288)):
            for make in (module.raw_env, module.env, module.parallel_env, module.gym_env):
                env = make()
                env.reset(seed=1)
                before = copy.deepcopy(env)
                agent = None if isinstance(env, gymnasium.Env) else before.unwrapped.agent_selection
                position = env.unwrapped.position
                legal = int(position.action_mask.argmax())

                def step(action):
                    env.step({agent: action} if make is module.parallel_env else action)

                for function in (step, position.act, position.action_text):
                    for number in (most + 1, -1, 2**16 + legal, legal - 2**16, 2**32 + legal, 2**64 + legal, np.int64(-1)):
                        self.refused(ValueError, [str(number), f"0 to {most}"], function, number)
                    for action in (legal + 0.7, float(legal), np.float64(legal), float("nan"), str(legal), None, [legal], legal + 0j):
                        self.refused(TypeError, [], function, action)
                self.assertEqual(env, before)
                step(np.uint8(legal) if legal < 256 else np.int16(legal))
                self.assertNotEqual(env, before)

    def test_a_start_that_is_none(self):
        squares = referee.Quarto(rules="squares").start()
        others = {quarto_v0: [FOUR.start(), squares, GREEK_GAME.start()], four_in_a_row_v0: [QUARTO.start(), squares]}
        for module, over, start in ((quarto_v0, LATE[2], QUARTO.start()), (four_in_a_row_v0, LATE[3], FOUR.start())):
            for make in (module.raw_env, module.env, module.parallel_env, module.gym_env):
                for has_begun in (False, True):
                    env = make()
                    if has_begun:
                        env.reset(seed=3)
                    before = copy.deepcopy(env)
                    for seed in (None, 4):
                        for other in others[module]:
                            self.refused(ValueError, [repr(other.game), repr(start.game)], env.reset, seed=seed, options={"position": other})
                        self.refused(ValueError, ["over"], env.reset, seed=seed, options={"position": over})
                        for name in ("postion", "Position", "start", 3):
                            self.refused(ValueError, [repr(name), "'position'"], env.reset, seed=seed, options={name: start})
                        self.refused(ValueError, ["'rules'"], env.reset, seed=seed, options={"position": start, "rules": "squares"})
                        for value in (start.text, start.board, 0, {}):
                            self.refused(TypeError, ["'position'"], env.reset, seed=seed, options={"position": value})
                        for options in (start, [("position", start)], "position"):
                            self.refused(TypeError, ["dictionary"], env.reset, seed=seed, options=options)
                        self.assertEqual(env, before)
                    env.reset(seed=4, options={"position": start})

    def test_an_agent_that_is_none(self):
        for module in (quarto_v0, four_in_a_row_v0):
            for env in (module.raw_env(), module.env()):
                env.reset()
                for agent in ("x", "player_2", "first", "", 0, None, ["player_0"]):
                    for function in (env.observe, env.observation_space, env.action_space):
                        self.refused(ValueError, [repr(agent), "'player_0' or 'player_1'"], function, agent)
            parallel = module.parallel_env()
            parallel.reset()
            self.refused(ValueError, ["'player_0'"], parallel.step, {"x": 0})
            for agent in ("x", None):
                self.refused(ValueError, [repr(agent)], parallel.observation_space, agent)

    def test_what_needs_a_game(self):
        needed, words = gymnasium.error.ResetNeeded, ["reset()"]
        for module in (quarto_v0, four_in_a_row_v0):
            raw, env, parallel, gym = module.raw_env(), module.env(), module.parallel_env(), module.gym_env()
            for aec in (raw, env):
                self.refused(needed, words, aec.step, 0)
                self.refused(needed, words, aec.step, None)
                self.refused(needed, words, aec.observe, "player_0")
                self.refused(needed, words, aec.last)
                self.refused(needed, words, aec.render)
                self.refused(needed, words, lambda: next(iter(aec.agent_iter())))
            self.refused(needed, words, parallel.step, {"player_0": 0})
            self.refused(needed, words, gym.step, 0)
            self.refused(needed, words, gym.render)
            self.refused(needed, words, gym.action_masks)


if __name__ == "__main__":
    print("hypothesis", hypothesis.__version__)
    unittest.main()

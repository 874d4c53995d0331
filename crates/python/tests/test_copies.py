"""Tests of what a laboratory does with the module: copies, pickles, processes, threads; and of the environments for learners.

scripts/packages/check_wheel.py runs them beside test_module.py.
"""

import copy
import gc
import importlib.metadata
import multiprocessing
import os
import pickle
import random
import socket
import subprocess
import sys
import threading
import unittest
import warnings
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import referee
from referee.env import four_in_a_row_v0, quarto_v0

SOURCES = Path(os.environ["REFEREE_SOURCES"])
GREEK = SOURCES / "sets" / "greek.csv"
GAMES = [referee.Quarto(), referee.Quarto(rules="squares"), referee.Quarto(GREEK), referee.FourInARow()]
ENVIRONMENTS = [
    quarto_v0.raw_env,
    quarto_v0.env,
    quarto_v0.parallel_env,
    quarto_v0.gym_env,
    four_in_a_row_v0.raw_env,
    four_in_a_row_v0.env,
    four_in_a_row_v0.parallel_env,
    four_in_a_row_v0.gym_env,
]
COPIES = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


def act(env, choice):
    """One legal action of the agent whose turn it is, the same for the same choice; whether the game goes on."""
    if isinstance(env, gymnasium.Env):
        legal = np.flatnonzero(env.action_masks())
        return not env.step(legal[choice % len(legal)])[2]
    aec = getattr(env, "aec_env", env)
    agent = aec.agent_selection
    legal = np.flatnonzero(aec.observe(agent)["action_mask"])
    action = int(legal[choice % len(legal)])
    env.step({agent: action} if hasattr(env, "aec_env") else action)
    return bool(aec.agents) and not any(aec.terminations.values())


def solved(position):
    return position, position.value(), position.turn_values()


def first_turn(position):
    return position.turns()[0]


def played(batch):
    for _ in range(5):
        batch.step(batch.random_actions())
    return batch


def ends(env):
    random.seed(1)
    while act(env, random.randrange(300)):
        pass
    return env.unwrapped.position


class Copies(unittest.TestCase):
    def test_values_positions_and_games(self):
        position = referee.Quarto().position("A..PC...J..EF... G")
        for value in [*GAMES, position, position.value(), *position.turn_values().values()]:
            for copied in COPIES:
                again = copied(value)
                self.assertEqual((again, hash(again), repr(again)), (value, hash(value), repr(value)))

    def test_a_set_whose_file_is_gone(self):
        Path("mine.csv").write_bytes(GREEK.read_bytes())
        game = referee.Quarto("mine.csv", "squares")
        pickled = pickle.dumps([game, game.start()])
        os.remove("mine.csv")
        again, start = pickle.loads(pickled)
        self.assertEqual((again, again.pieces, start.game), (game, game.pieces, game))

    def test_environments_in_the_middle_of_a_game(self):
        for make in ENVIRONMENTS:
            for copied in COPIES[1:]:
                env = make()
                copied(env)  # before its first game
                env.reset(seed=5)
                for choice in (3, 2):
                    act(env, choice)
                again = copied(env)
                self.assertEqual(again.unwrapped.position, env.unwrapped.position)
                before = env.unwrapped.position
                self.assertEqual(ends(again), ends(env))
                self.assertNotEqual(env.unwrapped.position, before)

    def test_environments_keep_their_arguments(self):
        env = quarto_v0.env(GREEK, "squares", "ansi")
        for copied in COPIES[1:]:
            again = copied(env).unwrapped
            self.assertEqual((again.game, again.render_mode), (GAMES[2].__class__(GREEK, "squares"), "ansi"))

    def test_batches(self):
        for game in GAMES:
            start = game.start()
            start = start.act(start.action_at(0.5))
            batch = referee.Batch(game, 40, 7, starts=start)
            for _ in range(60):
                batch.step(batch.random_actions())
            self.assertTrue(any(position.outcome for position in batch.positions()))
            for copied in [*COPIES, referee.Batch.copy]:
                again = copied(batch)
                self.assertEqual(again, batch)
                self.assertEqual(again.positions(), batch.positions())
                for _ in range(20):
                    actions = again.random_actions()
                    again.step(actions)
                    self.assertNotEqual(again, batch)
            again = copied(batch)
            np.testing.assert_array_equal(again.random_actions(), batch.random_actions())
        self.assertNotEqual(referee.Batch(GAMES[0], 2), referee.Batch(GAMES[1], 2))
        self.assertRaises(TypeError, hash, batch)

    def test_positions_of_a_batch(self):
        for game in GAMES:
            starts = [game.start()]
            while starts[-1].outcome is None and len(starts) < 5:
                starts.append(starts[-1].act(starts[-1].action_at(0.7)))
            starts = [start for start in starts if start.outcome is None]
            batch = referee.Batch(game, len(starts), starts=starts)
            self.assertEqual((len(batch), batch.game, batch.positions()), (len(starts), game, starts))
            actions = [int(mask.argmax()) for mask in batch.action_masks]
            batch.step(actions)
            after = [start.act(action) for start, action in zip(starts, actions)]
            self.assertEqual(batch.positions(), after)
            batch.reset([1])
            self.assertEqual(batch.positions(), [after[0], starts[1], *after[2:]])
            batch.reset(np.arange(len(starts)) == 0, starts[2])
            self.assertEqual(batch.positions(), [starts[2], starts[1], *after[2:]])
            batch.reset()
            self.assertEqual(batch.positions(), [starts[2], *starts[1:]])

    def test_games_that_are_over_can_be_shown_and_kept(self):
        batch = referee.Batch(referee.FourInARow(), 30, 1)
        over = np.zeros(30)
        while not over.any():
            _, over = batch.step(batch.random_actions())
        for position, is_over in zip(batch.positions(), over):
            self.assertEqual(position.outcome is not None, bool(is_over))
            self.assertEqual(eval(repr(position)), position)
            self.assertEqual(pickle.loads(pickle.dumps(position)).outcome, position.outcome)


class Equality(unittest.TestCase):
    """Environments and programs are equal by what they are and where they are, as lists are."""

    def differ(self, values):
        for number, value in enumerate(values):
            for other_number, other in enumerate(values):
                self.assertEqual((value == other, value != other), (number == other_number, number != other_number))
            self.assertNotEqual(value, None)
            self.assertNotEqual(value, "quarto")
            self.assertRaises(TypeError, hash, value)

    def test_environments_by_their_state(self):
        for make in ENVIRONMENTS:
            one, other = make(), make()
            self.assertEqual(one, other)
            one.reset(seed=5)
            self.assertNotEqual(one, other)
            other.reset(seed=5)
            self.assertEqual(one, other)
            goes_on = True
            while goes_on:
                choice = random.randrange(300)
                goes_on = act(one, choice)
                self.assertNotEqual(one, other)
                act(other, choice)
                self.assertEqual(one, other)
            one.reset(seed=6)
            self.assertNotEqual(one, other)
            self.assertRaises(TypeError, hash, one)

    def test_environments_whose_agents_have_left(self):
        one, other = quarto_v0.raw_env(), quarto_v0.raw_env()
        position = referee.Quarto().position("IJK............. L", "second")
        for env in (one, other):
            env.reset(options={"position": position})
            env.step(17 * 3 + 16)
            env.step(None)
            self.assertEqual((one == other), env is other)
        one.step(None)
        self.assertNotEqual(one, other)

    def test_an_illegal_action_is_a_state(self):
        for make in (quarto_v0.env, four_in_a_row_v0.env):
            one, other = make(), make()
            for env in (one, other):
                env.reset()
                act(env, 0)
            self.assertEqual(one, other)
            mask = one.observe(one.agent_selection)["action_mask"]
            if mask.all():
                for _ in range(5):
                    one.step(0)
                    other.step(0)
                mask = one.observe(one.agent_selection)["action_mask"]
            one.step(int(mask.argmin()))
            self.assertEqual(one.unwrapped.position, other.unwrapped.position)
            self.assertNotEqual(one, other)

    def test_kinds_games_and_options_differ(self):
        makers = [
            *ENVIRONMENTS,
            lambda: quarto_v0.raw_env(rules="squares"), lambda: quarto_v0.env(GREEK),
            lambda: quarto_v0.parallel_env(rules="squares"), lambda: quarto_v0.gym_env(rules="squares"),
            lambda: quarto_v0.raw_env(render_mode="ansi"), lambda: four_in_a_row_v0.env(render_mode="ansi"),
            lambda: four_in_a_row_v0.parallel_env(render_mode="ansi"), lambda: four_in_a_row_v0.gym_env(render_mode="ansi"),
            lambda: four_in_a_row_v0.gym_env(side="first"), lambda: four_in_a_row_v0.gym_env("builtin:random"),
            lambda: four_in_a_row_v0.gym_env("./mybot"), lambda: four_in_a_row_v0.gym_env(first_turn),
        ]
        self.differ([make() for make in makers])
        environments = [make() for make in makers if make.__name__ != "<lambda>"]
        for env in environments:
            env.reset(seed=1)
        self.differ(environments)

    def test_what_will_be_drawn_counts_where_it_matters(self):
        for arguments, matters in [
            (("builtin:greedy", "first"), True), ((first_turn, "random"), True), ((first_turn, "first"), False)
        ]:
            one, other = (four_in_a_row_v0.gym_env(*arguments) for _ in range(2))
            position = referee.FourInARow().start()
            for env, seed in ((one, 1), (other, 2)):
                env.reset(seed=seed)
                # The opponent may have begun.
                env.position, env.agent_side = position, "first"
            self.assertEqual(one == other, not matters)

    def test_copies(self):
        for make in ENVIRONMENTS:
            for copied in COPIES:
                env = make()
                self.assertEqual(copied(env), env)
                env.reset(seed=3)
                for choice in (3, 2):
                    act(env, choice)
                again = copied(env)
                self.assertIs(type(again), type(env))
                self.assertEqual(again, env)
                if copied is not copy.copy:
                    act(again, 1)
                    self.assertNotEqual(again, env)
                    act(env, 1)
                    self.assertEqual(again, env)

    def test_programs(self):
        program = referee.Program("./mybot", ["--move-time", "100ms"], 3)
        self.differ([
            program, referee.Program("./mybot", ["--move-time", "100ms"]), referee.Program("./mybot", [], 3),
            referee.Program("./yourbot", ["--move-time", "100ms"], 3),
        ])
        for copied in COPIES:
            self.assertEqual(copied(program), program)
            env = quarto_v0.gym_env(program)
            self.assertEqual(copied(env), env)
        self.assertEqual(program, referee.Program("./mybot", ("--move-time", "100ms"), 3))

    def test_games_positions_and_values(self):
        positions = [game.start() for game in GAMES]
        for values in (GAMES, positions, [position.play(position.turns()[0]) for position in positions]):
            for number, value in enumerate(values):
                self.assertEqual([value == other for other in values].count(True), 1)
                self.assertEqual(values.index(copy.deepcopy(value)), number)
                self.assertIn(value, {value: number})
            self.assertNotEqual(values[0], None)


class Processes(unittest.TestCase):
    def test_spawn_and_fork(self):
        position = referee.Quarto().position("A..PC...J..EF... G")
        position.value()  # a solver is there before the fork
        env = quarto_v0.env()
        env.reset()
        gym = four_in_a_row_v0.gym_env()
        gym.reset(seed=3)
        batch = referee.Batch(GAMES[2], 10, 3)
        for method in {"spawn", "fork"} & set(multiprocessing.get_all_start_methods()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of fork
                with multiprocessing.get_context(method).Pool(2) as pool:
                    self.assertEqual(pool.map(solved, [position] * 3), [solved(position)] * 3)
                    self.assertEqual(pool.apply(played, [batch]), played(batch.copy()))
                    for env in (env, gym):
                        self.assertEqual(pool.apply(ends, [copy.deepcopy(env)]), ends(copy.deepcopy(env)))

    def test_threads_share_a_batch(self):
        batch = referee.Batch(referee.Quarto(), 300, 1)
        failures = []

        def work():
            try:
                for _ in range(60):
                    _ = batch.observations, batch.action_masks, batch.copy() == batch, batch.positions()[:1]
                    try:
                        batch.step(batch.random_actions())
                    except ValueError as error:
                        # Another thread has acted in between.
                        if "is not legal" not in str(error):
                            raise
                    batch.reset([0, 1, 2])
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            self.assertFalse(thread.is_alive())
        self.assertEqual(failures, [])

    def test_no_memory(self):
        for count in (10**12, 10**18, 2**63, 10**5000):
            with self.assertRaises((ValueError, MemoryError)) as error:
                referee.Batch(referee.Quarto(), count)
            self.assertIn("1048576", str(error.exception))


class Views(unittest.TestCase):
    def test_an_agent_sees_its_own_discs_first(self):
        env = four_in_a_row_v0.env()
        env.reset()
        for column in (3, 2, 3, 2, 3, 2, 3):
            first, second = (env.observe(agent)["observation"] for agent in ("player_0", "player_1"))
            np.testing.assert_array_equal(first[:, :, ::-1], second)
            board = env.unwrapped.position.board
            np.testing.assert_array_equal(first[:, :, 0], board == 1)
            env.step(column)
        self.assertEqual(env.rewards, {"player_0": 1, "player_1": -1})
        won = env.unwrapped.position
        np.testing.assert_array_equal(env.observe("player_0")["observation"][:, :, 0], won.board == 1)
        np.testing.assert_array_equal(env.observe("player_1")["observation"][:, :, 0], won.board == -1)
        self.assertEqual(won.to_move, "first")
        np.testing.assert_array_equal(won.observation, won.observe("first"))

    def test_both_agents_see_all_pieces(self):
        position = referee.Quarto().position("A..PC...J..EF... G")
        np.testing.assert_array_equal(position.observe("first"), position.observe("second"))

    def test_images(self):
        for make in ENVIRONMENTS:
            env = make(render_mode="rgb_array")
            env.reset(seed=1)
            seen = []
            for choice in range(3):
                seen.append(env.render())
                act(env, choice)
            for image in seen:
                self.assertEqual((image.dtype, image.ndim, image.shape[0], image.shape[2]), (np.uint8, 3, 400, 3))
            self.assertTrue((seen[0] != seen[2]).any())
        won = referee.FourInARow().start()
        for column in "3434343":
            won = won.play(column)
        image = won.image(100)
        self.assertEqual(image.shape[0], 100)
        # Yellow, red and blue of the pages.
        for colour in ([0xF0, 0xBB, 0x35], [0xE0, 0x60, 0x3A], [0x27, 0x50, 0x8F]):
            self.assertTrue((image == colour).all(axis=2).any(), colour)

    def test_which_can_be_parallel(self):
        self.assertFalse(quarto_v0.env().metadata["is_parallelizable"])
        self.assertTrue(quarto_v0.parallel_env().metadata["is_parallelizable"])


class OneAgent(unittest.TestCase):
    def test_gymnasium(self):
        for make in (quarto_v0.gym_env, four_in_a_row_v0.gym_env):
            for mode in (None, "ansi", "rgb_array"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    check_env(make(render_mode=mode), skip_render_check=False)
        env = gymnasium.make("referee.env.quarto_v0:referee/Quarto-v0", opponent="builtin:random", side="second")
        _, info = env.reset(seed=1)
        self.assertEqual(env.unwrapped.position.to_move, "second")
        self.assertEqual(info["action_mask"].sum(), 16 * 15)
        vector = gymnasium.make_vec("referee/FourInARow-v0", 3, vectorization_mode="async")
        seen, _ = vector.reset(seed=2)
        self.assertEqual(seen.shape, (3, 6, 7, 2))
        vector.close()

    def test_a_game_against_each_kind_of_opponent(self):
        Path("first.py").write_text("from referee import bot\nbot.run(lambda question: question.turns()[0])\n")
        program = referee.Program(f"{sys.executable} first.py", ["--sandbox", "none"])
        opponents = ["builtin:greedy", "builtin:perfect?slips=0.5", lambda position: position.turns()[0],
                     lambda position: int(position.action_mask.argmax()), program]
        for opponent in opponents:
            for side in ("first", "second"):
                env = four_in_a_row_v0.gym_env(opponent, side)
                env.reset(seed=3)
                self.assertEqual(env.unwrapped.position.text.count("."), 42 - (side == "second"))
                rewards, over = [], False
                while not over:
                    legal = np.flatnonzero(env.action_masks())
                    self.assertTrue(len(legal))
                    _, reward, over, cut, info = env.step(legal[-1])
                    rewards.append(reward)
                    self.assertFalse(cut)
                outcome = env.position.outcome
                self.assertEqual(rewards[-1], 0 if outcome == "draw" else 1 if outcome == side else -1)
                self.assertEqual(set(rewards[:-1]), {0} if rewards[1:] else set())
                self.assertEqual(info["action_mask"].sum(), 0)
                env.close()

    def in_the_sandbox(self, name, choose):
        """Writes a bot in a folder of its own, which is all that it sees. It chooses by this expression."""
        secret = Path("secret.txt").resolve()
        secret.write_text("not the bot's")
        Path(name).mkdir(exist_ok=True)
        Path(name, "bot.py").write_text(
            "import os, socket, time\n"
            "from referee import bot\n"
            "def sees():\n"
            f"    return 'REFEREE_SOURCES' in os.environ or os.path.exists({str(secret)!r})\n"
            f"bot.run(lambda question: {choose})\n"
        )
        return f"{name}/bot.py"

    def test_a_game_against_a_bot_in_the_sandbox(self):
        spy = self.in_the_sandbox("spy", "question.turns()[-1 if sees() else 0]")
        for module in (four_in_a_row_v0, quarto_v0):
            for side in ("first", "second"):
                env, expected = module.gym_env(spy, side), module.gym_env(first_turn, side)
                self.assertEqual(env.opponent, referee.Program(spy))
                envs = [env, expected]
                for game in (1, 2):
                    for each in envs:
                        each.reset(seed=game)
                    over = False
                    while not over:
                        self.assertEqual(env.position, expected.position)
                        action = np.flatnonzero(env.action_masks())[-1]
                        (seen, *told, info), (others, *others_told, _) = (each.step(action) for each in envs)
                        np.testing.assert_array_equal(seen, others)
                        self.assertEqual(told, others_told)
                        self.assertNotIn("forfeit", info)
                        over = told[1]
                    self.assertEqual(env.position, expected.position)
                asked = env.opponent._asked
                env.close()
                self.assertEqual(asked.returncode, 0)
        # Without the sandbox it sees both.
        env = four_in_a_row_v0.gym_env(referee.Program(f"{sys.executable} {spy}", ["--sandbox", "none"]), "second")
        env.reset()
        self.assertEqual(env.position, referee.FourInARow().start().play("7"))
        env.close()

    def test_a_copy_asks_a_sandbox_of_its_own(self):
        spy = self.in_the_sandbox("spy", "question.turns()[-1 if sees() else 0]")
        env = gymnasium.make("referee.env.quarto_v0:referee/Quarto-v0", opponent=spy, side="second", rules="squares").unwrapped
        env.reset(seed=1)
        for copied in COPIES[1:]:
            again = copied(env)
            self.assertEqual(again, env)
            act(again, 5)
            self.assertNotEqual(again.opponent._asked.pid, env.opponent._asked.pid)
            self.assertNotEqual(again, env)
            other = copied(env)
            act(other, 5)
            self.assertEqual(again, other)
            ends(again)
            again.close()
            other.close()
        env.close()

    def test_what_the_sandbox_forbids_forfeits(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        connects = f"socket.create_connection({server.getsockname()!r}) and question.turns()[0]"
        connects = self.in_the_sandbox("connects", connects)
        writes = self.in_the_sandbox("writes", "open(__file__, 'w').write('') or question.turns()[0]")
        sleeps = self.in_the_sandbox("sleeps", "time.sleep(60)")
        for bot, options, words in [(connects, [], "exited: "), (writes, [], "exited: "), (sleeps, ["--move-time", "200ms"], "timeout: ")]:
            env = four_in_a_row_v0.gym_env(referee.Program(bot, options), "first")
            for _ in range(2):
                env.reset()
                _, reward, over, cut, info = env.step(3)
                self.assertEqual((reward, over, cut), (1, True, False))
                self.assertTrue(info["forfeit"].startswith(words), info)
                self.assertFalse(info["action_mask"].any())
            env.close()
        self.assertIn("import", Path(writes).read_text())

    def test_a_program_and_its_copy(self):
        env = quarto_v0.gym_env("builtin:greedy")
        asked = quarto_v0.gym_env(referee.Program("builtin:greedy", ["--sandbox", "none"]), "second")
        asked.reset(seed=1)
        again = copy.deepcopy(asked)
        ends(asked)
        ends(again)
        asked.close()
        again.close()
        del env, asked, again
        gc.collect()

    def test_a_bot_that_breaks_forfeits(self):
        Path("broken.py").write_text("input()\nprint('what?')\n")
        for bot, words in [(f"{sys.executable} broken.py", "malformed")]:
            env = four_in_a_row_v0.gym_env(referee.Program(bot, ["--sandbox", "none"]), "first")
            env.reset()
            _, reward, over, _, info = env.step(3)
            self.assertEqual((reward, over), (1, True))
            self.assertIn(words, info["forfeit"])
        env = four_in_a_row_v0.gym_env("nothing.py", "first")
        env.reset()
        with self.assertRaises(ValueError) as error:
            env.step(3)
        self.assertIn("nothing.py", str(error.exception))

    def test_any_seed_is_one_or_refused(self):
        for make in ENVIRONMENTS:
            for seed in (0, 2**70, np.int64(3), True, None):
                make().reset(seed=seed)
            for seed in (-1, np.int64(-1)):
                with self.assertRaises(ValueError) as error:
                    make().reset(seed=seed)
                self.assertIn("seed is -1", str(error.exception))
            self.assertRaises(TypeError, make().reset, seed=0.5)

    def test_an_illegal_action_loses(self):
        env = four_in_a_row_v0.gym_env(lambda position: 3, "first")
        env.reset()
        for _ in range(3):
            seen, reward, over, _, info = env.step(3)
        _, reward, over, _, info = env.step(3)
        self.assertEqual((reward, over, info["illegal"]), (-1, True, True))

    def test_bots_choose_as_the_program_says(self):
        for game in GAMES:
            position = game.start()
            while position.outcome is None:
                turn = position.choose("builtin:greedy", 3)
                self.assertEqual(turn, position.choose("greedy", 3))
                self.assertIn(turn, position.turns())
                position = position.play(turn)


class Package(unittest.TestCase):
    def test_version_and_extras(self):
        self.assertEqual(referee.__version__, importlib.metadata.version("referee"))
        metadata = importlib.metadata.metadata("referee")
        self.assertLessEqual({"env", "examples"}, set(metadata.get_all("Provides-Extra")))

    def test_an_example_says_what_it_needs(self):
        done = subprocess.run([sys.executable, SOURCES / "examples" / "learn.py"], stderr=subprocess.PIPE, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"usage: learn.py", done.stderr)


if __name__ == "__main__":
    unittest.main()

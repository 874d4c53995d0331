#!/usr/bin/env python3
"""Learns Four In A Row by the MaskablePPO of sb3-contrib, against built-in bots, and writes what it has learnt as a bot.

    pip install "referee-….whl[env]" sb3-contrib
    mkdir bots && python maskable_ppo.py bots/ppo.py
    referee tournament --game four-in-a-row bots builtin:random builtin:greedy
"""

import argparse

from network import write_bot
from sb3_contrib import MaskablePPO

from referee.env import four_in_a_row_v0


def layers(policy):
    """What the policy computes: two layers with tanh, and the numbers of the actions."""
    linear = [policy.mlp_extractor.policy_net[0], policy.mlp_extractor.policy_net[2], policy.action_net]
    return [(layer.weight.detach().cpu().numpy().T, layer.bias.detach().cpu().numpy()) for layer in linear]


def main():
    parser = argparse.ArgumentParser(description="Learns Four In A Row by MaskablePPO, and writes a bot.")
    parser.add_argument("bot", help="the file to write, such as bots/ppo.py")
    parser.add_argument("--steps", type=int, default=50_000, help="turns to learn from, against each opponent")
    arguments = parser.parse_args()
    model = None
    for opponent in ("builtin:random", "builtin:greedy"):
        env = four_in_a_row_v0.gym_env(opponent)
        if model is None:
            model = MaskablePPO("MlpPolicy", env, seed=1, device="cpu", n_steps=min(2048, arguments.steps))
        else:
            model.set_env(env)
        model.learn(arguments.steps)
        won = [info["r"] for info in model.ep_info_buffer]
        print(f"against {opponent}: {sum(won) / max(len(won), 1):+.2f} points a game in the last {len(won)} games")
    write_bot(arguments.bot, layers(model.policy), "maskable_ppo.py")


main()

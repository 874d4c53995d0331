#!/bin/sh
# Makes the sets of puzzles that are part of the program: puzzles/quarto.jsonl and puzzles/four-in-a-row.jsonl.
#
#   cargo build --release && scripts/puzzles/make.sh [quarto|four-in-a-row]
#
# Built-in bots play each other, and 300 puzzles are made of their mistakes, spread over levels and kinds. The same
# seeds give the same games and the same sets, as long as every position is proven in its time; what was not is said.
# It takes some minutes on two cores.
set -eu

cd "$(dirname "$0")/../.."
referee=${REFEREE:-target/release/referee}
games=$(mktemp -d)
trap 'rm -rf "$games"' EXIT

# A match: the game, how many games, and two bots.
play() {
    "$referee" --game "$1" -n "$2" --seed "$2" --sandbox none --record "$games/$1.jsonl" "builtin:$3" "builtin:$4" > "$games/out"
}

for game in ${1:-quarto four-in-a-row}; do
    case $game in
    quarto)
        play quarto 200 random random
        play quarto 201 random greedy
        play quarto 400 greedy 'search?depth=2'
        play quarto 401 'search?depth=2' 'search?depth=3'
        play quarto 102 'search?depth=3' 'search?depth=4'
        play quarto 163 'perfect?slips=0.3' 'search?depth=3'
        play quarto 104 'perfect?slips=0.5' 'perfect?slips=0.1'
        ;;
    four-in-a-row)
        play four-in-a-row 2000 random random
        play four-in-a-row 201 random greedy
        play four-in-a-row 202 greedy 'search?depth=2'
        play four-in-a-row 203 'search?depth=2' 'search?depth=3'
        play four-in-a-row 204 'search?depth=3' 'search?depth=4'
        ;;
    esac
    "$referee" puzzles make "$games/$game.jsonl" --limit 300 --time-per-move 1m -o "puzzles/$game.jsonl"
done

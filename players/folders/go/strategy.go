// What the bot plays: change this.
package main

import (
	"math/rand"
	"os"
	"strconv"
)

// The same seed plays the same game again.
var random = rand.New(rand.NewSource(seed()))

func seed() int64 {
	number, _ := strconv.ParseInt(os.Getenv("REFEREE_SEED"), 10, 64)
	return number
}

// choose returns a cell for the piece, and a piece for the opponent.
func choose(board, piece string, cells, left []string) (string, string) {
	return cells[random.Intn(len(cells))], left[random.Intn(len(left))]
}

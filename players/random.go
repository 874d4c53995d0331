// A random player: any free cell, any piece left.
//
// Run it:  go run random.go                 (Debian package: golang-go)
// Build:   go build -o random-go random.go
// It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"
)

// readPieces returns the characters that stand for the pieces.
func readPieces() []string {
	path := os.Getenv("REFEREE_PIECES")
	if path == "" {
		return strings.Split("ABCDEFGHIJKLMNOP", "")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var pieces []string
	for _, row := range strings.Split(string(text), "\n")[1:] { // without the header
		row = strings.TrimPrefix(strings.TrimSpace(row), `"`) // a field may be quoted
		if row != "" {
			pieces = append(pieces, strings.SplitN(row, "", 2)[0])
		}
	}
	return pieces
}

func main() {
	seed, err := strconv.ParseInt(os.Getenv("REFEREE_SEED"), 10, 64)
	if err != nil {
		seed = time.Now().UnixNano()
	}
	random := rand.New(rand.NewSource(seed))
	choose := func(items []string) string {
		if len(items) == 0 {
			return "-"
		}
		return items[random.Intn(len(items))]
	}
	pieces := readPieces()

	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		fields := strings.Fields(input.Text())
		board, hand := fields[0], fields[1]
		var cells, left []string
		if hand != "-" { // there is a piece to place
			for i, piece := range strings.Split(board, "") {
				if piece == "." {
					cells = append(cells, strconv.Itoa(i+1))
				}
			}
		}
		for _, piece := range pieces {
			if !strings.Contains(board, piece) && piece != hand {
				left = append(left, piece)
			}
		}
		fmt.Fprintln(os.Stderr, "info gifts", len(left)) // what it thinks, for its record
		fmt.Println(choose(cells), choose(left)) // not buffered
	}
}

// Reads a question a line, and prints the answer of strategy.go.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		question := strings.Fields(input.Text())
		board, piece := question[0], question[1]
		var cells, left []string
		for i := 0; i < 16; i++ {
			if board[i] == '.' && piece != "-" {
				cells = append(cells, fmt.Sprint(i+1))
			}
			if symbol := string(rune('A' + i)); !strings.Contains(board, symbol) && piece != symbol {
				left = append(left, symbol)
			}
		}
		if len(cells) == 0 {
			cells = []string{"-"}
		}
		if len(left) == 0 {
			left = []string{"-"}
		}
		cell, gift := choose(board, piece, cells, left)
		fmt.Println(cell, gift)
	}
}

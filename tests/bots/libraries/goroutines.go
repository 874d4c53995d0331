// Goroutines on all processors.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
)

func answer(line string) string {
	board, piece, _ := strings.Cut(line, " ")
	left := make([]bool, 16)
	var all sync.WaitGroup
	for i := 0; i < 16; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			left[i] = !strings.ContainsRune(line, rune('A'+i))
		}(i)
	}
	all.Wait()
	cell, gift := "-", "-"
	if piece != "-" {
		cell = fmt.Sprint(strings.Index(board, ".") + 1)
	}
	for i := 15; i >= 0; i-- {
		if left[i] {
			gift = string(rune('A' + i))
		}
	}
	return cell + " " + gift
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		fmt.Println(answer(input.Text()))
	}
}

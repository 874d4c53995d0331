// Reads a question a line, and prints the answer of strategy.ts.
import { choose } from "./strategy";

declare function require(name: string): any;
declare const process: any;

const PIECES = "ABCDEFGHIJKLMNOP".split("");

require("readline").createInterface({ input: process.stdin }).on("line", (line: string) => {
  const [board, piece] = line.split(" ");
  const free = board.split("").map((symbol, index) => (symbol === "." ? String(index + 1) : ""));
  const cells = piece === "-" ? ["-"] : free.filter((cell) => cell !== "");
  const left = PIECES.filter((symbol) => line.indexOf(symbol) < 0);
  const [cell, gift] = choose(board, piece, cells, left.length ? left : ["-"]);
  console.log(`${cell} ${gift}`);
});

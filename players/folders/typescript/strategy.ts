// What the bot plays: change this.

declare const process: any;

// The same seed plays the same game again: mulberry32.
let state = Number(process.env.REFEREE_SEED || 1) | 0;
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

const one = (all: string[]): string => all[Math.floor(random() * all.length)];

/** A cell for the piece, and a piece for the opponent. */
export function choose(board: string, piece: string, cells: string[], left: string[]): [string, string] {
  return [one(cells), one(left)];
}

// What the bot plays: change this.

// The same seed plays the same game again: mulberry32.
let state = Number(process.env.REFEREE_SEED ?? 1) | 0;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

const one = (all) => all[Math.floor(random() * all.length)];

// A cell for the piece, and a piece for the opponent.
exports.choose = (board, piece, cells, left) => [one(cells), one(left)];

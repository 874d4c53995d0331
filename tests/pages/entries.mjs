// Games as `crates/report/src/html/pack.rs` packs them.

export const EDITION = ["e", "quarto", "standard", null];

// An entry; `more` are fields by name, of those that may be missing, too.
export function entry(more) {
  const fields = {
    edition: 0,
    bots: [0, 1],
    first: 0,
    winner: -1,
    reason: "draw",
    started: null,
    id: "p000001a",
    turns: "- K\t1 A\t5 C",
    times: "7a123b600f",
    lines: "",
    phases: [6, 10],
    ...more,
  };
  const { edition, bots, first, winner, reason, started, id, turns, times, lines, phases } = fields;
  const optional = ["fault", "start", "analysis", "remark", "movers", "drawings", "info"].map(
    (name) => fields[name] ?? null,
  );
  while (optional.at(-1) === null) optional.pop();
  return ["g", edition, ...bots, first, winner, reason, started, id, turns, times, lines, phases, ...optional];
}

export const BOTS = [
  ["b", "ann", "./ann"],
  ["b", "bob", "./bob"],
];

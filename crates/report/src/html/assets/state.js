// What outlives a view: what the page knows, and what its reader has chosen.

/** @type {Figures} */
const NO_FIGURES = {
  games: 0,
  advantage: null,
  advantage_error: null,
  columns: [],
  places: [],
  separate: null,
  met: [],
  times: [],
  endings: {},
  lengths: [],
  history: [],
  absent: [],
  changed: [],
  order: "points",
  course: null,
  move_times: [],
};

export const known = {
  head: /** @type {Head} */ ({ title: "" }),
  bots: /** @type {Bot[]} */ ([]),
  editions: /** @type {Edition[]} */ ([]),
  texts: /** @type {string[]} */ ([]),
  games: /** @type {GameSummary[]} */ ([]),
  figures: NO_FIGURES,
  // The list of games that was shown last: its address, and a function that gives its numbers in their order.
  list: /** @type {{ address: string, numbers: () => number[] } | null} */ (null),
  // Why the games are not there, as a sentence; empty when they are.
  unread: "",
};

export const clear = () =>
  Object.assign(known, { bots: [], editions: [], texts: [], games: [], figures: NO_FIGURES, list: null });

// Kept when a view is drawn again, and from game to game. An object with `all` remembers that the rest of a long list
// was asked for.
export const reader = {
  // Standings: the column by which they are sorted and its direction, the page, and the bots whose curves are
  // highlighted.
  standingsOrder: /** @type {[string, number]} */ (["rank", 1]),
  standingsPage: { page: 0 },
  curves: /** @type {Set<number> | null} */ (null),
  // The list of games: the same, the page of the list with these filters, and whether filters are unfolded, as they are
  // at first unless on a phone.
  gamesOrder: /** @type {[string, number]} */ (["number", 1]),
  gamesPage: { page: 0, filters: "" },
  hasFilters: globalThis.innerWidth > 760,
  // Long lists.
  times: { all: false },
  cross: { all: false },
  forfeits: { all: false },
  bracket: { all: false },
  rounds: { all: false },
  accuracy: { all: false },
  opponents: { all: false },
  // The mistake that was shown last, by the count that led to it, so that the count leads to the next one.
  visited: /** @type {Map<string, number>} */ (new Map()),
  // The milliseconds between two turns of a replay.
  pace: "800",
  // Whether the better turn after a mistake is hidden until it is asked for.
  hidesSolutions: false,
  // Whether the values of turns are shown, or hidden until a turn is made, and who answers the reader's turns.
  showsValues: false,
  practises: false,
  opponent: /** @type {Opponent} */ (""),
};

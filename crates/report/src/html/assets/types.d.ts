// Types of what the pages read and pass around, for editors and `tsc`; no page has this file.
//
// They are known in all modules without an import. What Rust writes is packed by `pack.rs`, `figures.rs`
// and `page.rs`, and, of live pages, by `stage.rs` of `crates/server`.

// --- the data of a page -------------------------------------------------------------------------

/** The content of `<script id="data">` of a report. */
interface PageData {
  head: Head;
  figures?: Figures;
  entries?: Entry[];
  /** Games of a large page: columns of entries, compressed, in base 64. */
  games?: string;
}

interface Head {
  title: string;
  private?: boolean;
  live?: boolean;
  /** Whether it is the page of a single game. */
  one?: boolean;
  /** The bot whose games these are. */
  own?: string | null;
  standing?: Partial<Place> | null;
  kept?: number;
  limits?: { limit: string; strict: boolean; by: string }[];
  /** Whether a server sends the games. */
  served?: boolean;
  /** The address, before a bot's name, where a game against it may be asked for. */
  play_at?: string;
}

type Entry =
  | ["b", name: string, command: string]
  | ["e", game: string, rules: string, pieces: string | null]
  | ["t", text: string]
  | GameEntry;

/** Fields at the end may be missing; in columns they are null. */
type GameEntry = [
  kind: "g",
  edition: number,
  firstBot: number,
  secondBot: number,
  firstMover: number,
  winner: number,
  reason: string,
  started: number | null,
  id: string,
  turns: string,
  times: string,
  lines: string,
  phases: [middlegame: number, endgame: number],
  fault?: PackedFault | null,
  start?: string | null,
  notes?: PackedNotes | null,
  remark?: string | null,
  movers?: string | null,
  drawings?: Drawing[] | null,
  info?: [turn: number, said: Said][] | null,
];

/** A side and numbers of texts; -1 for none. */
type PackedFault = [by: number, answer: number, detail: number, stderr: number, again: number];

/** Of each turn its value, the best one and the length in base 36, a character each; and notes on single turns. */
type PackedNotes = [values: string, bests: string, distances: string, more: PackedNote[]];

type PackedNote = [turn: number, mark?: string, better?: string, remark?: string, betterLine?: string, missed?: string];

/** For the side that made the turn; empty where it is unknown. */
type Value = "w" | "d" | "l" | "";

/** What a bot said of its thinking. */
type Said = Record<string, number | string>;

interface Bot {
  name: string;
  command: string;
}

interface Edition {
  game: string;
  rules: string;
  pieces: string | null;
}

/** A game of the list. Bots are numbers of bots. */
interface GameSummary {
  number: number;
  /** As in the record. */
  bots: [number, number];
  edition: number;
  /** In the order of their turns. */
  sides: [number, number];
  /** -1 for a draw. */
  winner: number;
  loser: number;
  reason: string;
  /** Seconds since 1970. */
  started: number | null;
  id: string;
  /** The number of turns. */
  length: number;
  forfeit: boolean;
  /** The board from which it began; empty for that of the rules. */
  start: string;
  /** The first turns of the middlegame and of the endgame, from 1. */
  phases: [number, number];
  lines: string;
  remark: string;
  notes: PackedNotes | null;
  /** The sides of all turns, a digit each, if they do not alternate. */
  movers: string | null;
  drawings: Drawing[] | null;
  packed: { turns: string; times: string; fault: PackedFault | null; info: [number, Said][] };
  judged?: JudgedTurn[];
}

/** A game with all that is known of it. */
interface Game extends Omit<GameSummary, keyof Edition>, Edition {
  turns: string[];
  /** Milliseconds. */
  times: number[];
  fault: Fault | null;
  /** By turn, from 1. */
  analysis: Map<number, Note>;
  /** The side that made a turn, both counted from 0. */
  sideOf: (turn: number) => number;
  info: Map<number, Said>;
}

interface Fault {
  by: number;
  answer: string;
  detail: string;
  stderr: string;
  again: string;
}

interface Note {
  value: Value;
  best: Value;
  /** In how many turns the game ends; 0 where it is not known. */
  ahead: number;
  mark: string;
  better: string;
  remark: string;
  betterLine: string[];
  missed: boolean;
}

interface JudgedTurn {
  game: GameSummary;
  turn: number;
  value: Value;
  best: Value;
  remark: string;
  missed: boolean;
  isKnown: boolean;
  bot: number;
  /** A place in PHASES. */
  phase: number;
  /** By how much the result got worse: from a win to a loss by 2. */
  lost: number;
}

// --- figures of all games -----------------------------------------------------------------------

interface Figures {
  games: number;
  advantage: number | null;
  advantage_error: number | null;
  columns: [key: string, title: string, format: string][];
  places: Place[];
  separate: string | null;
  /** Of the first of two bots, when it moved first. */
  met: [first: number, second: number, wins: number, draws: number, losses: number][];
  /** By bot: the first bar, and counts. */
  times: number[][];
  endings: Record<string, number>;
  lengths: number[];
  history: [games: number, rated: Rated[]][];
  absent: { name: string; absence: Absence | null }[];
  changed?: string[];
  order: string;
  rule?: string;
  course: Course | null;
  move_times: (number | null)[];
}

type Rated = [bot: number, games: number, elo: number, interval: [number | null, number | null]];

/** Solved turns, those that kept the value, blunders, and missed wins. */
type PhaseSums = [number, number, number, number];

/** A row of the standings. */
interface Place {
  bot: number;
  rank: number;
  shared: boolean;
  moved: number | "new";
  reached?: string;
  table: number;
  games: number;
  wins: number;
  draws: number;
  losses: number;
  byes?: number;
  bye_points: number;
  points: number;
  score: number;
  elo: number;
  elo_low: number | null;
  elo_high: number | null;
  los: number | null;
  median_ms: number | null;
  p95_ms: number | null;
  worst_ms: number | null;
  accuracy: number | null;
  blunders: number | null;
  missed_wins: number | null;
  forfeits: Record<string, number>;
  fixes?: {
    /** By reason: the number of the game, and a command. */
    again: Record<string, [number: number, command: string]>;
    longest: [ms: number, limit: number, number: number, turn: number] | null;
  };
  phases?: PhaseSums[];
  /** Of how many, on the page of one bot. */
  of?: number;
  /** Other columns by their keys. */
  [column: string]: string | number | boolean | object | null | undefined;
}

interface Absence {
  problem: string;
  asked?: string;
  stderr?: string;
  fix?: string;
  again?: string;
}

/** Bots are numbers of the tournament's bots. */
interface Course {
  format: string;
  limits: { move_time: number | null; game_time: number | null; increment: number } | null;
  pairs: number;
  /** The number of the bot on this page; null before its first game. */
  bots: [name: string, bot: number | null][];
  rounds_planned: number;
  games_planned: number | null;
  rounds: { meetings: PackedMeeting[]; byes: [bot: number, halfPoints: number][] }[];
  groups: { bot: number; half_points: number; games: number; advances: boolean }[][];
  bracket: BracketPlace[][];
  seeds: number[];
  champion: number | null;
  silent: number[];
  early: string | null;
  next: { bots: [number, number]; pairs: [number, number] }[];
}

interface BracketPlace {
  bots: [number | null, number | null];
  bye: boolean;
  meeting: PackedMeeting | null;
}

interface PackedMeeting {
  bots: [number, number];
  half_points: [number, number];
  games: number;
  pairs: [first: number, last: number];
  tie_break?: { half_points: [number, number]; games: number; pairs: number[] };
  winner: [side: number, why: string] | null;
}

interface Meeting {
  bots: [number, number];
  points: number[];
  games: number;
  total: number;
  first: number;
  last: number;
  /** What followed a tied match. */
  extra: { points: number[]; games: number; pairs: number[] } | null;
  /** Who advances; -1 where it is not decided. */
  side: number;
  why: string;
}

// --- what a server says -------------------------------------------------------------------------

/** A game that is being played, as `stage.rs` packs it. */
interface Table {
  t: number;
  id: string;
  b: [string, string];
  me: number | null;
  s: string;
  m: string[];
  n: number;
  by: number | null;
  to: number | null;
  since: number;
  left: [number | null, number | null];
  limit: [number | null, number | null];
  last: [number | null, number | null];
  d: Drawing | null;
}

type PackedEdition = [game: string, rules: string, pieces: string | null];

type TablesEvent = [now: number, { played: number; expected: number | null; left: number | null; tables: Table[] }];

interface ServerState {
  state: string;
  checked?: [number: number, of: number];
  /** Of what has ended: a sentence. */
  why?: string;
}

// --- positions ----------------------------------------------------------------------------------

/** A game from a position on, as the rules are asked of it. */
interface PlayedGame extends Edition {
  start?: string | null;
  turns: string[];
  drawings?: Drawing[] | null;
  /** Whether it is a position, not the start of a game. */
  isPosition?: boolean;
}

/** A position of a game that is a program: `crates/report/src/html/drawings.rs`. */
interface Drawing {
  r?: string;
  w?: string;
  c?: string[][];
  h?: string[];
  v?: string[];
  l?: [row: number, column: number];
  x?: [row: number, column: number][];
  t?: string[];
  s?: Tree;
}

/** An element to draw. */
type Tree = [tag: string, attributes: Record<string, string>, children: (Tree | string)[]];

/** What the rules say of a position. */
interface RulesState {
  words: string;
  advice: string;
  /** To move; -1 where that is not known. */
  side: number;
  over: boolean;
  won: boolean;
  empty: boolean;
  hand: string | null;
  /** Pieces that can be given; null in games without any. */
  left: string[] | null;
  request: string;
  drawing?: Drawing;
}

interface State extends RulesState {
  game: PlayedGame;
  turns: string[];
}

interface PieceSet {
  builtin: boolean;
  all: [symbol: string, words: string, tree: Tree][];
  legend: [title: string, part: string, samples: [word: string, tree: Tree][]][];
  bySymbol: Map<string, { words: string; tree: Tree }>;
}

/** The functions of `crates/web`. */
interface RulesModule extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  buffer: (length: number) => number;
  answer: () => number;
  output: () => number;
  book: () => boolean;
}

/** A question to a module; what the answer is depends on the verb. */
type Ask = <T>(...fields: string[]) => T;

type Asking = (wasm: RulesModule) => { give: (bytes: Uint8Array) => void; ask: Ask };

/** What a turn is worth for the side that makes it, and in how many turns the game ends. */
interface Worth {
  value: "win" | "draw" | "loss" | null;
  plies: number | null;
}

interface WorthOfTurn extends Worth {
  turn: string;
  /** The cell or column. */
  first: string;
  gift: string | null;
}

/** What a worker answers. */
interface Solved {
  id?: number;
  values?: Record<string, Worth>;
  line?: string[];
  notes?: PackedNotes;
  done?: boolean;
  error?: string;
}

// --- elements and views -------------------------------------------------------------------------

type Child = Node | string | number | boolean | null | undefined | Child[];

type Listener<E extends Event, T extends Element> = (event: E & { target: T; currentTarget: T }) => unknown;

interface Attributes {
  onclick?: Listener<MouseEvent, HTMLElement>;
  onkeydown?: Listener<KeyboardEvent, HTMLElement>;
  onchange?: Listener<Event, HTMLInputElement>;
  oninput?: Listener<Event, HTMLInputElement>;
  ontoggle?: Listener<Event, HTMLDetailsElement>;
  onsubmit?: Listener<Event, HTMLFormElement>;
  [name: string]: string | number | boolean | null | undefined | ((event: never) => unknown);
}

type TagOf<Kind extends string> = Kind extends `${infer Tag}.${string}` ? Tag : Kind;

/** Makes an element, `tag.class.class`. */
type Creator<Tags, Other> = <Kind extends string>(
  kind: Kind,
  ...children: (Child | Attributes)[]
) => TagOf<Kind> extends keyof Tags ? Tags[TagOf<Kind>] : Other;

/** Remembers that the rest of a long list was asked for. */
interface Unfolded {
  all: boolean;
}

interface View {
  node: Node;
  /** Whether it is made again with new games. */
  again?: boolean;
  /** Draws it with new games; false when it must be made again. */
  update?: () => boolean;
  leave?: () => void;
  /** Of a game. */
  number?: number;
  turn?: (turn: number | undefined) => void;
  key?: (event: KeyboardEvent) => void;
}

interface Column<Row> {
  key: string;
  title: string;
  /** The sort key, and the content of the cell where `show` does not make it. */
  value: (row: Row) => string | number | null | undefined;
  show?: (row: Row) => Child;
  /** Left-aligned, and sorted upwards first. */
  text?: boolean;
  rising?: boolean;
  /** Whether it heads the row. */
  head?: boolean;
  kind?: string;
  hint?: string;
}

interface RatingScale {
  from: number;
  to: number;
  at: (elo: number) => string;
}

/** A game on the stage: what it is now, and what is shown of it. */
interface Seat {
  now: Table;
  gone: boolean;
  shown: Table;
  /** Its record, when it has ended. */
  game: GameSummary | null;
  over: number;
  missed: number | null;
  turn: number;
  stepped: number;
  ended: number;
}

/** What is drawn of a seat. */
interface Scene {
  key: string;
  names: string[];
  turn: number;
  over: boolean;
  game: PlayedGame & { times?: number[] };
  state: State | undefined;
  made: number;
  winner: number | null;
  text: string;
  last: { by: string; side: number; words: string } | null;
  to: number | null;
  table: Table | null;
  moves: string[];
}

/** What the stage follows. */
interface Followed {
  bot: string | null;
  table: number | null;
}

// --- puzzles and boards -------------------------------------------------------------------------

interface PuzzlePageData {
  head: Head;
  editions: Edition[];
  puzzles: PackedPuzzle[];
}

type PackedPuzzle = [
  edition: number,
  id: string,
  position: string,
  kind: string,
  value: string,
  answers: string[],
  turns: number,
  level: number,
  failed: number,
  asked: number,
];

interface Puzzle {
  number: number;
  id: string;
  position: string;
  kind: string;
  value: string;
  answers: string[];
  turns: number;
  level: number;
  failed: number;
  asked: number;
  game: PlayedGame;
}

/** The turn that is being chosen, and what follows a wrong one. */
interface Attempt {
  number: number;
  cell: string | null;
  answer: string | null;
  /** Whether all right turns are shown. */
  isShown: boolean;
  line: State[] | null;
  /** The shown place of the line. */
  at: number;
}

interface BoardPageData {
  head: Head;
  edition: Edition;
  position: string;
}

/** A point of a curve: the rating after some games, with its interval. */
interface RatingPoint {
  games: number;
  elo: number;
  from: number | null;
  to: number | null;
}

/** What the keyboard reaches. */
type Focusable = (HTMLElement | SVGElement) & { disabled?: boolean; hidden?: boolean };

interface SortableOptions<Row> {
  caption: string;
  columns: Column<Row>[];
  /** Asked for again when the table is drawn again. */
  rows: () => Row[];
  /** The key of the column by which it is sorted, and its direction, 1 or -1; changed when the reader sorts. */
  sorted: [key: string, direction: number];
  /** Rows of a page; all without it. */
  size?: number;
  kind: string;
  /** Keeps the page for the next time. */
  at?: { page: number };
}

type Unproven = { value: null; plies: null };

/** What the address of a report names. */
type Address =
  | { kind: "stage" | "games"; fields: URLSearchParams }
  | { kind: "play" | "overview" }
  | { kind: "game"; number: number; turn: number | undefined; line: string | null }
  | { kind: "bot" | "absent"; number: number };

/** Who answers the reader's turns. */
type Opponent = "" | "perfect" | "slips" | "greedy";

/** Not yet known to `tsc`. */
declare var trustedTypes:
  | { createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): string } }
  | undefined;

/** Games before a position: the better turn, or with a title a game that proves it. */
interface ShownLine {
  turn: number;
  title: string;
  states: State[];
  place: number;
}

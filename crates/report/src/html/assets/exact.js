// Exact values of turns, by the rules and solvers of `crates/web` in a worker.

import { bytesOf, messageOf } from "./dom.js";
import { asking, compiled, edition, embedded } from "./rules.js";

/**
 * The worker. It is made of this function's text, so it uses nothing outside of it.
 *
 * @param {Asking} asking
 */
function solverWorker(asking) {
  // The first search of a turn; each one after it may be larger, so that what is proven soon is shown soon.
  const NODES = 100000;
  /** @type {Ask} */
  let ask;
  let current = 0;

  const pause = () =>
    new Promise((resume) => {
      setTimeout(resume);
    });

  /**
   * Sends what is proven, again and again until everything is: first who wins, then in how many turns. A share is the
   * number of one turn, or null for all.
   *
   * @param {number} id
   * @param {string[]} position
   * @param {number | null} share
   */
  async function solve(id, position, share) {
    /** @type {string[]} */
    const turns = ask("turns", ...position);
    /** @type {Record<string, Worth>} */
    const values = Object.fromEntries(turns.map((turn) => [turn, { value: null, plies: null }]));
    let sent = 0;
    /** @type {[verb: string, isOpen: (worth: Worth) => boolean][]} */
    const searches = [
      ["value", ({ value }) => value === null],
      ["distance", ({ value, plies }) => value !== "draw" && plies === null],
    ];
    for (const [verb, isOpen] of searches) {
      let open = turns.filter((turn, at) => (share ?? at) === at && isOpen(values[turn]));
      for (let nodes = NODES; open.length > 0; nodes *= 4) {
        for (const turn of open) {
          values[turn] = ask(verb, ...position, turn, String(nodes));
          if (performance.now() - sent > 60) {
            postMessage({ id, values });
            sent = performance.now();
            await pause();
            if (current !== id) return;
          }
        }
        open = open.filter((turn) => isOpen(values[turn]));
      }
    }
    postMessage({ id, values, done: true });
  }

  self.onmessage = async ({ data }) => {
    if (data.module) {
      const wasm = /** @type {RulesModule} */ (new WebAssembly.Instance(data.module).exports);
      const solver = asking(wasm);
      ask = solver.ask;
      if (data.book) {
        solver.give(data.book);
        wasm.book();
      }
      return;
    }
    const { id, line, game, position, share } = data;
    current = id;
    try {
      if (line) postMessage({ id, line: ask("line", ...line, String(64 * NODES)), done: true });
      else if (game) postMessage({ id, notes: ask("analyse", ...game) });
      else if (position) await solve(id, position, share);
    } catch (error) {
      postMessage({ id, error: error instanceof Error ? error.message : String(error) });
    }
  };
}

// What workers are made of; the page's policy allows this only, and only where there is something to solve.
/** @type {string | null} */
let workerAddress = null;

/** @param {(data: Solved, worker: Worker) => void} listen */
async function newWorker(listen) {
  const module = await compiled();
  if (workerAddress === null) {
    const url = URL.createObjectURL(new Blob([`(${solverWorker})(${asking})`], { type: "text/javascript" }));
    workerAddress =
      globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: () => url }).createScriptURL("") ?? url;
  }
  const worker = new Worker(workerAddress);
  worker.onmessage = ({ data }) => listen(data, worker);
  worker.postMessage({ module, book: embedded("book") && bytesOf(embedded("book")) });
  return worker;
}

// The workers that have been started.
/** @type {Promise<Worker>[]} */
const solvers = [];
let asked = 0;
/** @type {((found: Solved, worker: Worker) => void) | null} */
let listener = null;

/**
 * Turns of Quarto are quicker solved by one worker, which keeps what it has proven of the others.
 *
 * @param {Edition} game
 */
const workersFor = (game) => (game.game === "four-in-a-row" ? Math.min(4, navigator.hardwareConcurrency ?? 1) : 1);

/**
 * Asks for the values of all turns in a position; `listen({values, done, error})` is called as they are proven.
 * Only the last question is answered.
 *
 * @param {Edition} game
 * @param {string} request
 * @param {(found: Solved) => void} listen
 */
export function askValues(game, request, listen) {
  const parts = workersFor(game);
  let shares = parts;
  let open = parts;
  /** @type {Record<string, Worth>} */
  const all = {};
  return askWorkers("position", parts, game, request, ({ values = {}, done, error }, solve) => {
    for (const [turn, worth] of Object.entries(values)) {
      if (!(turn in all) || worth.value !== null) all[turn] = worth;
    }
    if (done && parts > 1 && shares < Object.keys(all).length) solve(shares++);
    else if (done) open -= 1;
    listen({ values: { ...all }, done: open === 0, error });
  });
}

/**
 * Asks for the turns of best play by both sides, `{line}`.
 *
 * @param {Edition} game
 * @param {string} request
 * @param {(found: Solved) => void} listen
 */
export const askLine = (game, request, listen) => askWorkers("line", 1, game, request, listen);

/**
 * @param {"position" | "line"} what
 * @param {number} parts
 * @param {Edition} game
 * @param {string} request
 * @param {(found: Solved, solve: (share: number) => void) => void} listen
 */
async function askWorkers(what, parts, game, request, listen) {
  asked += 1;
  const id = asked;
  const question = { id, [what]: [...edition(game), request] };
  listener = (data, worker) => listen(data, (share) => worker.postMessage({ ...question, share }));
  try {
    for (let part = 0; part < parts; part += 1) {
      solvers[part] ??= newWorker((data, worker) => {
        if (data.id === asked) listener?.(data, worker);
      });
    }
    const started = await Promise.all(solvers);
    started.forEach((worker, part) => {
      worker.postMessage(part < parts ? { ...question, share: parts > 1 ? part : null } : { id });
    });
  } catch (error) {
    if (id === asked) listen({ error: messageOf(error) }, () => {});
  }
}

// What was asked for is not wanted any more.
export async function stopSolving() {
  asked += 1;
  listener = null;
  const id = asked;
  for (const solver of solvers) {
    // One that could not start has told so.
    (await solver.catch(() => null))?.postMessage({ id });
  }
}

// Another worker analyses games, so that the values of a position do not wait for it.
/** @type {Promise<Worker> | null} */
let analyst = null;
/** @type {(found: Solved) => void} */
let heard = () => {};
// For each value, as much as a second or so.
const EFFORT = 4000000;

/**
 * The analysis of a game, as in the data of a page; one after the other.
 *
 * @param {PlayedGame} game
 */
export async function analysisOf(game) {
  analyst ??= newWorker((data) => heard(data));
  const worker = await analyst;
  /** @type {Solved} */
  const found = await new Promise((resolve) => {
    heard = resolve;
    worker.postMessage({ id: 0, game: [...edition(game), game.start ?? "", String(EFFORT), ...game.turns] });
  });
  if (found.error || !found.notes) throw new Error(found.error);
  return found.notes;
}

// Shows the view that the address names, and follows a server.

import { absentView, botView } from "./bot.js";
import { absent, addEntries, name, unpackGames } from "./data.js";
import { byId, capitalised, counted, el, keepingFocus, keepingScroll, messageOf } from "./dom.js";
import { games } from "./games.js";
import { overview } from "./overview.js";
import { gameView } from "./player.js";
import { whenLoaded } from "./rules.js";
import { playView, seatEdition, seatTables } from "./seat.js";
import { forgetStage, playedGames, stageEdition, stageFigures, stageState, stageTables, stageView } from "./stage.js";
import { clear, known } from "./state.js";
import { applyTheme, storedTheme } from "./theme.js";

const main = byId("main");
const only = () => known.head.one === true;
/** @type {View} */
let view = { node: main };
// On a served page: connects to the server again when the stage is wanted, or not any more.
/** @type {((stage: boolean) => void) | null} */
let connect = null;

// Says of a live page that its view has been drawn.
/** @type {(() => void) | null} */
let redrawn = null;
let shown = "";
// Of the person who plays on this page.
/** @type {string | null} */
let secret = null;

/** @returns {Address} */
function address() {
  const text = location.hash.slice(1);
  const fields = new URLSearchParams(text);
  /** @param {string} field */
  const whole = (field) => (/^\d{1,9}$/.test(fields.get(field) ?? "") ? Number(fields.get(field)) : undefined);
  const mine = known.head.own ? known.bots.findIndex((bot) => bot.name === known.head.own) + 1 : 0;
  // It may name a bot, too.
  if (fields.has("stage") && known.head.served) return { kind: "stage", fields };
  if (fields.has("play") && known.head.served) {
    secret = fields.get("play");
    return { kind: "play" };
  }
  if (fields.has("game") || only())
    return { kind: "game", number: whole("game") ?? (only() ? 1 : 0), turn: whole("turn"), line: fields.get("line") };
  // Of other bots, a page of one bot has only the games against it.
  if (mine && fields.has("bot") && whole("bot") !== mine)
    return {
      kind: "games",
      fields: new URLSearchParams({ games: "", of: String(mine), against: String(whole("bot") ?? 0) }),
    };
  if (fields.has("bot")) return { kind: "bot", number: whole("bot") ?? 0 };
  if (fields.has("absent")) return { kind: "absent", number: whole("absent") ?? 0 };
  if (fields.has("games")) return { kind: "games", fields };
  if (mine) return { kind: "bot", number: mine };
  return { kind: "overview" };
}

/**
 * @param {Address} at
 * @returns {View}
 */
function viewOf(at) {
  if (known.unread && ["game", "games", "bot"].includes(at.kind))
    return { node: el("div", el("h1", titleOf(at)), el("p.card", known.unread)), again: true };
  switch (at.kind) {
    case "game":
      return gameView(at.number, at.turn, only(), at.line);
    case "bot":
      return { node: botView(at.number - 1), again: true };
    case "absent":
      return { node: absentView(at.number - 1), again: true };
    case "games":
      return games(at.fields);
    case "stage":
      return stageView(at.fields);
    case "play":
      return playView(secret);
    default:
      return { node: overview(), again: true };
  }
}

/**
 * The title of a view; empty for the overview, whose title is the page's.
 *
 * @param {Address} at
 */
function titleOf(at) {
  switch (at.kind) {
    case "game":
      return `Game ${at.number}`;
    case "bot":
      return known.bots[at.number - 1] ? name(at.number - 1) : "Bot";
    case "absent":
      return absent()[at.number - 1]?.name ?? "Bot";
    case "overview":
      return "";
    default:
      return capitalised(at.kind);
  }
}

/** @param {Address} at */
function parts(at) {
  const list = byId("parts");
  if (only()) return;
  const items = [
    known.head.own ? ["bots", "Bot"] : ["overview", "Overview"],
    ["games", "Games"],
    ...(known.head.served ? [["stage", "Stage"]] : []),
    ...(secret === null ? [] : [["play", "Play"]]),
  ];
  const now = at.kind === "game" ? "games" : at.kind === "bot" && known.head.own ? "bots" : at.kind;
  list.replaceChildren(
    ...items.map(([kind, text]) => {
      const href = kind === "play" ? `#play=${secret}` : `#${kind}`;
      return el("li", el("a", { href, "aria-current": kind === now && "page" }, text));
    }),
  );
}

function show() {
  const at = address();
  if (at.kind === "game" && view.turn && view.number === at.number && shown === "game") {
    view.turn(at.turn);
    return;
  }
  view.leave?.();
  connect?.(["stage", "play"].includes(at.kind));
  view = viewOf(at);
  const isSame = at.kind === "stage" && shown === "stage";
  const arrived = shown !== "" && !isSame;
  shown = at.kind;
  main.className = `view-${at.kind}`;
  // Who chooses by keys what the stage follows goes on choosing.
  if (isSame) keepingFocus(main, () => main.replaceChildren(view.node));
  else main.replaceChildren(view.node);
  parts(at);
  const heading = titleOf(at);
  document.title = heading && !only() ? `${heading} · ${known.head.title}` : known.head.title;
  redrawn?.();
  if (arrived) {
    main.focus({ preventScroll: true });
    window.scrollTo(0, history.state?.y ?? 0);
  }
}

// Where the reader was is kept with the step of the browser's history, so that Back leads there. While a page
// is left nothing is kept: its height may change before its address does.
/** @type {ReturnType<typeof setTimeout> | undefined} */
let noting;
function notePlace() {
  clearTimeout(noting);
  noting = setTimeout(() => history.replaceState({ ...history.state, y: window.scrollY }, ""), 100);
}

// Redraws the view with new games. Scroll position, choices, focus and the shown turn are kept.
function refresh() {
  keepingFocus(main, drawAgain);
}

function drawAgain() {
  if (view.update?.()) return;
  if (view.update || view.again) {
    const [x, y] = [window.scrollX, window.scrollY];
    view = viewOf(address());
    keepingScroll(main, () => main.replaceChildren(view.node));
    window.scrollTo(x, y);
  } else if (!view.turn) show();
}

// --- live pages -------------------------------------------------------------------------------

const SILENT = "The referee does not answer; this page shows its last data";

function follow() {
  const sign = byId("live");
  /**
   * @param {string} kind
   * @param {string} text
   */
  const showStatus = (kind, text) => {
    sign.className = `live ${kind}`;
    sign.textContent = text;
    sign.hidden = false;
  };
  document.querySelector(".foot")?.replaceChildren("Served by referee while games are played.");
  /** @type {EventSource | null} */
  let source = null;
  // Whether the stage is sent, and the last event that has been received.
  /** @type {boolean | null} */
  let staged = null;
  let last = "";
  /** @type {ReturnType<typeof setTimeout> | null} */
  let due = null;
  let failures = 0;
  // "checking" (the bot of which number, of how many), "waiting", "playing", "stopping", "finished", "interrupted"
  // or "ended" (why).
  let state = "playing";
  /** @type {[number, number] | null} */
  let checked = null;
  /** @type {string | null} */
  let why = null;
  // Redraws are rate-limited: a page of many bots takes long to draw and must stay usable.
  let pause = 250;
  const redrawSoon = () => {
    if (due !== null) return;
    due = setTimeout(() => {
      due = null;
      const began = performance.now();
      refresh();
      redrawn?.();
      pause = Math.max(250, 8 * (performance.now() - began));
    }, pause);
  };
  /** @type {Record<string, string>} */
  const WORDS = {
    waiting: "Waiting for other games",
    playing: "Live",
    stopping: "Stopping",
    finished: "Finished",
    interrupted: "Interrupted",
  };
  // The number of games is that of the view below, which is drawn later than new figures arrive.
  let drawn = playedGames();
  const showState = () =>
    showStatus(
      known.head.live ? "on" : "over",
      checked
        ? `Checking ${checked.join(" of ")} bots`
        : `${why ? capitalised(why) : WORDS[state]} · ${counted(drawn, "game")}`,
    );
  redrawn = () => {
    // Games arrive before the figures that count them; the list of games counts what it has.
    drawn = shown === "games" ? known.games.length : playedGames();
    if (known.head.live || state !== "playing") showState();
  };
  showStatus("off", "Connecting…");
  const listeners = {
    // A new server sends everything again: the games go on, or others are played.
    begin: () => {
      clear();
      forgetStage();
      state = "playing";
      checked = null;
      why = null;
      known.head.live = true;
    },
    entries: (/** @type {Entry[]} */ entries) => {
      addEntries(entries);
      redrawSoon();
    },
    figures: (/** @type {Figures} */ figures) => {
      known.figures = figures;
      if (stageFigures()) redrawn?.();
      redrawSoon();
    },
    edition: (/** @type {PackedEdition} */ edition) => {
      stageEdition(edition);
      seatEdition(edition);
    },
    tables: (/** @type {TablesEvent} */ tables) => {
      stageTables(tables);
      seatTables(tables);
      showState();
    },
    state: (/** @type {ServerState} */ now) => {
      state = now.state;
      checked = now.checked ?? null;
      why = now.why ?? null;
      stageState(now);
      known.head.live = !["finished", "interrupted", "ended"].includes(state);
      showState();
      redrawSoon();
    },
  };
  connect = (stage) => {
    if (staged === stage) return;
    staged = stage;
    source?.close();
    const query = [stage ? "stage" : "", last ? `from=${last}` : ""].filter(Boolean).join("&");
    source = new EventSource(query ? `events?${query}` : "events");
    for (const [kind, listen] of Object.entries(listeners)) {
      source.addEventListener(kind, (event) => {
        failures = 0;
        last = event.lastEventId || last;
        listen(event.data === "" ? null : JSON.parse(event.data));
      });
    }
    // The browser asks again and again, so that the page follows when the games go on. A server that has said how
    // they ended is not missed.
    source.onerror = () => {
      failures += 1;
      if (known.head.live) showStatus("off", failures > 2 ? SILENT : "Connecting…");
    };
  };
  connect(["stage", "play"].includes(address().kind));
}

// --- start ------------------------------------------------------------------------------------

/** @type {PageData} */
const data = JSON.parse(byId("data").textContent ?? "");
clear();
known.head = data.head;
known.head.served = data.head.live;
if (data.figures) known.figures = data.figures;
addEntries(data.entries ?? []);
document.documentElement.classList.add("ready");
applyTheme(storedTheme());
if (data.games) known.unread = "The games are being unpacked\u2026";
show();
performance.mark("drawn");
history.scrollRestoration = "manual";
window.scrollTo(0, history.state?.y ?? 0);
window.addEventListener("hashchange", () => {
  clearTimeout(noting);
  show();
});
window.addEventListener("scroll", notePlace, { passive: true });
whenLoaded(refresh);
window.addEventListener("analysed", () => {
  view.leave?.();
  keepingFocus(main, () => {
    view = viewOf(address());
    main.replaceChildren(view.node);
  });
});
document.addEventListener("keydown", (event) => view.key?.(event));
if (known.head.live) follow();
if (data.games) {
  // The first view is painted before; a hidden page is not painted at all.
  await new Promise((resume) => {
    requestAnimationFrame(() => setTimeout(resume));
    setTimeout(resume, 200);
  });
  try {
    await unpackGames(data.games);
    known.unread = "";
  } catch (error) {
    known.unread = messageOf(error);
  }
  delete data.games;
  refresh();
  window.scrollTo(0, history.state?.y ?? window.scrollY);
}
performance.mark("read");

// From the address to a view, from a server to the page.

import { counted, el, link } from "./dom.js";
import { forget, known, take } from "./data.js";
import { overview } from "./overview.js";
import { games } from "./games.js";
import { botList, botView } from "./bot.js";
import { gameView } from "./player.js";

const main = document.getElementById("main");
const only = () => known.head.one === true;
let view = {};
let shown = "";

function address() {
  const text = location.hash.slice(1);
  const asked = new URLSearchParams(text);
  const whole = (field) => (/^\d{1,9}$/.test(asked.get(field) ?? "") ? Number(asked.get(field)) : undefined);
  if (asked.has("game") || only()) return { kind: "game", number: whole("game") ?? (only() ? 1 : 0), turn: whole("turn") };
  if (asked.has("bot")) return { kind: "bot", number: whole("bot") ?? 0 };
  if (asked.has("games")) return { kind: "games", asked };
  if (asked.has("bots")) return { kind: "bots" };
  return { kind: "overview" };
}

function viewOf(at) {
  switch (at.kind) {
    case "game": return gameView(at.number, at.turn, only());
    case "bot": return { node: botView(at.number - 1), again: true };
    case "bots": return { node: botList(), again: true };
    case "games": return games(at.asked);
    default: return { node: overview(), again: true };
  }
}

const TITLES = { game: (at) => `Game ${at.number}`, bot: (at) => known.bots[at.number - 1]?.name ?? "Bot", bots: () => "Bots", games: () => "Games" };

function parts(at) {
  const list = document.getElementById("parts");
  if (only()) return;
  const items = [["overview", "Overview"], ["bots", "Bots"], ["games", "Games"]];
  const now = at.kind === "game" ? "games" : at.kind === "bot" ? "bots" : at.kind;
  list.replaceChildren(...items.map(([kind, title]) => {
    const item = link(`#${kind}`, title);
    if (kind === now) item.setAttribute("aria-current", "page");
    return el("li", {}, item);
  }));
}

function show() {
  const at = address();
  if (at.kind === "game" && view.turn && view.number === at.number && shown === "game") {
    view.turn(at.turn);
    return;
  }
  view.leave?.();
  view = viewOf(at);
  const arrived = shown !== "" ;
  shown = at.kind;
  main.className = `view-${at.kind}`;
  main.replaceChildren(view.node);
  parts(at);
  const title = TITLES[at.kind]?.(at);
  document.title = title && !only() ? `${title} · ${known.head.title}` : known.head.title;
  if (arrived) {
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

// Draws what has changed while games go on. What people look at, have chosen or stepped to stays.
function refresh() {
  const keep = document.activeElement?.dataset?.keep;
  if (view.update?.()) return;
  if (view.update || view.again) {
    const [x, y] = [window.scrollX, window.scrollY];
    view = viewOf(address());
    main.replaceChildren(view.node);
    window.scrollTo(x, y);
  } else if (!view.turn) show();
  if (keep) main.querySelector(`[data-keep="${CSS.escape(keep)}"]`)?.focus({ preventScroll: true });
}

// --- light and dark ---------------------------------------------------------------------------

const themes = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

function remembered() {
  // A browser may forbid it, as for files; then the choice lasts as long as the page.
  try { return localStorage.getItem("referee-theme") ?? "auto"; } catch { return "auto"; }
}

function dress(theme) {
  const button = document.getElementById("theme");
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = themes[theme] ?? themes.auto;
  button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  button.hidden = false;
  button.onclick = () => {
    const next = { auto: "light", light: "dark", dark: "auto" }[theme] ?? "auto";
    try { localStorage.setItem("referee-theme", next); } catch { /* see above */ }
    dress(next);
  };
}

// --- while games go on ------------------------------------------------------------------------

function follow() {
  const sign = document.getElementById("live");
  const tell = (kind, text) => { sign.className = `live ${kind}`; sign.textContent = text; sign.hidden = false; };
  document.querySelector(".foot").textContent = "Served by referee while games go on; read only.";
  const source = new EventSource("events");
  let due = null;
  let failures = 0;
  // However many games end: a page of many bots takes its time to draw, and people want to use it.
  let pause = 250;
  const soon = () => {
    due ??= setTimeout(() => {
      due = null;
      const began = performance.now();
      refresh();
      pause = Math.max(250, 8 * (performance.now() - began));
    }, pause);
  };
  const going = () => tell("on", `Live · ${counted(known.figures.games, "game")}`);
  tell("off", "Connecting…");
  // A server that is not the one before begins anew.
  source.addEventListener("begin", () => { forget(); });
  source.addEventListener("entries", (event) => { failures = 0; take(JSON.parse(event.data)); soon(); });
  source.addEventListener("figures", (event) => { failures = 0; known.figures = JSON.parse(event.data); going(); soon(); });
  source.addEventListener("end", () => {
    source.close();
    known.head.live = false;
    tell("over", `Over · ${counted(known.figures.games, "game")}`);
    soon();
  });
  source.onerror = () => {
    failures += 1;
    tell("off", failures > 2 ? "The referee does not answer; this is what it said last" : "Connecting…");
  };
}

// --- begin ------------------------------------------------------------------------------------

const data = JSON.parse(document.getElementById("data").textContent);
forget();
known.head = data.head;
if (data.figures) known.figures = data.figures;
take(data.entries ?? []);
document.documentElement.classList.add("ready");
dress(remembered());
show();
performance.mark("drawn");
window.addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => view.key?.(event));
if (known.head.live) follow();

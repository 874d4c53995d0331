// Builds the sections of the page anew when the server says that they have changed, and sends files without a reload.

/**
 * As the server sends it: a tag, its attributes, and what is inside.
 *
 * @typedef {[tag: string, attributes: Record<string, string>, ...inside: (string | Section)[]]} Section
 */

const sections = /** @type {HTMLElement | null} */ (document.querySelector("[data-events]"));
/**
 * What each section shows, as text.
 *
 * @type {Map<string, string>}
 */
const shown = new Map();

/**
 * @param {string | Section} node
 * @returns {Text | HTMLElement}
 */
function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map(build));
  return element;
}

/** A press is a click only if what was pressed is still there when it is released. */
let isPressed = false;
/**
 * Sections that have changed meanwhile.
 *
 * @type {Map<string, Section>}
 */
const later = new Map();

function released() {
  isPressed = false;
  const sections = [...later.values()];
  later.clear();
  sections.forEach(show);
}

/**
 * What the reader has opened, and where the focus is, stays.
 *
 * @param {Section} section
 */
function show(section) {
  const { id } = section[1];
  if (isPressed) {
    later.set(id, section);
    return;
  }
  const text = JSON.stringify(section);
  const before = document.getElementById(id);
  if (!before || shown.get(id) === text) return;
  shown.set(id, text);
  const focused = document.activeElement?.id;
  const opened = [...before.querySelectorAll("details[open]")].map((details) => details.id);
  const now = /** @type {HTMLElement} */ (build(section));
  for (const details of now.querySelectorAll("details")) {
    if (details.id && opened.includes(details.id)) details.open = true;
  }
  before.replaceWith(now);
  if (focused && before.contains(document.activeElement) === false) {
    const again = document.getElementById(focused);
    if (again && again !== document.activeElement && now.contains(again)) again.focus();
  }
}

if (sections) {
  const events = new EventSource(String(sections.dataset.events));
  events.addEventListener("sections", (event) => JSON.parse(event.data).forEach(show));
  addEventListener("pagehide", () => events.close());
  addEventListener("pointerdown", () => {
    isPressed = true;
  });
  // After the click.
  for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, () => setTimeout(released));
}

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("hand-in"));

/**
 * The files of a folder that was dropped, with their paths.
 *
 * @param {FileSystemEntry} entry
 * @param {string} path
 * @returns {Promise<[file: File, path: string][]>}
 */
async function filesOf(entry, path) {
  if (entry.isFile) {
    const only = /** @type {FileSystemFileEntry} */ (entry);
    /** @type {File} */
    const file = await new Promise((resolve, reject) => only.file(resolve, reject));
    return [[file, path + entry.name]];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {FileSystemEntry[]} */
  const inside = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const more = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (more.length === 0) break;
    inside.push(...more);
  }
  const found = await Promise.all(inside.map((inner) => filesOf(inner, `${path + entry.name}/`)));
  return found.flat();
}

/**
 * Of all that is sent.
 *
 * @param {FormData} data
 */
function bytesOf(data) {
  const sizes = [...data.values()].map((value) => (typeof value === "string" ? value.length : value.size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** @param {HTMLFormElement} form */
function handIn(form) {
  const told = /** @type {HTMLElement} */ (form.querySelector("[role=status]"));
  const zone = /** @type {HTMLElement} */ (form.querySelector(".drop"));

  /** @param {string} text */
  function tell(text, isBad = true) {
    told.textContent = text;
    told.classList.toggle("bad", isBad);
  }

  /** @param {FormData} data */
  async function send(data) {
    const [mine, most] = [bytesOf(data), Number(form.dataset.bytes)];
    if (mine > most) {
      const [found, limit] = [mine, most].map((bytes) => Math.ceil(bytes / 2 ** 20));
      const advice = "Leave out what can be built or downloaded again.";
      tell(`Not sent: these are ${found} MB, and an upload has at most ${limit} MB. ${advice}`);
      return;
    }
    tell("Sending …", false);
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        body: data,
        headers: { Accept: "application/json" },
      });
      const none = { error: `the server answered with status ${answer.status}` };
      const { version, error } = await answer.json().catch(() => none);
      tell(answer.ok ? `Accepted as version ${version}.` : `Not accepted: ${error}`, !answer.ok);
      if (answer.ok) form.reset();
    } catch {
      tell("The server did not answer. Check the network, then send it again.");
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(new FormData(form));
  });
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    // Of an item nothing is known after this event.
    const items = [...(event.dataTransfer?.items ?? [])].map((item) => {
      const [entry, file] = [item.webkitGetAsEntry(), item.getAsFile()];
      return entry ? filesOf(entry, "") : file ? [/** @type {const} */ ([file, file.name])] : [];
    });
    const data = new FormData();
    for (const [file, path] of (await Promise.all(items)).flat()) data.append("files", file, path);
    send(data);
  });
}

if (form) handIn(form);

// Builds the sections of the page anew when the server says that they have changed, and sends files without a reload.

const sections = document.querySelector("[data-events]");
/** What each section shows, as text. */
const shown = new Map();

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
/** Sections that have changed meanwhile. */
const later = new Map();

function released() {
  isPressed = false;
  const sections = [...later.values()];
  later.clear();
  sections.forEach(show);
}

/** What the reader has opened, and where the focus is, stays. */
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
  const now = build(section);
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
  const events = new EventSource(sections.dataset.events);
  events.addEventListener("sections", (event) => JSON.parse(event.data).forEach(show));
  addEventListener("pagehide", () => events.close());
  addEventListener("pointerdown", () => {
    isPressed = true;
  });
  // After the click.
  for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, () => setTimeout(released));
}

const form = document.getElementById("hand-in");

/** The files of a folder that was dropped, with their paths. */
async function filesOf(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [[file, path + entry.name]];
  }
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    const more = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (more.length === 0) break;
    inside.push(...more);
  }
  const found = await Promise.all(inside.map((inner) => filesOf(inner, `${path + entry.name}/`)));
  return found.flat();
}

if (form) {
  const told = form.querySelector("[role=status]");
  const zone = form.querySelector(".drop");

  /** Of all that is sent. */
  function bytesOf(data) {
    const sizes = [...data.values()].map((value) => value.size ?? value.length);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async function send(data) {
    const [mine, most] = [bytesOf(data), Number(form.dataset.bytes)];
    if (mine > most) {
      const [found, limit] = [mine, most].map((bytes) => Math.ceil(bytes / 2 ** 20));
      told.textContent = `Not sent: these are ${found} MB, and an upload has at most ${limit} MB. Leave out what can be built or downloaded again.`;
      told.classList.add("bad");
      return;
    }
    told.textContent = "Sending …";
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        body: data,
        headers: { Accept: "application/json" },
      });
      const none = { error: `the server answered with status ${answer.status}` };
      const { version, error } = await answer.json().catch(() => none);
      told.textContent = answer.ok ? `Accepted as version ${version}.` : `Not accepted: ${error}`;
      told.classList.toggle("bad", !answer.ok);
      if (answer.ok) form.reset();
    } catch {
      told.textContent = "The server did not answer. Check the network, then send it again.";
      told.classList.add("bad");
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
    const items = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    const data = new FormData();
    const found = await Promise.all(items.filter(Boolean).map((entry) => filesOf(entry, "")));
    for (const [file, path] of found.flat()) data.append("files", file, path);
    send(data);
  });
}

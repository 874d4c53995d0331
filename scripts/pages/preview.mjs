// preview.mjs PAGE [PORT]: shows a page that the referee has made with the style and the scripts of the sources as they are
// now, and shows it again when one of them changes. Nothing is built: the browser loads each module by itself.
import { readFileSync, watch } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const assets = join(dirname(fileURLToPath(import.meta.url)), "../../crates/report/src/html/assets");
const [page, port = "8001"] = process.argv.slice(2);
if (!page) {
  console.error("preview.mjs: expected a page, such as the one that `./referee report RECORDS -o page.html` makes");
  process.exit(2);
}

const text = (name) => readFileSync(join(assets, name), "utf8");

/** As `STYLE` in crates/report/src/html/page.rs: the dark colours are for dark systems, and for readers who choose them. */
function style() {
  const dark = text("dark.css");
  return [
    text("light.css"),
    `@media screen and (prefers-color-scheme: dark) {\n:root:not([data-theme="light"]) {\n${dark}}\n}`,
    `@media screen {\n:root[data-theme="dark"] {\n${dark}}\n}`,
    ...["style", "views", "stage", "puzzles", "media"].map((name) => text(`${name}.css`)),
  ].join("\n");
}

/** The page's own script, by the data that it shows: the last module, which imports the others. */
function mainModule(html) {
  const data = html.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)?.[1] ?? "{}";
  const { puzzles, position } = JSON.parse(data);
  if (puzzles) return "puzzles.js";
  return position === undefined ? "main.js" : "board.js";
}

const reload = `new EventSource("/changes").onmessage = () => location.reload();`;

function preview() {
  const html = readFileSync(page, "utf8");
  const script = `<script type="module" src="/${mainModule(html)}"></script>\n<script>${reload}</script>`;
  return html
    .replace(/<meta http-equiv="Content-Security-Policy"[^>]*>\n/, "")
    .replace(/<style>.*?<\/style>/s, () => `<style>${style()}</style>`)
    .replace(/<script type="module">.*<\/script>/s, () => script);
}

const readers = new Set();
let changed;
watch(assets, () => {
  // An editor that saves a file is seen several times.
  clearTimeout(changed);
  changed = setTimeout(() => {
    for (const reader of readers) reader.write("data: changed\n\n");
  }, 100);
});

const server = createServer((request, response) => {
  const module = request.url?.match(/^\/([a-z_]+\.js)$/)?.[1];
  try {
    if (request.url === "/changes") {
      response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
      readers.add(response);
      request.on("close", () => readers.delete(response));
    } else if (module) {
      response.writeHead(200, { "Content-Type": "text/javascript", "Cache-Control": "no-store" });
      response.end(text(module));
    } else {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
      response.end(preview());
    }
  } catch (error) {
    response.writeHead(500, { "Content-Type": "text/plain" });
    response.end(String(error));
  }
});
server.on("error", (error) => {
  console.error(`preview.mjs: ${error.message}`);
  process.exit(1);
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));

#!/usr/bin/env python3
"""How soon a page can be read: in Chromium without a window, the medians of some runs.

    scripts/pages/opens.py report.html [--runs 5]

Prints for each page when its first table has rows, when all is loaded, and the longest task of the page's own thread while
it loads and while it is scrolled to its end, each in milliseconds. It needs chromium and chromedriver, and an idle machine.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

# Before the page's own scripts: when a table has rows, and how long tasks take. Tasks of 50 ms and more are told.
WATCH = """
window.seen = { table: null, longest: 0 };
new PerformanceObserver(list => {
  for (const task of list.getEntries()) window.seen.longest = Math.max(window.seen.longest, task.duration);
}).observe({ type: 'longtask' });
const look = () => {
  if (document.querySelector('table tbody tr td') !== null) window.seen.table = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""

# A screen for each frame, as a person who looks for a bot scrolls; then what it took.
SCROLL = """
const done = arguments[arguments.length - 1];
window.seen.longest = 0;
let frames = 0;
const step = () => {
  scrollBy(0, innerHeight);
  frames += 1;
  const isEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
  if (isEnd || frames > 2000) setTimeout(() => done([window.seen.longest, frames]), 500);
  else requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


class Browser:
    """A window of Chromium, by the WebDriver protocol (https://www.w3.org/TR/webdriver2/)."""

    def __init__(self, profile):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        line = next(line for line in self.driver.stdout if "successfully on port" in line)
        self.address = f"http://127.0.0.1:{line.rsplit(' ', 1)[1].strip().rstrip('.')}"
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options += [f"--user-data-dir={profile}", "--window-size=1280,900"]
        wanted = {"goog:chromeOptions": {"args": options}}
        found = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/session/{found['sessionId']}"

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.read().decode(errors='replace')}")

    def close(self):
        self.ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


def measured(page):
    """Of one visit in a fresh browser, in milliseconds: first table, loaded, longest task before and while scrolling."""
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            watch = {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": WATCH}}
            browser.ask("POST", "/goog/cdp/execute", watch)
            browser.ask("POST", "/url", {"url": page})
            script = """
                const done = arguments[arguments.length - 1];
                const look = () => window.seen.table === null ? setTimeout(look, 20) :
                  setTimeout(() => done([window.seen.table, performance.timing.loadEventEnd - performance.timing.navigationStart,
                    window.seen.longest]), 2000);
                look();
            """
            opened = browser.ask("POST", "/execute/async", {"script": script, "args": []})
            scrolled = browser.ask("POST", "/execute/async", {"script": SCROLL, "args": []})
            return [*opened, *scrolled]
        finally:
            browser.close()


def main():
    parser = argparse.ArgumentParser(description="How soon a page can be read")
    parser.add_argument("pages", nargs="+", metavar="PAGE", type=Path)
    parser.add_argument("--runs", type=int, default=5, help="visits of each page, of which the medians are printed (5)")
    args = parser.parse_args()
    print("| page | first table, ms | loaded, ms | longest task while it loads, ms | while it is scrolled, ms | screens |")
    print("|---|---|---|---|---|---|")
    for page in args.pages:
        runs = [measured(page.resolve().as_uri()) for _ in range(args.runs)]
        cells = [f"{statistics.median(values):.0f}" for values in zip(*runs)]
        print(f"| {page.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

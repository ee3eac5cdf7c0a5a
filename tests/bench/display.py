"""How long it takes from a fact in the journal until the display has painted it, in a real browser."""

import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.web.browser import CHROMIUM, FLAGS
from tests.web.table import Dealer, served, settings

ROUNDS = 25
# A player sees no delay below this; what is above it in the median is a mistake of ours, not of a busy machine.
MOST_OVER_FLOOR_MS = 150

# Two animation frames after a change, what was changed is on the screen.
WATCH = """() => {
  window.painted = new Map();
  const now = () => performance.timeOrigin + performance.now();
  new MutationObserver(() => {
    const seq = Number(document.body.dataset.seq);
    requestAnimationFrame(() => requestAnimationFrame(() => window.painted.set(seq, now())));
  }).observe(document.body, { attributes: true, attributeFilter: ["data-seq"] });
}"""
FLOOR = """async () => {
  const started = performance.now();
  document.body.dataset.floor = String(started);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - started;
}"""


def percentile(values: list[float], part: float) -> float:
    """Return the value below which this part of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def measure() -> tuple[list[float], list[float]]:
    """Return milliseconds from commit to paint, and of a paint alone."""
    dealer = Dealer("six-star")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "journal", settings(languages=("en", "zh"))) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        server.play("shoe six-star decks=8 id=S1;" + ";".join(dealer.round() for _ in range(40)))
        page.goto(server.addresses[0])
        page.wait_for_selector("body[data-live=live]")
        page.evaluate(WATCH)
        floor = [page.evaluate(FLOOR) for _ in range(50)]
        taken = []
        for _ in range(ROUNDS):
            for line in dealer.round().split(";"):
                server.play(line)
                committed = time.time() * 1000
                seq = server.table.tail.last_seq
                page.wait_for_function("seq => window.painted.has(seq)", arg=seq)
                taken.append(page.evaluate("seq => window.painted.get(seq)", seq) - committed)
        browser.close()
    return taken, floor


def main() -> int:
    """Print a table; return 1 if the display is slower than a person would call at once."""
    taken, floor = measure()
    print(f"{'display: commit to painted':<34}{'p50':>9}{'p95':>9}{'p99':>9}{'most':>9}")
    for name, values in (("a fact, after 40 rounds", taken), ("floor: a paint alone", floor)):
        figures = [percentile(values, part) for part in (0.5, 0.95, 0.99, 1.0)]
        print(f"  {name:<32}" + "".join(f"{figure:6.0f} ms" for figure in figures))
    slow = percentile(taken, 0.5) > percentile(floor, 0.5) + MOST_OVER_FLOOR_MS
    if slow:
        print(f"  the median is more than {MOST_OVER_FLOOR_MS} ms above the floor")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())

"""Display: a fact committed until it is painted in Chromium.

The floor is a paint alone: an attribute changed and two animation frames. The page shows forty rounds already.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.bench.figures import Figure, Options, no_more_than, percentile
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


def painted() -> tuple[list[float], list[float]]:
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


def measure(options: Options) -> Iterator[Figure]:
    taken, floor = painted()
    half, floor_half = percentile(taken, 0.5), percentile(floor, 0.5)
    target = no_more_than(round(floor_half + MOST_OVER_FLOOR_MS))
    yield Figure("fact committed to painted, p50", "ms", half, floor_half, half / floor_half, target)
    yield Figure("fact committed to painted, p99", "ms", percentile(taken, 0.99), percentile(floor, 0.99))

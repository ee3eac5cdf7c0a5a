"""What the tests of the page ask a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LAYOUTS = {"1080p": (1920, 1080), "720p": (1280, 720), "portrait": (1080, 1920)}

# Everything that a person can read off the page, in one go.
READ = """() => {
  const hand = (id) => ({
    cards: [...document.querySelectorAll(`#${id} .cards [data-card]`)].map((card) => card.dataset.card),
    total: document.querySelector(`#${id} .total`).textContent,
    next: document.getElementById(id).classList.contains("next"),
    won: document.getElementById(id).classList.contains("won"),
    tied: document.getElementById(id).classList.contains("tied"),
  });
  const marks = (id) => [...document.querySelectorAll(`#${id} .mark`)].map(({ dataset: d }) =>
    ({ col: Number(d.col), row: Number(d.row), mark: d.mark, ties: Number(d.ties ?? 0), pairs: d.pairs ?? "" }));
  const offset = (id) => Number(document.querySelector(`#${id} svg`).dataset.offset);
  const ask = (letter) => Object.fromEntries([...document.querySelectorAll(`[data-ask-for=${letter}] [data-ask]`)]
    .map(({ dataset: d }) => [d.ask, d.colour]));
  return {
    seq: Number(document.body.dataset.seq),
    phase: document.body.dataset.phase,
    live: document.body.dataset.live,
    player: hand("player"),
    banker: hand("banker"),
    result: [...document.querySelectorAll("#status .result")].map((one) => one.className.split(" ").pop()),
    pays: Object.fromEntries([...document.querySelectorAll("[data-wager]")]
      .map(({ dataset: d, lastElementChild: cell }) => [d.wager, [d.odds, cell.textContent]])),
    pushes: [...document.querySelectorAll("[data-push]")].flatMap(({ dataset: d }) => d.push.split(" ")),
    counts: Object.fromEntries([...document.querySelectorAll("[data-count]")]
      .map((one) => [one.dataset.count, Number(one.querySelector("b").textContent)])),
    roads: Object.fromEntries(["bead", "big", "big_eye", "small", "cockroach"]
      .map((id) => [id, { marks: marks(id), offset: offset(id) }])),
    ask: { B: ask("B"), P: ask("P") },
    stamp: !document.getElementById("stamp").hidden,
    round: document.querySelector("#fact-round dd")?.textContent,
    irregularities: [...document.querySelectorAll("#irregularity:not([hidden]) .entry")]
      .map((one) => ({ kind: one.dataset.kind, waits: one.dataset.waits, words: one.innerText })),
  };
}"""

FAULTS = (Path(__file__).parent / "layout_faults.js").read_text(encoding="utf-8").partition("\n")[2]


# No longer than a module: while it is open, Playwright keeps an event loop in this thread, and others need theirs.
@pytest.fixture(scope="module")
def browser():
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: install Debian's package 'chromium'")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens an address in a window of a layout; a complaint of the page fails the test."""
    contexts = []
    complaints = []

    def complain(said):
        # That a server is gone is what some tests are about.
        if said.type == "error" and "net::ERR_" not in said.text:
            complaints.append(said.text)

    def make(address, layout="1080p"):
        width, height = LAYOUTS[layout]
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", complain)
        page.on(
            "request",
            lambda request: None if request.url.startswith(address) else complaints.append(f"asked for {request.url}"),
        )
        page.goto(address + "/")
        page.wait_for_selector("body[data-live=live]")
        return page

    yield make
    for context in contexts:
        context.close()
    assert not complaints, complaints


def wait_for_seq(page, seq):
    """Wait until the page shows this fact."""
    page.wait_for_function("seq => Number(document.body.dataset.seq) === seq", arg=seq)


def read(page):
    return page.evaluate(READ)


def faults(page):
    return page.evaluate(FAULTS)

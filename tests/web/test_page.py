"""The page in a real browser, against the journal of a table that is really played."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter

import msgspec
import pytest

from shoe_controller.cards import ALL_CODES
from shoe_controller.session import inputs
from tests.roads.plain_roads import big_road, cells, derived, runs, streaks_of
from tests.web.browser import faults, read, wait_for_seq
from tests.web.scenes import enact, story
from tests.web.table import Dealer, results, served, settings

STEPS = {"big_eye": 1, "small": 2, "cockroach": 3}
LETTERS = {"player": "P", "banker": "B", "tie": "T"}


def expected_roads(letters, tail):
    """Return each road as (col, row, mark, ties), by the plain implementation of the tests."""
    lengths = [len(streak) for streak in streaks_of(letters)]
    roads = {
        "bead": [(i // 6, i % 6, letter, 0) for i, letter in enumerate(letters)],
        "big": big_road(letters, tail),
    }
    for name, step in STEPS.items():
        colours = derived(lengths, step)
        roads[name] = [(*cell, colours[i], 0) for i, cell in enumerate(cells(runs(colours), tail))]
    return roads


def expected_ask(letters, winner):
    def colours(text, step):
        return derived([len(streak) for streak in streaks_of(text)], step)

    return {name: colours(letters + winner, step)[len(colours(letters, step)) :] for name, step in STEPS.items()}


def check_against_journal(page, table, tail):
    """Hold everything on the page against the facts of the journal."""
    rounds = table.round_facts()
    last = rounds[-1]
    shown = read(page)
    assert shown["live"] == "live"
    assert shown["player"]["cards"] == list(last.player)
    assert shown["banker"]["cards"] == list(last.banker)
    for side in ("player", "banker"):
        total = getattr(last, f"{side}_total")
        assert shown[side]["total"] == ("–" if total is None else str(total))
        assert shown[side]["won"] is (last.winner == side)
        assert shown[side]["tied"] is (last.winner == "tie")
    assert shown["round"] == str(last.round)
    assert shown["stamp"] is (last.status == "void")
    assert shown["result"] == ([last.winner] if last.winner else [])
    assert {wager: odds for wager, (odds, _) in shown["pays"].items()} == last.pays
    assert shown["pushes"] == list(last.pushes)
    check_scoreboard(shown, rounds, tail)


def check_scoreboard(shown, rounds, tail):
    standing = [fact for fact in {fact.round: fact for fact in rounds}.values() if fact.status == "complete"]
    letters = results(rounds)
    for name, expected in expected_roads(letters, tail).items():
        road = shown["roads"][name]
        visible = [cell for cell in expected if cell[0] >= road["offset"]]
        assert [(m["col"], m["row"], m["mark"], m["ties"]) for m in road["marks"]] == visible, name
    pairs = ["".join(p for p, hand in (("B", f.banker), ("P", f.player)) if hand[0][0] == hand[1][0]) for f in standing]
    first = 6 * shown["roads"]["bead"]["offset"]
    assert [m["pairs"] for m in shown["roads"]["bead"]["marks"]] == pairs[first:]
    assert shown["ask"] == {winner: expected_ask(letters, winner) for winner in "BP"}
    counted = Counter(letters)
    for side, letter in LETTERS.items():
        assert shown["counts"][side] == counted[letter]
    assert shown["counts"]["banker_pair"] == sum("B" in pair for pair in pairs)
    assert shown["counts"]["player_pair"] == sum("P" in pair for pair in pairs)
    assert shown["counts"]["natural"] == sum(fact.natural for fact in standing)
    for wager in ("fortune_six", "element_bonus", "tie_bonus"):
        if wager in shown["counts"]:
            assert shown["counts"][wager] == sum(wager in fact.pays for fact in standing)


def irregular_rounds(dealer):
    """Return rounds in which something goes wrong, each until the next one may begin."""
    cards = dealer.cards
    four = [f"card {card}" for card in (*cards("banker"), *cards("player"))[:4]]
    drawn = [f"card {card}" for card in cards("player")]
    return [
        ["bets", "close", *four[:2], "card 4d", "ack"],  # a foreign card
        ["bets", "close", *drawn, f"card {cards()[0]}", "reconstruct", "result", "ack"],  # a surplus card
        ["bets", "close", *drawn, "result", "void", "ack"],  # a result that is taken back
        ["bets", f"card {four[0][5:]}", "void", "ack"],  # a card too early
        ["bets", "close", four[1], "unreadable", "void a reason", "ack"],
        ["bets", "close", f"together {four[2][5:]} {four[3][5:]} order=unknown", "ack"],
    ]


@pytest.mark.parametrize("tail", ["redrop", "stay"])
def test_after_each_round_of_a_shoe_the_page_shows_what_the_journal_says(tmp_path, open_page, tail):
    dealer = Dealer("six-star", seed=7)
    odd = irregular_rounds(dealer)
    with served(tmp_path / "journal", settings(languages=("en", "zh"), tail=tail)) as server:
        server.play("shoe six-star decks=8 id=S1 surplus=burn")
        page = open_page(server.addresses[0])
        if tail == "redrop":
            rounds = [dealer.round() for _ in range(14)]
            rounds += [dealer.round("banker") for _ in range(12)] + [dealer.round() for _ in range(44)]
        else:
            rounds = [dealer.round(winner) for winner in ("player",) * 8 + ("banker",) * 10]
        for number, script in enumerate(rounds):
            server.play(script)
            wait_for_seq(page, server.table.tail.last_seq)
            check_against_journal(page, server.table, tail)
            if number % 9 == 4 and odd:
                for line in odd.pop(0):
                    if line == "ack":
                        server.call(server.table.happen, inputs.Acknowledge("supervisor"))
                    else:
                        server.play(line)
                    wait_for_seq(page, server.table.tail.last_seq)
                    check_irregularities(page, server.table)
                check_against_journal(page, server.table, tail)
        assert len(server.table.round_facts()) > len(rounds)


def check_irregularities(page, table):
    view = table.session.view()
    waiting = {one.id: one for one in (*view.open_irregularities, *view.unacknowledged)}
    shown = read(page)["irregularities"]
    assert bool(shown) is bool(waiting)
    if shown:
        one = max(waiting.values(), key=lambda one: one.id)
        assert shown[0]["kind"] == one.kind
        assert shown[0]["waits"] == ("decision" if view.open_irregularities else "acknowledgement")
        if one.rule:
            assert f"Rule {one.rule}" in shown[0]["words"]
            assert f"规则 {one.rule}" in shown[0]["words"]


def test_each_card_is_shown_as_it_falls_and_who_is_next(tmp_path, open_page):
    with served(tmp_path / "journal") as server:
        server.play("shoe fortune-six decks=8 id=S1")
        page = open_page(server.addresses[0])
        hands = {"player": [], "banker": []}
        deal = zip(("2h", "6s", "3d", "Tc", "7h", "Kd"), ("player", "banker") * 3, strict=True)
        server.play("bets")
        wait_for_seq(page, 2)
        assert page.locator("#status h3").inner_text().strip() == "PLACE YOUR BETS"
        assert 0 < int(page.locator("#countdown b").inner_text()) <= 20
        assert "$100 – $10,000" in page.locator("#status .limits").inner_text()
        server.play("close")
        wait_for_seq(page, 3)
        assert page.locator("#status h3").inner_text().strip() == "NO MORE BETS"
        for card, side in deal:
            shown = read(page)
            assert shown[side]["next"]
            assert not shown["banker" if side == "player" else "player"]["next"]
            assert page.locator("#status .next-card").inner_text() == f"Next card: {side.title()}"
            server.play(f"card {card}")
            hands[side].append(card)
            wait_for_seq(page, server.table.tail.last_seq)
            shown = read(page)
            for one, codes in hands.items():
                assert shown[one]["cards"] == codes
                assert shown[one]["total"] == (str(total(codes)) if codes else "–")
        assert page.locator("#status h3").inner_text().strip() == "RESULT FOLLOWS"
        assert shown["result"] == []
        server.play("result")
        wait_for_seq(page, server.table.tail.last_seq)
        shown = read(page)
        assert shown["result"] == ["banker"]
        assert shown["pays"] == {"banker": ["1:2", "1 : 2"], "fortune_six": ["20:1", "20 : 1"]}


def total(codes):
    return sum("A23456789".find(code[0]) + 1 for code in codes) % 10


def test_a_squeeze_page_never_receives_a_face_before_the_result(tmp_path, open_page):
    with served(tmp_path / "journal", settings(reveal="on-result")) as server:
        server.play("shoe no-commission decks=8 id=S1")
        page = open_page(server.addresses[0])
        received = []
        line = page.context.new_cdp_session(page)
        line.send("Network.enable")
        line.on("Network.eventSourceMessageReceived", lambda event: received.append(event["data"]))
        page.reload()  # the stream that is opened now is listened to from its first byte
        page.wait_for_selector("body[data-live=live]")
        dealt = []
        for step in ("bets", "close", "card 2h", "card 7s", "card 3d", "card Tc", "card 8h"):
            server.play(step)
            wait_for_seq(page, server.table.tail.last_seq)
            dealt += [step[5:]] if step.startswith("card") else []
            shown = read(page)
            assert [*shown["player"]["cards"], *shown["banker"]["cards"]] == [""] * len(dealt)
            assert (shown["player"]["total"], shown["banker"]["total"]) == ("–", "–")
            # The first four cards go to and fro; from then on it is the hands that decide.
            if len(dealt) >= 4:
                assert not shown["player"]["next"]
                assert not shown["banker"]["next"]
        page.wait_for_timeout(1100)  # one beat more
        assert len(received) > 14
        bytes_received = "".join(received)
        assert not {code for code in ALL_CODES if f'"{code}"' in bytes_received}
        server.play("result")
        wait_for_seq(page, server.table.tail.last_seq)
        shown = read(page)
        assert (shown["player"]["cards"], shown["banker"]["cards"]) == (["2h", "3d", "8h"], ["7s", "Tc"])
        assert shown["result"] == ["banker"]


class Process:
    """The display as a process that can be killed."""

    def __init__(self, folder, port, boot):
        command = [sys.executable, "-m", "tests.web.serve", str(folder), str(port), boot]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline())

    def play(self, line):
        print(line, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def send(self, number):
        os.kill(self._process.pid, number)

    def end(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(10)
        self._process.stdin.close()
        self._process.stdout.close()


def test_a_page_outlives_a_controller_that_is_killed_and_one_that_hangs(tmp_path, open_page):
    dealer = Dealer("six-star", seed=3)
    first = Process(tmp_path / "journal", 0, "a" * 32)
    second = None
    try:
        first.play("shoe six-star decks=8 id=S1;" + dealer.round() + ";" + dealer.round("tie"))
        page = open_page(f"http://127.0.0.1:{first.port}")
        before = read(page)
        first.send(signal.SIGKILL)
        page.wait_for_selector("body[data-live=lost]")
        assert page.locator("#offline strong").is_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('main')).filter").startswith("grayscale(1)")
        assert faults(page) == []
        second = Process(tmp_path / "journal", first.port, "b" * 32)
        page.wait_for_selector("body[data-live=live]", timeout=15_000)
        assert page.locator("#restarted").is_visible()
        assert faults(page) == []
        after = read(page)
        assert after == before
        seq = second.play(dealer.round())
        wait_for_seq(page, seq)
        # Three seconds by the page's own clock, which the test moves: a busy machine changes nothing about them.
        page.clock.install()
        page.reload()
        page.wait_for_selector("body[data-live=live]")
        second.send(signal.SIGSTOP)  # the line stays open, and nothing comes
        page.clock.run_for(3000)
        assert page.evaluate("document.body.dataset.live") == "lost"
        second.send(signal.SIGCONT)
        page.clock.resume()
        page.wait_for_selector("body[data-live=live]", timeout=15_000)
        assert read(page)["seq"] == seq
    finally:
        for process in (first, second):
            if process:
                process.end()


def test_a_page_loads_itself_anew_when_its_files_have_changed(tmp_path, open_page):
    with served(tmp_path / "journal") as server:
        port = server.port
        page = open_page(server.addresses[0])
        page.evaluate("document.body.dataset.old = 'yes'")
    with served(tmp_path / "journal", port=port) as server:
        feed = server.table.feed
        feed._about = msgspec.structs.replace(feed._about, page="another")
        server.play("shoe six-star decks=8 id=S1")
        page.wait_for_selector("body[data-live=live]:not([data-old])")
        wait_for_seq(page, 1)


NASTY = "<img src=x onerror=alert(1)>&amp;"


def test_text_from_the_configuration_is_only_ever_text(tmp_path, open_page):
    chosen = settings(title=NASTY, site="<b>site</b>", name="<script>1</script>")
    with served(tmp_path / "journal", chosen) as server:
        server.play("shoe six-star decks=8 id=<i>S1</i>")
        page = open_page(server.addresses[0])
        assert page.locator("#table-title").inner_text() == NASTY
        assert page.locator("#fact-shoe dd").inner_text() == "<i>S1</i>"
        assert page.locator("main img, main b b, main i, main script").count() == 0
        assert faults(page) == []


def test_a_screen_that_is_turned_shows_the_roads_anew(tmp_path, open_page):
    dealer = Dealer("six-star", seed=9)
    with served(tmp_path / "journal") as server:
        server.play("shoe six-star decks=8 id=S1;" + ";".join(dealer.round() for _ in range(60)))
        page = open_page(server.addresses[0])
        columns = "document.querySelector('#big_eye svg').dataset.columns"
        before = page.evaluate(columns)
        page.set_viewport_size({"width": 1080, "height": 1920})
        rounds = server.table.round_facts()
        page.wait_for_function(f"before => {columns} !== before", arg=before)
        check_scoreboard(read(page), rounds, "redrop")
        assert faults(page) == []


# What is drawn on each card: pips, and whatever leaves the card, with either font.
DRAWN = """async (codes) => {
  const { card } = await import("/static/cards.js");
  const inside = (inner, outer) => inner.left >= outer.left && inner.top >= outer.top &&
    inner.right <= outer.right && inner.bottom <= outer.bottom;
  // An inner drawing is cut at its own edge.
  const leaves = (part, frame) =>
    !["svg", "text"].includes(part.tagName) && !inside(part.getBoundingClientRect(), frame);
  const place = document.createElement("div");
  Object.assign(place.style, { position: "fixed", width: "200px", height: "280px" });
  document.body.append(place);
  return Object.fromEntries(codes.map((code) => {
    const drawn = card(code);
    place.replaceChildren(drawn);
    const frame = drawn.getBoundingClientRect();
    const rank = drawn.querySelector(".rank")?.getBoundingClientRect();
    const pips = [...drawn.querySelectorAll(".pip")].map((pip) => pip.getBoundingClientRect());
    const seen = {
      pips: pips.length,
      rank: drawn.querySelector(".rank")?.textContent ?? "",
      leaves: [...drawn.children].filter((part) => leaves(part, frame)).length,
      mixed: pips.filter((pip) => pip.left < rank.right && pip.top < rank.bottom).length,
    };
    return [code, seen];
  }));
}"""


@pytest.mark.parametrize("font", ["Noto Sans CJK SC", "DejaVu Sans"])
def test_each_card_has_its_rank_and_as_many_pips_as_it_says(tmp_path, open_page, font):
    with served(tmp_path / "journal") as server:
        page = open_page(server.addresses[0])
        page.evaluate("font => document.documentElement.style.setProperty('--sans', `'${font}'`)", font)
        drawn = page.evaluate(DRAWN, ["", *sorted(ALL_CODES)])
    assert drawn.pop("") == {"pips": 0, "rank": "", "leaves": 0, "mixed": 0}
    for code, seen in drawn.items():
        pips = "A23456789T".find(code[0]) + 1
        assert seen == {"pips": pips, "rank": code[0].replace("T", "10"), "leaves": 0, "mixed": 0}, code


VARIANTS = {
    "1080p": settings(languages=("en", "zh")),
    "720p": settings(languages=("en",), theme="light"),
    "portrait": settings(languages=("zh", "en"), theme="dark"),
    "portrait-light": settings(languages=("zh",), theme="light"),
    # A machine without the fonts we ask for has these wide ones.
    "1080p-wide": settings(languages=("zh", "en")),
    "portrait-wide": settings(languages=("en", "zh")),
}
WIDE = """() => {
  document.documentElement.style.setProperty("--sans", "'DejaVu Sans'");
  dispatchEvent(new Event("resize"));
}"""


def test_every_scene_fits_every_layout_language_and_theme(tmp_path, open_page):
    first, *others = VARIANTS.values()
    with served(tmp_path / "journal", first, also=tuple(others)) as server:
        pages = {
            name: open_page(address, name.partition("-")[0])
            for name, address in zip(VARIANTS, server.addresses, strict=True)
        }
        for name, page in pages.items():
            if name.endswith("wide"):
                page.evaluate(WIDE)
        found = {}
        for scene, happens in story():
            enact(server, happens)
            for name, page in pages.items():
                wait_for_seq(page, server.table.tail.last_seq)
                if wrong := faults(page):
                    found[f"{name}-{scene}"] = wrong
        assert not found, json.dumps(found, indent=1, ensure_ascii=False)
        assert {page.evaluate("document.documentElement.dataset.theme") for page in pages.values()} == {"dark", "light"}

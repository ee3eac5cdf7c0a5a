import json
import shutil

import msgspec
import pytest

from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail
from shoe_controller.web import feed as feed_module
from shoe_controller.web.feed import Feed, wagers_of
from tests.web.table import BOOT, Dealer, PlayedTable, settings

SHOE = "shoe fortune-six decks=8 id=S1;"


def test_a_new_table_shows_that_there_is_no_shoe(table):
    state = table().feed.snapshot()
    assert (state.seq, state.phase, state.shoe, state.round) == (0, "no-shoe", None, None)
    assert state.boot == BOOT


def test_a_feed_that_starts_later_says_the_same(tmp_path):
    dealer = Dealer("fortune-six")
    before = PlayedTable(tmp_path / "journal")
    before.play(SHOE + ";".join(dealer.round() for _ in range(30)) + ";void")
    said, facts = before.feed.snapshot(), before.feed.since(0)
    before.close()
    after = PlayedTable(tmp_path / "journal", boot="cafe" * 8)
    assert msgspec.structs.replace(after.feed.snapshot(), boot=BOOT) == said
    assert after.feed.since(0) == facts
    after.close()


def test_only_the_shoe_in_play_is_counted_however_long_the_journal(tmp_path, monkeypatch):
    monkeypatch.setattr(feed_module, "PORTION", 7)
    dealer = Dealer("fortune-six")
    made = PlayedTable(tmp_path / "journal")
    made.play(SHOE + ";".join(dealer.round() for _ in range(12)) + ";shoe fortune-six decks=8 id=S2")
    made.play(";".join(dealer.round() for _ in range(3)))
    assert made.feed.snapshot().statistics.rounds == 3
    made.close()
    again = PlayedTable(tmp_path / "journal")
    assert again.feed.snapshot().statistics.rounds == 3
    assert again.feed.since(0)[0] is False  # the facts of the first shoe are not kept
    again.close()


def test_a_journal_whose_first_volumes_were_moved_away_is_followed_from_where_it_begins(tmp_path):
    folder = tmp_path / "journal"
    dealer = Dealer("fortune-six")
    made = PlayedTable(folder)
    made.play(SHOE + dealer.round())
    sealed = made.journal.live
    made.journal.archive()
    made.play(dealer.round())
    last = made.tail.last_seq
    made.close()
    shutil.move(sealed, tmp_path / "elsewhere.db")
    journal = Journal.open(folder)
    tail = Tail(journal)
    state = Feed(tail, settings(), BOOT).snapshot()
    assert (state.seq, state.statistics.rounds) == (last, 1)
    tail.close()
    journal.close()


def test_facts_after_one_that_is_known(table):
    made = table(SHOE + "bets;close;card 4d;card 5d;")
    whole, facts = made.feed.since(3)
    assert whole
    assert [seq for seq, _ in facts] == [4, 5]
    assert [json.loads(fact)["card"] for _, fact in facts] == ["4d", "5d"]
    assert made.feed.since(5) == (True, [])
    assert made.feed.since(6)[0] is False  # that is of another journal


def test_only_so_many_facts_are_kept(table, monkeypatch):
    monkeypatch.setattr(feed_module, "KEPT", 4)
    made = table(SHOE + "bets;close;card 4d;card 5d;card 9d;card 9c;")
    assert [seq for seq, _ in made.feed.since(3)[1]] == [4, 5, 6, 7]
    assert made.feed.since(3)[0] is True
    assert made.feed.since(2)[0] is False


def test_nothing_is_shown_before_it_is_on_disk(table):
    made = table(SHOE)
    made.feed.committed(made.session.view(), 99)
    assert made.feed.snapshot().seq == 1


def test_listeners_are_woken_until_they_go(table):
    made = table(SHOE)
    woken = []
    end = made.feed.subscribe(lambda: woken.append(made.feed.snapshot().seq))
    made.play("bets")
    end()
    made.play("close")
    assert woken == [2]


@pytest.mark.parametrize("passed, left", [(0, 20_000), (7_500, 12_500), (60_000, 0)])
def test_the_countdown_is_counted_at_the_moment_of_asking(table, passed, left):
    made = table(SHOE + "bets;")
    opened = made.tail.facts(1, 1)[0].stamp.mono_ns
    later = Feed(made.tail, made.settings, BOOT, clock=lambda: opened + passed * 1_000_000)
    later.committed(made.session.view(), made.tail.last_seq)
    betting = later.snapshot().betting
    assert (betting.seconds, betting.remaining_ms) == (20, left)


def test_there_is_no_countdown_where_its_start_is_not_known_or_none_is_wanted(table):
    made = table(SHOE + "bets;")
    other_boot = Feed(made.tail, made.settings, "cafe" * 8)
    other_boot.committed(made.session.view(), made.tail.last_seq)
    assert other_boot.snapshot().betting.remaining_ms is None
    assert table(SHOE + "bets;", countdown=0).feed.snapshot().betting.remaining_ms is None
    made.play("close")
    assert made.feed.snapshot().betting is None


def test_wagers_of_a_game_that_is_no_longer_known_are_none():
    assert wagers_of("whist") == ()
    assert "tie_bonus" in wagers_of("six-star")

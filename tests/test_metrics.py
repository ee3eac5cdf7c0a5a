import sys

from shoe_controller import metrics
from shoe_controller.session import facts

CARD = facts.CardDealt(
    shoe="1",
    round=1,
    card="Th",
    uid="",
    hand="player",
    position=1,
    player_total=0,
    banker_total=None,
    next="banker",
    complete=False,
)
ROUND = facts.Round(
    shoe="1",
    round=1,
    revision=1,
    status="complete",
    player=("4d", "Th"),
    banker=("2d", "Tc"),
    player_total=4,
    banker_total=2,
    winner="player",
    natural=False,
    pays={},
    pushes=(),
    irregularities=(),
    rules="six-star",
    rules_hash="",
)
VOID = facts.Round(
    shoe="1",
    round=2,
    revision=1,
    status="void",
    player=(),
    banker=(),
    player_total=None,
    banker_total=None,
    winner=None,
    natural=False,
    pays={},
    pushes=(),
    irregularities=(),
    rules="six-star",
    rules_hash="",
)
FOREIGN = facts.Irregularity(id=1, kind="foreign_card", rule="5.1", shoe="1", round=2, effect="void")


def running():
    return metrics.create(enabled=True, site="north", table="B12", version="1.2.3")


def lines(table):
    return set(table.render().decode().splitlines())


def test_cards_rounds_and_irregularities_are_counted_by_what_they_were():
    table = running()
    for fact in (
        CARD,
        CARD,
        facts.Burned(shoe="1", card=None, left=0),
        ROUND,
        VOID,
        FOREIGN,
        facts.ShoeEnded(id="1", rounds=2, cards=3, missing={}, extra={}),
        facts.CutCardSeen(shoe="1", rounds_left=1),
    ):
        table.fact(fact)
    assert {
        'shoe_controller_info{site="north",table="B12",version="1.2.3"} 1.0',
        'shoe_cards_total{place="hand"} 2.0',
        'shoe_cards_total{place="burned"} 1.0',
        'shoe_rounds_total{status="complete",winner="player"} 1.0',
        'shoe_rounds_total{status="void",winner="none"} 1.0',
        'shoe_irregularities_total{effect="void",kind="foreign_card"} 1.0',
        "shoe_shoes_total 1.0",
    } <= lines(table)


def test_a_card_carried_into_its_round_left_the_shoe_only_once():
    table = running()
    table.fact(facts.msgspec.structs.replace(CARD, place="surplus", hand=None))
    table.fact(facts.msgspec.structs.replace(CARD, carried=True))
    assert [line for line in lines(table) if line.startswith("shoe_cards_total{")] == [
        'shoe_cards_total{place="surplus"} 1.0'
    ]


def test_commits_connections_sinks_and_the_reader_are_told():
    table = running()
    table.committed(0.004, 3)
    table.reconnected("shoe")
    table.connection("shoe", up=True)
    table.sink("mqtt", 17)
    table.reading(reads=100, retries=4, misses=1, crc_errors=0, buffered=2)
    assert {
        'shoe_commit_seconds_bucket{le="0.0025"} 0.0',
        'shoe_commit_seconds_bucket{le="0.005"} 1.0',
        "shoe_journal_entries_total 3.0",
        'shoe_reconnects_total{device="shoe"} 1.0',
        'shoe_connected{device="shoe"} 1.0',
        'shoe_sink_lag{sink="mqtt"} 17.0',
        'shoe_reader{counter="misses"} 1.0',
        'shoe_reader{counter="buffered"} 2.0',
    } <= lines(table)
    assert table.content_type.startswith("text/plain")


def test_tables_in_one_process_do_not_mix():
    one, other = running(), running()
    one.reconnected("shoe")
    assert not any(line.startswith("shoe_reconnects_total{") for line in lines(other))


def test_metrics_that_are_off_take_every_call_and_say_nothing():
    table = metrics.create(enabled=False, site="a", table="b", version="1")
    table.fact(CARD)
    table.committed(0.1, 1)
    table.reconnected("shoe")
    table.connection("shoe", up=False)
    table.sink("mqtt", 1)
    table.reading(reads=1, retries=0, misses=0, crc_errors=0, buffered=0)
    assert not table.enabled
    assert table.render() == b""


def test_a_missing_library_is_a_sentence_and_the_table_runs(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    assert not metrics.create(enabled=True, site="a", table="b", version="1").enabled
    assert "prometheus-client is not installed" in caplog.text

from random import Random

from shoe_controller.fleet.dealer import Dealer
from shoe_controller.session import facts
from shoe_controller.session.inputs import AnnounceResult
from shoe_controller.session.session import Session


def played(rounds, *, seed=1, wagers=2):
    session, told = Session("table"), []
    dealer = Dealer(Random(seed), wagers=wagers)
    for _ in range(rounds):
        for happened in dealer.round(session.view()):
            told += session.handle(happened)
        while session.view().next is not None:
            for happened in dealer.card():
                told += session.handle(happened)
        told += session.handle(AnnounceResult())
    return told


def test_shoe_after_shoe_is_played_by_the_rules():
    told = played(200)
    assert not [fact for fact in told if isinstance(fact, facts.Irregularity | facts.Refused)]
    results = [fact for fact in told if isinstance(fact, facts.Round)]
    assert len(results) == 200
    assert all(result.status == "complete" for result in results)
    assert sum(isinstance(fact, facts.ShoeEnded) for fact in told) >= 2
    assert sum(isinstance(fact, facts.CutCardSeen) for fact in told) >= 2


def test_one_number_decides_the_play():
    assert played(20, seed=7) == played(20, seed=7) != played(20, seed=8)


def test_a_round_of_eight_wagers_is_about_25_facts():
    assert 22 <= len(played(100, wagers=8)) / 100 <= 26

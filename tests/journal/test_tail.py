"""The tail: newest facts from memory, older ones from disk, the same facts either way."""

import threading
from contextlib import closing

import pytest

from shoe_controller.journal.errors import JournalMissingError
from shoe_controller.journal.new_chain import start_new_chain
from shoe_controller.journal.reading import Reader, entries
from shoe_controller.journal.store import Journal
from shoe_controller.journal.tail import Tail


@pytest.fixture
def tail(journal):
    opened = Tail(journal, keep=10)
    yield opened
    opened.close()


def two_facts(number):
    return b'{"type":"card","n":%d}' % number, b'{"type":"round","n":%d}' % number


def test_facts_come_in_order_from_memory_and_from_disk(journal, tail, entry):
    for number in range(1, 101):
        journal.append([entry(number, facts=two_facts(number))])
    assert tail.last_seq == 200
    assert len(tail._recent) <= 20, "memory does not grow"
    whole = tail.facts(0, 1000)
    assert [record.seq for record in whole] == list(range(1, 201))
    assert [record.type for record in whole[:4]] == ["card", "round", "card", "round"]
    for after in (0, 1, 2, 99, 150, 179, 180, 185, 190, 195, 199):
        for limit in (1, 2, 3, 7, 500):
            assert tail.facts(after, limit) == whole[after : after + limit]
    assert tail.facts(200, 5) == []
    assert tail.facts(999, 5) == []


def test_a_record_carries_what_a_sink_needs(journal, tail, entry):
    new = entry(5)
    journal.append([new])
    (record,) = tail.facts(0, 10)
    assert record.fact == new.facts[0]
    assert (record.stamp, record.source, record.raw, record.type) == (new.stamp, "shoe", new.raw, "card")
    with closing(Reader(journal.folder)) as reader:
        assert reader.facts(0, 10) == [record]


def test_a_tail_knows_what_was_committed_before_it(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1), entry(2)])
    with Journal.open(folder) as journal:
        tail = Tail(journal)
        assert tail.last_seq == 2
        assert [record.seq for record in tail.facts(0, 9)] == [1, 2]
        journal.append([entry(3)])
        assert [record.seq for record in tail.facts(0, 9)] == [1, 2, 3]
        assert [record.seq for record in tail.facts(2, 9)] == [3]
        tail.close()


def test_reading_goes_on_over_archived_volumes(journal, tail, folder, entry):
    for number in range(1, 61):
        if number % 20 == 0:
            journal.archive()
        journal.append([entry(number, facts=two_facts(number))])
    assert [record.seq for record in tail.facts(0, 1000)] == list(range(1, 121))
    assert [record.seq for record in tail.facts(36, 5)] == [37, 38, 39, 40, 41]
    assert [e.device[1] for e in entries(folder, 1)] == list(range(1, 61))
    assert [e.seq for e in entries(folder, 38)][:2] == [37, 39]


def test_an_archived_volume_that_was_moved_away_is_missed_with_a_sentence(journal, tail, folder, entry):
    names = []
    for number in range(1, 61):
        if number % 20 == 0:
            names.append(journal.archive())
        journal.append([entry(number)])
    names[1].rename(folder.parent / "elsewhere.db")
    assert [record.seq for record in tail.facts(0, 19)] == list(range(1, 20))
    with pytest.raises(JournalMissingError, match=r"fact 20 .* put it back"):
        tail.facts(0, 30)
    with pytest.raises(JournalMissingError, match="fact 20 "):
        list(entries(folder, 1))
    names[0].rename(folder.parent / "elsewhere-too.db")
    with pytest.raises(JournalMissingError, match="fact 1 "):
        tail.facts(0, 30)


def test_after_a_new_chain_reading_skips_what_was_set_aside(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        journal.archive()
        journal.append([entry(2), entry(3)])
    start_new_chain(folder)
    with Journal.open(folder) as journal:
        tail = Tail(journal)
        assert [record.seq for record in tail.facts(0, 9)] == [1]
        journal.append([entry(4)])
        assert [record.seq for record in tail.facts(0, 9)] == [1, 4]
        with closing(Reader(folder)) as reader:
            assert [record.seq for record in reader.facts(0, 9)] == [1, 4]
        assert [e.seq for e in entries(folder, 1)] == [1, 4]
        tail.close()


def test_sinks_are_woken_after_the_commit_and_see_its_facts(journal, tail, entry):
    seen = []
    tail.on_commit(lambda: seen.append([record.seq for record in tail.facts(0, 10)]))
    journal.append([entry(1), entry(2)])
    journal.append([entry(3)])
    assert seen == [[1, 2], [1, 2, 3]]


def test_places_of_sinks_are_the_journals(journal, tail):
    assert tail.cursor("mqtt") == 0
    tail.move_cursor("mqtt", 7)
    assert (tail.cursor("mqtt"), journal.cursor("mqtt")) == (7, 7)


def test_sinks_in_other_threads_see_every_fact_once_and_in_order(journal, tail, entry):
    total = 300
    seen = {"slow": [], "quick": []}
    bells = {name: threading.Event() for name in seen}
    for bell in bells.values():
        tail.on_commit(bell.set)

    def follow(name, limit):
        while len(seen[name]) < total and bells[name].wait(timeout=30):
            bells[name].clear()
            while found := tail.facts(seen[name][-1] if seen[name] else 0, limit):
                seen[name] += [record.seq for record in found]

    threads = [threading.Thread(target=follow, args=pair) for pair in (("slow", 3), ("quick", 1000))]
    for thread in threads:
        thread.start()
    for number in range(1, total + 1):
        if number % 100 == 0:
            journal.archive()
        journal.append([entry(number)])
    for thread in threads:
        thread.join(timeout=30)
    assert seen == {name: list(range(1, total + 1)) for name in seen}

"""After damage: the damaged volume stays as it is, the new chain names its head, no number is used twice."""

import pytest

from shoe_controller.journal import archive, chain, volumes
from shoe_controller.journal.check import check_end
from shoe_controller.journal.errors import JournalBusyError, JournalDamagedError, JournalMissingError
from shoe_controller.journal.new_chain import ROUND_UP, start_new_chain
from shoe_controller.journal.reading import entries
from shoe_controller.journal.store import Journal


@pytest.fixture
def written(folder, entry):
    with Journal.open(folder, table="BAC-07") as journal:
        journal.append([entry(n) for n in range(1, 6)])
        journal.move_cursor("mqtt", 3)
    return journal


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


def test_a_new_chain_goes_on_after_the_old_head(written, folder, entry):
    before = contents(folder)
    made = start_new_chain(folder, reason="card 5 was damaged")
    assert (made.before, made.first_seq) == (written.live, 6)
    assert made.after == f"{written.chain_id} 5 {written.head.hex()}"
    assert {name: data for name, data in contents(folder).items() if name in before} == before
    assert "card 5 was damaged" in volumes.note_path(written.live).read_text()
    with Journal.open(folder) as journal:
        assert journal.chain_id != written.chain_id
        assert journal.volume.table == "BAC-07"
        assert journal.volume.origin.endswith(f"after {made.after}\n")
        assert journal.head == chain.genesis(journal.volume.origin)
        assert journal.has_event(77, 5), "events of the damaged volume are still recognised"
        assert journal.cursor("mqtt") == 5, "a feed goes on after what was set aside"
        assert journal.append([entry(6)]) == [6]
    assert [e.seq for e in entries(folder, 6)] == [6]
    assert check_end(folder).ok


def test_numbers_that_may_have_been_used_are_not_used_again(written, folder, entry):
    written.live.write_bytes(b"\xee" * 4096)
    with pytest.raises(JournalDamagedError):
        Journal.open(folder)
    made = start_new_chain(folder, table="BAC-07")
    assert (made.first_seq, made.after) == (ROUND_UP, "- ? ?")
    assert written.live.read_bytes() == b"\xee" * 4096
    with Journal.open(folder) as journal:
        assert journal.append([entry(1)]) == [ROUND_UP]


def test_damage_behind_readable_first_pages_keeps_the_name_of_the_chain(written, folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(n) for n in range(6, 100)])
    data = bytearray(written.live.read_bytes())
    data[-2048:] = b"\xee" * 2048
    written.live.write_bytes(data)
    made = start_new_chain(folder)
    assert made.first_seq == ROUND_UP
    assert made.after.startswith(written.chain_id)


def test_a_taken_away_live_volume_leads_to_a_chain_after_the_seal(folder, entry):
    with Journal.open(folder) as journal:
        journal.append([entry(1)])
        sealed = journal.archive()
        head = journal.head
    journal.live.unlink()
    with pytest.raises(JournalMissingError):
        Journal.open(folder)
    made = start_new_chain(folder)
    assert made.after == f"{journal.chain_id} 1 {head.hex()}"
    assert made.first_seq == ROUND_UP
    assert not volumes.note_path(sealed).exists(), "the sealed volume is good"
    with Journal.open(folder) as journal:
        assert journal.has_event(77, 1)


def test_a_damaged_volume_without_entries_can_be_set_aside(folder):
    with Journal.open(folder) as journal:
        pass
    made = start_new_chain(folder)
    assert (made.first_seq, made.after) == (ROUND_UP, f"{journal.chain_id} ? ?")


def test_a_crash_before_the_new_volume_has_its_name_is_finished_at_the_next_start(written, folder, monkeypatch):
    monkeypatch.setattr(archive, "reveal", lambda hidden: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        start_new_chain(folder)
    monkeypatch.undo()
    with Journal.open(folder) as journal:
        assert journal.last_seq == 5
        assert journal.chain_id != written.chain_id


def test_a_new_chain_that_is_gone_is_missed_and_may_be_followed_by_another(written, folder):
    made = start_new_chain(folder)
    made.path.unlink()
    with pytest.raises(JournalMissingError, match=r"journal-000000000006\.db, which is not there"):
        Journal.open(folder)
    assert start_new_chain(folder).first_seq == ROUND_UP
    Journal.open(folder).close()


def test_a_journal_in_use_is_not_set_aside(folder, journal):
    with pytest.raises(JournalBusyError):
        start_new_chain(folder)


def test_nothing_to_set_aside_is_told(tmp_path):
    with pytest.raises(JournalMissingError, match="nothing to set aside"):
        start_new_chain(tmp_path)

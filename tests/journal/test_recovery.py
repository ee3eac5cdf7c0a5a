"""What the daemon replays at start."""

import pytest

from shoe_controller.journal.errors import JournalDamagedError
from shoe_controller.journal.new_chain import start_new_chain
from shoe_controller.journal.recovery import entries_since_last_shoe, last_device_event
from shoe_controller.journal.store import Journal


def replayed(folder):
    return [e.seq for e in entries_since_last_shoe(folder)]


def test_replay_begins_with_the_last_shoe_that_came_into_play(journal, folder, entry, shoe):
    assert replayed(folder) == []
    journal.append([entry(1), entry(2)])
    assert replayed(folder) == [1, 2]
    journal.append([shoe("S1"), entry(3)])
    assert replayed(folder) == [3, 4]
    ended_and_loaded = (b'{"type":"shoe","id":"S1"}', b'{"type":"shoe_loaded","shoe":"S2"}')
    journal.append([shoe("S2", facts=ended_and_loaded), entry(5)])
    assert replayed(folder) == [5, 7]
    journal.append([shoe("S3", facts=(b'{"type":"refused","reason":"shoe_loaded"}',)), entry(6)])
    assert replayed(folder) == [5, 7, 8, 9]


def test_replay_reaches_back_into_archived_volumes(journal, folder, entry, shoe):
    journal.append([entry(1), shoe(), entry(2)])
    journal.archive()
    assert replayed(folder) == [2, 3]
    journal.append([entry(3)])
    journal.archive()
    journal.append([entry(4)])
    assert replayed(folder) == [2, 3, 4, 5]
    assert last_device_event(folder) == (77, 4)
    journal.archive()
    assert last_device_event(folder) == (77, 4)


def test_replay_never_reaches_back_into_a_chain_that_was_left(folder, entry, shoe):
    with Journal.open(folder) as journal:
        journal.append([shoe(), entry(1)])
    start_new_chain(folder)
    with Journal.open(folder) as journal:
        journal.append([entry(2)])
    assert replayed(folder) == [3]


def test_without_an_event_of_the_shoe_there_is_no_last_one(journal, folder, entry):
    assert last_device_event(folder) is None
    journal.append([entry(1, device=None)])
    assert last_device_event(folder) is None


@pytest.mark.parametrize("read", [replayed, last_device_event])
def test_recovery_from_a_torn_volume_is_an_error_in_words(folder, entry, shoe, read):
    with Journal.open(folder) as journal:
        journal.append([shoe()])
        journal.append([entry(n, device=None) for n in range(1, 100)])
    data = bytearray(journal.live.read_bytes())
    data[20 * 1024 :] = b"\xee" * len(data[20 * 1024 :])
    journal.live.write_bytes(data)
    with pytest.raises(JournalDamagedError, match="doctor"):
        read(folder)

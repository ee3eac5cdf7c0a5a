"""Verification: a sound journal is sound however it is cut, and any damage is named at its entry."""

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from shoe_controller.journal import layout, planning, stretch, verification, volumes
from shoe_controller.journal.errors import JournalError
from shoe_controller.journal.new_chain import start_new_chain
from shoe_controller.journal.signing import SigningKey
from shoe_controller.journal.store import Journal
from shoe_controller.journal.verification import verify
from tests.journal.forging import Opened, rechain, replace_rows, rows, tamper
from tests.journal.table import Table

OWN_KEYS = "signatures were checked with the keys that the journal itself lists"


def files(folder):
    return volumes.all_volume_paths(folder)


def problems(folder, **options):
    return [(problem.volume, problem.seq, problem.kind) for problem in verify(files(folder), **options).problems]


def row_of(path, kind, nth=0, *, at_least=1):
    """Return the n-th entry of a kind that has so many facts."""
    return [row for row in rows(path) if row["kind"] == kind and row["count"] >= at_least][nth]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("cut", [1, planning.STRETCH_FACTS])
def test_a_sound_journal_is_sound_however_it_is_cut(played_once, key, monkeypatch, jobs, cut):
    monkeypatch.setattr(planning, "STRETCH_FACTS", cut)
    told = []
    outcome = verify(
        files(played_once), public_keys=[key.public], jobs=jobs, progress=lambda done, total: told.append((done, total))
    )
    entries = [row for path in files(played_once) for row in rows(path)]
    assert outcome.problems == []
    assert outcome.ok
    assert outcome.notes == []
    assert (outcome.entries, outcome.derived, outcome.not_derived) == (len(entries), len(entries), 0)
    assert outcome.facts == sum(row["count"] for row in entries) == told[-1][0] == told[-1][1]
    assert outcome.rounds == sum(
        row["facts"].startswith('[{"type":"round"') for row in entries if row["kind"] == "result"
    )
    assert outcome.signatures == sum(row["signature"] is not None for row in entries)
    assert 3 <= outcome.signatures_checked < 10
    assert outcome.keys == [key.key_id.hex()]
    assert sorted(told) == told


def test_every_signature_is_checked_if_asked(played_once, key):
    outcome = verify(files(played_once), all_signatures=True)
    assert outcome.signatures_checked == outcome.signatures > 200
    assert outcome.notes[-1].startswith(OWN_KEYS)


def test_the_order_in_which_files_are_named_does_not_matter(played_once):
    assert verify(files(played_once)[::-1]).ok


def test_a_live_journal_is_verified_while_it_is_written(folder, key):
    table = Table(seed=2)
    with Journal.open(folder, signer=key) as journal:
        entries = list(table.play_shoe())
        journal.append(entries[:-3])
        outcome = verify(files(folder))
        assert outcome.ok
        assert outcome.entries == len(entries) - 3
        signed = [row for row in rows(journal.live) if row["signature"]][-1]
        assert f"the facts after {signed['seq'] + signed['count'] - 1} are not signed yet" in outcome.notes[0]
        journal.append(entries[-3:])
        assert [note for note in verify(files(folder)).notes if not note.startswith(OWN_KEYS)] == []


CHANGES = {
    "count": "count + 1",
    "boot": "zeroblob(16)",
    "mono_ns": "mono_ns + 1",
    "wall_ns": "wall_ns - 1",
    "synced": "1 - synced",
    "source": "'other'",
    "dev_session": "dev_session + 1",
    "dev_event": "dev_event + 1000000",
    "kind": "'cart'",
    "body": 'replace(body, \'"code":"\', \'"code":"9\')',
    "facts": 'replace(facts, \'"place":"hand"\', \'"place":"hang"\')',
    "raw": "zeroblob(30)",
    "prev": "zeroblob(32)",
    "hash": "zeroblob(32)",
}


@pytest.mark.parametrize("column, value", CHANGES.items())
@pytest.mark.parametrize("volume", [0, 2])
def test_a_change_in_any_column_is_named_at_its_entry(played, column, value, volume):
    path = files(played)[volume]
    seq = row_of(path, "card", 150)["seq"]
    tamper(path, f"UPDATE entries SET {column} = {value} WHERE seq = {seq}")
    found = problems(played)
    assert found[0] == (path.name, seq, "hash")
    assert {place for _, place, _ in found} <= {seq, seq + 1}, "what follows is sound"


def test_a_removed_entry_is_named_by_the_fact_that_is_missing(played):
    path = files(played)[1]
    seq = row_of(path, "card", 7)["seq"]
    tamper(path, f"DELETE FROM entries WHERE seq = {seq}")
    outcome = verify(files(played))
    assert (outcome.problems[0].seq, outcome.problems[0].kind) == (seq + 1, "gap")
    assert outcome.problems[0].what == f"fact {seq} should come next, not {seq + 1}"


@pytest.mark.parametrize("volume, told", [(0, "seal"), (2, None)])
def test_entries_cut_off_at_the_end_are_missed_where_the_volume_was_sealed(played, key, volume, told):
    path = files(played)[volume]
    last = rows(path)[-1]["seq"]
    tamper(path, f"DELETE FROM entries WHERE seq >= {last - 3}")
    assert [kind for _, _, kind in problems(played)] == ([told] if told else []), "a live end proves nothing"


def test_an_inserted_entry_is_named(played):
    path = files(played)[0]
    changed = rows(path)
    at = next(at for at, row in enumerate(changed) if at > 40 and row["kind"] == "card")
    twin = changed[at] | {"dev_session": 9}
    for row in changed[at:]:
        row["seq"] += twin["count"]
    replace_rows(path, [*changed[:at], twin, *changed[at:]])
    assert problems(played, derive=False)[0] == (path.name, twin["seq"], "hash")


def test_an_inserted_entry_that_links_well_breaks_the_one_after_it(played):
    path = files(played)[0]
    sound = rows(path)
    at = next(at for at, row in enumerate(sound) if at > 40 and row["kind"] == "card")
    rechain(path, [*sound[:at], sound[at] | {"dev_session": 9}])
    twin = rows(path)[-1]
    for row in sound[at:]:
        row["seq"] += twin["count"]
    replace_rows(path, [*rows(path), *sound[at:]])
    assert problems(played, derive=False)[0] == (path.name, twin["seq"] + twin["count"], "hash")


def test_an_entry_squeezed_between_is_out_of_order(played):
    path = files(played)[0]
    two = row_of(path, "result", 3, at_least=2)
    twin = two | {"seq": two["seq"] + 1, "count": 1}
    replace_rows(path, sorted([*rows(path), twin], key=lambda row: row["seq"]))
    assert problems(played)[:2] == [(path.name, two["seq"] + 1, "hash"), (path.name, two["seq"] + 1, "gap")]


def test_reordered_entries_are_both_named(played):
    path = files(played)[1]
    changed = rows(path)
    first, second = changed[30], changed[31]
    first["seq"], second["seq"] = second["seq"], first["seq"]
    replace_rows(path, changed)
    assert [(seq, kind) for _, seq, kind in problems(played, derive=False)][:2] == [
        (min(first["seq"], second["seq"]), "hash"),
        (max(first["seq"], second["seq"]), "hash"),
    ]


def test_a_replaced_entry_with_a_hash_of_its_own_breaks_the_next_link(played):
    path = files(played)[1]
    sound = rows(path)
    forged = [dict(row) for row in sound]
    forged[30]["raw"] = b"another frame"
    rechain(path, forged[:31])
    replace_rows(path, [*rows(path), *sound[31:]])
    outcome = verify(files(played))
    assert [(p.seq, p.kind) for p in outcome.problems] == [(sound[31]["seq"], "link")]
    assert "one of the two was replaced" in outcome.problems[0].what


def forge_result(path, key=None):
    """Turn a result around and mend the chain after it; return the entry's seq."""
    changed = rows(path)
    row = next(row for row in changed[100:] if '"winner":"player"' in row["facts"])
    row["facts"] = row["facts"].replace('"winner":"player"', '"winner":"banker"')
    rechain(path, changed, key)
    return row["seq"]


def test_facts_that_do_not_follow_from_the_input_are_named_even_if_the_thief_had_the_key(played, key):
    path = files(played)[2]
    seq = forge_result(path, key)
    outcome = verify(files(played), public_keys=[key.public], all_signatures=True)
    (problem,) = outcome.problems
    assert (problem.seq, problem.kind) == (seq, "facts")
    assert problem.what == 'replaying its input gives a fact \'round\' with winner "player", recorded is "banker"'
    assert outcome.not_derived > 0, "what follows in the shoe would tell nothing new"
    assert verify(files(played), public_keys=[key.public], derive=False).ok, "only the replay shows it"


def test_a_forged_chain_is_betrayed_by_the_first_signature_after_the_change(played):
    path = files(played)[2]
    seq = forge_result(path)
    signed = [row["seq"] for row in rows(path) if row["signature"] and row["seq"] >= seq]
    for every in (False, True):
        found = problems(played, derive=False, all_signatures=every, limit=1000)
        assert [(place, kind) for _, place, kind in found] == [(place, "signature") for place in signed]


def test_a_forged_sealed_volume_does_not_reach_its_seal(played, key):
    path = files(played)[0]
    forge_result(path, key)
    assert problems(played, derive=False) == [(path.name, None, "seal")]


@pytest.mark.parametrize("last", [False, True])
def test_a_changed_signature_is_named_at_its_entry(played, last):
    path = files(played)[2]
    seq = [row["seq"] for row in rows(path) if row["signature"]][-1 if last else 20]
    tamper(
        path, f"UPDATE entries SET signature = CAST(substr(signature, 1, 8) || zeroblob(64) AS BLOB) WHERE seq = {seq}"
    )
    assert problems(played) == [(path.name, seq, "signature")]


def test_a_removed_signature_breaks_the_link(played):
    path = files(played)[1]
    seq = row_of(path, "result", 20)["seq"]
    following = next(row["seq"] for row in rows(path) if row["seq"] > seq)
    tamper(path, f"UPDATE entries SET signature = NULL WHERE seq = {seq}")
    assert problems(played) == [(path.name, following, "link")]


def test_a_signature_where_none_was_breaks_the_link(played, key):
    path = files(played)[1]
    seq = row_of(path, "bets", 20)["seq"]
    following = next(row["seq"] for row in rows(path) if row["seq"] > seq)
    tamper(path, f"UPDATE entries SET signature = zeroblob(72) WHERE seq = {seq}")
    assert problems(played)[0] == (path.name, seq, "signature")
    own = next(row["hash"] for row in rows(path) if row["seq"] == seq)
    good = key.sign(b"shoe-controller entry 1\n%b\n%d\n%b\n" % (b"x", seq, own.hex().encode()))
    tamper(path, f"UPDATE entries SET signature = x'{good.hex()}' WHERE seq = {seq}")
    assert {place for _, place, _ in problems(played)} <= {seq, following}


def test_another_key_is_named(played, tmp_path):
    other = SigningKey.open_or_create(tmp_path / "other.pem")
    outcome = verify(files(played), public_keys=[other.public], derive=False, limit=5)
    assert not outcome.ok
    assert len(outcome.problems) == 5
    assert outcome.problem_count == outcome.signatures + 2, "every signature, and the seals of two volumes"
    assert all("which is not known here" in problem.what for problem in outcome.problems)


def test_a_key_that_took_the_place_of_the_first_is_shown(folder, key, tmp_path):
    other = SigningKey.open_or_create(tmp_path / "other.pem")
    table = Table(seed=3)
    for signer in (key, other):
        with Journal.open(folder, signer=signer) as journal:
            journal.append(list(table.play_shoe()))
    outcome = verify(files(folder))
    assert outcome.ok
    assert outcome.keys == sorted([key.key_id.hex(), other.key_id.hex()])
    assert verify(files(folder), public_keys=[key.public, other.public]).ok
    assert not verify(files(folder), public_keys=[other.public]).ok


def test_a_journal_without_signatures_says_what_that_means(folder):
    with Journal.open(folder, archive_policy="shoe") as journal:
        table = Table(seed=4)
        journal.append(list(table.play_shoe()))
        journal.append(list(table.play_shoe()))
    outcome = verify(files(folder))
    assert outcome.ok
    assert outcome.notes == [
        "the seal of journal-000000000001.db is not signed",
        "nothing in it is signed: the chain shows damage, but not who wrote it",
    ]


@pytest.mark.parametrize(
    "change, what",
    [
        ("signature = CAST(substr(signature, 1, 8) || zeroblob(64) AS BLOB)", "the signature of its seal is not good"),
        ("signature = zeroblob(72)", "its seal is signed with the key 0000000000000000, which is not known here"),
    ],
)
def test_a_changed_seal_is_named(played, change, what):
    tamper(files(played)[0], f"UPDATE seal SET {change}")
    (problem,) = verify(files(played)).problems
    assert (problem.kind, problem.what) == ("seal", what)


@pytest.mark.parametrize("page", [0, 1, 40, -2])
def test_a_torn_volume_is_named_and_the_others_are_verified(played, page):
    path = files(played)[1]
    data = bytearray(path.read_bytes())
    start = page % (len(data) // layout.PAGE_SIZE) * layout.PAGE_SIZE
    data[start : start + layout.PAGE_SIZE] = b"\xee" * layout.PAGE_SIZE
    path.write_bytes(data)
    outcome = verify(files(played))
    assert not outcome.ok
    assert outcome.problems[0].volume == path.name
    others = [len(rows(other)) for other in files(played) if other != path]
    assert outcome.entries >= sum(others)


def test_a_volume_torn_in_the_middle_says_how_far_it_could_be_read(played):
    path = files(played)[2]
    pages = "SELECT pageno FROM dbstat WHERE name = 'entries' AND pagetype = 'leaf'"
    with closing(sqlite3.connect(path)) as file:
        try:
            leaf = [number for (number,) in file.execute(pages)][60]
        except sqlite3.OperationalError:  # this SQLite was built without dbstat
            leaf = path.stat().st_size // layout.PAGE_SIZE // 2
    data = bytearray(path.read_bytes())
    data[(leaf - 1) * layout.PAGE_SIZE : leaf * layout.PAGE_SIZE] = b"\xee" * layout.PAGE_SIZE
    path.write_bytes(data)
    assert any(
        problem.kind == "file" and "it cannot be read after fact" in problem.what
        for problem in verify(files(played), derive=False).problems
    )


def test_a_missing_volume_between_two_is_named(played):
    first, second, third = files(played)
    begins = volumes.first_seq_of(second), volumes.first_seq_of(third)
    outcome = verify([first, third])
    (problem,) = outcome.problems
    assert (problem.volume, problem.kind) == (third.name, "seal")
    assert problem.what == f"facts {begins[0]} to {begins[1] - 1} are in no file that was given"
    assert f"the facts of {third.name} are derived from its first shoe on" in outcome.notes


def test_a_later_volume_alone_is_verified_from_its_beginning(played):
    third = files(played)[2]
    outcome = verify([third])
    assert outcome.ok
    assert outcome.not_derived == 1, "the shoe itself, since what came before is not known"
    assert "what came before was not among the files" in outcome.notes[0]


def test_a_volume_given_twice_is_named(played, tmp_path):
    first = files(played)[0]
    copy = tmp_path / first.name
    copy.write_bytes(first.read_bytes())
    assert "the same facts" in verify([first, copy]).problems[0].what


def test_volumes_that_do_not_fit_are_named(played):
    first, second, _ = files(played)
    tamper(second, "UPDATE meta SET value = hex(zeroblob(32)) WHERE name = 'prev'")
    assert "does not go on where" in verify([first, second]).problems[0].what
    tamper(first, "DELETE FROM seal")
    assert "was not sealed, but the chain goes on" in verify([first, second]).problems[0].what


def test_a_changed_beginning_is_named(played):
    first = files(played)[0]
    tamper(first, "UPDATE meta SET value = 'BAC-08' WHERE name = 'table'")
    assert ("origin", None) in [(p.kind, p.seq) for p in verify([first]).problems]


def test_missing_triggers_are_named(played):
    first = files(played)[0]
    file = sqlite3.connect(first)
    file.execute("DROP TRIGGER entries_stay")
    file.close()
    assert str(verify([first]).problems[0]) == f"{first.name}: missing: trigger entries_stay"


def test_a_chain_after_a_damaged_volume_is_told(played):
    live = files(played)[2]
    made = start_new_chain(played, reason="a page was torn")
    table = Table(seed=9)
    table.cards = 10_000  # the shoe goes on counting its events
    with Journal.open(played) as journal:
        journal.append(list(table.play_shoe()))
    outcome = verify(files(played))
    assert outcome.ok
    assert f"{live.name} was set aside as damaged" in outcome.notes
    seq = made.first_seq - 1
    old = volumes.look_at(live).chain
    assert f"{made.path.name} begins a chain after fact {seq} of chain {old}" in outcome.notes
    assert verify([made.path]).notes[0].endswith(f"of chain {old}, which was not among the files")


def loosened(path):
    """Take away what keeps values of a wrong kind out."""
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("PRAGMA writable_schema = ON")
    file.execute("UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'entries'")
    file.close()


def test_a_value_of_the_wrong_kind_is_named_and_replay_goes_on_with_the_next_shoe(folder):
    table = Table(seed=6)
    with Journal.open(folder) as journal:
        journal.append([*table.play_shoe(), *table.play_shoe()])
    loosened(journal.live)
    row = row_of(journal.live, "card", 3)
    tamper(journal.live, f"UPDATE entries SET raw = 5 WHERE seq = {row['seq']}")
    outcome = verify([journal.live])
    assert (row["seq"], "hash") in [(p.seq, p.kind) for p in outcome.problems]
    assert "a column has a value of the wrong kind" in [p.what for p in outcome.problems]
    assert 0 < outcome.not_derived < outcome.entries / 2 + 2


INPUTS_THAT_CANNOT_BE = {
    "not JSON": "{",
    "no input that is known": '{"type":"juggle"}',
    "a game that is not known": '{"type":"card"}',
}


@pytest.mark.parametrize("body", INPUTS_THAT_CANNOT_BE.values(), ids=list(INPUTS_THAT_CANNOT_BE))
def test_an_input_that_cannot_be_replayed_is_named(folder, body):
    with Journal.open(folder) as journal:
        journal.append(list(Table(seed=6).play_shoe()))
    changed = rows(journal.live)
    changed[20]["body"] = body
    rechain(journal.live, changed)
    (problem,) = verify([journal.live]).problems
    assert (problem.seq, problem.kind) == (changed[20]["seq"], "facts")
    assert problem.what.startswith("its input cannot be replayed: ")


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda facts: [], "replaying its input gives 1 facts, recorded are 0"),
        (lambda facts: [*facts, facts[0]], "replaying its input gives 1 facts, recorded are 2"),
        (
            lambda facts: [{**facts[0], "type": "cut"}],
            "replaying its input gives a fact 'betting', recorded is 'cut'",
        ),
        (lambda facts: [{"type": "betting", "round": 9}], 'with shoe "S-0001", recorded is absent; round 1'),
        (lambda facts: {"no": "list"}, "its facts are not a list of facts in JSON"),
    ],
)
def test_facts_that_differ_are_told_by_fact_and_field(folder, change, what):
    with Journal.open(folder) as journal:
        journal.append(list(Table(seed=6).play_shoe()))
    changed = rows(journal.live)
    changed[1]["facts"] = json.dumps(change(json.loads(changed[1]["facts"])))
    rechain(journal.live, changed)
    (problem,) = verify([journal.live]).problems
    assert (problem.seq, problem.kind) == (2, "facts")
    assert what in problem.what


def test_a_wrong_count_of_facts_is_named(folder):
    with Journal.open(folder) as journal:
        journal.append(list(Table(seed=6).play_shoe()))
    changed = rows(journal.live)
    changed[1]["count"] = 2
    rechain(journal.live, changed)
    (problem,) = verify([journal.live]).problems
    assert (problem.seq, problem.kind) == (2, "facts")
    assert "their count is wrong" in problem.what


def test_facts_written_by_an_older_version_are_the_same_in_meaning(folder):
    with Journal.open(folder) as journal:
        journal.append(list(Table(seed=6).play_shoe()))
    changed = rows(journal.live)
    for row in changed:
        row["facts"] = row["facts"].replace(',"void_reason":"","unassigned":[],"keyed":[]', "")
    rechain(journal.live, changed)
    outcome = verify([journal.live])
    assert outcome.ok
    assert outcome.notes[0].endswith("written by another version of the program; their meaning is the same")


def test_a_shoe_entry_that_was_changed_does_not_stop_the_stretches_around_it(folder, monkeypatch):
    monkeypatch.setattr(planning, "STRETCH_FACTS", 1)
    table = Table(seed=8)
    with Journal.open(folder) as journal:
        for _ in range(3):
            journal.append(list(table.play_shoe()))
    second = row_of(journal.live, "shoe", 1)
    for facts in ("[", '[{"type":"refused","command":"shoe","reason":"","detail":""}]'):
        tamper(journal.live, f"UPDATE entries SET facts = '{facts}' WHERE seq = {second['seq']}")
        found = [(p.seq, p.kind) for p in verify([journal.live]).problems]
        assert found[0] == (second["seq"], "hash")
        assert {seq for seq, _ in found} == {second["seq"]}
    tamper(journal.live, f"UPDATE entries SET facts = '{second['facts']}', body = '[]' WHERE seq = {second['seq']}")
    assert {p.seq for p in verify([journal.live]).problems} == {second["seq"]}


def test_an_index_that_names_an_entry_that_is_not_there_is_damage(folder, monkeypatch):
    with Journal.open(folder) as journal:
        journal.append(list(Table(seed=8).play_shoe()))
    plan = stretch.Plan(keys={})
    piece = stretch.Piece(journal.live, 999_999, 2_000_000)
    result = stretch.verify_stretch(stretch.Stretch(journal.chain_id, (piece,)), plan)
    assert [(p.seq, p.kind) for p in result.problems] == [(999_999, "gap")]


def test_a_volume_without_entries_is_sound(folder):
    with Journal.open(folder) as journal:
        outcome = verify([journal.live])
    assert (outcome.ok, outcome.entries, outcome.notes) == (True, 0, [])


def kill_worker(*_):
    # Both must be there: one that is loading when the pool is ended may hang in the handler that measures coverage.
    there = Path(os.environ["WORKERS_THERE"])
    (there / str(os.getpid())).touch()
    while len(list(there.iterdir())) < 2:
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_told(played, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("WORKERS_THERE", str(tmp_path_factory.mktemp("workers")))
    monkeypatch.setattr(planning, "STRETCH_FACTS", 1)
    monkeypatch.setattr(verification, "verify_stretch", kill_worker)
    with pytest.raises(JournalError, match="try again with --jobs 1"):
        verify(files(played), jobs=2)


def test_an_opened_volume_keeps_its_triggers(played):
    before = verify(files(played)).ok
    with Opened(files(played)[0]):
        pass
    assert before
    assert verify(files(played)).ok

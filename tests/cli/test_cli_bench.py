"""`shoe-controller bench`: whole, and each part where it can go wrong."""

import json

import pytest

from shoe_controller.errors import UsageError
from shoe_controller.measuring import daemon, disk
from shoe_controller.measuring.measured import Measured, percentile
from tests.cli.program import run

NAMES = [
    "rules alone",
    "session at the table",
    "session in a replay",
    "card on disk, half of them within",
    "card on disk, 99 of 100 within",
    "card on disk, the slowest",
    "written for a card and its share of the round",
    "journal verified, one core",
]
DAEMON = [
    "shoe-controller --help",
    "daemon, start to ready",
    "daemon, processor time until ready",
    "daemon, memory",
    "daemon at rest",
    "table while dealing",
]


def test_it_measures_the_machine_and_leaves_nothing_behind(tmp_path):
    answer = run("bench", "--quick", "--format", "json", "--directory", tmp_path)
    assert answer.stdout, answer.stderr
    told = json.loads(answer.stdout)
    assert [figure["name"] for figure in told["figures"]] == NAMES + DAEMON
    assert all(figure["value"] > 0 for figure in told["figures"] if figure["name"] != "daemon at rest")
    assert told["machine"]["cores"] >= 1
    # How fast is not for a test to say; that the exit code follows the limits is.
    kept = all(figure["most"] is None or figure["value"] <= figure["most"] for figure in told["figures"])
    assert answer.returncode == (0 if kept else 1), answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_people_get_a_line_a_figure(tmp_path):
    answer = run("bench", "--quick", "--no-daemon", "--directory", tmp_path)
    lines = answer.stdout.decode().splitlines()
    assert [line[:46].rstrip() for line in lines] == NAMES
    assert answer.returncode == 0


def test_a_directory_that_cannot_be_written_is_told(tmp_path):
    answer = run("bench", "--quick", "--no-daemon", "--directory", tmp_path / "nowhere")
    assert answer.returncode == 2
    assert f"{tmp_path}/nowhere: cannot be measured: No such file or directory" in answer.stderr.decode()


def test_a_limit_that_is_not_kept_is_told():
    from shoe_controller.cli.bench import _line

    assert _line(Measured("daemon, memory", 80, "MB", 64)).endswith("TOO MUCH, at most 64 MB")
    assert _line(Measured("daemon, memory", 60, "MB", 64)).endswith("fine, at most 64 MB")


def test_a_daemon_that_does_not_get_ready_is_told_with_what_it_said(tmp_path, monkeypatch):
    monkeypatch.setattr(daemon, "CONFIG", daemon.CONFIG + "nonsense = {port}\n")
    with pytest.raises(daemon.DaemonNotReadyError, match=r"did not get ready: .*nonsense"):
        list(daemon.measure_daemon(tmp_path, times=1, idle_seconds=0.1))


def test_a_table_that_does_not_begin_to_play_is_told_with_what_it_said(tmp_path, monkeypatch):
    monkeypatch.setattr(daemon, "PROGRAM", (*daemon.PROGRAM, "--nonsense"))
    with pytest.raises(daemon.DaemonNotReadyError, match=r"did not get ready: .*--nonsense"):
        list(daemon.measure_dealing(tmp_path, 0.1))


def test_bytes_come_from_the_files_where_the_kernel_does_not_count_them(tmp_path):
    (tmp_path / "journal.db").write_bytes(bytes(1234))
    assert disk.written(tmp_path, io=tmp_path / "missing") == 1234
    assert disk.written(tmp_path) >= 0


def test_a_disk_without_room_is_a_sentence_of_the_user(tmp_path):
    with pytest.raises(UsageError, match="cannot be measured"):
        next(disk.measure_disk(tmp_path / "missing", 1, 1))


def test_a_percentile_is_one_of_the_values():
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.99) == 1.0

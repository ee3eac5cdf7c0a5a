import ctypes

import pytest

from shoe_controller.clock_sync import clock_synced
from shoe_controller.vitals import Vitals, measure


def test_this_machine_tells_disk_memory_and_load(tmp_path):
    vitals = measure(tmp_path)
    assert vitals.disk_free_mb is not None
    assert vitals.memory_mb > 5
    assert vitals.load >= 0


def test_a_pi_tells_its_temperature(tmp_path):
    (tmp_path / "temp").write_text("48312\n")
    assert measure(tmp_path, thermal=tmp_path / "temp").cpu_celsius == 48.3


def test_what_a_machine_does_not_tell_is_none(tmp_path):
    nowhere = tmp_path / "nowhere"
    assert measure(nowhere, proc=nowhere, thermal=nowhere) == Vitals(None, None, None, None)


@pytest.mark.parametrize("answer, synced", [(0, True), (1, True), (4, True), (5, False), (-1, False)])
def test_the_clock_is_right_only_if_the_kernel_says_so(monkeypatch, answer, synced):
    class Libc:
        def __init__(self, _name):
            pass

        def adjtimex(self, _timex):
            return answer

    monkeypatch.setattr(ctypes, "CDLL", Libc)
    assert clock_synced() is synced


def test_the_real_kernel_answers():
    assert clock_synced() in (True, False)

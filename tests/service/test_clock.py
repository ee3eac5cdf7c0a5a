from shoe_controller.service.clock import STEP_NS, TableClock
from shoe_controller.session.inputs import ClockStep


class Clocks:
    """A monotonic clock, a wall clock and the word of the time service, all set by hand."""

    def __init__(self):
        self.mono_ns = 5
        self.wall_ns = 1_000
        self.synced = False
        self.table = TableClock(
            "ab" * 16, mono=lambda: self.mono_ns, wall=lambda: self.wall_ns, synced=lambda: self.synced
        )

    def pass_(self, ns, wall_ns=None):
        self.mono_ns += ns
        self.wall_ns += ns if wall_ns is None else wall_ns


def test_a_stamp_carries_boot_both_clocks_and_whether_the_wall_clock_is_right():
    stamp = Clocks().table.stamp()
    assert (stamp.boot, stamp.mono_ns, stamp.wall_ns, stamp.synced) == ("ab" * 16, 5, 1_000, False)


def test_a_clock_that_is_only_slewed_is_never_told_however_far_it_drifts():
    clocks = Clocks()
    for _ in range(100):
        clocks.pass_(STEP_NS, STEP_NS + STEP_NS // 10)
        assert clocks.table.look() is None


def test_a_clock_that_is_set_is_told_once_with_the_step():
    clocks = Clocks()
    clocks.pass_(STEP_NS, STEP_NS - 3_600_000_000_000)
    assert clocks.table.look() == ClockStep(synced=False, step_ms=-3_600_000)
    assert clocks.table.look() is None


def test_synchronisation_is_told_and_stands_in_the_stamps_from_then_on():
    clocks = Clocks()
    clocks.synced = True
    assert not clocks.table.stamp().synced
    assert clocks.table.look() == ClockStep(synced=True, step_ms=0)
    assert clocks.table.stamp().synced

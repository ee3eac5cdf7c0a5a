"""In which order those who wait for a commit are told of it, and what a defect of one does to the others."""

import pytest

from shoe_controller.app.outlets import Outlets
from shoe_controller.service.table import Committed
from shoe_controller.web.feed import EMPTY_TABLE

COMMITTED = Committed(EMPTY_TABLE, 1, (), (), 0.0)


class Told:
    """A feed or a display that notes when it is told."""

    def __init__(self, name, told, *, looked_at=False, defect=False):
        self.name, self._told, self.looked_at, self._defect = name, told, looked_at, defect

    def wake(self):
        self._told.append(self.name)
        if self._defect:
            raise ZeroDivisionError

    def committed(self, view, seq):
        self.wake()


def outlets(sinks, display):
    made = object.__new__(Outlets)
    made._sinks, made._display, made._hurt = sinks, display, set()
    return made


def tell(some):
    """Do what is done after each commit."""
    some.on_disk()
    some.publish(COMMITTED)


@pytest.mark.parametrize("looked_at, order", [(True, ["display", "mqtt"]), (False, ["mqtt", "display"])])
def test_a_display_that_somebody_looks_at_is_told_before_the_feeds(looked_at, order):
    told = []
    tell(outlets([Told("mqtt", told)], Told("display", told, looked_at=looked_at)))
    assert told == order


def test_a_defect_of_one_is_kept_from_the_others_and_told_once(caplog):
    told = []
    some = outlets([Told("mqtt", told, defect=True), Told("serial", told)], None)
    tell(some)
    tell(some)
    assert told == ["mqtt", "serial"] * 2
    assert [record.getMessage() for record in caplog.records] == ["mqtt: a defect; the table plays on"]

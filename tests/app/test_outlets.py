"""In which order those who wait for a commit are told of it, and what a defect of one does to the others."""

from shoe_controller.app.outlets import Outlets
from shoe_controller.service.table import Committed
from shoe_controller.web.feed import EMPTY_TABLE

COMMITTED = Committed(EMPTY_TABLE, 1, (), (), 0.0)


class Told:
    """A feed or a display that notes when it is told."""

    def __init__(self, name, told, *, defect=False):
        self.name, self._told, self._defect = name, told, defect

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


def test_feeds_are_told_before_the_pages_of_the_display():
    told = []
    tell(outlets([Told("mqtt", told), Told("serial", told)], Told("display", told)))
    assert told == ["mqtt", "serial", "display"]


def test_a_defect_of_one_is_kept_from_the_others_and_told_once(caplog):
    told = []
    some = outlets([Told("mqtt", told, defect=True), Told("serial", told)], None)
    tell(some)
    tell(some)
    assert told == ["mqtt", "serial"] * 2
    assert [record.getMessage() for record in caplog.records] == ["mqtt: a defect; the table plays on"]

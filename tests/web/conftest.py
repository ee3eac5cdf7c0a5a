import pytest

from tests.web.browser import browser, open_page  # noqa: F401 - fixtures
from tests.web.table import PlayedTable, settings


@pytest.fixture
def table(tmp_path):
    """Return a function that opens a table with a journal of its own and plays a script at it."""
    opened = []

    def make(script="", **chosen):
        made = PlayedTable(tmp_path / f"journal{len(opened)}", settings(**chosen))
        opened.append(made)
        made.play(script)
        return made

    yield make
    for made in opened:
        made.close()

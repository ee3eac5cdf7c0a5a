import pytest

from tests.broker import Mosquitto
from tests.outputs.table import Table


@pytest.fixture
def broker(tmp_path):
    broker = Mosquitto(tmp_path / "broker").start()
    yield broker
    broker.stop()


@pytest.fixture
def table(tmp_path):
    table = Table(tmp_path / "journal")
    yield table
    table.close()

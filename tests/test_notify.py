import logging
import os
import socket

import pytest

from shoe_controller.notify import Notifier


@pytest.fixture(params=["path", "abstract"])
def systemd(request, tmp_path):
    """The receiving end, as systemd has it."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@shoe-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(name.replace("@", "\0"))
        receiver.settimeout(5)
        yield name, receiver


def test_each_state_is_one_datagram(systemd):
    name, receiver = systemd
    notifier = Notifier({"NOTIFY_SOCKET": name})
    assert notifier.active
    notifier.ready("playing six-star")
    notifier.alive()
    notifier.status("round 3\nREADY=1")
    notifier.stopping()
    assert [receiver.recv(1000) for _ in range(4)] == [
        b"READY=1\nSTATUS=playing six-star",
        b"WATCHDOG=1",
        b"STATUS=round 3 READY=1",
        b"STOPPING=1",
    ]


@pytest.mark.parametrize("address", ["", "relative/path", "vsock:2:1234"])
def test_without_systemd_nothing_happens(address):
    notifier = Notifier({"NOTIFY_SOCKET": address} if address else {})
    notifier.ready()
    notifier.alive()
    assert not notifier.active


def test_a_systemd_that_does_not_listen_is_said_once_and_again_after_it_was_back(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    path = str(tmp_path / "gone")
    notifier = Notifier({"NOTIFY_SOCKET": path})
    notifier.alive()
    notifier.alive()
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG"]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(path)
        notifier.alive()
        assert receiver.recv(100) == b"WATCHDOG=1"
    notifier.alive()
    assert [record.levelname for record in caplog.records] == ["WARNING", "DEBUG", "WARNING"]


@pytest.mark.parametrize(
    "environment, seconds",
    [
        ({}, None),
        ({"WATCHDOG_USEC": "10000000"}, 10.0),
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": str(os.getpid())}, 10.0),
        ({"WATCHDOG_USEC": "10000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_time_is_ours_only_if_it_names_our_process(environment, seconds):
    assert Notifier(environment).watchdog_seconds == seconds

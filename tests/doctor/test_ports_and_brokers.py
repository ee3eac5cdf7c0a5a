"""Ports of shoe and feed, and brokers: opened as the daemon would, and left alone while it runs."""

import os
import pty
import socket
import threading
from types import SimpleNamespace

import pytest

from drivers import usb_device
from drivers.usb_simulated import SimulatedUsbBus, SimulatedUsbShoe
from shoe_controller.doctor import ports
from shoe_controller.doctor.brokers import check_brokers
from shoe_controller.doctor.ports import check_ports
from tests.broker import Mosquitto, free_port


def told(findings):
    found = list(findings)
    assert all(finding.mend for finding in found if finding.verdict != "ok")
    return [(finding.check, finding.verdict, finding.what) for finding in found]


@pytest.fixture
def port():
    """Return the path of a serial port with something at its other end."""
    master, slave = pty.openpty()
    yield os.ttyname(slave)
    os.close(master)
    os.close(slave)


def test_a_simulated_shoe_is_told_because_no_real_card_is_read(config):
    assert told(check_ports(config(), running=False)) == [("shoe", "warn", "the shoe is simulated")]


def test_a_port_that_opens_is_ok_and_one_that_the_service_may_not_open_is_told(config, port):
    opened, let_in = told(check_ports(config(f'device = "{port}"'), running=False))
    assert opened == ("shoe", "ok", f"{port} can be opened")
    assert let_in == ("shoe", "warn", f"{port} is of the kind ?, which the service may not open")


def test_an_adapter_is_told_with_the_port_that_it_has_today(config, port, monkeypatch):
    adapter = SimpleNamespace(device=port, vid=0x0403, pid=0x6001, serial_number="A5069RR4")
    monkeypatch.setattr("serial.tools.list_ports.comports", lambda: [adapter])
    monkeypatch.setattr(ports, "LET_IN", ("?",))
    assert told(check_ports(config('device = "usb:0403:6001"'), running=False)) == [
        ("shoe", "ok", f"usb:0403:6001 is {port} and can be opened")
    ]


def test_a_port_that_is_not_there_fails_with_what_to_do(config, tmp_path):
    for running in (False, True):
        ((check, verdict, what),) = told(check_ports(config(f'device = "{tmp_path}/gone"'), running=running))
        assert (check, verdict) == ("shoe", "fail")
        assert str(tmp_path / "gone") in what


def test_a_running_daemon_keeps_its_port(config, port):
    ((_, verdict, what),) = told(check_ports(config(f'device = "{port}"'), running=True))
    assert verdict == "ok"
    assert "left to the running daemon" in what


def test_a_device_server_is_called(config):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        assert told(check_ports(config(f'device = "{url}"'), running=False)) == [("shoe", "ok", f"{url} can be opened")]


def test_the_serial_feed_is_a_port_like_the_shoes(config, tmp_path):
    settings = config(rest=f'[serial_feed]\ndevice = "{tmp_path}/board"')
    assert [(check, verdict) for check, verdict, _ in told(check_ports(settings, running=False))] == [
        ("shoe", "warn"),
        ("serial feed", "fail"),
    ]


def test_the_kernel_names_the_drivers_of_terminals(tmp_path, monkeypatch):
    table = tmp_path / "devices"
    table.write_text(
        "Character devices:\n  4 /dev/vc/0\n  4 ttyS\n188 ttyUSB\n 10 misc\n\nBlock devices:\n  7 ttyloop\n"
    )
    monkeypatch.setattr(ports, "DRIVERS", table)
    assert [ports.driver_of(major) for major in (4, 188, 10, 7)] == ["ttyS", "ttyUSB", "?", "?"]


@pytest.mark.parametrize(
    "shoes, running, verdict, sentence",
    [
        ([SimulatedUsbShoe()], False, "ok", "can be used"),
        ([SimulatedUsbShoe()], True, "ok", "left to the running daemon"),
        ([], False, "fail", "1209:5a0e"),
    ],
)
def test_a_raw_usb_shoe_is_claimed_and_given_back(config, monkeypatch, shoes, running, verdict, sentence):
    bus = SimulatedUsbBus(*shoes)
    monkeypatch.setattr(usb_device, "libusb", lambda: bus)
    ((_, found, what),) = told(check_ports(config('device = "usb-raw:1209:5a0e"'), running=running))
    assert found == verdict
    assert sentence in what
    assert all(not shoe.claimed for shoe in shoes)


def test_no_broker_is_no_fault(config):
    assert told(check_brokers(config())) == [("broker", "ok", "none is configured")]


def test_one_broker_of_two_is_enough_and_none_is_not(config, tmp_path):
    gone = f"mqtt://127.0.0.1:{free_port()}"
    broker = Mosquitto(tmp_path / "broker").start()
    settings = config(rest=f'[mqtt]\nbrokers = ["{broker.url}", "{gone}"]')
    try:
        (_, first, what), (_, second, _) = told(check_brokers(settings))
        assert (first, what, second) == ("ok", f"{broker.url} lets us in", "warn")
    finally:
        broker.stop()
    assert [verdict for _, verdict, _ in told(check_brokers(settings))] == ["fail", "fail"]


def test_a_broker_that_wants_a_password_is_told(config, tmp_path):
    broker = Mosquitto(tmp_path / "broker", "allow_anonymous false").start()
    try:
        ((_, verdict, what),) = told(check_brokers(config(rest=f'[mqtt]\nbrokers = ["{broker.url}"]')))
    finally:
        broker.stop()
    assert verdict == "fail"
    assert "127.0.0.1" in what


def test_a_broker_that_does_not_know_the_version_is_told(config):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse():
            for _ in range(2):
                connection, _address = server.accept()
                newest = connection.recv(1024)[8] == 5
                # CONNACK: unsupported protocol version, as either version says it.
                connection.sendall(b"\x20\x03\x00\x84\x00" if newest else b"\x20\x02\x00\x01")
                connection.close()

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        url = f"mqtt://127.0.0.1:{server.getsockname()[1]}"
        ((_, verdict, what),) = told(check_brokers(config(rest=f'[mqtt]\nbrokers = ["{url}"]')))
    assert verdict == "fail"
    assert url in what

"""`shoe-controller devices`: what it tells people and programs, and that its lines are a configuration."""

import asyncio
import json
import os

import pytest

from drivers import discovery
from drivers.discovery import Discovery, Found, SerialPort
from drivers.gpio_chips import GpioChip
from drivers.probe import FoundShoe, Probe
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.order import ShoeOrder, build_twin
from drivers.simulated.pty_shoe import SimulatedShoe
from drivers.usb_listing import UsbShoe
from shoe_controller.cli import main
from shoe_controller.cli.devices import shoe_lines
from shoe_controller.config import load
from tests.cli import program

SHOE = FoundShoe("rfid", "S-1", "2.0", "00" * 32, "1.0", ("gate", "exit_sensor"), 650, has_key=True, requires_key=True)
ADAPTER = SerialPort("/dev/ttyUSB0", "/dev/serial/by-id/usb-7", ("/dev/serial/by-id/usb-7",), "0403:6001", "7", "Shoe")
TELLS = Found(ADAPTER.device, ADAPTER, Probe(SHOE))
SILENT = Found("/dev/ttyS0", SerialPort("/dev/ttyS0", "/dev/ttyS0", (), None, None, ""), Probe(None, "nothing came"))
HELD = Found("/dev/ttyS1", SerialPort("/dev/ttyS1", "/dev/ttyS1", (), None, None, ""), Probe(None, "held", asked=False))
USB = UsbShoe("1209:5a0e", "U-1", "Maker Shoe", "/dev/bus/usb/001/002", held=False, trouble=None)
RAW = Found("usb-raw:1209:5a0e", USB, Probe(None, "nothing came"))
UNASKED = Found("usb-raw:abcd:0001", UsbShoe("abcd:0001", None, "", "/n", held=False, trouble=None), None)
HEADER = GpioChip("/dev/gpiochip0", "pinctrl-bcm2711", 58, None)
CLOSED = GpioChip("/dev/gpiochip1", None, None, "no permission to use /dev/gpiochip1")
EVERYTHING = Discovery((TELLS, SILENT, HELD), (RAW, UNASKED), (HEADER, CLOSED), notes=("a note",))


@pytest.fixture
def machine(monkeypatch):
    """Put devices into the machine that it has not."""
    calls = []

    def put(found):
        async def discover(**settings):
            calls.append(settings)
            return found

        monkeypatch.setattr(discovery, "discover", discover)
        return calls

    return put


def test_people_are_told_what_is_there_and_what_to_write(machine, capsys):
    machine(EVERYTHING)
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Serial ports",
        "  /dev/ttyUSB0  0403:6001  7  Shoe",
        "    /dev/serial/by-id/usb-7",
        "    answers: rfid shoe S-1, firmware 2.0, protocol 1.0, keeps 650 cards",
        "    has: gate, exit sensor",
        "    write:",
        "      [shoe]",
        '      protocol = "open"',
        '      device = "/dev/serial/by-id/usb-7"',
        '      auth_key_file = "/etc/shoe-controller/shoe.key"   # the shoe demands the key that it was given',
        "  /dev/ttyS0",
        "    nothing came",
        "    if it is an Angel Eye, write:",
        "      [shoe]",
        '      protocol = "angel-eye"',
        '      device = "/dev/ttyS0"',
        "  /dev/ttyS1",
        "    held",
        "USB devices that look like shoes",
        "  1209:5a0e  U-1  Maker Shoe",
        "    nothing came",
        "    if it is a shoe, write:",
        "      [shoe]",
        '      protocol = "open"',
        '      device = "usb-raw:1209:5a0e"',
        "  abcd:0001",
        "    not asked; if it is a shoe, write:",
        "      [shoe]",
        '      protocol = "open"',
        '      device = "usb-raw:abcd:0001"',
        "GPIO chips",
        "  /dev/gpiochip0  pinctrl-bcm2711, 58 lines",
        "      [panel]",
        '      factory = "lgpio"',
        "  /dev/gpiochip1  no permission to use /dev/gpiochip1",
        "a note",
    ]


def test_a_machine_without_devices_says_none_three_times(machine, capsys):
    machine(Discovery())
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.count("  none\n") == 3


def test_programs_get_the_same_as_one_object(machine, capsys):
    machine(EVERYTHING)
    assert main(["devices", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["serial_ports", "usb_devices", "gpio_chips", "named", "notes"]
    assert told["serial_ports"][0]["probe"]["shoe"]["serial_number"] == "S-1"
    assert told["serial_ports"][0]["what"]["usb_id"] == "0403:6001"
    assert told["serial_ports"][2]["configuration"] == []
    assert told["gpio_chips"][0]["configuration"] == ["[panel]", 'factory = "lgpio"']
    assert told["gpio_chips"][1]["trouble"] == CLOSED.trouble


def test_no_probe_asks_nothing(machine):
    calls = machine(Discovery())
    main(["devices", "--no-probe"])
    (call,) = calls
    assert (call["probe"], call["wait"]) == (False, 1.5)


def test_another_speed_is_asked_at_and_written_down(machine, capsys):
    calls = machine(EVERYTHING)
    assert main(["devices", "--baud", "9600"]) == 0
    assert calls[0]["reach"]("/dev/ttyUSB0")._line.baud == 9600
    assert capsys.readouterr().out.count("baud = 9600") == 1  # the silent ones say nothing about their speed


@pytest.mark.parametrize("found", [TELLS, SILENT, RAW, UNASKED, Found('usb:0403:6001:a"b\\c é', None, None)])
def test_the_lines_are_a_configuration_that_the_daemon_takes(tmp_path, found):
    key = tmp_path / "shoe.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    lines = [line.replace("/etc/shoe-controller/shoe.key", str(key)) for line in shoe_lines(found, 9600)]
    file = tmp_path / "table.toml"
    file.write_text(
        "\n".join(["[table]", 'site = "S"', 'name = "T1"', 'game = "no-commission"', *lines]), encoding="utf-8"
    )
    assert load(file).shoe.device == found.device


@pytest.fixture
def shoe_process():
    """A simulated shoe in a process of its own, as an integrator has it."""
    shoe = program.start("simulate", stdin=-1, stdout=-1, text=True)
    yield shoe.stdout.readline().strip()
    shoe.communicate("quit\n", timeout=60)


def test_a_named_shoe_answers_the_program(shoe_process):
    ended = program.run("devices", shoe_process, "--wait", "30", text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[1].startswith("    answers: rfid shoe SIM-1")
    assert ended.stdout.splitlines()[-1] == f'      device = "{shoe_process}"'


def test_a_shoe_behind_a_serial_server_answers_too(capsys):
    """A small TCP server in front of the simulated shoe's pty."""

    async def scenario():
        order = ShoeOrder(open_options=OpenOptions(serial_number="FAR-1"))
        async with SimulatedShoe(build_twin(order)) as shoe:

            async def bridge(reader, writer):
                tty = os.open(shoe.path, os.O_RDWR | os.O_NOCTTY)
                loop = asyncio.get_running_loop()
                loop.add_reader(tty, lambda: writer.write(os.read(tty, 4096)))
                while data := await reader.read(4096):
                    os.write(tty, data)
                loop.remove_reader(tty)
                os.close(tty)
                writer.close()

            server = await asyncio.start_server(bridge, "127.0.0.1", 0)
            async with server:
                port = server.sockets[0].getsockname()[1]
                return await asyncio.to_thread(main, ["devices", f"socket://127.0.0.1:{port}", "--wait", "30"])

    assert asyncio.run(scenario()) == 0
    assert "rfid shoe FAR-1" in capsys.readouterr().out


def test_a_named_port_that_does_not_answer_is_a_no(tmp_path, capsys):
    assert main(["devices", str(tmp_path / "nothing")]) == 1
    assert "there is no serial port" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["COM3"], "the device 'COM3' is not understood"),
        (["/dev/ttyUSB0", "--no-probe"], "--no-probe asks nothing"),
        (["--wait", "0"], "--wait 0: say more than 0"),
        (["--wait", "nan"], "--wait nan: say more than 0"),
    ],
)
def test_wrong_use_is_a_sentence(arguments, says, capsys):
    assert main(["devices", *arguments]) == 2
    assert says in capsys.readouterr().err

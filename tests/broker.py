"""Real brokers for tests: a mosquitto of our own on a free loopback port, and a plain subscriber."""

import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

import msgspec
from paho.mqtt.client import Client, MQTTv5, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion

DEADLINE = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition, what: str, deadline: float = DEADLINE) -> None:
    """Wait, in a thread without event loop, until a condition holds."""
    end = time.monotonic() + deadline
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline:g} s: {what}")
        time.sleep(0.005)


def program(name: str, package: str) -> str:
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        raise AssertionError(f"{name} is not installed: apt-get install {package}")
    return path


class Mosquitto:
    """A broker with a folder and a configuration of its own; can be killed and started again on its port."""

    def __init__(self, folder: Path, *lines: str, port: int | None = None, listener: tuple[str, ...] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        self._log = folder / "mosquitto.log"
        self._config = folder / "mosquitto.conf"
        access = () if any(line.startswith("allow_anonymous") for line in lines) else ("allow_anonymous true",)
        self._config.write_text(
            "\n".join(
                (
                    f"listener {self.port} 127.0.0.1",
                    *listener,
                    *access,
                    "user root",
                    "set_tcp_nodelay true",
                    "max_queued_messages 0",
                    "persistence true",
                    "autosave_interval 1",
                    f"persistence_location {folder}/",
                    *lines,
                    "",
                )
            )
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Mosquitto":
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program("mosquitto", "mosquitto"), "-c", str(self._config)], stdout=log, stderr=log
            )
        wait_for(self._answers, f"mosquitto answers; its log: {self._log.read_text()[-500:]}")
        return self

    def _answers(self) -> bool:
        if self._process is None or self._process.poll() is not None:
            raise AssertionError(f"mosquitto ended: {self._log.read_text()[-500:]}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def log(self) -> str:
        """What the broker has said so far; with `log_type all` also who subscribed."""
        return self._log.read_text()

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(10)
            self._process = None


class Collector:
    """A plain subscriber with a thread of its own: none of the code under test is in it."""

    def __init__(self, port: int, *topics: str, client_id: str = "", v5: bool = False, **access) -> None:
        self.messages: list[tuple[str, bytes, bool]] = []
        self.subscribed = threading.Event()
        self._topics = topics or ("shoe/v1/#",)
        persistent = {} if v5 else {"clean_session": not client_id}
        self._client = Client(CallbackAPIVersion.VERSION2, client_id, protocol=MQTTv5 if v5 else MQTTv311, **persistent)
        self._client.reconnect_delay_set(1, 1)
        if "user" in access:
            self._client.username_pw_set(access["user"], access["password"])
        if "tls" in access:
            self._client.tls_set_context(access["tls"])
        self._client.on_connect = lambda client, *_: client.subscribe([(name, 1) for name in self._topics])
        self._client.on_subscribe = lambda *_: self.subscribed.set()
        self._client.on_message = self._take
        self._client.connect_async("127.0.0.1", port, keepalive=30)

    def __enter__(self) -> Self:
        self._client.loop_start()
        assert self.subscribed.wait(DEADLINE), "the test's own subscriber was not let in"
        return self

    def __exit__(self, *_error: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _take(self, _client, _data, message) -> None:
        self.messages.append((message.topic, bytes(message.payload), bool(message.retain)))

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        self._client.publish(topic, payload, 1, retain).wait_for_publish(DEADLINE)

    def on(self, channel: str) -> list[dict]:
        """Return the messages of a channel, decoded."""
        return [
            msgspec.json.decode(payload) for name, payload, _ in list(self.messages) if name.endswith(f"/{channel}")
        ]

    def seqs(self, channel: str = "events") -> list[int]:
        return [message["seq"] for message in self.on(channel) if "seq" in message]

    def wait(self, condition, what: str, deadline: float = DEADLINE) -> None:
        wait_for(lambda: condition(self), what, deadline)

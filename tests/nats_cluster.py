"""Real NATS clusters for tests: three nodes on loopback with the configuration file of docs/group."""

import os
import signal
import ssl
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from tests.broker import free_port, program, wait_for
from tests.certificates import Authority

CONFIG = Path(__file__).parents[1] / "docs" / "group" / "nats.conf"
NODES = ("nats-1", "nats-2", "nats-3")
PASSWORDS = {name: f"secret-of-{name}" for name in ("MACAU_TABLES", "MACAU_PIT", "COTAI_TABLES", "COTAI_PIT")}


def substituted(text: str, changes: dict[str, str]) -> str:
    """Put a test's ports and paths into a configuration file of the docs; each of them must be there."""
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in the file"
        text = text.replace(old, new)
    return text


class NatsNode:
    """One node, which can be killed and started again with what it has on disk."""

    def __init__(self, name: str, folder: Path, mqtt_port: int, config: str) -> None:
        folder.mkdir(parents=True)
        self.name = name
        self.mqtt_port = mqtt_port
        self._config = folder / "nats.conf"
        self._config.write_text(config)
        self._log = folder / "nats.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtts://127.0.0.1:{self.mqtt_port}"

    @property
    def running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    @property
    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [program("nats-server", "nats-server"), "-c", str(self._config)],
                stdout=log,
                stderr=log,
                env=os.environ | PASSWORDS | {"NODE": self.name},
            )

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(10)
            self._process = None


class NatsCluster:
    """Three nodes with certificates of an authority of their own."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder / "ca", "Group CA")
        cert, key = self.authority.issue("node", host="127.0.0.1")
        ports = {name: (free_port(), free_port(), free_port()) for name in NODES}
        self.nodes = []
        for name, (client, route, mqtt) in ports.items():
            changes = {
                "listen: 127.0.0.1:4222": f"listen: 127.0.0.1:{client}",
                "listen: 0.0.0.0:6222": f"listen: 127.0.0.1:{route}",
                "listen: 0.0.0.0:8883": f"listen: 127.0.0.1:{mqtt}",
                "/var/lib/nats": str(folder / name / "store"),
                "/etc/nats/group-ca.pem": str(self.authority.file),
                "/etc/nats/node.pem": str(cert),
                "/etc/nats/node.key": str(key),
            } | {f"{other}.group.example:6222": f"127.0.0.1:{ports[other][1]}" for other in NODES}
            self.nodes.append(NatsNode(name, folder / name, mqtt, substituted(CONFIG.read_text(), changes)))

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(node.url for node in self.nodes)

    @property
    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.authority.file))

    def start(self) -> "NatsCluster":
        for node in self.nodes:
            node.start()
        self.ready()
        return self

    def ready(self, deadline: float = 60.0) -> None:
        """Wait until every running node lets a client in: there is a leader, and sessions can be kept."""
        doors = [(node, user) for node in self.nodes if node.running for user in ("macau-pit", "cotai-pit")]

        def wait(door: tuple[NatsNode, str]) -> None:
            wait_for(lambda: self._lets_in(*door), f"{door[0].name} lets {door[1]} in", deadline)

        with ThreadPoolExecutor(len(doors)) as threads:
            list(threads.map(wait, doors))

    def _lets_in(self, node: NatsNode, user: str) -> bool:
        let_in = threading.Event()
        client = Client(CallbackAPIVersion.VERSION2, f"probe-{node.name}")
        client.tls_set_context(self.tls)
        client.username_pw_set(user, password_of(user))
        client.on_connect = lambda client, _data, _flags, reason, _properties: (
            None if reason.is_failure else client.subscribe(f"shoe/v1/{user.partition('-')[0]}/probe/status", 1)
        )
        client.on_subscribe = lambda _client, _data, _mid, reasons, _properties: (
            None if reasons[0].is_failure else let_in.set()
        )
        try:
            client.connect("127.0.0.1", node.mqtt_port)
        except OSError:
            return False
        client.loop_start()
        try:
            return let_in.wait(2)
        finally:
            client.disconnect()
            client.loop_stop()

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()


def password_of(user: str) -> str:
    return PASSWORDS[user.upper().replace("-", "_")]

"""The configuration files of docs/group, with a test's ports and paths in them, on the real brokers they are for."""

import asyncio
import logging
import re
import socket
import ssl
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion

from shoe_controller.outputs.settings import Access
from shoe_controller.schemas import CHANNELS
from tests.broker import DEADLINE, Collector, Mosquitto, free_port, wait_for
from tests.certificates import Authority
from tests.nats_cluster import NatsCluster, password_of, substituted
from tests.outputs.feeding import feeding, quick, until

GROUP = Path(__file__).parents[2] / "docs" / "group"
PREFIX = "shoe/v1/macau/b7/"
SAID_BY_TABLES = [channel for channel in CHANNELS if channel not in {"resend", "resend/request", "wagers/in"}]


class Property(Mosquitto):
    """A property's broker with exactly the files of docs/group."""

    def __init__(self, folder, bridge=""):
        self.tables_ca = Authority(folder / "tables", "Tables CA")
        self.consumers_ca = Authority(folder / "consumers", "Consumers CA")
        broker_ca = Authority(folder / "broker", "Broker CA")
        cert, key = broker_ca.issue("broker", host="127.0.0.1")
        self.ca = broker_ca.file
        super().__init__(folder / "mosquitto")
        self.consumers_port = free_port()
        for name in ("acl-tables", "acl-consumers"):
            (folder / name).write_text((GROUP / name).read_text())
        changes = {
            "listener 8883": f"listener {self.port} 127.0.0.1",
            "listener 8884": f"listener {self.consumers_port} 127.0.0.1",
            "/etc/mosquitto/certs/tables-ca.pem": str(self.tables_ca.file),
            "/etc/mosquitto/certs/consumers-ca.pem": str(self.consumers_ca.file),
            "/etc/mosquitto/certs/broker.pem": str(cert),
            "/etc/mosquitto/certs/broker.key": str(key),
            "/etc/mosquitto/acl": str(folder / "acl"),
            "/var/lib/mosquitto/": f"{folder}/mosquitto/",
        }
        text = substituted((GROUP / "mosquitto.conf").read_text(), changes)
        # Only because tests run as root: mosquitto would give up its rights to read this folder.
        self._config.write_text(f"{text}\nuser root\n{bridge}")

    def _answers(self):
        with socket.socket() as probe:
            return super()._answers() and probe.connect_ex(("127.0.0.1", self.consumers_port)) == 0

    @property
    def table_url(self):
        return f"mqtts://127.0.0.1:{self.port}"

    def table_access(self, name):
        cert, key = self.tables_ca.issue(name)
        return Access(ca_file=str(self.ca), cert_file=str(cert), key_file=str(key))

    def tls(self, authority, name):
        context = ssl.create_default_context(cafile=str(self.ca))
        context.load_cert_chain(*authority.issue(name))
        return context

    def consumer(self, name, *topics):
        return Collector(self.consumers_port, *topics, tls=self.tls(self.consumers_ca, name), v5=True)


@pytest.fixture
def house(tmp_path):
    house = Property(tmp_path / "property").start()
    yield house
    house.stop()


def allowed_to_publish(port, context, topic):
    """Ask the broker itself: MQTT 5 tells a client whether its message was taken."""
    answers = []
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    client.tls_set_context(context)
    client.on_publish = lambda _client, _data, _mid, reason, _properties: answers.append(not reason.is_failure)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        client.publish(topic, b'{"seq":1}', 1)
        wait_for(lambda: answers, "the broker's answer")
    finally:
        client.disconnect()
        client.loop_stop()
    return answers[0]


def fed_through(table, settings, *collectors, then=lambda: None):
    async def scenario():
        async with feeding(table, settings) as feed:
            await until(lambda: feed.health().connected and feed.health().lag == 0, f"taken; {feed.health()}")
            for collector in collectors:
                await until(lambda it=collector: it.seqs() == list(range(1, table.source.last_seq + 1)), "all events")
            await asyncio.to_thread(then)

    asyncio.run(scenario())


def test_a_table_feeds_the_property_and_the_pit_may_ask_again(house, table):
    def ask():
        pit.publish(PREFIX + "resend/request", b'{"consumer":"pit","first":1,"last":7}')
        pit.wait(lambda it: len(it.on("resend/pit")) == 8, "the answer")

    table.play(3)
    channels = [f"shoe/v1/macau/+/{channel}" for channel in ("status", "state", "events", "rounds", "health")]
    with house.consumer("pit", *channels, "shoe/v1/macau/+/resend/pit") as pit:
        fed_through(table, quick(house.table_url, access=house.table_access("b7")), pit, then=ask)
    assert {name.removeprefix(PREFIX) for name, *_ in pit.messages} == {
        *(channel.rpartition("/")[2] for channel in channels),
        "resend/pit",
    }


@pytest.mark.parametrize("channel", SAID_BY_TABLES)
def test_a_table_writes_under_its_own_topic_alone(house, channel):
    own = house.tls(house.tables_ca, "b7")
    assert allowed_to_publish(house.port, own, PREFIX + channel)
    assert not allowed_to_publish(house.port, own, f"shoe/v1/macau/b8/{channel}")
    assert not allowed_to_publish(house.port, own, f"shoe/v1/cotai/b7/{channel}")


def test_a_table_that_says_it_is_another_is_told_so(house, table, caplog):
    async def scenario():
        settings = quick(house.table_url, access=house.table_access("b8"), version="5")
        async with feeding(table, settings) as feed:
            await until(lambda: "check its access list" in caplog.text, "a complaint")
            assert feed.health().cursor == 0

    caplog.set_level(logging.WARNING)
    table.play(1)
    asyncio.run(scenario())


@pytest.mark.parametrize(
    "who, topic, allowed",
    [
        ("screens", "events", False),
        ("screens", "resend/request", False),
        ("screens", "wagers/in", False),
        ("pit", "events", False),
        ("pit", "status", False),
        ("pit", "resend/request", True),
        ("pit", "wagers/in", False),
        ("layout", "wagers/in", True),
        ("layout", "wagers/out", False),
        ("layout", "rounds", False),
    ],
)
def test_consumers_only_read_but_for_those_named(house, who, topic, allowed):
    context = house.tls(house.consumers_ca, who)
    assert allowed_to_publish(house.consumers_port, context, PREFIX + topic) is allowed


def test_a_consumer_hears_neither_wagers_nor_the_answers_to_others(house, table):
    table.play(1)
    with ExitStack() as stack:
        screens = stack.enter_context(house.consumer("screens", "shoe/#"))
        pit = stack.enter_context(house.consumer("pit", "shoe/#"))
        layout = stack.enter_context(house.consumer("layout", "shoe/#"))

        def ask():
            layout.publish(PREFIX + "wagers/in", b"{}")
            pit.publish(PREFIX + "resend/request", b'{"consumer":"pit","first":1,"last":7}')
            pit.wait(lambda it: len(it.on("resend/pit")) == 8, "the answer")

        fed_through(table, quick(house.table_url, access=house.table_access("b7")), pit, screens, layout, then=ask)
    for other in (screens, layout):
        assert not [name for name, *_ in other.messages if "resend" in name or "wagers/in" in name]


@pytest.mark.parametrize("door", ["tables", "consumers"])
def test_a_certificate_of_the_one_opens_no_door_of_the_other(house, door):
    port, other = (house.port, house.consumers_ca) if door == "tables" else (house.consumers_port, house.tables_ca)
    client = Client(CallbackAPIVersion.VERSION2)
    client.tls_set_context(house.tls(other, "b7"))
    let_in = []
    client.on_connect = lambda *_: let_in.append(True)
    # TLS 1.3 tells of it with the first bytes after the handshake, TLS 1.2 within it.
    try:
        client.connect("127.0.0.1", port)
        with pytest.raises(OSError):  # noqa: PT012  (either the call or what it leads to)
            while client.loop(0.05) == 0:
                pass
            raise OSError("the broker hung up")
    except ssl.SSLError:
        pass
    assert not let_in


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = NatsCluster(tmp_path_factory.mktemp("nats"))
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def at_the_group(cluster, user, *topics, node=0, client_id=""):
    access = {"user": user, "password": password_of(user), "tls": cluster.tls}
    return Collector(cluster.nodes[node].mqtt_port, *topics, client_id=client_id, **access)


def group_access(cluster, tmp_path, user):
    secret = tmp_path / user
    secret.touch(mode=0o600)
    secret.write_text(password_of(user))
    return Access(user=user, password_file=str(secret), ca_file=str(cluster.authority.file))


def test_a_table_feeds_the_group_and_another_casino_hears_nothing(cluster, table, tmp_path):
    table.play(3)
    settings = quick(*cluster.urls, access=group_access(cluster, tmp_path, "macau-tables"), ack_timeout=5.0)
    with (
        at_the_group(cluster, "macau-pit", "shoe/v1/macau/#", node=1) as pit,
        at_the_group(cluster, "cotai-pit", "shoe/v1/cotai/#", node=2) as stranger,
        at_the_group(cluster, "cotai-tables", "shoe/v1/cotai/+/wagers/in") as table_there,
    ):
        fed_through(table, settings, pit)
        # A message under our topic from the other casino stays there, even if its account allowed it.
        table_there._client.publish(PREFIX + "events", b'{"seq":99}', 0)
        table_there._client.publish("shoe/v1/cotai/b7/events", b'{"seq":1}', 1)
        stranger.wait(lambda it: it.seqs() == [1], "its own events")
        assert pit.seqs()[-1] == 21
    assert {name for name, *_ in stranger.messages} == {"shoe/v1/cotai/b7/events"}
    assert pit.on("status")[0]["online"]
    assert pit.on("state")


def test_the_bridge_carries_a_property_to_the_group_and_its_questions_back(cluster, table, tmp_path):
    addresses = "address " + " ".join(f"127.0.0.1:{node.mqtt_port}" for node in cluster.nodes)
    text = (GROUP / "bridge.conf").read_text()
    changes = {
        re.search(r"^address .*$", text, re.MULTILINE)[0]: addresses,
        "/etc/mosquitto/certs/group-ca.pem": str(cluster.authority.file),
        "CHANGE-ME": password_of("macau-tables"),
    }
    house = Property(tmp_path / "property", bridge=substituted(text, changes)).start()

    def ask():
        group.publish(PREFIX + "resend/request", msgspec.json.encode({"consumer": "group", "first": 1, "last": 14}))
        group.wait(lambda it: len(it.on("resend/group")) == 15, "the answer from the table", 2 * DEADLINE)

    table.play(2)
    try:
        with at_the_group(cluster, "macau-pit", "shoe/v1/macau/#") as group:
            fed_through(table, quick(house.table_url, access=house.table_access("b7")), group, then=ask)
    finally:
        house.stop()
    assert group.on("rounds")
    assert group.on("state")[-1]["seq"] == 14

"""Nodes of a NATS cluster of three killed one after the other while tables publish: nothing that was dealt is lost.

The cluster has the configuration of docs/group. Two consumers look: one that asks for what it missed, as integrators
are told to, and one that only keeps its session and never asks, to see what NATS itself loses.
"""

import asyncio
import contextlib
import logging
import random
import tempfile
import threading
import time
from pathlib import Path

import msgspec
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from shoe_controller.fleet.census import Census
from shoe_controller.fleet.order import FleetOrder
from shoe_controller.fleet.table import FleetTable
from shoe_controller.outputs.settings import Access
from tests.nats_cluster import NatsCluster, password_of

NAME = "nats"
KILLS = 12
TABLES = 6
RATE = 30  # rounds a minute at each table: about 12 events a second
PATIENCE = 120.0


class Patient:
    """A subscriber that goes from node to node with a session that the cluster keeps, and never asks for anything."""

    def __init__(self, cluster):
        self.seqs = {}
        self.repeated = 0
        self.connections = 0
        self._ports = [node.mqtt_port for node in cluster.nodes]
        self._client = Client(CallbackAPIVersion.VERSION2, "patient", clean_session=False)
        self._client.tls_set_context(cluster.tls)
        self._client.username_pw_set("macau-pit", password_of("macau-pit"))
        self._client.connect_timeout = 2.0
        self._client.on_connect = self._up
        self._client.on_message = self._take

    def _up(self, client, _data, _flags, reason, _properties):
        if not reason.is_failure:
            self.connections += 1
            client.subscribe("shoe/v1/macau/+/events", 1)

    def _take(self, _client, _data, message):
        event = msgspec.json.decode(message.payload)
        seen = self.seqs.setdefault(event["table"], set())
        self.repeated += event["seq"] in seen
        seen.add(event["seq"])

    @property
    def events(self):
        return sum(map(len, self.seqs.values()))

    def run(self, over):
        """Stay connected to one node after the other, in a thread, until it is over."""
        turn = 0
        while not over.is_set():
            with contextlib.suppress(OSError):
                self._client.connect("127.0.0.1", self._ports[turn % 3], keepalive=10)
                while not over.is_set() and self._client.loop(0.1) == 0:
                    pass
            turn += 1
            time.sleep(0.2)
        self._client.disconnect()


def access(cluster, folder, user):
    secret = folder / user
    secret.touch(mode=0o600)
    secret.write_text(password_of(user))
    return Access(user=user, password_file=str(secret), ca_file=str(cluster.authority.file))


async def kill_nodes(cluster, kills, chance, report):
    """Kill one node after the other, each when all three are there again."""
    for number in range(kills):
        await asyncio.sleep(chance.uniform(1.0, 4.0))
        node = chance.choice(cluster.nodes)
        node.kill()
        report.say(f"kill {number + 1}: {node.name}")
        await asyncio.sleep(chance.uniform(1.0, 5.0))
        node.start()
        await asyncio.to_thread(cluster.ready, PATIENCE)


async def caught_up(condition, progress):
    """Wait for a condition as long as there is progress."""
    seen, since = None, time.monotonic()
    while not condition() and time.monotonic() - since < PATIENCE:
        if progress() != seen:
            seen, since = progress(), time.monotonic()
        await asyncio.sleep(0.1)


async def campaign(report, cluster, folder):
    chance = random.Random(report.seed)
    order = FleetOrder(
        cluster.urls, TABLES, site="macau", rate=RATE, seed=report.seed, access=access(cluster, folder, "macau-tables")
    )
    pit = msgspec.structs.replace(order, access=access(cluster, folder, "macau-pit")).mqtt
    census, patient, over = Census(pit, "macau"), Patient(cluster), threading.Event()
    waiting = asyncio.create_task(asyncio.to_thread(patient.run, over))
    listening = asyncio.create_task(census.listener.run())
    await caught_up(lambda: census.listener.connected.is_set() and patient.connections, lambda: None)
    tables = [FleetTable(order, number, folder / "journals" / str(number)) for number in range(1, TABLES + 1)]
    feeds = [asyncio.create_task(table.feed.run()) for table in tables]
    playing = [asyncio.create_task(table.play()) for table in tables]
    try:
        await kill_nodes(cluster, report.sized(KILLS), chance, report)
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        events = sum(table.events for table in tables)
        untaken = lambda: sum(table.feed.health().lag for table in tables)  # noqa: E731
        await caught_up(lambda: untaken() == 0, untaken)
        await caught_up(lambda: census.events == events, lambda: census.events)
        await caught_up(lambda: patient.events == events, lambda: patient.events)
        return events, untaken(), census, patient
    finally:
        over.set()
        for task in (*playing, *feeds, listening):
            task.cancel()
        await asyncio.gather(*playing, *feeds, listening, waiting, return_exceptions=True)
        for table in tables:
            await table.close()


def run(report) -> bool:
    logging.getLogger("shoe_controller").setLevel(logging.CRITICAL)  # each kill is a warning of each table, rightly
    report.say(f"three NATS nodes, {TABLES} tables, {report.sized(KILLS)} kills")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = NatsCluster(folder / "cluster")
        try:
            cluster.start()
            events, untaken, census, patient = asyncio.run(campaign(report, cluster, folder))
        finally:
            cluster.stop()
    report.figure("kills", report.sized(KILLS))
    report.figure("events", events)
    report.figure("lost", events - census.events)
    report.figure("repeated", census.listener.repeated)
    report.figure("asked again", census.listener.requests)
    report.figure("delay p50 ms", census.delay(0.5))
    report.figure("delay p99 ms", census.delay(0.99))
    report.figure("missing without asking", events - patient.events)
    if untaken:
        report.fault(f"{untaken} events were not taken by the cluster")
    if census.events != events:
        report.fault(
            f"seed {report.seed}: {events - census.events} of {events} events were lost: {census.listener.lost}"
        )
    return census.events == events and not untaken

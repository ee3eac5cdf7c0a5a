"""Everything that leaves the table: feeds and the display, each in a task of its own that cannot hurt the others."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from shoe_controller.config import Config
from shoe_controller.errors import ControllerError
from shoe_controller.journal.entry import Stamp
from shoe_controller.journal.tail import Tail
from shoe_controller.messages import FeedHealth, HealthReport, Identity
from shoe_controller.metrics import Metrics
from shoe_controller.outputs.retry import Backoff, Complaint
from shoe_controller.outputs.settings import Access, MqttSettings, ResendSettings, SerialFeedSettings
from shoe_controller.outputs.sink import Sink
from shoe_controller.outputs.wagers import Submit
from shoe_controller.service.table import Committed
from shoe_controller.session.view import TableView
from shoe_controller.web.feed import Feed
from shoe_controller.web.settings import display_settings

logger = logging.getLogger(__name__)

BACKOFF = (1.0, 30.0)


class Outlets:
    """Feeds and display of one table: `on_disk`, then `publish` after each commit. Nothing raises into the table."""

    def __init__(
        self,
        config: Config,
        tail: Tail,
        identity: Identity,
        metrics: Metrics,
        *,
        now: Callable[[], Stamp],
        view: Callable[[], TableView],
        report: Callable[[], HealthReport],
        submit: Submit,
    ) -> None:
        self._config = config
        self._metrics = metrics
        self._sinks: list[Sink] = []
        self._display: Feed | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._hurt: set[str] = set()
        self.display_url = ""
        if config.mqtt.brokers:
            # Loaded only where it is used: a start on a Pi is counted in tenths of a second.
            from shoe_controller.outputs.mqtt_feed import MqttFeed  # noqa: PLC0415

            self._sinks.append(
                MqttFeed(
                    tail,
                    _mqtt_settings(config),
                    identity,
                    now=now,
                    snapshot=lambda: (tail.last_seq, view()),
                    report=report,
                    submit=submit if config.mqtt.wagers else None,
                )
            )
        if config.serial_feed.device:
            from shoe_controller.outputs.serial_feed import SerialFeed  # noqa: PLC0415

            self._sinks.append(SerialFeed(tail, _serial_settings(config), identity))
        if config.web.enabled:
            self._display = Feed(tail, display_settings(config), identity.boot)
            self._display.committed(view(), tail.last_seq)

    def start(self) -> None:
        """Start a task for each outlet."""
        for sink in self._sinks:
            self._keep(sink.name, sink.run)
        if self._display is not None:
            self._keep("display", self._serve)

    async def stop(self) -> None:
        """Let each feed say good-bye, and end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def on_disk(self) -> None:
        """Have the feeds take what was committed: before the display, of which there may be many pages."""
        for sink in self._sinks:
            self._safely(sink.name, sink.wake)

    def publish(self, committed: Committed) -> None:
        """Have the display take what was committed."""
        display = self._display
        if display is not None:
            self._safely("display", lambda: display.committed(committed.view, committed.seq))

    def health(self) -> tuple[FeedHealth, ...]:
        """Tell how far each feed is."""
        return tuple(sink.health() for sink in self._sinks)

    def measure(self) -> None:
        """Bring the metrics of the feeds up to date."""
        for health in self.health():
            self._metrics.sink(health.name, health.lag)
            self._metrics.connection(health.name, up=health.connected)

    def _safely(self, name: str, call: Callable[[], None]) -> None:
        """Keep a defect of one outlet from the table and the others. It is told once; its lag shows the rest."""
        try:
            call()
        except Exception:
            if name not in self._hurt:
                logger.exception("%s: a defect; the table plays on", name)
                self._hurt.add(name)

    def _keep(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        async def again_and_again() -> None:
            backoff, complaint = Backoff(*BACKOFF), Complaint(logger)
            while True:
                try:
                    await run()
                except ControllerError as error:
                    complaint.fail(f"{name}: {error}")
                except Exception:
                    logger.exception("%s: a defect; the table plays on", name)
                await asyncio.sleep(backoff.wait())

        self._tasks.append(asyncio.create_task(again_and_again(), name=name))

    async def _serve(self) -> None:
        from shoe_controller.web.server import create_app, serving  # noqa: PLC0415

        assert self._display is not None
        web, metrics = self._config.web, self._config.metrics
        app = create_app(
            self._display,
            display_settings(self._config),
            metrics=self._metrics if self._metrics.enabled else None,
            metrics_for_others=metrics.other_interfaces,
        )
        async with serving(app, web.host, web.port, max_clients=web.max_clients) as (port, done):
            host = f"[{web.host}]" if ":" in web.host else web.host
            self.display_url = f"http://{host}:{port}/"
            logger.info("display: %s", self.display_url)
            await done


def _mqtt_settings(config: Config) -> MqttSettings:
    mqtt = config.mqtt
    return MqttSettings(
        brokers=mqtt.brokers,
        version=mqtt.version,
        client_id=mqtt.client_id,
        access=Access(mqtt.user, mqtt.password_file, mqtt.ca_file, mqtt.cert_file, mqtt.key_file),
        keepalive=mqtt.keepalive,
        resend=ResendSettings(mqtt.resend.enabled, mqtt.resend.max_messages, mqtt.resend.requests_per_minute),
        wagers=mqtt.wagers,
    )


def _serial_settings(config: Config) -> SerialFeedSettings:
    feed = config.serial_feed
    return SerialFeedSettings(
        device=feed.device, format=feed.format, resume=feed.resume, baud=feed.baud, framing=feed.framing, flow=feed.flow
    )

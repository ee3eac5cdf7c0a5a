"""Everything that reads files and messages from outside, each fed with bytes made to hurt.

A reader takes any bytes. It may refuse them with a sentence of bounded length that no terminal obeys; whatever else
it raises is a fault.
"""

import asyncio
import contextlib
import io
import tempfile
import tracemalloc
from itertools import count
from pathlib import Path
from random import Random

import msgspec

from shoe_controller.cards import ALL_CODES
from shoe_controller.config import ConfigError
from shoe_controller.config import load as load_config
from shoe_controller.decks import folder as deck_folder
from shoe_controller.decks.csv_register import read_register
from shoe_controller.decks.errors import DeckFileError, RegisterError
from shoe_controller.messages import EventEncoder
from shoe_controller.outputs.resend import ResendDesk
from shoe_controller.outputs.settings import ResendSettings
from shoe_controller.outputs.wagers import WagersInlet
from shoe_controller.replay import LONGEST_LINE, replay
from shoe_controller.rules.games import GameFileError, load_all
from shoe_controller.rules.games import load as load_game
from shoe_controller.script import ScriptError, to_line
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session
from shoe_controller.words import tell
from tests.fuzz.mutation import hurt

ROOT = Path(__file__).parents[2]
LONGEST_SENTENCE = 60_000
# What a reader may hold at a time and keep for ever. The largest input is 200 kB and is read as a whole.
MOST_AT_A_TIME = 40_000_000
MOST_KEPT = 4_000_000
WAGERS = sorted({wager for rules in load_all().values() for wager in rules.wagers})


def campaign(make, samples, words, inputs, seed, fresh=None):
    """Feed a reader so many inputs, every other one from `fresh`; return the faults, and how many it understood."""
    random = Random(f"{make.__name__} {seed}")
    faults = []
    understood = 0
    with contextlib.ExitStack() as stack:
        read = stack.enter_context(make())
        for sample in samples:
            read(sample)
        tracemalloc.start()
        stack.callback(tracemalloc.stop)
        for number in range(inputs):
            data = fresh(random) if fresh and number % 2 else hurt(random, samples, words)
            try:
                understood += read(data)
            except Exception as error:  # noqa: BLE001 - any exception at all is what we look for
                faults.append(f"{make.__name__}, seed {seed}, input {number}: {error!r:.300} for {data[:100]!r}")
        kept, most = tracemalloc.get_traced_memory()
    if most > MOST_AT_A_TIME or kept > MOST_KEPT:
        faults.append(f"{make.__name__}, seed {seed}: {most:,} bytes were held at a time, {kept:,} kept")
    return faults, understood


def check_sentence(error):
    """Raise AssertionError if an error is not fit to be shown."""
    text = str(error)
    assert text, "an error says nothing"
    assert len(text) <= LONGEST_SENTENCE, f"an error of {len(text):,} characters"
    for line in text.split("\n"):
        assert line.isprintable(), f"an error that a terminal obeys: {line[:200]!r}"


@contextlib.contextmanager
def script():
    def read(data):
        file = io.BytesIO(data)
        try:
            for fact in replay(iter(lambda: file.readline(LONGEST_LINE + 2), b""), "t", everything=True):
                msgspec.json.encode(fact)
                assert all(line.isprintable() for line in tell(fact).split("\n"))
        except ScriptError as error:
            check_sentence(error)
            return False
        return True

    yield read


@contextlib.contextmanager
def _file(read_path, refusal):
    """Give a reader of bytes from a reader of files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "given"

        def read(data):
            path.write_bytes(data)
            try:
                read_path(path)
            except refusal as error:
                check_sentence(error)
                return False
            return True

        yield read


def configuration():
    return _file(load_config, ConfigError)


def register():
    return _file(read_register, RegisterError)


def deck_set():
    return _file(deck_folder.read, DeckFileError)


def game():
    return _file(load_game, GameFileError)


class NoFacts:
    """A journal without a fact."""

    last_seq = 0

    def facts(self, _after, _limit):
        return []


@contextlib.contextmanager
def wager_request():
    """The inlet, and behind it a table that is open for wagers."""
    session = Session("table")
    session.handle(i.LoadShoe("sands-super", 8))
    session.handle(i.PlaceBets())
    answers = []

    def submit(wager):
        facts = session.handle(wager)
        assert to_line(wager)
        for fact in facts:
            assert tell(fact).isprintable()

    def read(data):
        answers.clear()
        inlet = WagersInlet(NoFacts(), EventEncoder("site", "table"), submit, answers.append)
        inlet.take(data, retained=False)
        for answer in answers:
            assert len(answer) < LONGEST_SENTENCE
            assert msgspec.json.decode(answer)["error"]
        return not answers

    yield read


@contextlib.contextmanager
def resend_request():
    """The desk, asked one thing at a time with a clock that never lets it run out of patience."""
    clock = count(0, 60)
    with asyncio.Runner() as runner:

        def read(data):
            sent = []

            async def ask():
                desk = ResendDesk(NoFacts(), ResendSettings(), EventEncoder("site", "table"), lambda: next(clock))
                running = asyncio.create_task(desk.run(lambda _consumer, payload, done: (sent.append(payload), done())))
                await asyncio.sleep(0)
                desk.take(data)
                for _ in range(10):
                    await asyncio.sleep(0)
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running

            runner.run(ask())
            assert len(sent) <= 1
            assert all(len(payload) < LONGEST_SENTENCE for payload in sent)
            return bool(sent)

        yield read


def _shoe_lines():
    return sorted((ROOT / "examples" / "scripts").glob("*.table")) + sorted(
        (ROOT / "tests" / "session" / "clauses").glob("*.table")
    )


def _wager(**changes):
    given = {"id": "w1", "action": "place", "who": "seat-3", "wager": "player", "amount": "10.00"}
    return msgspec.json.encode(given | changes)


SAMPLES = {
    script: [path.read_bytes() for path in _shoe_lines()],
    configuration: [
        (ROOT / "systemd" / "shoe-controller.toml").read_bytes(),
        b'[table]\nsite = "north"\nname = "B12"\ngame = "six-star"\n[shoe]\ndevice = "/dev/ttyUSB0"\n',
        b'[table.limits]\nplayer = { min = "1", max = "2" }\n[policy]\nburn = "decks"\n[web]\nport = 8080\n',
    ],
    register: [
        b"uid,code\n04A1B2C3,Th\n04A1B2C3D4E5F6070809,Sf\n",
        b'"04 A1 B2 C3"\tTh\n# two\n',
        b"04:a1:b2:c3;4d\r\n",
    ],
    game: [path.read_bytes() for path in sorted((ROOT / "shoe_controller" / "rules" / "data").glob("*.toml"))],
    deck_set: [b'{"format":1,"sha256":"00","set":{"name":"a","deck":52,"cards":{"04a1b2c3":"Th"}}}'],
    wager_request: [_wager(), _wager(action="withdraw", amount=None), _wager(id="w2", wager="tie_wins_on_0")],
    resend_request: [
        b'{"consumer":"pit","id":"q1","first":1,"last":29}',
        b'{"consumer":"pit","shoe":"S1","round":3}',
    ],
}
_CARDS = [code.encode() for code in sorted(ALL_CODES)]
_TABLE = (
    b"shoe bets close result cut empty card together foreign unreadable returned reconstruct void wager withdraw ack"
)
WORDS = {
    script: [
        *_TABLE.split(),
        *b"fault fault-cleared device-result decks=8 id=x burn=first-card burn=8 surplus=burn early=void".split(),
        *b"order=known order=unknown rounds_after_cut=0 uid=01 uids=01,02 target=player1 pairs=both id=r1".split(),
        *_CARDS,
        *(wager.encode() for wager in WAGERS),
    ],
    configuration: b'[web] [shoe] [[mqtt.brokers]] port= true false "x" 1979-05-27 [1,2] {a=1} inf """ url='.split(),
    register: [b"04A1B2C3,", b";", b"\t", b'"', b"uid,code\n", *_CARDS],
    game: b'[[wagers]] [[bonuses]] id= odds="1:1" when="tie_on(6)" "0:0" deck=52 {} [] "tie" decks=[4,10]'.split(),
    deck_set: [b'"format":', b"[", b"]", b"null", b'"cards":', b"1", *_CARDS],
    wager_request: [b'"id":', b'"amount":', b'"1.00"', b"null", b"[]", b'"withdraw"', b'"tip":', b"{}", b"1", b'""'],
    resend_request: [b'"first":', b'"last":', b'"round":', b'"shoe":', b"null", b"[]", b"1", b'""', b"-1", b'"pit"'],
}

"""Angel Eye device: a simulated Angel Eye II-EX, built on the sending side of the production codec.

What the facts of the wire leave open is decided here and written in docs/simulate.md: when stand-by is told, what
becomes of an overdrawn card, what a pushed-back card does to the game.
"""

from dataclasses import dataclass
from random import Random

from drivers.simulated.angel_eye_game import Game, total
from drivers.simulated.body import ShoeBody
from drivers.simulated.errors import CannotDoError, OrderError
from drivers.simulated.stock import StockCard
from firmware_protocol.angel_eye_frames import ACK, ENQ, NAK, StartByte
from firmware_protocol.angel_eye_messages import (
    CuttingCard,
    ErrorChanged,
    GameCard,
    GameResult,
    Message,
    Outside,
    OutsideCard,
    OverdrawnCard,
    Standby,
    Started,
)
from firmware_protocol.angel_eye_operations import Operation, OperationReader
from firmware_protocol.angel_eye_refusals import NakCode
from firmware_protocol.angel_eye_sender import AngelEyeSender
from firmware_protocol.events import Card

CANNOT_READ, OVERDRAW, BUTTON, REVERSE_RUN, CARD_CODE, TIME_OUT = 1, 2, 3, 4, 6, 7
ERROR_NAMES = {
    CANNOT_READ: "cannot read",
    OVERDRAW: "overdraw",
    BUTTON: "button mishandled",
    REVERSE_RUN: "reverse run",
    CARD_CODE: "card code",
    TIME_OUT: "time-out while drawing",
}
# A game that nobody confirms is over after this long, and the next card begins another.
STANDBY_AFTER = 1.0


@dataclass(frozen=True, slots=True)
class AngelEyeOptions:
    """How the device is made."""

    bcc_operations: StartByte = StartByte.INCLUDE
    bcc_unsolicited: StartByte = StartByte.EXCLUDE
    copies: int = 3
    locked: bool = False


class AngelEyeDevice:
    """The device. It follows the game by itself and can be locked by the host."""

    protocol = "angel-eye"

    def __init__(self, body: ShoeBody, chance: Random, options: AngelEyeOptions) -> None:
        if any(card.suit not in "cdhs" for card in body.set):
            raise OrderError("An Angel Eye knows 52-card decks only: choose another game, or the open protocol.")
        self.body = body
        self.error: int | None = None
        self.game = Game()
        self._chance = chance
        self._options = options
        self._out = bytearray()
        self._connected = False
        self.key_locked = False
        self.setting = False
        self.result_told = False
        self._standby_at: float | None = None
        self.overdrawn: StockCard | None = None
        self.wrong_result = False
        self.boot()
        self.body.gate_open = not options.locked

    # --- the line -----------------------------------------------------------------------------------------------

    def connection_made(self, now: float) -> None:  # noqa: ARG002 - every call of a twin takes the time
        """Take the cable. The shoe cannot know it and says nothing."""
        self._connected = True

    def connection_lost(self, now: float) -> None:  # noqa: ARG002
        """Lose the cable. What is said meanwhile is lost."""
        self._connected = False
        self._out.clear()

    def receive_data(self, data: bytes, now: float) -> None:
        """Take bytes of the host in, and do what it says."""
        for found in self._reader.feed(data):
            if isinstance(found, NakCode):
                self._refuse(found)
            else:
                self._operate(found, now)

    def tick(self, now: float) -> None:
        """Do what is due by now."""
        if self._standby_at is not None and now >= self._standby_at:
            self._stand_by()

    def next_deadline(self) -> float | None:
        """Tell when `tick` is wanted next."""
        return self._standby_at

    def data_to_send(self) -> bytes:
        """Hand out bytes for the host."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def frames_of(self, data: bytes) -> list[bytes]:
        """Take apart what is to be sent. The copies of a frame are frames of their own."""
        frames: list[bytes] = []
        while data:
            # The sequence byte behind a start may look like a start.
            end = data.find(ENQ, 2 if data[0] == ENQ else 1)
            end = len(data) if end < 0 else end
            frames.append(data[:end])
            data = data[end:]
        return frames

    @property
    def ready(self) -> bool:
        """Whether a dealer would draw a card now."""
        return self.body.gate_open and bool(self.body.cards_left) and not self.troubled and not self.result_told

    @property
    def troubled(self) -> bool:
        """Whether an error wants to be cleared."""
        return self.error is not None

    # --- the host's operations ----------------------------------------------------------------------------------

    def _operate(self, operation: Operation, now: float) -> None:
        refusal = self._refusal_of(operation)
        if refusal is not None:
            self._refuse(refusal)
            return
        self._put(bytes((ACK,)))
        match operation:
            case Operation.LOCK:
                self.set_gate(is_open=False)
            case Operation.UNLOCK:
                self.set_gate(is_open=True)
                if self.result_told and self.error is None:
                    self._stand_by()
            case Operation.CLEAR_ERROR:
                self.clear_error()
            case Operation.KEEP_OVERDRAWN:
                self.clear_overdraw(now, keep=True)
            case Operation.DISCARD_OVERDRAWN:
                self.clear_overdraw(now, keep=False)
            case Operation.CONFIRM_GAME:
                self.body.tell("the host confirms the game")
                if self.result_told:
                    self._stand_by()

    def _refusal_of(self, operation: Operation) -> NakCode | None:
        wants_overdraw = operation in {Operation.KEEP_OVERDRAWN, Operation.DISCARD_OVERDRAWN}
        clears = wants_overdraw or operation is Operation.CLEAR_ERROR
        if clears and (self.error is None or wants_overdraw != (self.error == OVERDRAW)):
            return NakCode.OTHER
        if operation is Operation.UNLOCK and self.key_locked:
            return NakCode.OTHER
        return None

    def _refuse(self, reason: NakCode) -> None:
        self.body.tell(f"refuses what the host said: {reason.sentence}")
        self._put(bytes((NAK, reason.code)))

    def set_gate(self, *, is_open: bool) -> None:
        """Lock or unlock the shoe."""
        if self.body.gate_open != is_open:
            self.body.gate_open = is_open
            self.body.tell(f"shoe {'unlocked' if is_open else 'locked'}")

    # --- the game -----------------------------------------------------------------------------------------------

    def card_left(self, card: StockCard, now: float) -> None:
        """Say what the shoe makes of a card that left it."""
        seen = Card(rank=card.rank, suit=card.suit)
        if self.error is not None:
            self.say(OutsideCard(Outside.ERROR, seen))
        elif self.setting:
            self.say(OutsideCard(Outside.SETTING, seen))
        elif not self.body.gate_open:
            self.say(OutsideCard(Outside.LOCKED, seen))
        elif self.result_told:
            self.overdrawn = card
            self.begin_error(OVERDRAW)
            self.say(OutsideCard(Outside.ERROR, seen))
        else:
            target, index = self.game.deal(card.code)
            self.say(GameCard(target, index, seen))
            self._end_game_when_over(now)

    def _end_game_when_over(self, now: float) -> None:
        if self.game.next_hand() is None:
            result = self.game.result()
            if self.wrong_result:
                self.wrong_result = False
                winner = "banker" if result.winner == "player" else "player"
                result = GameResult(winner, result.player_pair, result.banker_pair)
            self.tell_result(result, now)

    def tell_result(self, result: GameResult, now: float) -> None:
        """Tell the result of the game; stand-by follows."""
        hands = f"player {total(self.game.player)}, banker {total(self.game.banker)}"
        self.body.tell(f"result told: {result.winner or 'game ended by force'} ({hands})")
        self.say(result)
        self.result_told = True
        self._standby_at = now + STANDBY_AFTER

    def _stand_by(self) -> None:
        self._standby_at = None
        if self.error != OVERDRAW:
            self.game = Game()
            self.result_told = False
            self.say(Standby())

    # --- errors -------------------------------------------------------------------------------------------------

    def begin_error(self, code: int) -> None:
        """Enter the error mode."""
        self.error = code
        self.say(ErrorChanged(code, active=True, error_mode=True))

    def _end_error(self) -> None:
        assert self.error is not None
        self.body.tell(f"error '{ERROR_NAMES[self.error]}' cleared")
        self.say(ErrorChanged(self.error, active=False, error_mode=False))
        self.error = None
        self.body.jammed = False

    def clear_error(self) -> None:
        """Leave the error mode, whatever the error is but an overdraw."""
        self._end_error()
        if self.result_told and self._standby_at is None:
            self._stand_by()

    def clear_overdraw(self, now: float, *, keep: bool) -> None:
        """Leave the error mode after an overdraw: the card is kept for the next game, or discarded."""
        card, self.overdrawn = self.overdrawn, None
        assert card is not None
        self._end_error()
        self._stand_by()
        if keep:
            target, index = self.game.deal(card.code)
            self.body.tell(f"the overdrawn card {card.code} is the first of the next game")
            self.say(OverdrawnCard(target, index, Card(rank=card.rank, suit=card.suit)))
            self._end_game_when_over(now)
        else:
            self.body.tell(f"the overdrawn card {card.code} is discarded")

    # --- telling ------------------------------------------------------------------------------------------------

    def check_passage(self, *, force: bool = False) -> None:
        """Refuse when no card can leave."""
        if self.error is not None and not force:
            raise CannotDoError(f"The shoe is in error ({ERROR_NAMES[self.error]}): `clear` it, or `deal force`.")
        self.body.check_passage(force=force)

    def cut_card_first(self) -> None:
        """Let the cutting card out if it lies before the next card."""
        if self.body.cut_due:
            self.body.take_cut_card()
            self.body.tell("cutting card drawn")
            self.say(CuttingCard())

    def boot(self) -> None:
        """Start: everything but cards and lock is forgotten."""
        self._reader = OperationReader(self._options.bcc_operations)
        self.sender = AngelEyeSender(
            sequence=self._chance.randrange(256),
            copies=self._options.copies,
            bcc_unsolicited=self._options.bcc_unsolicited,
        )
        self.error = self.overdrawn = self._standby_at = None
        self.game = Game()
        self.result_told = self.body.jammed = self.setting = False
        self.say(Started())

    def say(self, message: Message) -> None:
        """Say something, in as many copies as this shoe makes."""
        self._put(self.sender.say(message))

    def _put(self, data: bytes) -> None:
        # Without a cable the bytes go nowhere; the sequence counts all the same.
        if self._connected:
            self._out += data

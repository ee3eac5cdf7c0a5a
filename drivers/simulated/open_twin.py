"""Open twin: a simulated shoe of the open protocol and what can be done to it."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from drivers.simulated.actions import Action, Actions, no_words, number, one_of
from drivers.simulated.body import ShoeBody
from drivers.simulated.errors import CannotDoError
from drivers.simulated.open_device import OpenDevice, OpenOptions
from drivers.simulated.stock import StockCard
from firmware_protocol.delivery import MAX_NUMBER
from firmware_protocol.device_memory import SESSION_TAIL
from firmware_protocol.events import (
    CardDrawn,
    CardForeign,
    CardReturned,
    CardsTogether,
    CutCardSeen,
    DeviceFault,
    FaultChanged,
    LidMoved,
    SelfTestDone,
    ShoeEmptied,
)


class OpenTwin(OpenDevice):
    """The device with hands on it."""

    def __init__(self, body: ShoeBody, chance: Random, options: OpenOptions) -> None:
        super().__init__(body, chance, options)
        self.actions: Actions = self._actions()

    def _actions(self) -> Actions:
        return {
            "deal": Action("[force]", "draw a card; force: through a shut gate", self._deal),
            "together": Action(
                "[known|unknown]", "draw two cards at once; unknown: nobody can tell their order", self._together
            ),
            "pushback": Action("[unseen]", "push the last card back; unseen: the reader misses which", self._pushback),
            "unreadable": Action("", "draw a card that cannot be read", self._unreadable),
            "foreign": Action("[refused]", "draw a card of no set; refused: the shoe itself says so", self._foreign),
            "duplicate": Action("", "draw a card with the id of the last one", self._duplicate),
            "cut": Action("", "draw the cut card", self._cut),
            "empty": Action("", "report the shoe empty", self._empty),
            "lid": Action("open|close", "move the lid", self._lid),
            "jam": Action("[on|off]", "jam a card in the exit, or clear it", self._fault(DeviceFault.JAM)),
            "sensor": Action("[on|off]", "a sensor fails, or works again", self._fault(DeviceFault.SENSOR)),
            "tamper": Action("[on|off]", "somebody tampers, or no longer", self._fault(DeviceFault.TAMPER)),
            "self-test": Action("[BITS]", "report a self-test; BITS: which parts fail, now and later", self._self_test),
            "reboot": Action("[forget]", "start again; forget: without its memory of events", self._reboot_action),
            "wrap": Action("[N]", "begin a session whose event numbers are used up after N more", self._wrap),
            "new-shoe": Action("", "shuffle the set anew and fill the shoe", self._new_shoe),
        }

    def _deal(self, words: list[str], now: float) -> str:
        self.body.check_passage(force=one_of(words, "", "force") == "force")
        self.cut_card_first(now)
        card = self.body.take()
        self.report(CardDrawn(self.read(card, now)), now)
        self.empty_when_empty(now)
        return f"card {card.code} drawn, {self.body.cards_left} left"

    def _together(self, words: list[str], now: float) -> str:
        order_known = one_of(words, "known", "unknown") == "known"
        self.body.check_passage(force=False)
        if self.body.cards_left < 2:
            raise CannotDoError("There is one card left in the shoe: two cannot be drawn.")
        self.cut_card_first(now)
        cards = [self.body.take(), self.body.take()]
        read = [self.read(card, now) for card in cards]
        if not order_known:
            read.sort(key=lambda card: card.uid or b"")
        self.report(CardsTogether(tuple(read), order_known), now)
        self.empty_when_empty(now)
        return f"cards {' and '.join(card.code for card in cards)} drawn together"

    def _pushback(self, words: list[str], now: float) -> str:
        seen = one_of(words, "", "unseen") != "unseen"
        card = self.body.put_back()
        self.report(CardReturned(self.read(card, now) if seen else None), now)
        return f"card {card.code} pushed back"

    def _unreadable(self, words: list[str], now: float) -> str:
        no_words(words)
        self.body.check_passage(force=False)
        self.cut_card_first(now)
        card = self.body.take()
        self.report(self.miss(now), now)
        self.empty_when_empty(now)
        return f"card {card.code} drawn, not readable"

    def _foreign(self, words: list[str], now: float) -> str:
        refused = one_of(words, "", "refused") == "refused"
        self.body.check_passage(force=False)
        card = self.read(StockCard("Ah" if self.body.set[0].suit in "fgewa" else "Af", self.body.strange_uid()), now)
        self.report(CardForeign(card.uid) if refused else CardDrawn(card), now)
        return "a foreign card drawn"

    def _duplicate(self, words: list[str], now: float) -> str:
        no_words(words)
        self.body.check_passage(force=False)
        if not self.body.out:
            raise CannotDoError("No card has left the shoe: there is no id to draw again.")
        self.report(CardDrawn(self.read(self.body.out[-1], now)), now)
        return f"card {self.body.out[-1].code} drawn again, or one with the same id"

    def _cut(self, words: list[str], now: float) -> str:
        no_words(words)
        self.body.take_cut_card()
        self.report(CutCardSeen(), now)
        return "cut card drawn"

    def _empty(self, words: list[str], now: float) -> str:
        no_words(words)
        self.report(ShoeEmptied(), now)
        return "shoe reported empty"

    def _lid(self, words: list[str], now: float) -> str:
        self.body.lid_open = one_of(words, "open", "close") == "open"
        self.tell_health()
        self.report(LidMoved(self.body.lid_open), now)
        return f"lid {'open' if self.body.lid_open else 'closed'}"

    def _fault(self, fault: DeviceFault) -> Callable[[list[str], float], str]:
        def switch(words: list[str], now: float) -> str:
            active = one_of(words, "on", "off") == "on"
            if fault is DeviceFault.JAM:
                self.body.jammed = active
            (self.faults.add if active else self.faults.discard)(fault)
            self.report(FaultChanged(fault, active), now)
            if active:
                self.set_gate(is_open=False, why=f"{fault} fault")
            return f"{fault} fault {'begins' if active else 'is over'}"

        return switch

    def _self_test(self, words: list[str], now: float) -> str:
        self.failing = number(words, default=0, least=0, most=0xFFFFFFFF)
        self.report(SelfTestDone(self.failing), now)
        return f"self-test reported: {'all parts work' if not self.failing else f'failed parts {self.failing:#x}'}"

    def _reboot_action(self, words: list[str], now: float) -> str:
        keep = one_of(words, "", "forget") != "forget"
        lost = 0 if keep else len(self.link.memory)
        self.reboot(now, keep=keep)
        return "rebooted" if keep else f"rebooted without its memory: {lost} events forgotten"

    def _wrap(self, words: list[str], now: float) -> str:
        left = number(words, default=3, least=0, most=1000)
        kept = self.link.snapshot()
        # A device changes its session that far before the last number, so that no event is ever without one.
        first = MAX_NUMBER - SESSION_TAIL - left - len(kept.records)
        self.restart(replace(kept, session=self.new_session(), first=first, fresh=True), now)
        return f"a session begins whose numbers are used up after {left} more events"

    def _new_shoe(self, words: list[str], now: float) -> str:
        no_words(words)
        self.report(LidMoved(is_open=True), now)
        self.body.refill()
        self.body.jammed = self.body.lid_open = False
        # Whoever fills the shoe mends it too, and the host must hear of it: it believes in a fault until then.
        for fault in sorted(self.faults):
            self.report(FaultChanged(fault, active=False), now)
        self.faults.clear()
        self.report(LidMoved(is_open=False), now)
        return f"new shoe: {self.body.cards_left} cards"

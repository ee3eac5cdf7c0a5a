"""Angel Eye twin: a simulated Angel Eye II-EX and what can be done to it."""

from collections.abc import Callable
from random import Random

from drivers.simulated.actions import Action, Actions, cannot, no_words, number, one_of
from drivers.simulated.angel_eye_device import (
    BUTTON,
    CANNOT_READ,
    CARD_CODE,
    ERROR_NAMES,
    OVERDRAW,
    REVERSE_RUN,
    TIME_OUT,
    AngelEyeDevice,
    AngelEyeOptions,
)
from drivers.simulated.body import ShoeBody
from drivers.simulated.errors import CannotDoError, OrderError
from firmware_protocol.angel_eye_messages import (
    BurnCount,
    CuttingCard,
    GameCard,
    GameResult,
    KeyLock,
    Preset,
)
from firmware_protocol.events import Card, Target


class AngelEyeTwin(AngelEyeDevice):
    """The device with hands on it."""

    def __init__(self, body: ShoeBody, chance: Random, options: AngelEyeOptions) -> None:
        super().__init__(body, chance, options)
        self.actions: Actions = self._actions()

    def _actions(self) -> Actions:
        return {
            "deal": Action("[force]", "draw a card; force: from a locked shoe or one in error", self._deal),
            "together": Action("[known|unknown]", "draw two cards; unknown: neither can be read", self._together),
            "pushback": Action("", "push the last card back: reverse run (error 4)", self._pushback),
            "unreadable": Action("", "draw a card that cannot be read (error 1)", self._card_error(CANNOT_READ)),
            "foreign": Action("", "draw a card of another set (error 6)", self._foreign),
            "duplicate": Action("", "draw another copy of the last card: one too many", self._duplicate),
            "jam": Action("[on|off]", "a card sticks in the exit (error 7), or is cleared", self._jam),
            "button": Action("", "press the wrong button (error 3)", self._button),
            "clear": Action("[keep|discard]", "clear the error at the shoe; an overdrawn card either way", self._clear),
            "cut": Action("", "draw the cutting card", self._cut),
            "burn": Action("[N]", "burn N cards; without N: as the first card says", self._burn),
            "end-game": Action("", "end the game by force", self._end_game),
            "wrong-result": Action("", "tell a wrong winner after the next game", self._lie),
            "key": Action("[on|off]", "turn the key lock", self._key),
            "setting": Action("[on|off]", "enter or leave the setting mode", self._setting_mode),
            "preset": Action("ADDRESS VALUE", "change a preset value, as in: preset 12 0345", self._preset),
            "reboot": Action("[forget]", "start again: the game is forgotten either way", self._reboot),
            "wrap": Action("[N]", "let the sequence byte wrap after N more events", self._wrap),
            "new-shoe": Action("", "shuffle the set anew and fill the shoe", self._new_shoe),
            "lid": cannot("An Angel Eye has no message for its lid."),
            "empty": cannot("An Angel Eye has no message for an empty shoe."),
            "sensor": cannot("An Angel Eye has no message for a failing sensor."),
            "tamper": cannot("An Angel Eye has no message for tampering."),
            "self-test": cannot("An Angel Eye has no message for a self-test."),
        }

    def _deal(self, words: list[str], now: float) -> str:
        force = one_of(words, "", "force") == "force"
        self.check_passage(force=force)
        self.cut_card_first()
        card = self.body.take()
        self.card_left(card, now)
        return f"card {card.code} drawn, {self.body.cards_left} left"

    def _together(self, words: list[str], now: float) -> str:
        known = one_of(words, "known", "unknown") == "known"
        self.check_passage()
        if self.body.cards_left < 2:
            raise CannotDoError("There is one card left in the shoe: two cannot be drawn.")
        self.cut_card_first()
        cards = [self.body.take(), self.body.take()]
        if known:
            for card in cards:
                self.card_left(card, now)
        else:
            self.begin_error(CANNOT_READ)
        return f"cards {' and '.join(card.code for card in cards)} drawn together"

    def _pushback(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        card = self.body.put_back()
        if not self.result_told:
            self.game.take_back(card.code)
        self.overdrawn = None
        self.begin_error(REVERSE_RUN)
        return f"card {card.code} pushed back"

    def _card_error(self, code: int) -> Callable[[list[str], float], str]:
        def happen(words: list[str], now: float) -> str:
            del now
            no_words(words)
            self.check_passage()
            self.cut_card_first()
            card = self.body.take()
            self.begin_error(code)
            return f"card {card.code} drawn: {ERROR_NAMES[code]}"

        return happen

    def _foreign(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        self.check_passage()
        self.begin_error(CARD_CODE)
        return "a foreign card drawn"

    def _duplicate(self, words: list[str], now: float) -> str:
        no_words(words)
        self.check_passage()
        if not self.body.out:
            raise CannotDoError("No card has left the shoe: there is none to draw again.")
        card = self.body.out[-1]
        self.card_left(card, now)
        return f"another card {card.code} drawn"

    def _jam(self, words: list[str], now: float) -> str:
        del now
        active = one_of(words, "on", "off") == "on"
        if active:
            self.body.jammed = True
            self.begin_error(TIME_OUT)
            return "a card sticks in the exit"
        if self.error != TIME_OUT:
            raise CannotDoError("No card is jammed.")
        self.clear_error()
        return "the jam is cleared"

    def _button(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        self.begin_error(BUTTON)
        return "the wrong button pressed"

    def _clear(self, words: list[str], now: float) -> str:
        keep = one_of(words, "discard", "keep") == "keep"
        if self.error is None:
            raise CannotDoError("The shoe is not in error.")
        if self.error == OVERDRAW:
            self.clear_overdraw(now, keep=keep)
        else:
            self.clear_error()
        return "cleared at the shoe"

    def _cut(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        self.body.take_cut_card()
        self.say(CuttingCard())
        return "cutting card drawn"

    def _burn(self, words: list[str], now: float) -> str:
        del now
        if self.game.begun:
            raise CannotDoError("A game is on: cards are burned before the first one.")
        self.check_passage()
        count = number(words, default=0, least=1, most=10)
        if not count:
            first = self.body.take()
            value = 10 if first.rank in "TJQK" else "A23456789".index(first.rank) + 1
            count = min(value, self.body.cards_left)
            self.say(GameCard(Target.FIRST_CARD, 1, Card(rank=first.rank, suit=first.suit)))
            self.say(BurnCount(count))
        burned = [self.body.take() for _ in range(min(count, self.body.cards_left))]
        for index, card in enumerate(burned, start=1):
            self.say(GameCard(Target.BURN, index, Card(rank=card.rank, suit=card.suit)))
        return f"{len(burned)} cards burned"

    def _end_game(self, words: list[str], now: float) -> str:
        no_words(words)
        self.tell_result(GameResult(None), now)
        return "game ended by force"

    def _lie(self, words: list[str], now: float) -> str:
        del now
        no_words(words)
        self.wrong_result = True
        return "the next result will be told wrong"

    def _key(self, words: list[str], now: float) -> str:
        del now
        self.key_locked = one_of(words, "on", "off") == "on"
        self.set_gate(is_open=not self.key_locked)
        self.say(KeyLock(self.key_locked))
        return f"key {'locked' if self.key_locked else 'unlocked'}"

    def _setting_mode(self, words: list[str], now: float) -> str:
        del now
        self.setting = one_of(words, "on", "off") == "on"
        return f"setting mode {'on' if self.setting else 'off'}"

    def _preset(self, words: list[str], now: float) -> str:
        del now
        if [len(word) for word in words] != [2, 4]:
            raise OrderError("A preset has an address of 2 and a value of 4 characters, as in `preset 12 0345`.")
        self.say(Preset(*words))
        return f"preset {words[0]} is now {words[1]}"

    def _reboot(self, words: list[str], now: float) -> str:
        del now
        one_of(words, "", "forget")
        self.body.tell("the shoe starts again")
        self.boot()
        return "rebooted"

    def _wrap(self, words: list[str], now: float) -> str:
        del now
        left = number(words, default=3, least=0, most=255)
        self.sender.sequence = (256 - left) & 0xFF
        return f"the sequence byte wraps after {left} more events"

    def _new_shoe(self, words: list[str], now: float) -> str:
        no_words(words)
        self.body.refill()
        self.body.jammed = False
        self._reboot([], now)
        return f"new shoe: {self.body.cards_left} cards"

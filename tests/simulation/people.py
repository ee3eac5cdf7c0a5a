"""The people at the table: dealer, supervisor and players. Mostly they do what is right, now and then they do not."""

from drivers.panel.debounce import PressReader
from drivers.panel.functions import Button
from shoe_controller.messages import WagerRequest
from shoe_controller.service.control import Request, decision
from shoe_controller.service.table import Arrived
from shoe_controller.session import inputs as i

PRESS = 0.05
PLAYERS = ("ann", "bob", "cho", "dee")


class People:
    """Everybody who touches the table. `world` has the shoe, the daemon (or none) and the settings of this seed."""

    def __init__(self, world, chance):
        self._world = world
        self._chance = chance
        self._reader = None
        self._reader_of = None
        self._wagers_left = 0
        self._wagers = 0
        self._tries = 0
        self._betting_round = None

    def act(self):
        """Do one thing."""
        world, chance = self._world, self._chance
        daemon = world.daemon
        if daemon is None or not daemon.ready:
            self._without_controller()
            return
        view = daemon.view
        if world.twin.troubled and chance.random() < 0.7:
            self._mend()
        elif view.alarm and chance.random() < 0.3:
            self._acknowledge(view)
        elif chance.random() < world.plan.slips:
            self._slip(view)
        else:
            self._do_right(view)

    # --- as it should be --------------------------------------------------------------------------------------------

    def _do_right(self, view):
        state, chance = view.state, self._chance
        if state == "decision":
            self._decide(view)
            return
        self._tries = 0
        if state in ("no_shoe", "shoe_ended"):
            self._new_shoe()
        elif state == "void" and self._world.twin.follows_a_game and chance.random() < 0.8:
            self._at_shoe("end-game")  # a shoe that follows the game itself does not know that the round is void
        elif state in ("ready", "announced", "void"):
            self._press(Button.PLACE_BETS)
        elif state == "betting":
            self._bet(view)
        elif state == "complete":
            self._press(Button.RESULT)
        elif not self._world.twin.body.cards_left and not view.faults:
            self._nothing_left(state)
        elif self._world.twin.body.gate_open and not self._world.twin.troubled:
            self._draw(view)

    def _nothing_left(self, state):
        """Go on where a card is due from a shoe that is empty and has not said so."""
        if state == "burning":
            self._at_shoe("new-shoe")  # somebody accepted a new shoe before there was one
            self._ask(Request(command="new-shoe"))
        else:
            self._press(Button.VOID)

    def _draw(self, view):
        """Draw the next card; a quick dealer draws the whole initial deal before anybody can look."""
        dealt = len(view.round.player) + len(view.round.banker) if view.round is not None else 4
        quick = dealt < 4 and self._chance.random() < self._world.plan.quick
        for _ in range(4 - dealt if quick else 1):
            self._at_shoe("deal")

    def _bet(self, view):
        number = (view.shoe.id, view.round.round)
        if number != self._betting_round:
            self._betting_round = number
            self._wagers_left = self._chance.choice(self._world.plan.wagers)
        if self._wagers_left:
            # Mostly all in the same moment: they are committed together.
            at_once = self._wagers_left if self._chance.random() < 0.7 else 1
            for _ in range(at_once):
                self._wagers_left -= 1
                self._wager()
        else:
            self._press(Button.NO_MORE_BETS)

    def _wager(self):
        chance, world = self._chance, self._world
        self._wagers += 1
        if world.plan.terminal and len(world.broker.terminal.waiting) > 20:
            return  # nobody wagers at a terminal that does not answer
        who, wager = chance.choice(PLAYERS), chance.choice(world.wager_names)
        known = chance.random() < 0.05
        name = f"w{chance.randint(1, self._wagers) if known else self._wagers}" if chance.random() < 0.9 else ""
        if chance.random() < 0.15:
            amount = None if chance.random() < 0.5 else chance.randint(1, 5_000)
            happened = i.WithdrawWager(who=who, wager=wager, amount=amount, id=name)
        else:
            happened = i.PlaceWager(who=who, wager=wager, amount=chance.randint(1, 20_000), id=name)
        if world.plan.terminal:
            world.broker.terminal.order(_request(happened, f"t{self._wagers}"))
        else:
            world.daemon.submit(Arrived(happened, "wagers"))

    def _new_shoe(self):
        self._at_shoe("new-shoe")
        self._press(Button.ACCEPT)

    def _mend(self):
        for line in self._world.twin.mendings():
            self._at_shoe(line)

    def _without_controller(self):
        """The controller is down. A card may still leave the shoe, and somebody may press buttons in vain."""
        if self._world.twin.body.gate_open and self._chance.random() < 0.5:
            self._at_shoe("deal")
        elif self._chance.random() < 0.02:
            self._at_shoe("deal force")
        elif self._world.twin.untold and self._chance.random() < 0.05:
            self._at_shoe("reboot forget")

    # --- as it should not be ----------------------------------------------------------------------------------------

    def _slip(self, view):
        chance = self._chance
        kind = chance.random()
        if kind < 0.40:
            self._press(chance.choice(tuple(Button)), twice=chance.random() < 0.3)
        elif kind < 0.55:
            self._at_shoe("deal force")
        elif kind < 0.65:
            self._wager()
        elif kind < 0.70:
            self._do_right(view)
            self._do_right(view)  # too quick: nobody has seen yet what came of it
        elif kind < 0.702:
            self._new_shoe()
        else:
            self._at_shoe(chance.choice(self._world.twin.mishaps))

    # --- the supervisor ---------------------------------------------------------------------------------------------

    def _acknowledge(self, view):
        """Go on; if cards may be missing in the record, look at the table first, and void the round if one is."""
        looks = "events-missing" in view.faults and self._chance.random() < 0.95
        if looks and view.state != "void" and self._world.auditor.card_unrecorded():
            self._press(Button.VOID)
        else:
            self._press(Button.ACKNOWLEDGE)

    def _decide(self, view):
        chance = self._chance
        self._tries += 1
        waits = view.open_irregularities[0]
        if self._tries > 6 or chance.random() < 0.25:
            self._ask(Request(command="void", reason=chance.choice(("", "cards exposed", "dispute"))))
        elif chance.random() < 0.1:
            self._ask(Request(command="accept", codes=self._some_cards()))
        elif waits.kind == "unreadable_card":
            self._ask(Request(command="key-card", codes=(self._face_of_unreadable(),)))
        elif waits.kind == "order_altered" and view.round is not None:
            drawn = [card for pair in zip(view.round.player[:2], view.round.banker[:2], strict=False) for card in pair]
            odd = view.round.player[:2][len(view.round.banker[:2]) :]
            order = [*drawn, *odd, *view.round.player[2:], *view.round.banker[2:]]
            for card in waits.cards:
                if card in order and chance.random() < 0.7:
                    order.remove(card)
            self._ask(Request(command="accept", codes=tuple(order) if chance.random() < 0.7 else ()))
        elif len(waits.cards) > 1:
            cards = list(waits.cards)
            chance.shuffle(cards)
            self._ask(Request(command="accept", codes=tuple(cards)))
        else:
            self._press(Button.ACCEPT)

    def _some_cards(self):
        return tuple(self._chance.choice(self._world.faces) for _ in range(self._chance.randint(1, 3)))

    def _face_of_unreadable(self):
        out = self._world.twin.body.out
        return out[-1].code if out else self._chance.choice(self._world.faces)

    def _ask(self, request):
        controller = self._world.daemon.controller
        self._world.daemon.submit(Arrived(decision(request, "sue", controller.new_shoe), "local:sue"))

    # --- hands ------------------------------------------------------------------------------------------------------

    def _at_shoe(self, line):
        self._world.at_shoe(line)

    def _press(self, button, *, twice=False):
        """Press a button, with a contact that bounces; the production reader decides what was meant."""
        daemon, now, chance = self._world.daemon, self._world.time.now, self._chance
        if self._reader_of is not daemon:
            self._reader, self._reader_of = PressReader(key_on=True, now=now), daemon
        reader = self._reader
        for _ in range(2 if twice else 1):
            reader.edge(button, True, now)
            if chance.random() < 0.2:
                reader.edge(button, False, now + 0.001)
                reader.edge(button, True, now + 0.002)
            if chance.random() < 0.02:
                reader.edge(chance.choice(tuple(Button)), True, now + 0.01)
            reader.advance(now + PRESS)
            for one in reader.down:
                reader.edge(one, False, now + PRESS)
            now += 2 * PRESS
            reader.advance(now)
        for event in reader.events():
            daemon.press(event)
            self._world.note("panel:", event)


def _request(happened, name):
    """Return a wager as a terminal sends it."""
    amount = None if happened.amount is None else f"{happened.amount // 100}.{happened.amount % 100:02d}"
    action = "place" if isinstance(happened, i.PlaceWager) else "withdraw"
    return WagerRequest(id=name, action=action, who=happened.who, wager=happened.wager, amount=amount)
